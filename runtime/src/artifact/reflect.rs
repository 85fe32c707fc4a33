//! Messages by reflection with the contract, and their values in words.

use std::sync::LazyLock;

use prost_reflect::{
    DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor,
    ReflectMessage as _, Value,
};
use sha2::{Digest as _, Sha256};

use super::footprint;
use super::rope::Rope;
use crate::DESCRIPTOR_SET;
use crate::error::{Error, ErrorKind};

/// Elements of a list and characters of a string that are shown.
const SHOWN: usize = 24;
const SHOWN_TEXT: usize = 120;
/// Fields of a message that are shown, and messages inside one another.
const SHOWN_FIELDS: usize = 4;
const SHOWN_DEPTH: usize = 3;

static CONTRACT: LazyLock<Result<DescriptorPool, String>> =
    LazyLock::new(|| DescriptorPool::decode(DESCRIPTOR_SET).map_err(|error| error.to_string()));

/// The contract's descriptors.
pub(super) fn pool() -> Result<&'static DescriptorPool, Error> {
    CONTRACT.as_ref().map_err(|reason| ErrorKind::Contract { reason: reason.clone() }.into())
}

/// The contract's description of a message.
pub(super) fn descriptor(name: &str) -> Result<MessageDescriptor, Error> {
    pool()?
        .get_message_by_name(name)
        .ok_or_else(|| ErrorKind::Contract { reason: format!("{name} is not in it") }.into())
}

/// Decodes a message with the contract; fields that it lacks are kept as unknown ones.
///
/// What it would take in memory must not exceed `limit` bytes.
pub(super) fn reflect(
    name: &'static str,
    bytes: &Rope,
    limit: u64,
) -> Result<DynamicMessage, Error> {
    footprint::check(bytes, name, footprint::Form::Dynamic, limit)?;
    DynamicMessage::decode(descriptor(name)?, bytes.reader())
        .map_err(|error| ErrorKind::Decode { message: name, error }.into())
}

/// The message at a path of singular fields.
pub(super) fn inner(message: &DynamicMessage, path: &[&str]) -> Option<DynamicMessage> {
    let mut at = message.clone();
    for name in path {
        if !at.has_field_by_name(name) {
            return None;
        }
        let next = at.get_field_by_name(name)?.as_message()?.clone();
        at = next;
    }
    Some(at)
}

/// The entries of a map, by key.
pub(super) fn sorted(entries: &std::collections::HashMap<MapKey, Value>) -> Vec<(&MapKey, &Value)> {
    let mut entries: Vec<_> = entries.iter().collect();
    entries.sort_by(|a, b| a.0.cmp(b.0));
    entries
}

pub(super) fn key_text(key: &MapKey) -> String {
    match key {
        MapKey::String(key) => format!("{:?}", clip(key)),
        MapKey::Bool(key) => key.to_string(),
        MapKey::I32(key) => key.to_string(),
        MapKey::I64(key) => key.to_string(),
        MapKey::U32(key) => key.to_string(),
        MapKey::U64(key) => key.to_string(),
    }
}

/// SHA-256 in lower-case hexadecimal.
pub(super) fn sha256(pieces: &[prost::bytes::Bytes]) -> String {
    let mut hasher = Sha256::new();
    for piece in pieces {
        hasher.update(piece);
    }
    let mut text = String::with_capacity(64);
    for byte in hasher.finalize() {
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

/// A value on one line, long ones cut short; the same value always gives the same text, whatever the
/// order of a map on the wire.
pub(super) fn value_text(field: &FieldDescriptor, value: &Value) -> String {
    text(&field.kind(), value, 0)
}

fn text(kind: &Kind, value: &Value, depth: usize) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::I32(value) => value.to_string(),
        Value::I64(value) => value.to_string(),
        Value::U32(value) => value.to_string(),
        Value::U64(value) => value.to_string(),
        Value::F32(value) => value.to_string(),
        Value::F64(value) => value.to_string(),
        Value::String(value) => format!("{:?}", clip(value)),
        Value::Bytes(value) => bytes_text(value),
        Value::EnumNumber(number) => enum_text(kind, *number),
        Value::Message(message) => message_text(message, depth),
        Value::List(values) => {
            let mut shown: Vec<_> =
                values.iter().take(SHOWN).map(|value| text(kind, value, depth + 1)).collect();
            if values.len() > SHOWN {
                shown.push(format!("... {} in all", values.len()));
            }
            format!("[{}]", shown.join(", "))
        }
        Value::Map(entries) => {
            let value_kind = match kind {
                Kind::Message(entry) => entry.map_entry_value_field().kind(),
                kind => kind.clone(),
            };
            let mut shown: Vec<_> = sorted(entries)
                .into_iter()
                .take(SHOWN)
                .map(|(key, value)| {
                    format!("{}: {}", key_text(key), text(&value_kind, value, depth + 1))
                })
                .collect();
            if entries.len() > SHOWN {
                shown.push(format!("... {} in all", entries.len()));
            }
            format!("{{{}}}", shown.join(", "))
        }
    }
}

fn enum_text(kind: &Kind, number: i32) -> String {
    let name = match kind {
        Kind::Enum(kind) => kind.get_value(number).map(|value| value.name().to_owned()),
        _ => None,
    };
    name.unwrap_or_else(|| number.to_string())
}

fn message_text(message: &DynamicMessage, depth: usize) -> String {
    if depth >= SHOWN_DEPTH {
        return "{...}".to_owned();
    }
    let mut shown = Vec::new();
    for (field, value) in message.fields() {
        if shown.len() == SHOWN_FIELDS {
            shown.push("...".to_owned());
            break;
        }
        shown.push(format!("{}: {}", field.name(), text(&field.kind(), value, depth + 1)));
    }
    format!("{{{}}}", shown.join(", "))
}

fn bytes_text(value: &prost::bytes::Bytes) -> String {
    match value.len() {
        0..=16 => format!("\"{}\"", value.escape_ascii()),
        length => {
            let hash = sha256(std::slice::from_ref(value));
            format!("{length} bytes, sha256 {}", hash.get(..16).unwrap_or_default())
        }
    }
}

fn clip(text: &str) -> String {
    match text.char_indices().nth(SHOWN_TEXT) {
        Some((at, _)) => {
            format!("{}... {} bytes", text.get(..at).unwrap_or_default(), text.len())
        }
        None => text.to_owned(),
    }
}

/// Full name of a message's type.
pub(super) fn name_of(message: &DynamicMessage) -> String {
    message.descriptor().full_name().to_owned()
}
