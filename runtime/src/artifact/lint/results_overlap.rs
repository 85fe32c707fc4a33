//! Two results of one thunk lie in the same bytes.
//!
//! ## What it flags
//!
//! Two slices that a thunk writes and that share bytes: arguments of a kernel that are marked as written,
//! and fields named as results, outputs or destinations. Two slices that are the very same are no finding:
//! that is how a kernel gets a buffer that it updates in place, once as operand and once as result.
//!
//! ## Why it matters
//!
//! The order of the two writes decides what remains, and nothing states that order.
//!
//! ## What to do
//!
//! Give each result a slice of its own in the buffer assignment.

use prost::Message as _;
use prost_reflect::{Kind, MessageDescriptor};

use super::finding::{Draft, Level};
use super::hlo::add_ids;
use super::rule::{At, Rule, RuleInfo, THUNK};
use super::slice_out_of_bounds::SLICE;
use super::subject::Subject;
use crate::artifact::rope::Rope;
use crate::artifact::wire::{Fields, Wire};
use crate::proto::xla::buffer_assignment::BufferAllocationSliceProto;

pub(super) static RULE: RuleInfo = RuleInfo { id: "results-overlap", level: Level::Warning };

/// Slices of one thunk beyond this many are not compared.
const COMPARED: usize = 1 << 16;

pub(super) struct Check {
    /// Per open thunk, what it writes.
    open: Vec<Vec<Written>>,
}

struct Written {
    allocation: i64,
    start: i128,
    end: i128,
    name: String,
}

impl Written {
    /// Whether a slice that does not start before this one shares bytes with it.
    fn overlaps(&self, other: &Written) -> bool {
        self.allocation == other.allocation && self.end > other.start
    }

    fn same(&self, other: &Written) -> bool {
        (self.start, self.end) == (other.start, other.end)
    }
}

impl Check {
    pub(super) fn new(_: &Subject) -> Self {
        Check { open: Vec::new() }
    }
}

impl Rule for Check {
    fn enter(&mut self, at: &mut At<'_>, message: &MessageDescriptor, bytes: &Rope) {
        if message.full_name() == THUNK {
            self.open.push(Vec::new());
        }
        let Some(thunk) = self.open.last_mut().filter(|_| at.allocations().is_some()) else {
            return;
        };
        if thunk.len() < COMPARED {
            written(message, bytes, thunk);
        }
    }

    fn leave(&mut self, at: &mut At<'_>, message: &MessageDescriptor) {
        if message.full_name() != THUNK {
            return;
        }
        let Some(mut written) = self.open.pop() else { return };
        written.sort_by_key(|slice| (slice.allocation, slice.start));
        let mut furthest: Option<&Written> = None;
        for slice in &written {
            match furthest {
                Some(other) if other.overlaps(slice) && !other.same(slice) => {
                    let text = format!(
                        "{} and {} both write bytes {} to {} of allocation {}",
                        other.name,
                        slice.name,
                        slice.start,
                        slice.end.min(other.end),
                        slice.allocation,
                    );
                    at.report(&RULE, Draft::new(text));
                }
                _ => {}
            }
            let further =
                |other: &Written| other.allocation == slice.allocation && other.end >= slice.end;
            if !furthest.is_some_and(further) {
                furthest = Some(slice);
            }
        }
    }
}

/// Adds the slices that a message says are written, those directly in it.
fn written(message: &MessageDescriptor, bytes: &Rope, found: &mut Vec<Written>) {
    let Some(flags) = flags(message, bytes) else { return };
    let mut arguments = 0;
    let mut fields = Fields::new(bytes);
    while let Ok(Some(field)) = fields.next_field() {
        let Some(known) = message.get_field(field.number) else { continue };
        let Kind::Message(kind) = known.kind() else { continue };
        if field.wire != Wire::Length {
            continue;
        }
        let name = known.name();
        let is_written = match name {
            "args" => {
                arguments += 1;
                flags.get(arguments - 1).is_some_and(|flag| *flag != 0)
            }
            _ => ["result", "output", "dest"].iter().any(|word| name.contains(word)),
        };
        if !is_written {
            continue;
        }
        let value = bytes.slice(field.value).unwrap_or_default();
        if let Some(slice) = slice_in(&kind, value) {
            let start = i128::from(slice.offset);
            let end = start + i128::from(slice.size);
            if end > start {
                let name = if known.is_list() {
                    format!("{name}[{}]", found.len())
                } else {
                    name.to_owned()
                };
                let name = if name.starts_with("args") {
                    format!("args[{}]", arguments - 1)
                } else {
                    name
                };
                found.push(Written { allocation: slice.buffer_allocation_index, start, end, name });
            }
        }
    }
}

/// The `written` flags of a message, none where it has no such field. `None`: nothing here can be a slice.
fn flags(message: &MessageDescriptor, bytes: &Rope) -> Option<Vec<i64>> {
    if message.fields().all(|field| !matches!(field.kind(), Kind::Message(_))) {
        return None;
    }
    let mut flags = Vec::new();
    let Some(written) = message.get_field_by_name("written") else { return Some(flags) };
    let mut fields = Fields::new(bytes);
    while let Ok(Some(field)) = fields.next_field() {
        if field.number == written.number() {
            add_ids(bytes, &field, &mut flags).ok()?;
        }
    }
    Some(flags)
}

/// The slice that a field holds, itself or through wrappers with a single slice in them.
fn slice_in(kind: &MessageDescriptor, mut value: Rope) -> Option<BufferAllocationSliceProto> {
    let mut kind = kind.clone();
    // A nullable shaped slice, a shaped slice, a slice.
    for _ in 0..3 {
        if kind.full_name() == SLICE {
            return BufferAllocationSliceProto::decode(value.reader()).ok();
        }
        let inner = kind.fields().find(|field| field.name().ends_with("slice"))?;
        let Kind::Message(next) = inner.kind() else { return None };
        let mut found = None;
        let mut fields = Fields::new(&value);
        while let Ok(Some(field)) = fields.next_field() {
            if field.number == inner.number() && field.wire == Wire::Length {
                found = value.slice(field.value);
            }
        }
        (kind, value) = (next, found?);
    }
    None
}
