//! A removed enum value's number is not reserved.
//!
//! ## What it flags
//! A value that was removed or got another number, while head does not reserve the number that it had.
//!
//! ## Why it breaks
//! Nothing is misread today. But nothing stops the next change from giving the number to another value, and then
//! every artifact with the old one is read as the new one. This has happened in XLA within 13 days.
//!
//! ## What to do
//! Reserve the number in the change that removes the value.
//!
//! ## Example
//! ```proto
//! enum CommandBufferUpdateMode {
//!   reserved 2;               // was: CAPTURE_CMD_NEVER_UPDATE = 2;
//!   ALWAYS_UPDATE = 0;
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::{Level, Step};
use crate::triage::{Check, Context, Outcome};

/// See the module comment.
pub static CHECK: Check = Check {
    id: "enum-value-number-unreserved",
    step: Some(Step::R3),
    kinds: &[ChangeKind::EnumValueRemoved, ChangeKind::EnumValueRenumbered],
    surface: Surface::Proto,
    level: Some(Level::Warning),
    judge,
};

fn judge(change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    let Subject::EnumValue(owner, value) = &change.subject else { return None };
    let (owner, value) = (owner.head?, value.base?);
    // A number that another value has now is reported as reused.
    if owner.reserves_number(value.number) || owner.value(value.number).is_some() {
        return None;
    }
    let mut outcome = Outcome::safe(
        format!("number {} of {} is free and not reserved", value.number, value.name),
        "a later value could take the number, and would be read out of old artifacts",
    );
    outcome.remedy = format!("Add `reserved {};` to {}.", value.number, owner.name);
    Some(outcome)
}
