//! A field became a member of a oneof.
//!
//! ## What it flags
//! A field that entered a oneof, or went from one to another.
//!
//! ## Why it breaks
//! Alone in a new oneof it does not. Beside other members it does where an artifact of the last 6 months set
//! two of them: reading the later one clears the earlier one. In a oneof whose members are kinds of program
//! steps the field becomes a step, which old artifacts did not mean.
//!
//! ## What to do
//! If no compiler ever set two members at once, say so. Otherwise leave the field outside and add a new member.
//!
//! ## Example
//! ```proto
//! message OffsetProto {
//!   oneof offset {
//!     int64 constant = 2;   // was outside; fine if nothing ever set it together with `parameter`
//!     int64 parameter = 3;
//!   }
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::{Step, Triage};
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "field-moved-into-oneof",
    step: Some(Step::R2),
    kinds: &[ChangeKind::FieldOneofChanged],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    if wording::is_another_field(change) {
        return None;
    }
    let Subject::Field(owner, field) = &change.subject else { return None };
    let (owner, field) = (owner.head?, field.head?);
    let oneof = field.oneof.as_deref()?;
    let message = format!("{} is a member of oneof {oneof} now", wording::field(field));
    let remedy = wording::replace(context, "the member");
    let outcome =
        wording::by_wire_effect(CHECK.id, change, context, message.clone(), remedy.clone());
    if outcome.triage == Triage::Safe && context.is_dispatch(&owner.name, oneof) {
        let meant = "artifacts that set the field mean the same step";
        return Some(Outcome::new(
            Triage::NeedsAttestation,
            message,
            "the members of this oneof are kinds of program steps",
            format!("{} {}", wording::attest(CHECK.id, change, meant), wording::otherwise(&remedy)),
        ));
    }
    Some(outcome)
}
