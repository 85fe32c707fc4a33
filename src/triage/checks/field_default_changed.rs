//! A field has another default.
//!
//! ## What it flags
//! Another explicit default of a proto2 or editions field. Spelling out the default that the type has anyway
//! (`0`, `false`, the empty string) is no finding that blocks.
//!
//! ## Why it breaks
//! A default is not on the wire: unset fields read each reader's own. Every artifact that left the field unset
//! means something else to the new runtime than to the compiler that wrote it.
//!
//! ## What to do
//! Keep the default. Where another one is wanted for new programs, let the compiler set the field.
//!
//! ## Example
//! ```proto
//! message DebugOptions {
//!   optional int32 opt_level = 1 [default = 3];   // stays 3; compilers write 2 where they mean 2
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::{Step, Triage};
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "field-default-changed",
    step: Some(Step::R2),
    kinds: &[ChangeKind::FieldDefaultChanged],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    if wording::is_another_field(change) {
        return None;
    }
    let Subject::Field(_, field) = &change.subject else { return None };
    let (before, after) = (change.before.as_deref()?, change.after.as_deref()?);
    let message = format!("{} has default {after} instead of {before}", wording::field(field.head?));
    if change.wire.is_safe() {
        return Some(Outcome::safe(message, "unset reads the same"));
    }
    let backward = context.windows.backward;
    Some(Outcome::new(
        Triage::BreaksBackward,
        message,
        format!("artifacts of the last {backward} that left it unset now read the new default"),
        format!("Keep the default {before}, and let compilers set the field instead."),
    ))
}
