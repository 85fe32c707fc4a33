//! A constant, result or allocation refers to an allocation that is not there.
//!
//! ## What it flags
//!
//! An `allocation_index` outside the executable's allocations (-1 stands for none), and an allocation
//! whose own index is not its position in the list.
//!
//! ## Why it matters
//!
//! The loader takes the index for a position. Past the end it reads memory that is no allocation; with a
//! wrong index it puts a constant or looks for a result in the wrong place.
//!
//! ## What to do
//!
//! Validate the index when the artifact is loaded, and write allocations in the order of their indices.

use prost::Message as _;
use prost_reflect::{Kind, MessageDescriptor};

use super::finding::{Draft, Level};
use super::rule::{At, Rule, RuleInfo};
use super::scope::ALLOCATION;
use super::subject::Subject;
use crate::artifact::rope::Rope;
use crate::artifact::wire::{Fields, Wire};
use crate::proto::xla::BufferAllocationProto;

pub(super) static RULE: RuleInfo = RuleInfo { id: "allocation-dangling", level: Level::Error };

/// What the executable's own allocations are wrapped in.
const OWN: &str = "xla.gpu.GpuExecutableProto.RepeatedBufferAllocations";

#[derive(Default)]
pub(super) struct Check {
    position: i64,
}

impl Check {
    pub(super) fn new(_: &Subject) -> Self {
        Check::default()
    }
}

impl Rule for Check {
    fn enter(&mut self, at: &mut At<'_>, message: &MessageDescriptor, bytes: &Rope) {
        if message.full_name() == ALLOCATION && at.parent() == Some(OWN) {
            let allocation = BufferAllocationProto::decode(bytes.reader()).unwrap_or_default();
            let (index, position) = (allocation.index, self.position);
            self.position += 1;
            if index != position {
                let text = format!("the allocation at position {position} has the index {index}");
                at.report(&RULE, Draft::new(text));
            }
            if allocation.size < 0 {
                let text = format!("allocation {position} has the size {}", allocation.size);
                at.report(&RULE, Draft::new(text));
            }
        }
        let Some(index) = allocation_index(message, bytes) else { return };
        let Some(allocations) = at.allocations().filter(|allocations| allocations.own) else {
            return;
        };
        let count = allocations.list.len();
        let exists = index == -1 || usize::try_from(index).is_ok_and(|index| index < count);
        if !exists {
            let text = format!("allocation {index} does not exist; there are {count}");
            at.report(&RULE, Draft::new(text));
        }
    }
}

/// What a message says in its field `allocation_index`; `None` where it has no such field.
pub(super) fn allocation_index(message: &MessageDescriptor, bytes: &Rope) -> Option<i64> {
    let known = message.get_field_by_name("allocation_index")?;
    if known.kind() != Kind::Int64 {
        return None;
    }
    let mut index = 0;
    let mut fields = Fields::new(bytes);
    while let Ok(Some(field)) = fields.next_field() {
        if field.number == known.number() && field.wire == Wire::Varint {
            index = field.scalar.cast_signed();
        }
    }
    Some(index)
}
