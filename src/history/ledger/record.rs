//! What one line of a ledger says.

use super::escape;
use super::stamp::{Stamp, Time};
use crate::descriptor::{Label, Presence};
use crate::history::ScopeKind;

/// A message or enum: the last name that it had, and which of those that had it last (0 for the newest, else counted from
/// the oldest).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) older: u32,
}

/// A use of a scope: its number, its name, and which of those that have both, counted from the oldest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct UseKey {
    pub(super) number: i32,
    pub(super) name: String,
    pub(super) nth: u32,
}

/// Type of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TypeName {
    /// A scalar, or in a tombstone whatever the text says.
    Plain(String),
    /// A message or an enum.
    Named(Key),
    /// In a tombstone: a map, by the types of keys and values.
    Map(String, Box<TypeName>),
}

/// A field of a message or of a map's entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FieldRecord {
    pub(super) number: i32,
    pub(super) name: String,
    pub(super) ty: TypeName,
    pub(super) label: Label,
    pub(super) presence: Presence,
    pub(super) oneof: Option<String>,
    pub(super) packed: bool,
    pub(super) utf8: bool,
    pub(super) delimited: bool,
    pub(super) closed: bool,
    pub(super) deprecated: bool,
    pub(super) default: Option<String>,
    /// Where it is not the name in camel case.
    pub(super) json: Option<String>,
    pub(super) means: Option<UseKey>,
}

/// A value of an enum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ValueRecord {
    pub(super) number: i32,
    pub(super) name: String,
    /// Place among the names of the number, as declared.
    pub(super) alias: u32,
    /// The default, where that is neither 0 nor, without a 0, the lowest number.
    pub(super) first: bool,
    pub(super) means: Option<UseKey>,
}

/// A message or an enum itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ScopeRecord {
    pub(super) kind: ScopeKind,
    /// Import name of the file, where it is declared.
    pub(super) file: Option<String>,
    /// Whether an enum that is declared is closed.
    pub(super) closed: Option<bool>,
    pub(super) message_set: bool,
    /// A root of the binary contract reaches it as long as it lives.
    pub(super) wire: bool,
    /// A JSON payload reaches it as long as it lives.
    pub(super) json: bool,
}

/// What a line is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    Root,
    JsonRoot,
    Scope(ScopeRecord),
    /// A full name that the scope had.
    Name(String),
    Wire,
    Json,
    Reserved(i32, i32),
    ReservedName(String),
    Extensions(i32, i32),
    Field(FieldRecord),
    Value(ValueRecord),
    /// A map's entry type, by its file.
    Entry(String),
    EntryField(FieldRecord),
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) scope: Key,
    pub(super) item: Item,
    pub(super) times: Vec<Time>,
}

/// Order of the lines, and what no two lines share.
pub(super) type Order<'r> = (u8, &'r Key, u8, (i32, i32), &'r str, Option<&'r Stamp>);

