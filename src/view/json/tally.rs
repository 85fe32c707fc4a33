//! Losses in payloads, counted.

use std::collections::HashMap;

use super::super::loss::{Loss, LossKind};

/// Losses in the order first met, equal ones counted.
#[derive(Default)]
pub(super) struct Tally {
    found: Vec<Loss>,
    index: HashMap<(LossKind, &'static str, String), usize>,
}

impl Tally {
    /// Adds a loss; `path` is the payload's, and rendered only for the first of its kind.
    pub(super) fn add(&mut self, loss: &Loss, path: impl FnOnce() -> String) {
        let key = (loss.kind, loss.why, loss.construct.clone());
        if let Some(known) = self.index.get(&key).and_then(|at| self.found.get_mut(*at)) {
            known.count += loss.count;
            return;
        }
        self.index.insert(key, self.found.len());
        let mut path = path();
        if !loss.path.is_empty() {
            path.push_str(": ");
            path.push_str(&loss.path);
        }
        self.found.push(Loss { path, ..loss.clone() });
    }

    pub(super) fn finish(self) -> Vec<Loss> {
        self.found
    }
}
