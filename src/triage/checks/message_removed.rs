//! A message type was deleted.
//!
//! ## What it flags
//! A message that artifacts could hold in base and that head has no more, under this or another name.
//!
//! ## Why it breaks
//! A type is on the wire only through the fields that use it. Something must have happened to each of them: it
//! was removed, or has another type. That is judged where it happened
//! ([`thunk-kind-removed`](#thunk-kind-removed), [`field-removed`](#field-removed),
//! [`field-type-changed`](#field-type-changed), [`root-missing`](#root-missing)), with the step and the window
//! that it needs; this note only completes the picture.
//!
//! ## What to do
//! Follow the findings on the fields. When they may land, the type may go with them.
//!
//! ## Example
//! ```proto
//! message ThunkProto {
//!   reserved 18;
//!   reserved "dynamic_slice_thunk";   // the last user of DynamicSliceThunkProto
//! }
//! ```

use crate::change::{Change, ChangeKind, Surface};
use crate::finding::Step;
use crate::triage::{Check, Context, Outcome};

/// See the module comment.
pub static CHECK: Check = Check {
    id: "message-removed",
    step: Some(Step::R3),
    kinds: &[ChangeKind::MessageRemoved],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    let mut outcome = Outcome::safe(
        "the message type is gone",
        "the fields that held it are judged on their own",
    );
    outcome.remedy = "See the findings on the fields that used it.".to_owned();
    (change.kind == ChangeKind::MessageRemoved).then_some(outcome)
}
