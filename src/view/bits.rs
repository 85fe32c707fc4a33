//! Scalars as 64 bits, so that a list of them is a flat vector.
//!
//! Signed integers and enums are sign-extended, unsigned ones zero-extended, floats are their bits.

use crate::descriptor::{Field, Label, Scalar, Type};

pub(super) const VARINT: u8 = 0;
pub(super) const FIXED64: u8 = 1;
pub(super) const LENGTH: u8 = 2;
pub(super) const START_GROUP: u8 = 3;
pub(super) const END_GROUP: u8 = 4;
pub(super) const FIXED32: u8 = 5;

/// Wire type of one value of a field.
pub(super) fn wire_type(field: &Field) -> u8 {
    match &field.ty {
        Type::Enum(_) => VARINT,
        Type::Message(_) if field.delimited => START_GROUP,
        Type::Message(_) => LENGTH,
        Type::Scalar(scalar) => match scalar {
            Scalar::Fixed32 | Scalar::Sfixed32 | Scalar::Float => FIXED32,
            Scalar::Fixed64 | Scalar::Sfixed64 | Scalar::Double => FIXED64,
            Scalar::String | Scalar::Bytes => LENGTH,
            _ => VARINT,
        },
    }
}

/// Whether a list of the field's values may come packed.
pub(super) fn takes_packed(field: &Field) -> bool {
    field.label == Label::Repeated && matches!(wire_type(field), VARINT | FIXED32 | FIXED64)
}

/// A varint as the field's type reads it.
pub(super) fn from_varint(ty: &Type, raw: u64) -> u64 {
    match ty {
        Type::Scalar(Scalar::Bool) => u64::from(raw != 0),
        Type::Scalar(Scalar::Uint32) => u64::from(raw as u32),
        Type::Scalar(Scalar::Int32) | Type::Enum(_) => signed(raw as u32),
        Type::Scalar(Scalar::Sint32) => {
            let raw = raw as u32;
            signed((raw >> 1) ^ (raw & 1).wrapping_neg())
        }
        Type::Scalar(Scalar::Sint64) => (raw >> 1) ^ (raw & 1).wrapping_neg(),
        _ => raw,
    }
}

/// The varint that the field's type writes.
pub(super) fn to_varint(ty: &Type, bits: u64) -> u64 {
    match ty {
        Type::Scalar(Scalar::Sint32) => {
            let value = bits as u32 as i32;
            u64::from(((value << 1) ^ (value >> 31)) as u32)
        }
        Type::Scalar(Scalar::Sint64) => {
            let value = bits as i64;
            ((value << 1) ^ (value >> 63)) as u64
        }
        _ => bits,
    }
}

/// Four bytes as the field's type reads them.
pub(super) fn from_fixed32(ty: &Type, raw: u32) -> u64 {
    match ty {
        Type::Scalar(Scalar::Sfixed32) => signed(raw),
        _ => u64::from(raw),
    }
}

fn signed(raw: u32) -> u64 {
    i64::from(raw as i32) as u64
}

/// A scalar as a number, to compare and convert between types.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Bool(bool),
    Int(i128),
    Float(f32),
    Double(f64),
}

impl Number {
    /// What the bits mean to a field of this type.
    pub(super) fn of(ty: &Type, bits: u64) -> Number {
        match ty {
            Type::Scalar(Scalar::Bool) => Number::Bool(bits != 0),
            Type::Scalar(Scalar::Float) => Number::Float(f32::from_bits(bits as u32)),
            Type::Scalar(Scalar::Double) => Number::Double(f64::from_bits(bits)),
            Type::Scalar(Scalar::Uint32 | Scalar::Uint64 | Scalar::Fixed32 | Scalar::Fixed64) => {
                Number::Int(i128::from(bits))
            }
            _ => Number::Int(i128::from(bits as i64)),
        }
    }

    /// The bits of the same number in a field of this type, if that holds it exactly.
    pub(super) fn bits(self, ty: &Type) -> Option<u64> {
        let float = |value: f64| (value as i128 as f64 == value).then_some(value as i128);
        let int = match self {
            Number::Bool(value) => Some(i128::from(value)),
            Number::Int(value) => Some(value),
            Number::Float(value) => float(value.into()),
            Number::Double(value) => float(value),
        };
        let double = match self {
            Number::Float(value) => Some(f64::from(value)),
            Number::Double(value) => Some(value),
            _ => int.filter(|&i| i as f64 as i128 == i).map(|i| i as f64),
        };
        match ty {
            Type::Scalar(Scalar::Bool) => int.filter(|i| (0..=1).contains(i)).map(|i| i as u64),
            Type::Scalar(Scalar::Double) => double.map(f64::to_bits),
            Type::Scalar(Scalar::Float) => double
                .filter(|&d| d.is_nan() || f64::from(d as f32) == d)
                .map(|d| u64::from((d as f32).to_bits())),
            Type::Scalar(Scalar::Uint32 | Scalar::Fixed32) => {
                int.and_then(|i| u32::try_from(i).ok()).map(u64::from)
            }
            Type::Scalar(Scalar::Uint64 | Scalar::Fixed64) => {
                int.and_then(|i| u64::try_from(i).ok())
            }
            Type::Scalar(Scalar::Int64 | Scalar::Sint64 | Scalar::Sfixed64) => {
                int.and_then(|i| i64::try_from(i).ok()).map(|i| i as u64)
            }
            Type::Scalar(Scalar::String | Scalar::Bytes) | Type::Message(_) => None,
            _ => int.and_then(|i| i32::try_from(i).ok()).map(|i| i64::from(i) as u64),
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Number::Bool(value) => write!(f, "{value}"),
            Number::Int(value) => write!(f, "{value}"),
            Number::Float(value) => write!(f, "{value:?}"),
            Number::Double(value) => write!(f, "{value:?}"),
        }
    }
}
