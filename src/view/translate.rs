//! What one contract's reader holds, in another contract's numbers.

use super::canonical;
use super::held::{Held, Node, Slot, Value};
use super::json;
use super::loss::{Ledger, Loss, LossKind, Lost};
use super::names::Names;
use super::path::Path;
use crate::change::Pairs;
use crate::descriptor::{Contract, Field, Label, Message};

/// Encodes what is held under another contract, matching fields and enum values by name.
///
/// `pairs` pairs the types of the contract it was read with to those of `to`. A name that `to` does not
/// have matches what is under the same number, provided that this is a rename and no reuse. What the
/// reader did not know, what `to` has no place for, and what a reader of `to` would refuse is listed;
/// the bytes hold the rest.
///
/// Where the contract it was read with has payload messages, JSON payloads are carried over too and
/// printed anew.
pub fn translate<'a>(held: &'a Held<'a>, to: &'a Contract, pairs: &Pairs) -> (Vec<u8>, Vec<Loss>) {
    let payloads = json::translated(held, to, pairs);
    let rewritten = payloads.as_ref().map(|(texts, _)| texts.apply(held));
    let (root, mut losses) = carry(rewritten.as_ref().unwrap_or(held), to, pairs);
    let bytes = root.map(|root| canonical::encode(to, &root)).unwrap_or_default();
    losses.extend(payloads.iter().flat_map(|(_, losses)| losses.iter().cloned()));
    (bytes, losses)
}

/// What is held as a message of another contract.
pub(super) fn carry<'a>(
    held: &'a Held<'_>,
    to: &'a Contract,
    pairs: &Pairs,
) -> (Option<Node<'a>>, Vec<Loss>) {
    let mut translator = Translator {
        names: Names::new(held.contract, to, pairs),
        ledger: Ledger::default(),
        path: Path::default(),
    };
    let ty = pairs.message_in_head(&held.root.ty.name).and_then(|name| to.message(name));
    let Some(ty) = ty else {
        translator.lost(LossKind::NotModelled, "the contract has no such message", held.root.ty, 0);
        return (None, translator.ledger.finish());
    };
    let root = translator.node(&held.root, ty);
    (Some(root), translator.ledger.finish())
}

pub(super) struct Translator<'a, 'p> {
    pub(super) names: Names<'a, 'p>,
    ledger: Ledger,
    path: Path<'a>,
}

impl<'a> Translator<'a, '_> {
    fn lost(&mut self, kind: LossKind, why: &'static str, owner: &'a Message, number: i32) {
        self.ledger.add(kind, why, Lost::Field(owner, number), &self.path, String::new);
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

    pub(super) fn node(&mut self, node: &'a Node<'a>, ty: &'a Message) -> Node<'a> {
        for unknown in &node.unknown {
            self.path.number(unknown.number);
            let number = unknown.number as i32;
            self.lost(LossKind::Dropped, "the reader does not know it", node.ty, number);
            self.path.pop();
        }
        let mut out = Node::new(ty);
        for (field, slot) in node.fields() {
            self.path.field(&field.name);
            match self.names.field(node.ty, ty, field) {
                Some(target) => self.slot(&mut out, node.ty, (field, target), slot),
                None => {
                    let why = "the contract has no such field";
                    self.lost(LossKind::NotModelled, why, node.ty, field.number);
                }
            }
            self.path.pop();
        }
        for field in ty.fields.iter().filter(|f| f.label == Label::Required) {
            if out.slot(field.number).is_none() {
                self.path.field(&field.name);
                self.lost(LossKind::Refused, "required but not set", ty, field.number);
                self.path.pop();
            }
        }
        out
    }

    /// Carries the content of a field over; `fields` are the field and its counterpart.
    fn slot(
        &mut self,
        out: &mut Node<'a>,
        owner: &'a Message,
        fields: (&'a Field, &'a Field),
        slot: &'a Slot<'a>,
    ) {
        let (field, target) = fields;
        let into_map = self.entry_type(target).is_some();
        if let Slot::Map(_) = slot
            && into_map
        {
            return self.map(out, owner, fields, slot);
        }
        if into_map || matches!(slot, Slot::Map(_)) {
            let why = "a map on one side only";
            return self.lost(LossKind::NotModelled, why, owner, field.number);
        }
        if target.label != Label::Repeated {
            if slot.len() > 1 {
                let why = "a list, of which only the last value has a place";
                self.lost(LossKind::NotModelled, why, owner, field.number);
            }
            let Some(last) = slot.elements().last() else { return };
            let Some(value) = self.value(owner, fields, last) else { return };
            if out.clear_siblings(target) {
                let why = "clears another member of its oneof";
                self.lost(LossKind::Dropped, why, owner, field.number);
            }
            return out.set(target, value);
        }
        let list = field.label == Label::Repeated;
        for (at, element) in slot.elements().enumerate() {
            if list {
                self.path.index(at);
            }
            if let Some(value) = self.value(owner, fields, element) {
                out.slot_or(target.number, || Slot::list_of(&value)).push(value);
            }
            if list {
                self.path.pop();
            }
        }
    }

    /// The entry type of a map field.
    fn entry_type(&self, field: &Field) -> Option<&'a Message> {
        let ty = self.names.to.message(field.ty.named()?)?;
        (ty.map_entry && field.label == Label::Repeated).then_some(ty)
    }

    fn map(
        &mut self,
        out: &mut Node<'a>,
        owner: &'a Message,
        (field, target): (&'a Field, &'a Field),
        slot: &'a Slot<'a>,
    ) {
        let from = field.ty.named().and_then(|name| self.names.from.message(name));
        let (Some(from), Some(to), Slot::Map(map)) = (from, self.entry_type(target), slot) else {
            return;
        };
        let both = |number| Some((from.field(number)?, to.field(number)?));
        let (Some(keys), Some(values)) = (both(1), both(2)) else { return };
        for (key, value) in map {
            self.path.key(*key);
            let key = self.key(owner, keys, *key);
            let value: Option<Value<'a>> = self.value(from, values, value.element());
            if let (Some(key), Some(value)) = (key, value)
                && let Slot::Map(map) = out.slot_or(target.number, || Slot::Map(Default::default()))
            {
                map.insert(key, value);
            }
            self.path.pop();
        }
    }
}
