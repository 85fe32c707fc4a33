//! What a reader holds after it read a message: a tree that borrows the bytes it was read from.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use super::bits::Number;
use crate::descriptor::{Contract, Field, Message, Presence, Scalar, Type};

/// A root message as its reader holds it.
#[derive(Debug, Clone)]
pub struct Held<'a> {
    pub(super) contract: &'a Contract,
    pub(super) root: Node<'a>,
}

/// A message: its set fields in order of their numbers, and what the reader does not know.
#[derive(Debug, Clone)]
pub struct Node<'a> {
    pub(super) ty: &'a Message,
    pub(super) slots: Vec<(i32, Slot<'a>)>,
    pub(super) unknown: Vec<Unknown<'a>>,
}

/// The content of one field. Scalars are 64 bits: signed integers and enums sign-extended, unsigned
/// integers and floats' bits zero-extended.
#[derive(Debug, Clone, PartialEq)]
pub enum Slot<'a> {
    /// A singular value.
    One(Value<'a>),
    /// A list of scalars or enums.
    Bits(Vec<u64>),
    /// A list of strings or bytes.
    Bytes(Vec<&'a [u8]>),
    /// A list of messages.
    Messages(Vec<Node<'a>>),
    /// A map.
    Map(BTreeMap<Key<'a>, Value<'a>>),
}

/// A single value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// A scalar or an enum.
    Bits(u64),
    /// A string or bytes.
    Bytes(&'a [u8]),
    /// A message.
    Message(Box<Node<'a>>),
}

/// A map key, ordered as C++'s deterministic serialization orders them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key<'a> {
    /// `bool` and unsigned integers.
    Unsigned(u64),
    /// Signed integers.
    Signed(i64),
    /// Strings.
    Text(&'a [u8]),
}

/// A field that the reader does not know, or a value that its field does not take.
#[derive(Debug, Clone, PartialEq)]
pub struct Unknown<'a> {
    /// Field number.
    pub number: u32,
    /// The value as it stood on the wire.
    pub value: UnknownValue<'a>,
}

/// An unknown value, by wire type.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)] // the names are the wire types'
pub enum UnknownValue<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    /// Owned only where the reader wrote it anew: a map entry with an unknown number of a closed enum.
    Length(Cow<'a, [u8]>),
    Group(Vec<Unknown<'a>>),
}

impl<'a> Held<'a> {
    /// The root message.
    pub fn root(&self) -> &Node<'a> {
        &self.root
    }

    /// The contract it was read with.
    pub fn contract(&self) -> &'a Contract {
        self.contract
    }
}

impl PartialEq for Held<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.root == other.root
    }
}

impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.ty.name == other.ty.name && self.slots == other.slots && self.unknown == other.unknown
    }
}

impl<'a> Node<'a> {
    pub(super) fn new(ty: &'a Message) -> Self {
        Node { ty, slots: Vec::new(), unknown: Vec::new() }
    }

    /// Its type.
    pub fn message(&self) -> &'a Message {
        self.ty
    }

    /// The set fields in order of their numbers.
    pub fn fields(&self) -> impl Iterator<Item = (&'a Field, &Slot<'a>)> {
        self.slots.iter().filter_map(|(number, slot)| Some((self.ty.field(*number)?, slot)))
    }

    /// The content of the field with this number, if it is set.
    pub fn slot(&self, number: i32) -> Option<&Slot<'a>> {
        let at = self.position(number).ok()?;
        self.slots.get(at).map(|(_, slot)| slot)
    }

    /// Where a field's slot is, or would be.
    fn position(&self, number: i32) -> Result<usize, usize> {
        self.slots.binary_search_by_key(&number, |(n, _)| *n)
    }

    /// The content of the field with this name, if it is set.
    pub fn slot_named(&self, name: &str) -> Option<&Slot<'a>> {
        self.slot(self.ty.field_named(name)?.number)
    }

    /// What the reader does not know, in the order read.
    pub fn unknown(&self) -> &[Unknown<'a>] {
        &self.unknown
    }

    /// Whether nothing is set and nothing unknown was read.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty() && self.unknown.is_empty()
    }

    /// The field's slot, made with `new` where it is not set yet.
    pub(super) fn slot_or(&mut self, number: i32, new: impl FnOnce() -> Slot<'a>) -> &mut Slot<'a> {
        // Writers write fields in order.
        let last = self.slots.last().map_or(i32::MIN, |(n, _)| *n);
        let at = if last < number { Err(self.slots.len()) } else { self.position(number) };
        let at = match at {
            Ok(at) => at,
            Err(at) => {
                self.slots.insert(at, (number, new()));
                at
            }
        };
        &mut self.slots[at].1
    }

    /// Sets a singular field as C++ does: other members of its oneof are cleared, and a zero of a field
    /// without presence is no value.
    pub(super) fn set(&mut self, field: &Field, value: Value<'a>) {
        self.clear_siblings(field);
        if field.presence == Presence::Implicit && value.is_zero() {
            self.slots.retain(|(number, _)| *number != field.number);
        } else {
            *self.slot_or(field.number, || Slot::Bits(Vec::new())) = Slot::One(value);
        }
    }

    /// Clears the other members of the field's oneof; true when one was set.
    pub(super) fn clear_siblings(&mut self, field: &Field) -> bool {
        if field.oneof.is_none() {
            return false;
        }
        let before = self.slots.len();
        let ty = self.ty;
        self.slots.retain(|(number, _)| {
            *number == field.number || ty.field(*number).is_none_or(|f| f.oneof != field.oneof)
        });
        self.slots.len() < before
    }
}

impl Value<'_> {
    /// The zero of its type: what a field without presence does not write.
    pub(super) fn is_zero(&self) -> bool {
        match self {
            Value::Bits(bits) => *bits == 0,
            Value::Bytes(bytes) => bytes.is_empty(),
            Value::Message(_) => false,
        }
    }
}

impl<'a> Key<'a> {
    /// A key of this field from its bits.
    pub(super) fn of(field: &Field, bits: u64) -> Key<'a> {
        match &field.ty {
            Type::Scalar(Scalar::String) => Key::Text(&[]),
            ty => match Number::of(ty, bits) {
                Number::Int(_) if is_signed(ty) => Key::Signed(bits as i64),
                _ => Key::Unsigned(bits),
            },
        }
    }

    /// The bits of a number, none of a string.
    pub(super) fn bits(self) -> Option<u64> {
        match self {
            Key::Unsigned(bits) => Some(bits),
            Key::Signed(value) => Some(value as u64),
            Key::Text(_) => None,
        }
    }
}

fn is_signed(ty: &Type) -> bool {
    use Scalar::{Int32, Int64, Sfixed32, Sfixed64, Sint32, Sint64};
    matches!(ty, Type::Scalar(Int32 | Int64 | Sint32 | Sint64 | Sfixed32 | Sfixed64))
}

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Unsigned(value) => write!(f, "{value}"),
            Key::Signed(value) => write!(f, "{value}"),
            Key::Text(text) => write!(f, "\"{}\"", text.escape_ascii()),
        }
    }
}
