//! A field is required now.
//!
//! ## What it flags
//! A new required field, or an existing one that became required (`required` in proto2, `LEGACY_REQUIRED` in
//! editions).
//!
//! ## Why it breaks
//! A reader fails the parse of the whole message if a required field is absent, and artifacts of the last 6
//! months do not have it, or need not.
//!
//! ## What to do
//! Make it optional and let the reader handle its absence.
//!
//! ## Example
//! ```proto
//! syntax = "proto2";
//! message CopyThunkProto {
//!   optional int64 mem_size = 3;   // not required
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::descriptor::Label;
use crate::finding::{Step, Triage};
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "required-added",
    step: Some(Step::R2),
    kinds: &[ChangeKind::FieldAdded, ChangeKind::FieldLabelChanged],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    let Subject::Field(_, field) = &change.subject else { return None };
    let head = field.head?;
    if head.label != Label::Required || wording::is_another_field(change) {
        return None;
    }
    let what = if field.base.is_some() { "is required now" } else { "is new and required" };
    let backward = context.windows.backward;
    let mut outcome = Outcome::new(
        Triage::BreaksBackward,
        format!("{} {what}, and artifacts of the last {backward} may lack it", wording::field(head)),
        "the parse of a message that lacks a required field fails",
        format!("Declare {} optional, and handle its absence in the reader.", head.name),
    );
    if field.base.is_none() {
        outcome.earliest_safe = Some(context.emission_from());
    }
    Some(outcome)
}
