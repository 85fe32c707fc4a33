//! One text read with two contracts: what the second reads otherwise than the first.

use super::super::bits::Number;
use super::super::element::Element;
use super::super::held::{Held, Node, Slot};
use super::super::loss::LossKind;
use super::super::path::Path;
use super::lookup;
use crate::descriptor::{Contract, Field, Message, Presence, Type};

/// Equal differences, with the place of the first in the payload.
#[derive(Debug, Clone)]
pub(super) struct Difference {
    pub(super) kind: LossKind,
    pub(super) construct: String,
    pub(super) path: String,
    pub(super) detail: String,
    pub(super) count: usize,
}

/// Compares by name, as the text does.
pub(super) fn compare(written: &Held<'_>, read: &Held<'_>) -> Vec<Difference> {
    let mut comparison = Comparison {
        from: written.contract,
        to: read.contract,
        path: Path::default(),
        found: Vec::new(),
    };
    comparison.node(&written.root, &read.root);
    comparison.found
}

struct Comparison<'n> {
    from: &'n Contract,
    to: &'n Contract,
    path: Path<'n>,
    found: Vec<Difference>,
}

impl<'n> Comparison<'n> {
    fn add(&mut self, kind: LossKind, owner: &Message, field: &Field, detail: String) {
        let construct = format!("{}.{}", owner.name, field.name);
        let known = self.found.iter_mut().find(|d| d.kind == kind && d.construct == construct);
        if let Some(known) = known {
            known.count += 1;
            return;
        }
        let path = self.path.to_string();
        self.found.push(Difference { kind, construct, path, detail, count: 1 });
    }

    fn node(&mut self, written: &'n Node<'_>, read: &'n Node<'_>) {
        for (field, slot) in written.fields() {
            let Some(other) = lookup::field(read.ty, &field.name) else { continue };
            self.path.field(&field.name);
            match read.slot(other.number) {
                Some(held) => self.slot(written.ty, (field, other), slot, held),
                None if matches!(slot, Slot::One(value) if value.is_zero()) => {
                    let detail = "a zero that was set reads as unset".to_owned();
                    self.add(LossKind::Presence, written.ty, field, detail);
                }
                None => {
                    let detail = "the reader holds nothing".to_owned();
                    self.add(LossKind::Dropped, written.ty, field, detail);
                }
            }
            self.path.pop();
        }
        for (field, _) in read.fields() {
            let Some(other) = lookup::field(written.ty, &field.name) else { continue };
            let unset = written.slot(other.number).is_none();
            if unset && other.presence == Presence::Implicit {
                self.path.field(&other.name);
                let detail = "a zero that is always written reads as set".to_owned();
                self.add(LossKind::Presence, written.ty, other, detail);
                self.path.pop();
            }
        }
    }

    fn slot(
        &mut self,
        owner: &'n Message,
        fields: (&'n Field, &'n Field),
        written: &'n Slot<'_>,
        read: &'n Slot<'_>,
    ) {
        match (written, read) {
            (Slot::Map(from), Slot::Map(to)) => {
                let values = (value_field(self.from, fields.0), value_field(self.to, fields.1));
                let (Some(from_value), Some(to_value)) = values else { return };
                if from.len() != to.len() {
                    let detail = format!("{} entries read as {}", from.len(), to.len());
                    return self.add(LossKind::Reinterpreted, owner, fields.0, detail);
                }
                for ((key, value), (_, other)) in from.iter().zip(to) {
                    self.path.text_key(key.to_string());
                    let pair = (value.element(), other.element());
                    self.element(owner, (from_value, to_value), pair);
                    self.path.pop();
                }
            }
            (Slot::Map(_), _) | (_, Slot::Map(_)) => {
                let detail = "a map on one side only".to_owned();
                self.add(LossKind::Reinterpreted, owner, fields.0, detail);
            }
            _ if written.len() != read.len() => {
                let detail = format!("{} values read as {}", written.len(), read.len());
                self.add(LossKind::Reinterpreted, owner, fields.0, detail);
            }
            _ => {
                let list = !matches!(written, Slot::One(_));
                for (at, pair) in written.elements().zip(read.elements()).enumerate() {
                    if list {
                        self.path.index(at);
                    }
                    self.element(owner, fields, pair);
                    if list {
                        self.path.pop();
                    }
                }
            }
        }
    }

    fn element(
        &mut self,
        owner: &'n Message,
        (field, other): (&'n Field, &'n Field),
        pair: (Element<'n, '_>, Element<'n, '_>),
    ) {
        let same = match pair {
            (Element::Message(written), Element::Message(read)) => return self.node(written, read),
            (Element::Bytes(written), Element::Bytes(read)) => written == read,
            (Element::Bits(written), Element::Bits(read)) => match (&field.ty, &other.ty) {
                // The text has the name.
                (Type::Enum(from), Type::Enum(to)) => {
                    let name = |contract: &'n Contract, name: &str, bits: u64| {
                        let value = contract.enumeration(name)?.value(bits as i32)?;
                        Some(value.name.clone())
                    };
                    let (from, to) = (name(self.from, from, written), name(self.to, to, read));
                    from == to && (from.is_some() || written == read)
                        || aliases(self, field, written, other, read)
                }
                (from, to) => number(from, written) == number(to, read),
            },
            _ => false,
        };
        if !same {
            let detail = format!("{} read as {}", field.ty, other.ty);
            self.add(LossKind::Reinterpreted, owner, field, detail);
        }
    }
}

/// Whether some name of the written number is one of the read number.
fn aliases(
    comparison: &Comparison<'_>,
    field: &Field,
    written: u64,
    other: &Field,
    read: u64,
) -> bool {
    let (Type::Enum(from), Type::Enum(to)) = (&field.ty, &other.ty) else { return false };
    let (Some(from), Some(to)) = (comparison.from.enumeration(from), comparison.to.enumeration(to))
    else {
        return false;
    };
    let mut names = from.values.iter().filter(|v| v.number == written as i32);
    names.any(|v| to.value_named(&v.name).is_some_and(|other| other.number == read as i32))
}

/// A number as text, so that one of another type may be equal to it.
fn number(ty: &Type, bits: u64) -> String {
    match Number::of(ty, bits) {
        Number::Bool(value) => value.to_string(),
        Number::Int(value) => value.to_string(),
        Number::Float(value) => f64::from(value).to_string(),
        Number::Double(value) => value.to_string(),
    }
}

fn value_field<'c>(contract: &'c Contract, field: &Field) -> Option<&'c Field> {
    contract.message(field.ty.named()?)?.field(2)
}
