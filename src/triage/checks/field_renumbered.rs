//! A field has another number.
//!
//! ## What it flags
//! A field name that stayed in its message and moved to another number.
//!
//! ## Why it breaks
//! The wire carries numbers only. The new runtime does not find the field where artifacts of the last 6 months
//! have it, and older runtimes do not find it where new compilers put it: the value is dropped without an error.
//!
//! ## What to do
//! Give the field its number back. Numbers need no order and no density.
//!
//! ## Example
//! ```proto
//! message SliceProto {
//!   int64 size = 3;     // stays 3, also when field 2 above it is deleted
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::{Step, Triage};
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "field-renumbered",
    step: Some(Step::R2),
    kinds: &[ChangeKind::FieldRenumbered],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    let Subject::Field(_, field) = &change.subject else { return None };
    let (base, head) = (field.base?, field.head?);
    let message = format!("field {} moved from number {} to {}", head.name, base.number, head.number);
    if let Some(why) = wording::absent(context, &change.construct) {
        return Some(Outcome::safe(format!("{message}; {why}"), why));
    }
    Some(Outcome::new(
        Triage::BreaksBackward,
        message,
        "old artifacts have the value under the old number, where the new runtime does not look",
        format!("Give {} its number {} back.", head.name, base.number),
    ))
}
