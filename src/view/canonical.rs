//! The canonical encoding: one sequence of bytes for each content.
//!
//! Fields in order of their numbers, maps sorted by key with key and value always written, lists packed
//! as declared, zeros of fields without presence left out. It is what C++'s deterministic
//! serialization writes. Unknown fields, where wanted, follow the known ones, sorted by number.

use super::bits::{END_GROUP, FIXED32, FIXED64, LENGTH, START_GROUP, VARINT, to_varint, wire_type};
use super::held::{Held, Key, Node, Slot, Unknown, UnknownValue, Value};
use super::sink::{Encode, Sink, collect};
use crate::descriptor::{Contract, Field, Type};

impl Held<'_> {
    /// Canonical bytes of what the reader's code sees: unknown fields are left out.
    pub fn canonical(&self) -> Vec<u8> {
        encode(self.contract, &self.root)
    }

    /// Canonical bytes with the unknown fields of every message.
    pub fn canonical_with_unknown(&self) -> Vec<u8> {
        collect(&Message { contract: self.contract, node: &self.root, unknown: true })
    }
}

/// Canonical bytes of a message of this contract, without unknown fields.
pub(super) fn encode(contract: &Contract, node: &Node<'_>) -> Vec<u8> {
    collect(&Message { contract, node, unknown: false })
}

#[derive(Clone, Copy)]
struct Message<'n, 'a> {
    contract: &'n Contract,
    node: &'n Node<'a>,
    unknown: bool,
}

impl<'n, 'a> Message<'n, 'a> {
    fn of(self, node: &'n Node<'a>) -> Self {
        Message { node, ..self }
    }

    fn slot(self, field: &Field, slot: &'n Slot<'a>, sink: &mut impl Sink) {
        match slot {
            Slot::One(value) => self.value(field, value, sink),
            Slot::Bits(list) if field.packed => {
                sink.tag(field.number as u32, LENGTH);
                let wire = wire_type(field);
                sink.nested(|sink| {
                    list.iter().for_each(|&bits| sink.raw(wire, to_varint(&field.ty, bits)));
                });
            }
            Slot::Bits(list) => list.iter().for_each(|&bits| scalar(field, bits, sink)),
            Slot::Bytes(list) => {
                list.iter().for_each(|bytes| sink.length_delimited(field.number as u32, bytes));
            }
            Slot::Messages(list) => list.iter().for_each(|node| self.message(field, node, sink)),
            Slot::Map(map) => {
                let Type::Message(entry) = &field.ty else { return };
                let Some(entry) = self.contract.message(entry) else { return };
                let (Some(key_field), Some(value_field)) = (entry.field(1), entry.field(2)) else {
                    return;
                };
                for (key, content) in map {
                    sink.tag(field.number as u32, LENGTH);
                    sink.nested(|sink| {
                        write_key(key_field, *key, sink);
                        self.value(value_field, content, sink);
                    });
                }
            }
        }
    }

    fn value(self, field: &Field, value: &'n Value<'a>, sink: &mut impl Sink) {
        match value {
            Value::Bits(bits) => scalar(field, *bits, sink),
            Value::Bytes(bytes) => sink.length_delimited(field.number as u32, bytes),
            Value::Message(node) => self.message(field, node, sink),
        }
    }

    fn message(self, field: &Field, node: &'n Node<'a>, sink: &mut impl Sink) {
        let number = field.number as u32;
        if field.delimited {
            sink.tag(number, START_GROUP);
            self.of(node).encode(sink);
            sink.tag(number, END_GROUP);
        } else {
            sink.tag(number, LENGTH);
            sink.nested(|sink| self.of(node).encode(sink));
        }
    }
}

impl Encode for Message<'_, '_> {
    fn encode(&self, sink: &mut impl Sink) {
        for (field, slot) in self.node.fields() {
            self.slot(field, slot, sink);
        }
        if self.unknown && !self.node.unknown.is_empty() {
            let mut sorted: Vec<&Unknown<'_>> = self.node.unknown.iter().collect();
            // Stable: several of one number stay in order.
            sorted.sort_by_key(|u| u.number);
            sorted.into_iter().for_each(|u| u.encode(sink));
        }
    }
}

impl Encode for Unknown<'_> {
    fn encode(&self, sink: &mut impl Sink) {
        let number = self.number;
        match &self.value {
            UnknownValue::Varint(value) => {
                sink.tag(number, VARINT);
                sink.varint(*value);
            }
            UnknownValue::Fixed64(value) => {
                sink.tag(number, FIXED64);
                sink.raw(FIXED64, *value);
            }
            UnknownValue::Fixed32(value) => {
                sink.tag(number, FIXED32);
                sink.raw(FIXED32, u64::from(*value));
            }
            UnknownValue::Length(bytes) => sink.length_delimited(number, bytes),
            UnknownValue::Group(inner) => {
                sink.tag(number, START_GROUP);
                inner.iter().for_each(|u| u.encode(sink));
                sink.tag(number, END_GROUP);
            }
        }
    }
}

/// A value with its tag.
pub(super) fn scalar(field: &Field, bits: u64, sink: &mut impl Sink) {
    let wire = wire_type(field);
    sink.tag(field.number as u32, wire);
    sink.raw(wire, to_varint(&field.ty, bits));
}

fn write_key(field: &Field, key: Key<'_>, sink: &mut impl Sink) {
    match key {
        Key::Text(text) => sink.length_delimited(field.number as u32, text),
        key => scalar(field, key.bits().unwrap_or_default(), sink),
    }
}

/// A map entry whose value is no message, as C++ writes it into the unknown fields.
pub(super) fn entry(
    key_field: &Field,
    key: Key<'_>,
    value_field: &Field,
    value: &Value<'_>,
) -> Vec<u8> {
    struct Entry<'e>(&'e Field, Key<'e>, &'e Field, &'e Value<'e>);
    impl Encode for Entry<'_> {
        fn encode(&self, sink: &mut impl Sink) {
            write_key(self.0, self.1, sink);
            if let Value::Bits(bits) = self.3 {
                scalar(self.2, *bits, sink);
            }
        }
    }
    collect(&Entry(key_field, key, value_field, value))
}
