//! A thunk has no kind that the contract knows.
//!
//! ## What it flags
//!
//! A thunk of which no kind is set. Its fields of unknown numbers, if it has any, are named: one of them is a
//! kind that a later compiler writes, or that an earlier one wrote and that is gone.
//!
//! ## Why it matters
//!
//! A loader cannot run the step. It refuses the artifact with "Encountered ThunkProto without an embedded
//! thunk".
//!
//! ## What to do
//!
//! Load the artifact in a runtime whose contract has the kind; `aotgate artifact compat` says which.

use prost_reflect::MessageDescriptor;

use super::finding::{Draft, Level};
use super::rule::{At, Rule, RuleInfo, THUNK};
use super::subject::Subject;
use crate::artifact::rope::Rope;
use crate::artifact::wire::Fields;

pub(super) static RULE: RuleInfo = RuleInfo { id: "thunk-kind-unset", level: Level::Error };

/// Unknown numbers that are named.
const NAMED: usize = 5;

pub(super) struct Check;

impl Check {
    pub(super) fn new(_: &Subject) -> Self {
        Check
    }
}

impl Rule for Check {
    fn enter(&mut self, at: &mut At<'_>, message: &MessageDescriptor, bytes: &Rope) {
        if message.full_name() != THUNK {
            return;
        }
        let mut unknown = Vec::new();
        let mut fields = Fields::new(bytes);
        while let Ok(Some(field)) = fields.next_field() {
            match message.get_field(field.number) {
                Some(known) if known.containing_oneof().is_some() => return,
                Some(_) => {}
                None if unknown.len() < NAMED => unknown.push(field.number.to_string()),
                None => {}
            }
        }
        let message = match unknown.as_slice() {
            [] => "no kind is set".to_owned(),
            numbers => format!("no known kind is set; unknown fields: {}", numbers.join(", ")),
        };
        at.report(&RULE, Draft::new(message));
    }
}