impl Record {
    /// Roots first, then one scope after the other.
    pub(super) fn order(&self) -> Order<'_> {
        let (section, rank, numbers, name, first): (u8, u8, (i32, i32), &str, bool) =
            match &self.item {
                Item::Root => (0, 0, (0, 0), "", false),
                Item::JsonRoot => (1, 0, (0, 0), "", false),
                Item::Scope(_) => (2, 0, (0, 0), "", false),
                Item::Name(name) => (2, 1, (0, 0), name, false),
                Item::Wire => (2, 2, (0, 0), "", false),
                Item::Json => (2, 3, (0, 0), "", false),
                Item::Extensions(lo, hi) => (2, 4, (*lo, *hi), "", false),
                Item::Reserved(lo, hi) => (2, 5, (*lo, *hi), "", false),
                Item::ReservedName(name) => (2, 6, (0, 0), name, false),
                // One number and name may have had several types.
                Item::Field(field) => (2, 7, (field.number, 0), &field.name, true),
                Item::Value(value) => (2, 7, (value.number, 0), &value.name, true),
                Item::Entry(_) => (2, 8, (0, 0), "", false),
                Item::EntryField(field) => (2, 9, (field.number, 0), &field.name, false),
            };
        let first = self.times.first().filter(|_| first).map(|time| &time.from);
        (section, &self.scope, rank, numbers, name, first)
    }

    /// What it is about, without properties and times: the beginning of its line.
    pub(super) fn subject(&self) -> String {
        let scope = self.scope.word();
        match &self.item {
            Item::Root => format!("root {scope}"),
            Item::JsonRoot => format!("json-root {scope}"),
            Item::Scope(ScopeRecord { kind: ScopeKind::Message, .. }) => format!("message {scope}"),
            Item::Scope(ScopeRecord { kind: ScopeKind::Enum, .. }) => format!("enum {scope}"),
            Item::Name(name) => format!("name {scope} {}", escape::name(name)),
            Item::Wire => format!("wire {scope}"),
            Item::Json => format!("json {scope}"),
            Item::Extensions(lo, hi) => format!("extensions {scope} {}", range(*lo, *hi)),
            Item::Reserved(lo, hi) => format!("reserved {scope} {}", range(*lo, *hi)),
            Item::ReservedName(name) => format!("reserved-name {scope} {}", escape::name(name)),
            Item::Field(field) => {
                format!("field {scope} {} {}", field.number, escape::name(&field.name))
            }
            Item::Value(value) => {
                format!("value {scope} {} {}", value.number, escape::name(&value.name))
            }
            Item::Entry(_) => format!("entry {scope}"),
            Item::EntryField(field) => {
                format!("entry-field {scope} {} {}", field.number, escape::name(&field.name))
            }
        }
    }

    /// Everything between subject and times.
    pub(super) fn properties(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut flag = |set: bool, word: &str| {
            if set {
                words.push(word.to_owned());
            }
        };
        match &self.item {
            Item::Scope(scope) => {
                flag(scope.closed == Some(false), "open");
                flag(scope.closed == Some(true), "closed");
                flag(scope.message_set, "message-set");
                flag(scope.wire, "wire");
                flag(scope.json, "json");
                words.extend(scope.file.as_ref().map(|file| format!("in={}", escape::value(file))));
            }
            Item::Entry(file) => words.push(format!("in={}", escape::value(file))),
            Item::Field(field) | Item::EntryField(field) => {
                flag(true, &field.ty.word());
                flag(true, field.label.name());
                if field.label != Label::Repeated {
                    flag(true, field.presence.name());
                }
                flag(field.packed, "packed");
                flag(field.utf8, "utf8");
                flag(field.delimited, "delimited");
                flag(field.closed, "closed");
                flag(field.deprecated, "deprecated");
                for (key, text) in
                    [("oneof", &field.oneof), ("default", &field.default), ("json", &field.json)]
                {
                    words.extend(text.as_ref().map(|t| format!("{key}={}", escape::value(t))));
                }
                words.extend(field.means.as_ref().map(|means| format!("means={}", means.word())));
            }
            Item::Value(value) => {
                flag(value.first, "first");
                if value.alias > 0 {
                    words.push(format!("alias={}", value.alias));
                }
                words.extend(value.means.as_ref().map(|means| format!("means={}", means.word())));
            }
            _ => {}
        }
        words
    }

    /// The whole line.
    pub(super) fn line(&self) -> String {
        let mut line = self.subject();
        for word in self.properties() {
            line.push(' ');
            line.push_str(&word);
        }
        if !self.times.is_empty() {
            line.push_str(" :");
        }
        for time in &self.times {
            line.push_str(&format!(" {time}"));
        }
        line
    }

    /// The construct that it is about, for people and for findings.
    pub(super) fn construct(&self) -> String {
        let of = |name: &str| format!("{}.{name}", self.scope.name);
        match &self.item {
            Item::Field(field) | Item::EntryField(field) => of(&field.name),
            Item::Value(value) => of(&value.name),
            Item::ReservedName(name) => of(name),
            _ => self.scope.name.clone(),
        }
    }
}

/// `3`, or `3..5`.
pub(super) fn range(lo: i32, hi: i32) -> String {
    if lo == hi { lo.to_string() } else { format!("{lo}..{hi}") }
}

impl Key {
    pub(super) fn new(name: &str) -> Self {
        Key { name: name.to_owned(), older: 0 }
    }

    pub(super) fn word(&self) -> String {
        let name = escape::name(&self.name);
        if self.older == 0 { name } else { format!("{name}^{}", self.older) }
    }
}

impl UseKey {
    pub(super) fn word(&self) -> String {
        let word = format!("{}/{}", self.number, escape::name(&self.name));
        if self.nth == 0 { word } else { format!("{word}/{}", self.nth) }
    }
}

impl TypeName {
    pub(super) fn word(&self) -> String {
        match self {
            TypeName::Plain(text) => escape::name(text),
            TypeName::Named(key) => format!(".{}", key.word()),
            TypeName::Map(key, value) => format!("map<{},{}>", escape::name(key), value.word()),
        }
    }
}
