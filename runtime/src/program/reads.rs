//! Which constructs of the schema a program was read from.

use std::collections::BTreeSet;

/// Full names of the fields that were read. Only changes of these are something that running can judge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reads {
    fields: BTreeSet<(&'static str, &'static str)>,
}

impl Reads {
    /// Notes that fields of a message were read.
    pub(crate) fn fields(&mut self, message: &'static str, fields: &[&'static str]) {
        self.fields.extend(fields.iter().map(|field| (message, *field)));
    }

    /// Whether a field, by its full name, was read.
    pub fn contains(&self, construct: &str) -> bool {
        construct.rsplit_once('.').is_some_and(|(message, field)| {
            self.fields.iter().any(|(m, f)| *m == message && *f == field)
        })
    }

    /// The full names, sorted.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.fields.iter().map(|(message, field)| format!("{message}.{field}"))
    }
}
