//! An enum type was deleted.
//!
//! ## What it flags
//! An enum that artifacts could hold in base and that head has no more, under this or another name.
//!
//! ## Why it breaks
//! An enum is on the wire only through the fields that use it. Something must have happened to each of them, and
//! is judged there ([`field-removed`](#field-removed), [`field-type-changed`](#field-type-changed)); this note
//! only completes the picture.
//!
//! ## What to do
//! Follow the findings on the fields. When they may land, the enum may go with them.
//!
//! ## Example
//! ```proto
//! message ConvolutionThunkProto {
//!   reserved 2;
//!   reserved "kind";   // the last user of ConvKindProto
//! }
//! ```

use crate::change::{Change, ChangeKind, Surface};
use crate::finding::Step;
use crate::triage::{Check, Context, Outcome};

/// See the module comment.
pub static CHECK: Check = Check {
    id: "enum-removed",
    step: Some(Step::R3),
    kinds: &[ChangeKind::EnumRemoved],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    let mut outcome = Outcome::safe(
        "the enum type is gone",
        "the fields that held it are judged on their own",
    );
    outcome.remedy = "See the findings on the fields that used it.".to_owned();
    (change.kind == ChangeKind::EnumRemoved).then_some(outcome)
}
