//! An enum value has another name under the same number.
//!
//! ## What it flags
//! A number whose name changed, with no sign that it was taken from another value. Where only the prefix changed
//! that all values of the enum share, it is reported as safe.
//!
//! ## Why it breaks
//! The binary wire carries numbers only, so a mere rename breaks nothing there. But the meaning of an enum number
//! is its name: another name may be another meaning, and two schemas do not tell which it is.
//!
//! ## What to do
//! If the number still means the same to every artifact of the last 6 months, say so. Otherwise give the new
//! meaning a new number, and keep handling the old one.
//!
//! ## Example
//! ```proto
//! enum CommandBufferUpdateMode {
//!   ALWAYS_UPDATE = 0;
//!   NEVER_UPDATE = 1;    // keep
//!   SKIP_TEMP = 3;       // new meaning, new number
//! }
//! ```

use crate::change::{Change, ChangeKind, SAME_STEM, Subject, Surface};
use crate::finding::{Step, Triage};
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "enum-value-renamed",
    step: Some(Step::R2),
    kinds: &[ChangeKind::EnumValueRenamed],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    if change.repurposed.is_some() {
        return None; // enum-value-reused says more
    }
    let Subject::EnumValue(_, value) = &change.subject else { return None };
    let (base, head) = (value.base?, value.head?);
    let message = format!("value {} is called {} instead of {}", head.number, head.name, base.name);
    if change.detail.as_deref() == Some(SAME_STEM) {
        return Some(Outcome::safe(message, SAME_STEM));
    }
    let backward = context.windows.backward;
    let same =
        format!("{} means the same to every artifact of the last {backward}", head.number);
    let remedy = format!(
        "{} {}",
        wording::attest(CHECK.id, change, &same),
        wording::otherwise(&wording::replace(context, "the new meaning"))
    );
    Some(Outcome::new(
        Triage::NeedsAttestation,
        message,
        "another name may be another meaning",
        remedy,
    ))
}
