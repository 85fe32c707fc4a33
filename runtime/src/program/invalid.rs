//! What is wrong with a program, and where.

use std::fmt;

pub(crate) type Result<T, E = Invalid> = std::result::Result<T, E>;

/// Why a program cannot be run. The place is added on the way out, outermost last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Invalid {
    pub(crate) place: Vec<String>,
    pub(crate) fault: Fault,
}

/// The fault itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A value outside its bound.
    Value { what: String, value: String, bound: String },
    /// Well-formed, but nothing here can run it.
    Unsupported(String),
    /// A limit of the caller.
    Limit { what: String, value: u64, limit: u64, setting: &'static str },
    /// Other devices did not arrive at a collective.
    Missing { who: String, seconds: u64 },
}

impl Invalid {
    /// `what` is `value`, but has to be `bound`.
    pub(crate) fn value(
        what: impl Into<String>,
        value: impl fmt::Display,
        bound: impl Into<String>,
    ) -> Invalid {
        let (what, value, bound) =
            (brief(what.into()), brief(value.to_string()), brief(bound.into()));
        let fault = Fault::Value { what, value, bound };
        Invalid { place: Vec::new(), fault }
    }

    /// A field that has to be set is not.
    pub(crate) fn missing(field: &str) -> Invalid {
        Invalid::value(field, "not set", "a value")
    }

    pub(crate) fn unsupported(what: impl Into<String>) -> Invalid {
        Invalid { place: Vec::new(), fault: Fault::Unsupported(brief(what.into())) }
    }

    pub(crate) fn limit(
        what: impl Into<String>,
        value: u64,
        limit: u64,
        setting: &'static str,
    ) -> Invalid {
        let fault = Fault::Limit { what: what.into(), value, limit, setting };
        Invalid { place: Vec::new(), fault }
    }

    /// Adds where it happened.
    pub(crate) fn at(mut self, place: impl Into<String>) -> Invalid {
        self.place.push(brief(place.into()));
        self
    }
}

/// Of a long way to the fault so many of its outermost and innermost places are shown.
const OUTER: usize = 4;
const INNER: usize = 4;

/// Names, lists and messages from an artifact can be as long as the artifact.
pub(crate) fn brief(mut text: String) -> String {
    const MOST: usize = 300;
    if text.len() > MOST {
        let end = (0..=MOST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Adds where a result failed.
pub(crate) trait At<T> {
    fn at(self, place: impl FnOnce() -> String) -> Result<T>;
}

impl<T> At<T> for Result<T> {
    fn at(self, place: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|invalid| invalid.at(place()))
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (outer, inner) = match self.place.len().checked_sub(OUTER + INNER) {
            Some(1..) => (OUTER, INNER),
            _ => (self.place.len(), 0),
        };
        let left_out = self.place.len() - outer - inner;
        for (at, place) in self.place.iter().rev().enumerate() {
            if at == outer {
                write!(f, "({left_out} more): ")?;
            }
            if at < outer || at >= outer + left_out {
                write!(f, "{place}: ")?;
            }
        }
        match &self.fault {
            Fault::Value { what, value, bound } => write!(f, "{what} is {value}, expected {bound}"),
            Fault::Unsupported(what) => write!(f, "not supported: {what}"),
            Fault::Limit { what, value, limit, .. } => {
                write!(f, "{what}: {value} is over the limit of {limit}")
            }
            Fault::Missing { who, seconds } => {
                write!(f, "waited {seconds} s for {who}, who did not arrive")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_way_is_cut_in_its_middle() {
        let at = |count: usize| {
            let fault = Invalid::missing("x");
            (0..count).fold(fault, |fault, at| fault.at(at.to_string())).to_string()
        };
        assert_eq!(at(0), "x is not set, expected a value");
        assert_eq!(at(8), "7: 6: 5: 4: 3: 2: 1: 0: x is not set, expected a value");
        let cut = "99: 98: 97: 96: (92 more): 3: 2: 1: 0: x is not set, expected a value";
        assert_eq!(at(100), cut);
    }
}
