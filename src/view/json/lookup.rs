//! Which field a key names.

use crate::descriptor::{Field, Message};

/// The field with this key: its name in camel case first, then as declared, then its `json_name`.
pub(super) fn field<'c>(ty: &'c Message, key: &str) -> Option<&'c Field> {
    let camel = || ty.fields.iter().find(|f| is_camel_case_of(key, &f.name));
    let found = if key.contains('_') { None } else { camel() };
    found
        .or_else(|| ty.field_named(key))
        .or_else(|| ty.fields.iter().find(|f| *f.json_name == *key))
}

/// Whether `key` is `name` without underscores, the letters after them and no other first one in upper case.
fn is_camel_case_of(key: &str, name: &str) -> bool {
    let mut upper = false;
    let mut first = true;
    let mut rest = key.bytes();
    for byte in name.bytes() {
        if byte == b'_' {
            upper = true;
            continue;
        }
        let wanted = match () {
            () if first => byte.to_ascii_lowercase(),
            () if upper => byte.to_ascii_uppercase(),
            () => byte,
        };
        if rest.next() != Some(wanted) {
            return false;
        }
        (upper, first) = (false, false);
    }
    rest.next().is_none()
}

/// Types with a JSON form of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Fields by name.
    Ordinary,
    /// The value of its only field.
    Wrapper,
    /// Text or a list, or its fields by name.
    Text,
    /// Never its fields by name.
    Other,
}

pub(super) fn form(message: &str) -> Form {
    match message.strip_prefix("google.protobuf.") {
        Some(
            "BoolValue" | "BytesValue" | "FloatValue" | "DoubleValue" | "StringValue"
            | "Int32Value" | "Int64Value" | "UInt32Value" | "UInt64Value",
        ) => Form::Wrapper,
        Some("Timestamp" | "Duration" | "FieldMask" | "ListValue") => Form::Text,
        Some("Any" | "Struct" | "Value") => Form::Other,
        _ => Form::Ordinary,
    }
}
