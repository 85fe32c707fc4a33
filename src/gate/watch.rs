//! How far something long has come.

use std::fmt;
use std::sync::Arc;

/// Is told by any thread how many goldens have been executed, out of how many.
#[derive(Clone, Default)]
pub struct Watch {
    show: Option<Arc<dyn Fn(usize, usize) + Send + Sync>>,
    clear: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl Watch {
    /// `show` is told each time one has ended, `clear` once after the last.
    pub fn new(
        show: impl Fn(usize, usize) + Send + Sync + 'static,
        clear: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        Watch { show: Some(Arc::new(show)), clear: Some(Arc::new(clear)) }
    }

    /// So many have ended.
    pub fn show(&self, done: usize, of: usize) {
        if let Some(show) = &self.show {
            show(done, of);
        }
    }

    /// All have ended.
    pub fn clear(&self) {
        if let Some(clear) = &self.clear {
            clear();
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("watched", &self.show.is_some()).finish()
    }
}
