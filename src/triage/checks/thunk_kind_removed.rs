//! A kind of program step is gone.
//!
//! ## What it flags
//! A member that left a oneof whose members are kinds of program steps (`contract.dispatch` in the policy), such
//! as `xla.gpu.ThunkProto.impl`.
//!
//! ## Why it breaks
//! Programs compiled in the last 6 months hold such steps. The new runtime sees them as not set, and refuses the
//! program or skips the step.
//!
//! ## What to do
//! Stop emitting the kind first. Keep loading and executing it for 6 months after the last compiler that emitted
//! it, with a dated comment at the old code; then delete it and reserve its number and its name.
//!
//! ## Example
//! ```proto
//! message ThunkProto {
//!   reserved 18;                    // was: DynamicSliceThunkProto dynamic_slice_thunk = 18;
//!   reserved "dynamic_slice_thunk";
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::Step;
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "thunk-kind-removed",
    step: Some(Step::R3),
    kinds: &[ChangeKind::FieldRemoved],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    let Subject::Field(owner, field) = &change.subject else { return None };
    let (owner, field) = (owner.base?, field.base?);
    if !context.is_dispatch(&owner.name, field.oneof.as_deref()?) {
        return None;
    }
    let what = format!("step {} = {}", field.name, field.number);
    let effect = "a runtime without the step cannot run the programs that have it";
    wording::removed(change, context, &what, effect)
}
