//! A field has another type under the same number.
//!
//! ## What it flags
//! A type that readers of the other side read differently: another wire type, another integer width or
//! sign, another message. Types are compared by structure, so a message that was only renamed or moved is
//! no finding. What readers make of each pair of types stands in the wire table (`aotgate diff` shows it).
//!
//! ## Why it breaks
//! C++ protobuf does not fail on most of it: a value with the wrong wire type goes to the unknown fields and
//! the field reads as unset; a value with a fitting wire type is reinterpreted.
//!
//! ## What to do
//! Add a new field under a new number with the new type, keep reading the old one for 6 months, and stage
//! the switch of the writer.
//!
//! ## Example
//! ```proto
//! message CudnnThunkProto {
//!   repeated xla.buffer_assignment.BufferAllocationSliceProto args = 2;   // keep reading
//!   repeated ShapedSliceProto shaped_args = 5;                            // new
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::Step;
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "field-type-changed",
    step: Some(Step::R2),
    kinds: &[ChangeKind::FieldTypeChanged],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    if wording::is_another_field(change) {
        return None;
    }
    let Subject::Field(_, field) = &change.subject else { return None };
    let (base, head) = (field.base?, field.head?);
    let message = format!("{} was {} and is {} now", wording::field(head), base.ty, head.ty);
    let remedy = wording::replace(context, "the new type");
    Some(wording::by_wire_effect(CHECK.id, change, context, message, remedy))
}
