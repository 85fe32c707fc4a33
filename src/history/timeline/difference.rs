//! What the timeline needs to know of two contracts in a row, so that neither has to be kept.

use std::collections::{HashMap, HashSet};

use super::{ChangeLine, ScopeKind};
use crate::change::{Change, Pairs, Subject, Surface, compare_pairs};
use crate::descriptor::{Contract, Enum, Field, Label, Message, Name, Presence, Reach, Type};

/// A contract, told by what is different from the one before. Small, and made apart from the timeline, so that other
/// threads can.
#[derive(Debug, Default)]
pub struct Difference {
    /// Every type of the new contract: messages by name, then enums.
    pub(super) types: Vec<Declared>,
    /// Changes of what artifacts can carry.
    pub(super) changes: Vec<ChangeLine>,
}

/// A type of the new contract.
#[derive(Debug)]
pub(super) struct Declared {
    pub(super) name: Name,
    pub(super) kind: ScopeKind,
    /// The name of its counterpart.
    pub(super) before: Option<Name>,
    /// What it declares; `None` where a type of that name declared the very same.
    pub(super) facts: Option<Facts>,
}

/// What a type declares.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) reach: Reach,
    pub(super) slots: Vec<Slot>,
    pub(super) reserved_numbers: Vec<(i32, i32)>,
    pub(super) reserved_names: Vec<Name>,
}

/// A field or a value.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) number: i32,
    pub(super) name: Name,
    pub(super) field: Option<Shape>,
    /// Whether it is not what held the number just before.
    pub(super) taken: bool,
}

/// What a field is besides number and name; see [`FieldShape`](super::FieldShape).
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) ty: String,
    pub(super) of: Option<Name>,
    pub(super) label: Label,
    pub(super) presence: Presence,
    pub(super) oneof: Option<String>,
}

impl Difference {
    /// Compares two contracts.
    pub fn new(before: &Contract, after: &Contract) -> Self {
        let pairs = Pairs::new(before, after);
        let changes = compare_pairs(before, after, &pairs);
        let taken = changes
            .iter()
            .filter(|change| change.surface == Surface::Proto && change.repurposed.is_some())
            .filter_map(|change| match &change.subject {
                Subject::Field(owner, field) => Some((&*owner.head?.name, field.head?.number)),
                Subject::EnumValue(owner, value) => Some((&*owner.head?.name, value.head?.number)),
                _ => None,
            });
        let two = Two { before, after, taken: taken.collect() };
        let messages = after.messages.values().filter(|m| !m.map_entry).map(|m| Declared {
            name: m.name.clone(),
            kind: ScopeKind::Message,
            before: pairs.message_in_base(&m.name).cloned(),
            facts: (!two.same_message(m)).then(|| two.message(m)),
        });
        let enums = after.enums.values().map(|e| Declared {
            name: e.name.clone(),
            kind: ScopeKind::Enum,
            before: pairs.enum_in_base(&e.name).cloned(),
            facts: (!two.same_enum(e)).then(|| two.enumeration(e)),
        });
        Difference {
            types: messages.chain(enums).collect(),
            changes: changes.iter().filter(|c| is_reachable(c)).map(ChangeLine::of).collect(),
        }
    }

    /// The same without what changed.
    pub(super) fn without_changes(self) -> Self {
        Difference { changes: Vec::new(), ..self }
    }
}

/// The contracts, and where one thing took another's place: owner and number.
struct Two<'a> {
    before: &'a Contract,
    after: &'a Contract,
    taken: HashSet<(&'a str, i32)>,
}

