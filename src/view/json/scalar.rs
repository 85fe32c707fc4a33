//! JSON values as scalars and enums, by the rules of C++ protobuf.

use super::super::bits::Number;
use super::base64;
use super::object::{Item, MapKey};
use super::refused::JsonReason;
use crate::descriptor::{Contract, Field, Scalar, Type};

/// A JSON value that is neither null, list nor object.
#[derive(Clone, Copy)]
pub(super) enum Json<'j> {
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(&'j str),
}

impl Json<'_> {
    pub(super) fn kind(self) -> &'static str {
        match self {
            Json::Bool(_) => "a boolean",
            Json::Int(_) | Json::Float(_) => "a number",
            Json::Text(_) => "a string",
        }
    }

    fn number(self) -> JsonReason {
        JsonReason::Number(match self {
            Json::Bool(value) => value.to_string(),
            Json::Int(value) => value.to_string(),
            Json::Float(value) => format!("{value:?}"),
            Json::Text(text) => format!("\"{text}\""),
        })
    }
}

/// The value of a scalar or enum field.
pub(super) fn item<'c>(
    field: &Field,
    json: Json<'_>,
    contract: &Contract,
) -> Result<Item<'c>, JsonReason> {
    let wrong = |expected| Err(JsonReason::WrongKind { expected, found: json.kind() });
    let scalar = match &field.ty {
        Type::Scalar(scalar) => *scalar,
        Type::Enum(name) => return enum_number(name, field, json, contract).map(Item::Bits),
        Type::Message(_) => return wrong("an object"),
    };
    match (scalar, json) {
        (Scalar::Bool, Json::Bool(value)) => Ok(Item::Bits(value.into())),
        (Scalar::Bool, Json::Text(text)) => match boolean(text) {
            Some(value) => Ok(Item::Bits(value.into())),
            None => Err(json.number()),
        },
        (Scalar::Bool, _) => wrong("true or false"),
        (Scalar::String, Json::Text(text)) => Ok(Item::Bytes(text.as_bytes().to_vec())),
        (Scalar::Bytes, Json::Text(text)) => {
            base64::decode(text).map(Item::Bytes).ok_or(JsonReason::Base64)
        }
        (Scalar::String | Scalar::Bytes, _) => wrong("a string"),
        (_, Json::Bool(_)) => wrong("a number or a string"),
        (Scalar::Double | Scalar::Float, _) => float(scalar, json).map(Item::Bits),
        _ => integer(&field.ty, json).map(Item::Bits),
    }
}

fn float(scalar: Scalar, json: Json<'_>) -> Result<u64, JsonReason> {
    let value = match json {
        Json::Int(value) => value as f64,
        Json::Float(value) => value,
        // What Rust takes beyond digits ("inf", "nan", a sign, any case), C++ takes too.
        Json::Text(text) => text.trim_ascii().parse().map_err(|_| json.number())?,
        Json::Bool(_) => return Err(json.number()),
    };
    if scalar == Scalar::Double {
        return Ok(value.to_bits());
    }
    let narrow = value as f32;
    if value.is_finite() && !narrow.is_finite() {
        return Err(json.number());
    }
    Ok(narrow.to_bits().into())
}

/// Whole numbers in any spelling. One that is no plain integer of 64 bits goes through a double and
/// must then be small enough to be exact.
fn integer(ty: &Type, json: Json<'_>) -> Result<u64, JsonReason> {
    let unsigned = matches!(
        ty,
        Type::Scalar(Scalar::Uint32 | Scalar::Uint64 | Scalar::Fixed32 | Scalar::Fixed64)
    );
    let plain = match json {
        Json::Int(value) => Some(value),
        Json::Text(text) => text.parse::<i128>().ok(),
        _ => None,
    };
    let wide = |value: &i128| {
        if unsigned { u64::try_from(*value).is_ok() } else { i64::try_from(*value).is_ok() }
    };
    let value = match plain.filter(wide) {
        Some(value) => value,
        None => {
            let double = match json {
                Json::Int(value) => value as f64,
                Json::Float(value) => value,
                Json::Text(text) => text.parse().map_err(|_| json.number())?,
                Json::Bool(_) => return Err(json.number()),
            };
            let exact =
                if unsigned { 0.0..=2f64.powi(54) } else { -(2f64.powi(53))..=2f64.powi(53) };
            if !exact.contains(&double) || double.fract() != 0.0 {
                return Err(json.number());
            }
            double as i128
        }
    };
    Number::Int(value).bits(ty).ok_or_else(|| json.number())
}

fn enum_number(
    name: &str,
    field: &Field,
    json: Json<'_>,
    contract: &Contract,
) -> Result<u64, JsonReason> {
    let found = json.kind();
    match json {
        Json::Bool(_) => Err(JsonReason::WrongKind { expected: "a number or a string", found }),
        Json::Text(text) => {
            let named = contract.enumeration(name).and_then(|e| e.value_named(text));
            let number = match named {
                Some(value) => value.number,
                None => text.trim_ascii().parse().map_err(|_| JsonReason::NoSuchValue {
                    enumeration: name.to_owned(),
                    name: text.to_owned(),
                })?,
            };
            Ok(i64::from(number) as u64)
        }
        _ => integer(&field.ty, json),
    }
}

/// The words that C++ takes for a quoted boolean.
fn boolean(text: &str) -> Option<bool> {
    let is = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    match () {
        () if is(&["true", "t", "yes", "y", "1"]) => Some(true),
        () if is(&["false", "f", "no", "n", "0"]) => Some(false),
        () => None,
    }
}

/// The key of a map entry.
pub(super) fn key(field: &Field, text: &str) -> Result<MapKey, JsonReason> {
    let bad = || JsonReason::Number(format!("\"{text}\""));
    Ok(match &field.ty {
        Type::Scalar(Scalar::String) => MapKey::Text(text.as_bytes().to_vec()),
        Type::Scalar(Scalar::Bool) => MapKey::Unsigned(match text {
            "true" => 1,
            "false" => 0,
            _ => return Err(bad()),
        }),
        ty => {
            let value = text.trim_ascii().parse::<i128>().map_err(|_| bad())?;
            let bits = Number::Int(value).bits(ty).ok_or_else(bad)?;
            match Number::of(ty, bits) {
                Number::Int(value) if value < 0 || signed(ty) => MapKey::Signed(bits as i64),
                _ => MapKey::Unsigned(bits),
            }
        }
    })
}

fn signed(ty: &Type) -> bool {
    use Scalar::{Int32, Int64, Sfixed32, Sfixed64, Sint32, Sint64};
    matches!(ty, Type::Scalar(Int32 | Int64 | Sint32 | Sint64 | Sfixed32 | Sfixed64))
}
