//! An enum value was deleted.
//!
//! ## What it flags
//! An enum number that base has and head has not.
//!
//! ## Why it breaks
//! Artifacts of the last 6 months hold the number. The new runtime has no case for it (open enum), or reads the
//! field as unset (closed enum).
//!
//! ## What to do
//! Stop writing the value first. Keep handling it for 6 months after the last compiler that wrote it; then
//! delete it and reserve its number and its name.
//!
//! ## Example
//! ```proto
//! enum ThunkKindProto {
//!   reserved 31;                         // was: THUNK_KIND_DYNAMIC_SLICE = 31;
//!   reserved "THUNK_KIND_DYNAMIC_SLICE";
//!   THUNK_KIND_COPY = 0;
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::Step;
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "enum-value-removed",
    step: Some(Step::R3),
    kinds: &[ChangeKind::EnumValueRemoved],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    let Subject::EnumValue(owner, value) = &change.subject else { return None };
    let (owner, value) = (owner.head?, value.base?);
    let effect = if owner.closed {
        "the enum is closed: a runtime without the value reads the field as unset"
    } else {
        "the enum is open: a runtime without the value has no case for the number"
    };
    wording::removed(change, context, &wording::value(value), effect)
}
