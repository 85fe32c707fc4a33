//! The artifact has a field that the contract does not.
//!
//! ## What it flags
//!
//! Fields, at any depth and in every layer, whose number the contract does not have, or that are written
//! with another wire type than the contract's. Equal ones are one finding with a count. With the first one's
//! place come its number, wire type and bytes.
//!
//! ## Why it matters
//!
//! A loader with this contract drops what they say, without a word.
//!
//! ## What to do
//!
//! Find out which compiler wrote the artifact. If it is newer than the contract here, the field has to be
//! added to `proto/`; if nobody knows the field, the writer is broken.

use std::collections::BTreeMap;

use prost_reflect::MessageDescriptor;

use super::finding::{Draft, Level, Sink};
use super::rule::{At, Rule, RuleInfo};
use super::subject::Subject;
use crate::artifact::wire::{Field, Wire};

pub(super) static RULE: RuleInfo = RuleInfo { id: "unknown-field", level: Level::Warning };

/// More different ones than this are not told apart.
const TOLD_APART: usize = 1000;

#[derive(Default)]
pub(super) struct Check {
    found: BTreeMap<(String, u32, &'static str), Unknown>,
}

struct Unknown {
    path: String,
    thunk: Option<String>,
    declared: bool,
    bytes: usize,
    count: u64,
}

impl Check {
    pub(super) fn new(_: &Subject) -> Self {
        Check::default()
    }
}

impl Rule for Check {
    fn unknown(
        &mut self,
        at: &mut At<'_>,
        owner: &MessageDescriptor,
        field: &Field,
        declared: bool,
    ) {
        let key = (owner.full_name().to_owned(), field.number, wire(field.wire));
        if self.found.len() >= TOLD_APART && !self.found.contains_key(&key) {
            return;
        }
        let unknown = self.found.entry(key).or_insert_with(|| Unknown {
            path: at.path(),
            thunk: at.thunk(),
            declared,
            bytes: 0,
            count: 0,
        });
        unknown.count += 1;
        unknown.bytes += field.whole.len();
    }

    fn finish(&mut self, sink: &mut Sink) {
        for ((owner, number, wire), unknown) in std::mem::take(&mut self.found) {
            let why = if unknown.declared {
                "which the contract gives another type"
            } else {
                "which the contract does not have"
            };
            let message = format!("field {number} of {owner}, {wire}, {why}");
            let draft = Draft::new(message).bytes(unknown.bytes).count(unknown.count);
            sink.add(&RULE, || (unknown.path, unknown.thunk), draft);
        }
    }
}

fn wire(wire: Wire) -> &'static str {
    match wire {
        Wire::Varint => "a varint",
        Wire::Fixed64 => "64 bits",
        Wire::Length => "length-delimited",
        Wire::Group => "a group",
        Wire::Fixed32 => "32 bits",
    }
}
