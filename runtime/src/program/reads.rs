//! Which constructs of the schema a program was read from.

use std::collections::BTreeSet;

/// Full names of the fields and enum values that decide what running a program gives: where one of them
/// means something else, the program is refused or another result comes out. What is only compared or
/// checked (sizes of grids, ids for messages, aliasing of results) is not listed, because a run says
/// nothing about it.
///
/// A field counts whether it was set or left at its default; which ones an artifact sets is for its bytes
/// to say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reads {
    names: BTreeSet<Name>,
    device: BTreeSet<Name>,
}

/// A message and a field of it, or an enum and a value of it.
type Name = (&'static str, &'static str);

impl Reads {
    /// Notes that fields of a message were read.
    pub(crate) fn fields(&mut self, message: &'static str, fields: &[&'static str]) {
        self.names.extend(fields.iter().map(|field| (message, *field)));
    }

    /// Notes that fields of a message were read that only a backend with a device acts upon.
    pub(crate) fn device(&mut self, message: &'static str, fields: &[&'static str]) {
        self.device.extend(fields.iter().map(|field| (message, *field)));
    }

    /// Notes which value of an enum was met.
    pub(crate) fn value(&mut self, of: &'static str, value: &'static str) {
        self.names.insert((of, value));
    }

    /// Whether a field or enum value, by its full name, was read.
    pub fn contains(&self, construct: &str) -> bool {
        contains(&self.names, construct)
    }

    /// Whether it was read, or handed to a backend that launches device code.
    pub fn contains_on_device(&self, construct: &str) -> bool {
        self.contains(construct) || contains(&self.device, construct)
    }

    /// The full names, sorted.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.names.iter().map(full)
    }

    /// Those that only a backend with a device acts upon, sorted.
    pub fn device_names(&self) -> impl Iterator<Item = String> {
        self.device.iter().map(full)
    }
}

fn contains(names: &BTreeSet<Name>, construct: &str) -> bool {
    construct
        .rsplit_once('.')
        .is_some_and(|(owner, own)| names.iter().any(|(o, n)| *o == owner && *n == own))
}

fn full((owner, own): &Name) -> String {
    format!("{owner}.{own}")
}
