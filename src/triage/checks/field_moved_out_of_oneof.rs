//! A field left its oneof.
//!
//! ## What it flags
//! A field that was a member of a oneof and stands alone now.
//!
//! ## Why it breaks
//! The only member of a oneof may leave it. Where others remain, a new compiler can set both, and an older
//! runtime keeps the one that comes last on the wire.
//!
//! ## What to do
//! Do not set both until no runtime of the last 2 weeks has the oneof, and say so. Otherwise add a new field.
//!
//! ## Example
//! ```proto
//! message OffsetProto {
//!   oneof offset {
//!     int64 constant = 2;
//!   }
//!   int64 parameter = 3;   // was a member; never set together with `constant` for 2 weeks
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::{Step, Triage};
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "field-moved-out-of-oneof",
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
    let (owner, base, head) = (owner.base?, field.base?, field.head?);
    if head.oneof.is_some() {
        return None;
    }
    let oneof = base.oneof.as_deref()?;
    let message = format!("{} is no member of oneof {oneof} any more", wording::field(head));
    let remedy = wording::replace(context, "the field outside the oneof");
    let outcome =
        wording::by_wire_effect(CHECK.id, change, context, message.clone(), remedy.clone());
    if outcome.triage == Triage::Safe && context.is_dispatch(&owner.name, oneof) {
        let meant = "artifacts that set the field still run the same step";
        return Some(Outcome::new(
            Triage::NeedsAttestation,
            message,
            "the members of this oneof are kinds of program steps",
            format!("{} {}", wording::attest(CHECK.id, change, meant), wording::otherwise(&remedy)),
        ));
    }
    Some(outcome)
}
