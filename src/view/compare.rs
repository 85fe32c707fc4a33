//! What was written beside what was read, value by value.

use super::bits::{Number, wire_type};
use super::element::Element;
use super::held::{Held, Node, Slot, Value};
use super::loss::{Ledger, Loss, LossKind, Lost};
use super::names::{self, Counterpart, Names};
use super::path::Path;
use crate::change::Pairs;
use crate::descriptor::{Enum, Field, Label, Message, Presence, Type};

pub(super) struct Comparison<'a, 'p> {
    names: Names<'a, 'p>,
    ledger: Ledger,
    pub(super) path: Path<'a>,
}

/// A field as the writer and as the reader declare it, with the writer's message.
#[derive(Clone, Copy)]
struct Fields<'a> {
    owner: &'a Message,
    written: &'a Field,
    read: &'a Field,
}

impl<'a> Fields<'a> {
    fn lost(self) -> Lost<'a> {
        Lost::Field(self.owner, self.written.number)
    }
}

impl<'a> Comparison<'a, '_> {
    pub(super) fn run(written: &'a Held<'a>, read: &'a Held<'a>, pairs: &Pairs) -> Vec<Loss> {
        let names = Names::new(written.contract, read.contract, pairs);
        let mut comparison = Comparison { names, ledger: Ledger::default(), path: Path::default() };
        comparison.node(&written.root, &read.root);
        comparison.ledger.finish()
    }

    pub(super) fn add(
        &mut self,
        kind: LossKind,
        why: &'static str,
        lost: Lost<'a>,
        detail: impl FnOnce() -> String,
    ) {
        self.ledger.add(kind, why, lost, &self.path, detail);
    }

    fn node(&mut self, written: &'a Node<'a>, read: &'a Node<'a>) {
        let owner = written.ty;
        for (field, slot) in written.fields() {
            self.path.field(&field.name);
            match read.ty.field(field.number) {
                None => {
                    let moved = read.ty.field_named(&field.name).map(|f| f.number);
                    let detail =
                        || moved.map_or_else(String::new, |n| format!("it is number {n} there"));
                    let lost = Lost::Field(owner, field.number);
                    self.add(LossKind::Dropped, "the reader does not have the field", lost, detail);
                }
                Some(reader) => {
                    let fields = Fields { owner, written: field, read: reader };
                    self.field(fields, slot, read);
                }
            }
            self.path.pop();
        }
        self.defaults(written, read);
    }

    fn field(&mut self, fields: Fields<'a>, slot: &'a Slot<'a>, reader: &'a Node<'a>) {
        let Fields { owner, written, read } = fields;
        let other = self.names.other(owner, reader.ty, (written, read)).map(str::to_owned);
        match (other, reader.slot(read.number)) {
            (Some(why), Some(_)) => {
                let detail = || format!("read as {}: {why}", read.name);
                let reason = "the reader has another field under the number";
                self.add(LossKind::Reinterpreted, reason, fields.lost(), detail);
            }
            (_, None) => self.absent(fields, slot, reader),
            (None, Some(held)) => self.slot(fields, slot, held),
        }
    }

    /// The reader holds nothing where something was written.
    fn absent(&mut self, fields: Fields<'a>, slot: &'a Slot<'a>, reader: &'a Node<'a>) {
        if self.closed(fields, slot) {
            return;
        }
        let read = fields.read;
        let detail = || format!("{} read as {}", fields.written.ty, read.ty);
        let sibling = |(f, _): (&Field, &Slot<'_>)| f.oneof.is_some() && f.oneof == read.oneof;
        let (kind, why) = if matches!(slot, Slot::One(value) if value.is_zero())
            && read.presence == Presence::Implicit
        {
            (LossKind::Presence, "set to zero, which reads as unset")
        } else if matches!(slot, Slot::One(Value::Bits(_)))
            && read.presence == Presence::Implicit
            && wire_type(fields.written) == wire_type(read)
        {
            (LossKind::Reinterpreted, "the reader's type makes it zero")
        } else if reader.fields().any(sibling) {
            (LossKind::Dropped, "another member of the reader's oneof is set")
        } else {
            (LossKind::Dropped, "the wire type is not the reader's")
        };
        self.add(kind, why, fields.lost(), detail);
    }

    /// Lists the values that a closed enum of the reader does not take; true when there are some.
    fn closed(&mut self, fields: Fields<'a>, slot: &'a Slot<'a>) -> bool {
        let (written, read) = self.map_values(fields).unwrap_or((fields.written, fields.read));
        let Type::Enum(name) = &read.ty else { return false };
        let Some(to) = self.names.to.enumeration(name).filter(|_| read.closed_enum) else {
            return false;
        };
        let from = self.names.enums(&written.ty, &read.ty).map(|(from, _)| from);
        let mut dropped = false;
        let mut value = |element: Element<'_, '_>| {
            if let Element::Bits(bits) = element
                && to.value(bits as i32).is_none()
            {
                dropped = true;
                let why = "the reader's closed enum does not have the value";
                let lost = from.map_or(fields.lost(), |from| Lost::Value(from, bits as i32));
                self.ledger.add(LossKind::Dropped, why, lost, &self.path, String::new);
            }
        };
        match slot {
            Slot::Map(map) => map.values().for_each(|v| value(v.element())),
            _ => slot.elements().for_each(value),
        }
        dropped
    }

    /// The value fields of a field that is a map on both sides.
    fn map_values(&self, fields: Fields<'a>) -> Option<(&'a Field, &'a Field)> {
        let from = self.names.from.message(fields.written.ty.named()?)?;
        let to = self.names.to.message(fields.read.ty.named()?)?;
        (from.map_entry && to.map_entry).then(|| Some((from.field(2)?, to.field(2)?)))?
    }

    fn slot(&mut self, fields: Fields<'a>, written: &'a Slot<'a>, read: &'a Slot<'a>) {
        if let (Slot::Map(from), Slot::Map(to)) = (written, read) {
            let Some((from_field, to_field)) = self.map_values(fields) else { return };
            let dropped = self.closed(fields, written);
            for (key, value) in from {
                self.path.key(*key);
                // A key of another type may read as another key; the values alone tell.
                match to.get(key) {
                    Some(other) => {
                        let fields = Fields { written: from_field, read: to_field, ..fields };
                        self.element(fields, value.element(), other.element());
                    }
                    None if !dropped => {
                        let why = "the reader does not have the key";
                        self.add(LossKind::Dropped, why, fields.lost(), String::new);
                    }
                    None => {}
                }
                self.path.pop();
            }
            return;
        }
        if written.len() > read.len() && !self.closed(fields, written) {
            let bits = |slot: &Slot<'_>| matches!(slot.elements().next(), Some(Element::Bits(_)));
            let (why, kind) = match read {
                // A packed list as one string, or the other way round.
                _ if bits(written) != bits(read) => {
                    ("the reader has another kind of type", LossKind::Reinterpreted)
                }
                Slot::One(Value::Message(_)) => {
                    ("the reader merges the list into one message", LossKind::Reinterpreted)
                }
                Slot::Map(_) => ("a later entry of the same key replaces it", LossKind::Dropped),
                _ => ("the reader keeps the last value only", LossKind::Dropped),
            };
            let counts = || format!("{} of {}", read.len(), written.len());
            return self.add(kind, why, fields.lost(), counts);
        }
        if written.len() != read.len() {
            return;
        }
        let list = fields.written.label == Label::Repeated;
        for (at, (from, to)) in written.elements().zip(read.elements()).enumerate() {
            if list {
                self.path.index(at);
            }
            self.element(fields, from, to);
            if list {
                self.path.pop();
            }
        }
    }

    fn element(&mut self, fields: Fields<'a>, written: Element<'a, 'a>, read: Element<'a, 'a>) {
        let (from, to) = (&fields.written.ty, &fields.read.ty);
        match (written, read) {
            (Element::Message(from), Element::Message(to)) => self.node(from, to),
            (Element::Bits(written), Element::Bits(read)) => {
                if let Some((from, to)) = self.names.enums(from, to) {
                    return self.enum_value(from, to, read as i32);
                }
                let numbers = (Number::of(from, written), Number::of(to, read));
                if from != to && numbers.0.bits(to) != Some(read) {
                    let detail = || format!("{} {from} read as {} {to}", numbers.0, numbers.1);
                    let why = "the reader has another type";
                    self.add(LossKind::Reinterpreted, why, fields.lost(), detail);
                }
            }
            (Element::Bytes(_), Element::Bytes(_)) => {}
            _ => {
                let why = "the reader has another kind of type";
                let detail = || format!("{from} read as {to}");
                self.add(LossKind::Reinterpreted, why, fields.lost(), detail);
            }
        }
    }

    fn enum_value(&mut self, from: &'a Enum, to: &'a Enum, number: i32) {
        let (kind, why) = match names::value(from, to, number) {
            Counterpart::Number(same) if same == number => return,
            Counterpart::Nameless => return,
            _ if to.value(number).is_none() => {
                (LossKind::Unnamed, "the reader has no name for the number")
            }
            _ => (LossKind::Reinterpreted, "the reader has another value under the number"),
        };
        let detail =
            || to.value(number).map_or_else(String::new, |v| format!("read as {}", v.name));
        self.add(kind, why, Lost::Value(from, number), detail);
    }
}
