//! The contract at one revision: the stable format `aotgate.snapshot/1`, and a short text for people.

mod tree;

pub use tree::render;

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::NaiveDate;
use serde::Serialize;

use super::json::{Layout, to_text};
use crate::descriptor::{Contract, Enum, Field, Message, Name, Place, Reach};
use crate::finding::SideInfo;

/// Name and version of the format.
pub const SCHEMA: &str = "aotgate.snapshot/1";

/// The document; only what some root or JSON payload reaches is in it.
pub fn json(side: &SideInfo, contract: &Contract, layout: Layout) -> String {
    let document = Document {
        schema: SCHEMA,
        revision: &side.revision,
        date: side.date,
        roots: &contract.roots.iter().map(|r| &**r).collect::<Vec<_>>(),
        json_roots: &contract.json_roots.iter().map(|r| &**r).collect::<Vec<_>>(),
        fingerprint: &side.fingerprint,
        counts: Counts::wire(contract),
        json_counts: Counts::json_only(contract),
        messages: messages(contract).map(|m| MessageEntry::of(contract, m)).collect(),
        enums: enums(contract).map(|e| EnumEntry::of(contract, e)).collect(),
    };
    to_text(&document, layout)
}

/// Reachable messages, sorted by name.
fn messages(contract: &Contract) -> impl Iterator<Item = &Message> {
    contract.messages.values().map(Arc::as_ref).filter(|m| m.reach.any())
}

/// Reachable enums, sorted by name.
fn enums(contract: &Contract) -> impl Iterator<Item = &Enum> {
    contract.enums.values().map(Arc::as_ref).filter(|e| e.reach.any())
}

/// How much there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct Counts {
    files: usize,
    messages: usize,
    enums: usize,
    fields: usize,
    enum_values: usize,
}

impl Counts {
    /// What the binary roots reach.
    fn wire(contract: &Contract) -> Self {
        Self::of(contract, |reach| reach.wire)
    }

    /// What only JSON payloads reach.
    fn json_only(contract: &Contract) -> Self {
        Self::of(contract, |reach| reach.json && !reach.wire)
    }

    fn of(contract: &Contract, counts: impl Fn(Reach) -> bool) -> Self {
        let messages: Vec<&Message> =
            contract.messages.values().map(Arc::as_ref).filter(|m| counts(m.reach)).collect();
        let enums: Vec<&Enum> =
            contract.enums.values().map(Arc::as_ref).filter(|e| counts(e.reach)).collect();
        let places = messages.iter().map(|m| &m.place).chain(enums.iter().map(|e| &e.place));
        let files: BTreeSet<usize> = places.map(|p| p.file).collect();
        Counts {
            files: files.len(),
            messages: messages.len(),
            enums: enums.len(),
            fields: messages.iter().map(|m| m.fields.len()).sum(),
            enum_values: enums.iter().map(|e| e.values.len()).sum(),
        }
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    revision: &'a str,
    date: Option<NaiveDate>,
    roots: &'a [&'a str],
    json_roots: &'a [&'a str],
    fingerprint: &'a str,
    counts: Counts,
    json_counts: Counts,
    messages: Vec<MessageEntry<'a>>,
    enums: Vec<EnumEntry<'a>>,
}

#[derive(Serialize)]
struct MessageEntry<'a> {
    name: &'a str,
    file: Option<String>,
    line: Option<u32>,
    fields: Vec<FieldEntry<'a>>,
    reserved_numbers: &'a [(i32, i32)],
    reserved_names: Vec<&'a str>,
}

impl<'a> MessageEntry<'a> {
    fn of(contract: &Contract, message: &'a Message) -> Self {
        let (file, line) = position(contract, &message.place);
        MessageEntry {
            name: &message.name,
            file,
            line,
            fields: message.fields.iter().map(FieldEntry::of).collect(),
            reserved_numbers: &message.reserved_numbers,
            reserved_names: names(&message.reserved_names),
        }
    }
}

#[derive(Serialize)]
struct FieldEntry<'a> {
    name: &'a str,
    number: i32,
    r#type: String,
    label: &'static str,
    presence: &'static str,
    oneof: Option<&'a str>,
    packed: bool,
}

impl<'a> FieldEntry<'a> {
    fn of(field: &'a Field) -> Self {
        FieldEntry {
            name: &field.name,
            number: field.number,
            r#type: field.ty.to_string(),
            label: field.label.name(),
            presence: field.presence.name(),
            oneof: field.oneof.as_deref(),
            packed: field.packed,
        }
    }
}

#[derive(Serialize)]
struct EnumEntry<'a> {
    name: &'a str,
    file: Option<String>,
    line: Option<u32>,
    closed: bool,
    values: Vec<ValueEntry<'a>>,
    reserved_numbers: &'a [(i32, i32)],
    reserved_names: Vec<&'a str>,
}

#[derive(Serialize)]
struct ValueEntry<'a> {
    name: &'a str,
    number: i32,
}

impl<'a> EnumEntry<'a> {
    fn of(contract: &Contract, enumeration: &'a Enum) -> Self {
        let (file, line) = position(contract, &enumeration.place);
        let values = enumeration.values.iter();
        EnumEntry {
            name: &enumeration.name,
            file,
            line,
            closed: enumeration.closed,
            values: values.map(|v| ValueEntry { name: &v.name, number: v.number }).collect(),
            reserved_numbers: &enumeration.reserved_numbers,
            reserved_names: names(&enumeration.reserved_names),
        }
    }
}

fn names(names: &[Name]) -> Vec<&str> {
    names.iter().map(|n| &**n).collect()
}

/// File, and line where the revision has sources.
fn position(contract: &Contract, place: &Place) -> (Option<String>, Option<u32>) {
    let location = contract.locate(place);
    (
        location.as_ref().map(|l| l.file.to_string()),
        location.map(|l| l.line).filter(|&line| line > 0),
    )
}
