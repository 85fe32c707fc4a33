//! An enum was opened or closed.
//!
//! ## What it flags
//! An enum that went from open to closed or back, by `features.enum_type` or by another syntax (proto2 enums are
//! closed, proto3 enums are open).
//!
//! ## Why it breaks
//! A reader with a closed enum puts numbers that it does not know into the unknown fields and reads the field as
//! unset; one with an open enum keeps the number. Artifacts with a number that the reader does not know change
//! their meaning, all others do not.
//!
//! ## What to do
//! If no artifact of the window holds a number outside the enum, say so. Otherwise leave the enum as it is.
//!
//! ## Example
//! ```proto
//! edition = "2023";
//! enum Kind {
//!   option features.enum_type = CLOSED;   // stays so where the enum came from proto2
//!   KIND_A = 1;
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::Step;
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "enum-closedness-changed",
    step: Some(Step::R2),
    kinds: &[ChangeKind::EnumClosednessChanged],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    let Subject::Enum(owner) = &change.subject else { return None };
    let word = |closed: bool| if closed { "closed" } else { "open" };
    let (before, after) = (word(owner.base?.closed), word(owner.head?.closed));
    let message = format!("the enum is {after} instead of {before}");
    let remedy = format!("keep it {before} with `option features.enum_type`.");
    Some(wording::by_wire_effect(CHECK.id, change, context, message, remedy))
}
