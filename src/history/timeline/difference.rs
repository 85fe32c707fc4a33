//! What the timeline needs to know of two contracts in a row: counterparts, changes, and slots that hold something else.

use std::collections::HashSet;

use super::ChangeLine;
use crate::change::{Change, Pairs, Subject, Surface, compare};
use crate::descriptor::{Contract, Name};

/// Two contracts compared; made apart from the timeline, so that other threads can.
#[derive(Debug, Default)]
pub struct Difference {
    /// Which types are one.
    pub(super) pairs: Pairs,
    /// Changes of what artifacts can carry.
    pub(super) changes: Vec<ChangeLine>,
    /// Owner, by its new name, and number where one thing took another's place.
    pub(super) repurposed: HashSet<(Name, i32)>,
}

impl Difference {
    /// Compares two contracts.
    pub fn new(before: &Contract, after: &Contract) -> Self {
        let changes = compare(before, after);
        let repurposed = changes
            .iter()
            .filter(|change| change.surface == Surface::Proto && change.repurposed.is_some())
            .filter_map(|change| match &change.subject {
                Subject::Field(owner, field) => {
                    Some((owner.head?.name.clone(), field.head?.number))
                }
                Subject::EnumValue(owner, value) => {
                    Some((owner.head?.name.clone(), value.head?.number))
                }
                _ => None,
            });
        Difference {
            repurposed: repurposed.collect(),
            changes: changes.iter().filter(|c| is_reachable(c)).map(ChangeLine::of).collect(),
            pairs: Pairs::new(before, after),
        }
    }
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
