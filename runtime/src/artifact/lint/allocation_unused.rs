//! Nothing uses an allocation.
//!
//! ## What it flags
//!
//! An allocation with a size to which no slice, constant or result refers. Parameters, results, tuples
//! and allocations of single threads are left out: callers and the module's own code use those.
//!
//! ## Why it matters
//!
//! Each run takes the memory for nothing, or a thunk that used it was lost.
//!
//! ## What to do
//!
//! Drop the allocation where thunks were optimised away after buffer assignment.

use std::collections::BTreeSet;

use prost::Message as _;
use prost_reflect::MessageDescriptor;

use super::allocation_dangling::allocation_index;
use super::finding::{Draft, Level};
use super::rule::{At, Rule, RuleInfo};
use super::slice_out_of_bounds::SLICE;
use super::subject::Subject;
use crate::artifact::rope::Rope;
use crate::proto::xla::buffer_assignment::BufferAllocationSliceProto;

pub(super) static RULE: RuleInfo = RuleInfo { id: "allocation-unused", level: Level::Note };

/// Allocations that are named.
const NAMED: usize = 10;
const EXECUTABLE: &str = crate::artifact::EXECUTABLE;

pub(super) struct Check {
    used: BTreeSet<i64>,
    thunks: bool,
}

impl Check {
    pub(super) fn new(_: &Subject) -> Self {
        Check { used: BTreeSet::new(), thunks: false }
    }
}

impl Rule for Check {
    fn enter(&mut self, at: &mut At<'_>, message: &MessageDescriptor, bytes: &Rope) {
        self.thunks |= message.full_name() == super::rule::THUNK;
        let Some(allocations) = at.allocations().filter(|allocations| allocations.own) else {
            return;
        };
        let index = if message.full_name() == SLICE {
            let slice = BufferAllocationSliceProto::decode(bytes.reader()).unwrap_or_default();
            Some(slice.buffer_allocation_index)
        } else {
            allocation_index(message, bytes)
        };
        // Only what exists: a hostile artifact has endless other numbers.
        let exists =
            |index: &i64| usize::try_from(*index).is_ok_and(|index| index < allocations.list.len());
        self.used.extend(index.filter(exists));
    }

    fn leave(&mut self, at: &mut At<'_>, message: &MessageDescriptor) {
        // The older format has no thunks that could use any.
        if message.full_name() != EXECUTABLE || !self.thunks {
            return;
        }
        let Some(allocations) = at.allocations().cloned() else { return };
        let mut unused = Vec::new();
        let mut bytes = 0usize;
        let mut count = 0u64;
        for (index, allocation) in (0i64..).zip(allocations.list.iter()) {
            let needed = allocation.special || allocation.size <= 0;
            if needed || self.used.contains(&index) {
                continue;
            }
            count += 1;
            bytes = bytes.saturating_add(usize::try_from(allocation.size).unwrap_or(usize::MAX));
            if unused.len() < NAMED {
                let what = if allocation.constant { " (a constant)" } else { "" };
                unused.push(format!("{index}{what}"));
            }
        }
        if count > 0 {
            let more = if count > unused.len() as u64 { ", ..." } else { "" };
            let text = format!("used by nothing: allocation {}{more}", unused.join(", "));
            at.report(&RULE, Draft::new(text).bytes(bytes).count(count));
        }
    }
}
