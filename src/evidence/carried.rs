//! Which constructs a message carries.

use std::collections::{BTreeSet, HashMap};

use super::names::{Target, in_base};
use crate::change::Pairs;
use crate::descriptor::{Contract, Type};
use crate::view::{Held, Node, Slot, Value};

/// Constructs that are looked for.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    types: HashMap<String, Vec<usize>>,
    /// By message or enum, then by number in it.
    numbers: HashMap<String, HashMap<i32, Vec<usize>>>,
}

impl Wanted {
    /// The constructs that findings name, in their order; those that base does not have are carried by nothing.
    pub(super) fn new(
        constructs: &[String],
        base: &Contract,
        head: &Contract,
        pairs: &Pairs,
    ) -> Wanted {
        let mut wanted = Wanted::default();
        for (at, construct) in constructs.iter().enumerate() {
            for target in in_base(construct, base, head, pairs) {
                match target {
                    Target::Type(name) => wanted.types.entry(name.to_owned()).or_default().push(at),
                    Target::Field(owner, number) | Target::Value(owner, number) => {
                        let numbers = wanted.numbers.entry(owner.to_owned()).or_default();
                        numbers.entry(number).or_default().push(at);
                    }
                }
            }
        }
        wanted
    }

    /// Fields that `contract` itself has, by their full names in it.
    pub(super) fn fields_of(contract: &Contract, constructs: &[String]) -> Wanted {
        let mut wanted = Wanted::default();
        for (at, construct) in constructs.iter().enumerate() {
            let Some((owner, name)) = construct.rsplit_once('.') else { continue };
            let field = contract.message(owner).and_then(|message| message.field_named(name));
            if let Some(field) = field {
                let numbers = wanted.numbers.entry(owner.to_owned()).or_default();
                numbers.entry(field.number).or_default().push(at);
            }
        }
        wanted
    }

    /// Whether nothing is looked for.
    pub(super) fn is_empty(&self) -> bool {
        self.types.is_empty() && self.numbers.is_empty()
    }
}

/// Positions of the wanted constructs that a message carries, sorted.
pub(super) fn carried(held: &Held<'_>, wanted: &Wanted) -> Vec<usize> {
    let mut found = BTreeSet::new();
    if !wanted.is_empty() {
        visit(held.root(), held.contract(), wanted, &mut found);
    }
    found.into_iter().collect()
}

/// The view's decoder bounds the depth.
fn visit(node: &Node<'_>, contract: &Contract, wanted: &Wanted, found: &mut BTreeSet<usize>) {
    let message = node.message();
    found.extend(wanted.types.get(&*message.name).into_iter().flatten());
    let number = |owner: &str, number: i32, found: &mut BTreeSet<usize>| {
        let places = wanted.numbers.get(owner).and_then(|numbers| numbers.get(&number));
        found.extend(places.into_iter().flatten());
    };
    for (field, slot) in node.fields() {
        number(&message.name, field.number, found);
        let bits = |ty: &Type, bits: u64, found: &mut BTreeSet<usize>| {
            if let Type::Enum(name) = ty {
                number(name, bits as i32, found);
            }
        };
        match slot {
            Slot::One(Value::Bits(value)) => bits(&field.ty, *value, found),
            Slot::One(Value::Message(inner)) => visit(inner, contract, wanted, found),
            Slot::One(Value::Bytes(_)) | Slot::Bytes(_) => {}
            Slot::Bits(list) => list.iter().for_each(|value| bits(&field.ty, *value, found)),
            Slot::Messages(list) => {
                list.iter().for_each(|inner| visit(inner, contract, wanted, found));
            }
            Slot::Map(map) => {
                let entry = field.ty.named().and_then(|name| contract.message(name));
                let ty = entry.and_then(|entry| entry.field(2)).map(|value| &value.ty);
                for value in map.values() {
                    match (value, ty) {
                        (Value::Message(inner), _) => visit(inner, contract, wanted, found),
                        (Value::Bits(value), Some(ty)) => bits(ty, *value, found),
                        _ => {}
                    }
                }
            }
        }
    }
}
