//! The values of a slot one by one, wherever they are kept.

use super::held::{Node, Slot, Value};

/// A value of a slot, wherever it is kept.
#[derive(Clone, Copy)]
pub(super) enum Element<'n, 'a> {
    Bits(u64),
    Bytes(&'a [u8]),
    Message(&'n Node<'a>),
}

impl<'a> Slot<'a> {
    /// How many values it has.
    pub(super) fn len(&self) -> usize {
        match self {
            Slot::One(_) => 1,
            Slot::Bits(list) => list.len(),
            Slot::Bytes(list) => list.len(),
            Slot::Messages(list) => list.len(),
            Slot::Map(map) => map.len(),
        }
    }

    /// The values of anything but a map.
    pub(super) fn elements(&self) -> impl Iterator<Item = Element<'_, 'a>> {
        let one = if let Slot::One(value) = self { Some(value.element()) } else { None };
        let bits: &[u64] = if let Slot::Bits(list) = self { list } else { &[] };
        let bytes: &[&'a [u8]] = if let Slot::Bytes(list) = self { list } else { &[] };
        let messages: &[Node<'a>] = if let Slot::Messages(list) = self { list } else { &[] };
        one.into_iter()
            .chain(bits.iter().map(|bits| Element::Bits(*bits)))
            .chain(bytes.iter().map(|bytes| Element::Bytes(bytes)))
            .chain(messages.iter().map(Element::Message))
    }

    /// Adds a value to a list.
    pub(super) fn push(&mut self, value: Value<'a>) {
        match (self, value) {
            (Slot::Bits(list), Value::Bits(bits)) => list.push(bits),
            (Slot::Bytes(list), Value::Bytes(bytes)) => list.push(bytes),
            (Slot::Messages(list), Value::Message(node)) => list.push(*node),
            _ => {}
        }
    }

    /// The empty list of such values.
    pub(super) fn list_of(value: &Value<'_>) -> Self {
        match value {
            Value::Bits(_) => Slot::Bits(Vec::new()),
            Value::Bytes(_) => Slot::Bytes(Vec::new()),
            Value::Message(_) => Slot::Messages(Vec::new()),
        }
    }
}

impl<'a> Value<'a> {
    pub(super) fn element(&self) -> Element<'_, 'a> {
        match self {
            Value::Bits(bits) => Element::Bits(*bits),
            Value::Bytes(bytes) => Element::Bytes(bytes),
            Value::Message(node) => Element::Message(node),
        }
    }
}
