//! A removed field's name is not reserved.
//!
//! ## What it flags
//! A field that was removed, while head does not reserve its name.
//!
//! ## Why it breaks
//! Nothing on the binary wire, which carries numbers. In text, C++ protobuf skips a removed field silently only
//! if its name is reserved, and fails on it otherwise; and a later field could take the name for something else.
//!
//! ## What to do
//! Reserve the name together with the number.
//!
//! ## Example
//! ```proto
//! message CopyThunkProto {
//!   reserved 3;
//!   reserved "instr_id";
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::{Level, Step};
use crate::triage::{Check, Context, Outcome};

/// See the module comment.
pub static CHECK: Check = Check {
    id: "field-name-unreserved",
    step: Some(Step::R3),
    kinds: &[ChangeKind::FieldRemoved],
    surface: Surface::Proto,
    level: Some(Level::Note),
    judge,
};

fn judge(change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    let Subject::Field(owner, field) = &change.subject else { return None };
    let (owner, field) = (owner.head?, field.base?);
    if owner.reserves_name(&field.name) {
        return None;
    }
    let mut outcome = Outcome::safe(
        format!("the name {} of removed field {} is not reserved", field.name, field.number),
        "text with the name fails to parse, and a later field could take it",
    );
    outcome.remedy = format!("Add `reserved \"{}\";` to {}.", field.name, owner.name);
    Some(outcome)
}
