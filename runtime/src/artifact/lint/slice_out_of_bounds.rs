//! A slice does not lie in its allocation.
//!
//! ## What it flags
//!
//! A buffer slice, anywhere in any kind of thunk, whose allocation does not exist, whose offset or size is
//! negative, or whose end is past the end of the allocation. Slices of thunks inside a thunk that brings
//! allocations of its own (dynamic slices) are held against those. Slices of host programs count in
//! allocations that the artifact does not list, and are left out.
//!
//! ## Why it matters
//!
//! The device reads or writes memory that belongs to something else. A loader that checks refuses the
//! artifact; one that does not computes wrong numbers.
//!
//! ## What to do
//!
//! Validate every deserialized index, offset and size against the allocations before use, and find the
//! serialization code that wrote the slice.

use prost::Message as _;
use prost_reflect::MessageDescriptor;

use super::finding::{Draft, Level};
use super::rule::{At, Rule, RuleInfo};
use super::scope::Allocation;
use super::subject::Subject;
use crate::artifact::rope::Rope;
use crate::proto::xla::buffer_assignment::BufferAllocationSliceProto;

pub(super) static RULE: RuleInfo = RuleInfo { id: "slice-out-of-bounds", level: Level::Error };

pub(super) const SLICE: &str = "xla.buffer_assignment.BufferAllocationSliceProto";

pub(super) struct Check;

impl Check {
    pub(super) fn new(_: &Subject) -> Self {
        Check
    }
}

impl Rule for Check {
    fn enter(&mut self, at: &mut At<'_>, message: &MessageDescriptor, bytes: &Rope) {
        if message.full_name() != SLICE {
            return;
        }
        let Ok(slice) = BufferAllocationSliceProto::decode(bytes.reader()) else { return };
        let Some(allocations) = at.allocations() else { return };
        if let Some(wrong) = wrong(&slice, &allocations.list) {
            at.report(&RULE, Draft::new(wrong));
        }
    }
}

fn wrong(slice: &BufferAllocationSliceProto, allocations: &[Allocation]) -> Option<String> {
    let BufferAllocationSliceProto { offset, size, buffer_allocation_index: index, .. } = *slice;
    let allocation = usize::try_from(index).ok().and_then(|index| allocations.get(index));
    let Some(allocation) = allocation else {
        let count = allocations.len();
        return Some(format!(
            "allocation {index} does not exist; the allocations are 0 to {count}, the last one not included"
        ));
    };
    if offset < 0 || size < 0 {
        return Some(format!("offset {offset} and size {size} must not be negative"));
    }
    let end = i128::from(offset) + i128::from(size);
    (end > i128::from(allocation.size)).then(|| {
        format!(
            "bytes {offset} to {end} of allocation {index}, which has {} bytes",
            allocation.size
        )
    })
}
