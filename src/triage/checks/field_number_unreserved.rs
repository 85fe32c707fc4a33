//! A removed field's number is not reserved.
//!
//! ## What it flags
//! A field that was removed or got another number, while head does not reserve the number that it had.
//!
//! ## Why it breaks
//! Nothing is misread today. But nothing stops the next change from giving the number to another field, and
//! then every artifact with the old field is read as the new one. This has happened in XLA within 2 days.
//!
//! ## What to do
//! Reserve the number in the change that removes the field.
//!
//! ## Example
//! ```proto
//! message CopyThunkProto {
//!   reserved 3;              // was: int64 instr_id = 3;
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::{Level, Step};
use crate::triage::{Check, Context, Outcome};

/// See the module comment.
pub static CHECK: Check = Check {
    id: "field-number-unreserved",
    step: Some(Step::R3),
    kinds: &[ChangeKind::FieldRemoved, ChangeKind::FieldRenumbered],
    surface: Surface::Proto,
    level: Some(Level::Warning),
    judge,
};

fn judge(change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    let Subject::Field(owner, field) = &change.subject else { return None };
    let (owner, field) = (owner.head?, field.base?);
    // A number that another field has now is reported as reused.
    if owner.reserves_number(field.number) || owner.field(field.number).is_some() {
        return None;
    }
    let mut outcome = Outcome::safe(
        format!("number {} of {} is free and not reserved", field.number, field.name),
        "a later field could take the number, and would be read out of old artifacts",
    );
    outcome.remedy = format!("Add `reserved {};` to {}.", field.number, owner.name);
    Some(outcome)
}
