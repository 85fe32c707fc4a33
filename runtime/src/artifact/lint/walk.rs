//! Goes through a serialized message by its schema, without building anything of it.

use std::collections::BTreeMap;

use prost_reflect::{Cardinality, FieldDescriptor, Kind, MessageDescriptor};

use super::place::Place;
use crate::artifact::limits::{self, Budget};
use crate::artifact::rope::Rope;
use crate::artifact::wire::{Field, Fields, Wire};
use crate::error::Error;

/// Messages inside one another; protobuf's own limit, which XLA's loaders have.
const DEPTH: u64 = 100;
/// Keys are shown up to this many characters.
const KEY_SHOWN: usize = 40;

/// What sees a message as it is walked.
pub(super) trait Visitor {
    /// A message begins.
    fn enter(&mut self, place: &Place, message: &MessageDescriptor, bytes: &Rope);
    /// The message ends.
    fn leave(&mut self, place: &Place, message: &MessageDescriptor);
    /// A string or bytes field.
    fn content(&mut self, place: &Place, field: &FieldDescriptor, bytes: &Rope);
    /// A field that a reader puts among the unknown ones; `declared` where only its wire type is another.
    fn unknown(&mut self, place: &Place, owner: &MessageDescriptor, field: &Field, declared: bool);
}

/// Walks `bytes` as a message of the given type.
pub(super) fn walk(
    message: &MessageDescriptor,
    bytes: &Rope,
    prefix: &'static str,
    visitor: &mut impl Visitor,
    budget: &mut Budget<'_>,
) -> Result<(), Error> {
    let mut walker = Walker { place: Place::new(prefix), depth: 0, visitor, budget };
    walker.message(message, bytes)
}

struct Walker<'w, 'b, V> {
    place: Place,
    depth: u64,
    visitor: &'w mut V,
    budget: &'w mut Budget<'b>,
}

impl<V: Visitor> Walker<'_, '_, V> {
    fn message(&mut self, message: &MessageDescriptor, bytes: &Rope) -> Result<(), Error> {
        let layer = message.full_name();
        let what = "messages inside one another";
        limits::check(layer, 0, what, self.depth, DEPTH, "nesting")?;
        self.depth += 1;
        self.visitor.enter(&self.place, message, bytes);
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        let mut fields = Fields::new(bytes);
        while let Some(field) = fields.next_field().map_err(|error| error.in_layer(layer))? {
            self.budget.walk(layer, 1)?;
            let mark = self.place.mark();
            match message.get_field(field.number) {
                None => {
                    self.place.push_number(field.number);
                    self.visitor.unknown(&self.place, message, &field, false);
                }
                Some(known) => {
                    let repeated = known.cardinality() == Cardinality::Repeated;
                    let index = repeated.then(|| {
                        let count = counts.entry(field.number).or_default();
                        *count += 1;
                        *count - 1
                    });
                    self.known(message, &known, &field, index, bytes)?;
                }
            }
            self.place.back_to(mark);
        }
        self.visitor.leave(&self.place, message);
        self.depth -= 1;
        Ok(())
    }

    fn known(
        &mut self,
        owner: &MessageDescriptor,
        known: &FieldDescriptor,
        field: &Field,
        index: Option<usize>,
        bytes: &Rope,
    ) -> Result<(), Error> {
        let kind = known.kind();
        if !fits(&kind, field.wire, index.is_some()) {
            self.place.push(known, None);
            self.visitor.unknown(&self.place, owner, field, true);
            return Ok(());
        }
        if field.wire != Wire::Length
            || !matches!(kind, Kind::Message(_) | Kind::String | Kind::Bytes)
        {
            return Ok(());
        }
        let value = bytes.slice(field.value.clone()).unwrap_or_default();
        match kind {
            Kind::Message(entry) if known.is_map() => {
                self.place.push(known, None);
                self.place.push_key(key(&entry, &value, owner.full_name())?);
                self.message(&entry, &value)
            }
            Kind::Message(inner) => {
                self.place.push(known, index);
                self.message(&inner, &value)
            }
            _ => {
                self.place.push(known, index);
                self.visitor.content(&self.place, known, &value);
                Ok(())
            }
        }
    }
}

/// Whether C++ protobuf takes a value of this wire type for the field.
fn fits(kind: &Kind, wire: Wire, repeated: bool) -> bool {
    let own = match kind {
        Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => Wire::Fixed64,
        Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => Wire::Fixed32,
        Kind::String | Kind::Bytes | Kind::Message(_) => return wire == Wire::Length,
        _ => Wire::Varint,
    };
    wire == own || repeated && wire == Wire::Length
}

/// The key of a map entry, for paths.
fn key(entry: &MessageDescriptor, bytes: &Rope, layer: &str) -> Result<String, Error> {
    let number = entry.map_entry_key_field().number();
    let mut key = String::new();
    let mut fields = Fields::new(bytes);
    while let Some(field) = fields.next_field().map_err(|error| error.in_layer(layer))? {
        if field.number != number {
            continue;
        }
        key = match field.wire {
            Wire::Length => {
                let end = field.value.end.min(field.value.start + 4 * KEY_SHOWN);
                let text = bytes.slice(field.value.start..end).unwrap_or_default().to_bytes();
                String::from_utf8_lossy(&text).chars().take(KEY_SHOWN).collect()
            }
            _ => field.scalar.cast_signed().to_string(),
        };
    }
    Ok(key)
}
