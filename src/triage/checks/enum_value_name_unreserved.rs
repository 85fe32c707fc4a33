//! A removed enum value's name is not reserved.
//!
//! ## What it flags
//! A value that was removed, while head does not reserve its name.
//!
//! ## Why it breaks
//! Nothing on the binary wire, which carries numbers. JSON and text carry names, and a later value could take
//! this one for something else.
//!
//! ## What to do
//! Reserve the name together with the number.
//!
//! ## Example
//! ```proto
//! enum CommandBufferUpdateMode {
//!   reserved 2;
//!   reserved "CAPTURE_CMD_NEVER_UPDATE";
//!   ALWAYS_UPDATE = 0;
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::{Level, Step};
use crate::triage::{Check, Context, Outcome};

/// See the module comment.
pub static CHECK: Check = Check {
    id: "enum-value-name-unreserved",
    step: Some(Step::R3),
    kinds: &[ChangeKind::EnumValueRemoved],
    surface: Surface::Proto,
    level: Some(Level::Note),
    judge,
};

fn judge(change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    let Subject::EnumValue(owner, value) = &change.subject else { return None };
    let (owner, value) = (owner.head?, value.base?);
    if owner.reserves_name(&value.name) {
        return None;
    }
    let mut outcome = Outcome::safe(
        format!("the name {} of removed value {} is not reserved", value.name, value.number),
        "a later value could take the name, and would be read out of old text",
    );
    outcome.remedy = format!("Add `reserved \"{}\";` to {}.", value.name, owner.name);
    Some(outcome)
}