impl Two<'_> {
    fn message(&self, message: &Message) -> Facts {
        let slots = message.fields.iter().map(|field| Slot {
            number: field.number,
            name: field.name.clone(),
            field: Some(self.shape(field)),
            taken: self.taken.contains(&(&*message.name, field.number)),
        });
        Facts {
            reach: message.reach,
            slots: slots.collect(),
            reserved_numbers: message.reserved_numbers.clone(),
            reserved_names: message.reserved_names.clone(),
        }
    }

    fn enumeration(&self, enumeration: &Enum) -> Facts {
        let slots = enumeration.values.iter().map(|value| Slot {
            number: value.number,
            name: value.name.clone(),
            field: None,
            taken: self.taken.contains(&(&*enumeration.name, value.number)),
        });
        Facts {
            reach: enumeration.reach,
            slots: slots.collect(),
            reserved_numbers: enumeration.reserved_numbers.clone(),
            reserved_names: enumeration.reserved_names.clone(),
        }
    }

    fn shape(&self, field: &Field) -> Shape {
        let (ty, of) = match entry(self.after, field) {
            Some([key, value]) => (format!("map<{}, {}>", key.ty, value.ty), value.ty.named()),
            _ => (field.ty.to_string(), field.ty.named()),
        };
        Shape {
            ty,
            of: of.cloned(),
            label: field.label,
            presence: field.presence,
            oneof: field.oneof.as_deref().map(str::to_owned),
        }
    }

    fn same_message(&self, after: &Message) -> bool {
        self.before.message(&after.name).is_some_and(|before| {
            // One message in both contracts; of the fields only maps depend on another.
            let entries = |field: &Field| self.same_entry(field, field);
            if std::ptr::eq(before, after) {
                return after.fields.iter().all(entries);
            }
            before.map_entry == after.map_entry
                && before.reach == after.reach
                && before.reserved_numbers == after.reserved_numbers
                && before.reserved_names == after.reserved_names
                && before.fields.len() == after.fields.len()
                && before.fields.iter().zip(&after.fields).all(|(a, b)| self.same_field(a, b))
        })
    }

    fn same_field(&self, a: &Field, b: &Field) -> bool {
        a.number == b.number
            && a.name == b.name
            && a.ty == b.ty
            && a.label == b.label
            && a.presence == b.presence
            && a.oneof == b.oneof
            && self.same_entry(a, b)
    }

    fn same_entry(&self, a: &Field, b: &Field) -> bool {
        fn types<'c>(contract: &'c Contract, field: &Field) -> Option<Vec<&'c Type>> {
            entry(contract, field).map(|fields| fields.iter().map(|f| &f.ty).collect())
        }
        a.label != Label::Repeated || types(self.before, a) == types(self.after, b)
    }

    fn same_enum(&self, after: &Enum) -> bool {
        self.before.enumeration(&after.name).is_some_and(|before| {
            if std::ptr::eq(before, after) {
                return true;
            }
            let values = |e: &'_ Enum| -> HashMap<Name, i32> {
                e.values.iter().map(|v| (v.name.clone(), v.number)).collect()
            };
            before.reach == after.reach
                && before.reserved_numbers == after.reserved_numbers
                && before.reserved_names == after.reserved_names
                && before.values.len() == after.values.len()
                && values(before) == values(after)
        })
    }
}

/// The fields of a map's entry type.
fn entry<'c>(contract: &'c Contract, field: &Field) -> Option<&'c [Field]> {
    let Type::Message(name) = &field.ty else { return None };
    contract.message(name).filter(|m| m.map_entry).map(|m| &*m.fields)
}

fn is_reachable(change: &Change<'_>) -> bool {
    match change.surface {
        Surface::Proto => change.reach.wire,
        Surface::JsonPayload => change.reach.json,
        Surface::Container | Surface::Golden | Surface::Policy | Surface::Ledger => false,
    }
}

impl ChangeLine {
    /// What stays of a change.
    pub fn of(change: &Change<'_>) -> Self {
        let size = match &change.subject {
            Subject::Message(sides) => sides.head.or(sides.base).map(|m| m.fields.len()),
            Subject::Enum(sides) => sides.head.or(sides.base).map(|e| e.values.len()),
            _ => None,
        };
        ChangeLine {
            kind: change.kind,
            surface: change.surface,
            construct: change.construct.clone(),
            of_enum: matches!(change.subject, Subject::Enum(_) | Subject::EnumValue(..)),
            number: change.number,
            before: change.before.clone(),
            after: change.after.clone(),
            size: size.map(|size| u32::try_from(size).unwrap_or(u32::MAX)),
            repurposed: change.repurposed.clone(),
        }
    }
}
