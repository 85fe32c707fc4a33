//! Every change between two contracts: the stable format `aotgate.diff/1`, and a text for people.

mod fold;
mod human;
pub(super) mod words;

pub use human::render;

use serde::Serialize;

use super::json::{Layout, Side, to_text};
use crate::change::{Change, Sides, Subject};
use crate::descriptor::{Contract, Location};
use crate::finding::SideInfo;

/// Name and version of the format.
pub const SCHEMA: &str = "aotgate.diff/1";

/// What is compared.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The older side.
    pub base: &'a SideInfo,
    /// The newer side.
    pub head: &'a SideInfo,
    /// Which changes to show; whoever calls leaves out what should not appear.
    pub changes: &'a [Change<'a>],
    /// The older contract, for places.
    pub base_contract: &'a Contract,
    /// The newer contract, for places.
    pub head_contract: &'a Contract,
}

/// The document.
pub fn json(input: &Input<'_>, layout: Layout) -> String {
    let document = Document {
        schema: SCHEMA,
        base: Side::of(input.base),
        head: Side::of(input.head),
        changes: input.changes.iter().map(|change| Entry::of(input, change)).collect(),
    };
    to_text(&document, layout)
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    base: Side<'a>,
    head: Side<'a>,
    changes: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    kind: &'static str,
    construct: &'a str,
    number: Option<i32>,
    before: Option<&'a str>,
    after: Option<&'a str>,
    wire: Wire,
    file: Option<String>,
    /// Null where only the file is known.
    line: Option<u32>,
    detail: Option<&'a str>,
    surface: &'static str,
    reachable: bool,
}

#[derive(Serialize)]
struct Wire {
    backward: &'static str,
    forward: &'static str,
}

impl<'a> Entry<'a> {
    fn of(input: &Input<'_>, change: &'a Change<'_>) -> Self {
        let place = location(input, change);
        Entry {
            kind: change.kind.name(),
            construct: &change.construct,
            number: change.number,
            before: change.before.as_deref(),
            after: change.after.as_deref(),
            wire: Wire {
                backward: change.wire.backward.name(),
                forward: change.wire.forward.name(),
            },
            file: place.as_ref().map(|p| p.file.to_string()),
            line: place.map(|p| p.line).filter(|&line| line > 0),
            detail: change.detail.as_deref(),
            surface: change.surface.name(),
            reachable: change.reach.any(),
        }
    }
}

/// Where the construct stands: in head, or in base where head does not have it.
fn location(input: &Input<'_>, change: &Change<'_>) -> Option<Location> {
    if in_head(&change.subject) {
        change.head_location(input.head_contract)
    } else {
        change.base_location(input.base_contract)
    }
}

fn in_head(subject: &Subject<'_>) -> bool {
    fn there<T>(sides: &Sides<'_, T>) -> bool {
        sides.head.is_some()
    }
    match subject {
        Subject::Message(sides) => there(sides),
        Subject::Field(_, sides) => there(sides),
        Subject::Oneof(_, sides) => there(sides),
        Subject::Enum(sides) => there(sides),
        Subject::EnumValue(_, sides) => there(sides),
    }
}
