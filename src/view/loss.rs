//! What a reader does not get as it was meant, counted.

use std::collections::HashMap;

use super::path::Path;
use crate::descriptor::{Enum, Message};

/// More different losses than this are only counted.
const LISTED: usize = 10_000;

/// How something is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LossKind {
    /// The reader does not get the value, without an error.
    Dropped,
    /// The reader takes the value for something else.
    Reinterpreted,
    /// The reader keeps an enum number that it has no name for.
    Unnamed,
    /// A zero that was set reads as unset, because the reader's field has no presence.
    Presence,
    /// The reader refuses the message.
    Refused,
    /// The contract translated into has no place for the value.
    NotModelled,
    /// A compiler with the reader's contract would refuse, lose or misread it; loading and running do
    /// not read it.
    CompileOnly,
}

impl LossKind {
    /// The kebab-case name used in machine formats.
    pub fn name(self) -> &'static str {
        match self {
            LossKind::Dropped => "dropped",
            LossKind::Reinterpreted => "reinterpreted",
            LossKind::Unnamed => "unnamed",
            LossKind::Presence => "presence",
            LossKind::Refused => "refused",
            LossKind::NotModelled => "not-modelled",
            LossKind::CompileOnly => "compile-only",
        }
    }
}

/// Equal losses of one construct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// How it is lost.
    pub kind: LossKind,
    /// Full name of the field or enum value, as the writer knows it; a field without a name goes by its
    /// number.
    pub construct: String,
    /// Where the first of them is, such as `thunks.thunks[3].copy_thunk`.
    pub path: String,
    /// How many there are.
    pub count: usize,
    /// Why, in words.
    pub why: &'static str,
    /// What the first one says beyond that, such as the two values; may be empty.
    pub detail: String,
}

impl std::fmt::Display for Loss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Loss { kind, construct, path, count, why, detail } = self;
        write!(f, "{} {construct}: {why}", kind.name())?;
        if !detail.is_empty() {
            write!(f, " ({detail})")?;
        }
        match count {
            1 => write!(f, ", at {path}"),
            _ => write!(f, ", {count} times, first at {path}"),
        }
    }
}

/// What is lost: a field by its number in a message, or a value by its number in an enum.
#[derive(Clone, Copy)]
pub(super) enum Lost<'a> {
    Field(&'a Message, i32),
    Value(&'a Enum, i32),
}

impl Lost<'_> {
    fn key(self) -> (usize, i32) {
        match self {
            Lost::Field(owner, number) => (std::ptr::from_ref(owner) as usize, number),
            Lost::Value(owner, number) => (std::ptr::from_ref(owner) as usize, number),
        }
    }

    fn construct(self) -> String {
        let (owner, name, number) = match self {
            Lost::Field(m, number) => (&m.name, m.field(number).map(|f| &f.name), number),
            Lost::Value(e, number) => (&e.name, e.value(number).map(|v| &v.name), number),
        };
        name.map_or_else(|| format!("{owner}.{number}"), |name| format!("{owner}.{name}"))
    }
}

/// Losses in the order first met, equal ones counted.
#[derive(Default)]
pub(super) struct Ledger {
    found: Vec<Loss>,
    index: HashMap<(LossKind, &'static str, (usize, i32)), usize>,
    more: usize,
}

impl Ledger {
    pub(super) fn add(
        &mut self,
        kind: LossKind,
        why: &'static str,
        lost: Lost<'_>,
        path: &Path<'_>,
        detail: impl FnOnce() -> String,
    ) {
        let key = (kind, why, lost.key());
        if let Some(loss) = self.index.get(&key).and_then(|at| self.found.get_mut(*at)) {
            loss.count += 1;
        } else if self.found.len() >= LISTED {
            self.more += 1;
        } else {
            self.index.insert(key, self.found.len());
            let (construct, path) = (lost.construct(), path.to_string());
            self.found.push(Loss { kind, construct, path, count: 1, why, detail: detail() });
        }
    }

    pub(super) fn finish(mut self) -> Vec<Loss> {
        if self.more > 0 {
            self.found.push(Loss {
                kind: LossKind::Dropped,
                construct: String::new(),
                path: String::new(),
                count: self.more,
                why: "further losses are not listed",
                detail: String::new(),
            });
        }
        self.found
    }
}
