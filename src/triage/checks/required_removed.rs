//! A field is required no more.
//!
//! ## What it flags
//! A required field that was removed or became optional or repeated.
//!
//! ## Why it breaks
//! Runtimes up to 2 weeks older still require it: they fail the parse of a message that lacks it. A field that
//! only ceased to be required breaks them once a compiler leaves it unset; one that was removed breaks them at
//! once, as no compiler can write it any more.
//!
//! ## What to do
//! Make the field optional first, and let every compiler go on writing it for 2 weeks. Remove it 6 months after
//! that, as any other field.
//!
//! ## Example
//! ```proto
//! syntax = "proto2";
//! message CopyThunkProto {
//!   optional int64 mem_size = 3;   // was required: still written for 2 weeks
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::descriptor::Label;
use crate::finding::{Step, Triage};
use crate::triage::{Check, Context, Emission, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "required-removed",
    step: Some(Step::R3),
    kinds: &[ChangeKind::FieldRemoved, ChangeKind::FieldLabelChanged],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    let Subject::Field(_, field) = &change.subject else { return None };
    let base = field.base?;
    if base.label != Label::Required || wording::is_another_field(change) {
        return None;
    }
    let forward = context.windows.forward;
    let from = context.emission_from();
    let needs = format!("runtimes up to {forward} older fail without it");
    let because = "the parse of a message that lacks a required field fails";
    let outcome = if field.head.is_some() {
        let mut outcome = Outcome::new(
            Triage::NeedsRollout,
            format!("{} is required no more, and {needs}", wording::field(base)),
            because,
            format!("Go on writing it in every message until {from}."),
        );
        // Emitted is what it must be: then this is a clean first phase.
        if context.evidence.emission(&change.construct) == Emission::On {
            outcome.emission = Emission::Off;
        }
        outcome
    } else {
        Outcome::new(
            Triage::BreaksForward,
            format!("required {} is removed, and {needs}", wording::field(base)),
            because,
            format!("Make it optional, and go on writing it until {from}; then remove it as any other field."),
        )
    };
    Some(outcome.earliest(from))
}
