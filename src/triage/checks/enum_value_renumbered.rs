//! An enum value has another number.
//!
//! ## What it flags
//! A value name that stayed in its enum and moved to another number.
//!
//! ## Why it breaks
//! The wire carries numbers only. Artifacts of the last 6 months hold the old number, which the new runtime does
//! not know or takes for another value, and older runtimes do not know the new one.
//!
//! ## What to do
//! Give the value its number back. Numbers need no order and no density.
//!
//! ## Example
//! ```proto
//! enum ReductionKindProto {
//!   REDUCTION_KIND_SUM = 0;
//!   REDUCTION_KIND_MAX = 3;   // stays 3, also when value 2 before it is deleted
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::{Step, Triage};
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "enum-value-renumbered",
    step: Some(Step::R2),
    kinds: &[ChangeKind::EnumValueRenumbered],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    let Subject::EnumValue(_, value) = &change.subject else { return None };
    let (base, head) = (value.base?, value.head?);
    let message = format!("value {} moved from number {} to {}", head.name, base.number, head.number);
    if let Some(why) = wording::absent(context, &change.construct) {
        return Some(Outcome::safe(format!("{message}; {why}"), why));
    }
    Some(Outcome::new(
        Triage::BreaksBackward,
        message,
        "old artifacts hold the old number, which means nothing or something else to the new runtime",
        format!("Give {} its number {} back.", head.name, base.number),
    ))
}
