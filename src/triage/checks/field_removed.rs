//! A field was deleted.
//!
//! ## What it flags
//! A field number that base has and head has not, in a message that artifacts can hold. Members of a
//! dispatching oneof are [`thunk-kind-removed`](#thunk-kind-removed) instead.
//!
//! ## Why it breaks
//! Compilers of the last 6 months wrote the field. A runtime without it puts the value into the unknown
//! fields, without an error, and goes on as if it had never been set.
//!
//! ## What to do
//! Stop writing the field first. Keep reading it for 6 months after the last compiler that wrote it;
//! then delete it and reserve its number and its name.
//!
//! ## Example
//! ```proto
//! message CopyThunkProto {
//!   reserved 3;              // was: int64 instr_id = 3;
//!   reserved "instr_id";
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::Step;
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "field-removed",
    step: Some(Step::R3),
    kinds: &[ChangeKind::FieldRemoved],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    let Subject::Field(owner, field) = &change.subject else { return None };
    let (owner, field) = (owner.base?, field.base?);
    if field.oneof.as_ref().is_some_and(|oneof| context.is_dispatch(&owner.name, oneof)) {
        return None;
    }
    let effect = "a runtime without the field drops its value without an error";
    wording::removed(change, context, &wording::field(field), effect)
}
