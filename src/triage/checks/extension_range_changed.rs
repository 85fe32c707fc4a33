//! An extension range of a message changed.
//!
//! ## What it flags
//! Numbers that were open for extensions and are no more, or became so.
//!
//! ## Why it breaks
//! Numbers that left a range cannot be extensions in head: what an old artifact has under them goes to the
//! unknown fields. A range that only grew breaks nothing.
//!
//! ## What to do
//! Keep the range for 6 months after the last extension in it ceased to be written.
//!
//! ## Example
//! ```proto
//! syntax = "proto2";
//! message OptionsProto {
//!   extensions 100 to 199;   // only ever grows
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::Step;
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "extension-range-changed",
    step: Some(Step::R3),
    kinds: &[ChangeKind::ExtensionRangeChanged],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    let (before, after) = (change.before.as_deref()?, change.after.as_deref()?);
    let message = format!("numbers for extensions are {after} instead of {before}");
    let remedy = format!(
        "Keep {before} until {} after the last compiler that writes an extension there.",
        context.windows.backward
    );
    let Subject::Message(_) = &change.subject else { return None };
    let mut outcome = wording::by_wire_effect(CHECK.id, change, context, message, remedy);
    if outcome.earliest_safe.is_some() {
        outcome.earliest_safe = Some(context.removal_from());
    }
    Some(outcome)
}
