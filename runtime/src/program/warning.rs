//! What is wrong with a program and does not keep it from running.

use std::fmt;

use super::invalid::brief;

/// Something that XLA's loader puts up with as well, and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Where, outermost first.
    pub place: Vec<String>,
    /// What was found, and what is done about it.
    pub message: String,
}

impl Warning {
    pub(crate) fn new(message: impl Into<String>) -> Warning {
        Warning { place: Vec::new(), message: brief(message.into()) }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for place in &self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)
    }
}
