//! A repeated field is written packed now, or no longer.
//!
//! ## What it flags
//! A repeated number or enum field that went from packed to expanded or back, also by a change of syntax.
//!
//! ## Why it breaks
//! It does not: protobuf readers take both forms. Only the bytes differ, so that hashes and byte-exact goldens
//! of the message change.
//!
//! ## What to do
//! Nothing. Record goldens again that compare bytes.
//!
//! ## Example
//! ```proto
//! message ShapeProto {
//!   repeated int64 dimensions = 3 [packed = false];   // was packed
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::Step;
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "field-packed-changed",
    step: Some(Step::R2),
    kinds: &[ChangeKind::FieldPackedChanged],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    if wording::is_another_field(change) {
        return None;
    }
    let Subject::Field(_, field) = &change.subject else { return None };
    let (field, after) = (field.head?, change.after.as_deref()?);
    Some(Outcome::safe(
        format!("{} is written {after}", wording::field(field)),
        "readers take both forms; only the bytes differ",
    ))
}
