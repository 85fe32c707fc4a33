//! A field has another name under the same number.
//!
//! ## What it flags
//! A number whose field kept its type and got another name, with no sign that it became another field. If there
//! is such a sign it is [`field-number-reused`](#field-number-reused).
//!
//! ## Why it breaks
//! It does not on the binary wire, which carries numbers only. Text goldens and every C++ line that spells the
//! name need the new one. Fields of JSON payloads are [`json-payload-changed`](#json-payload-changed).
//!
//! ## What to do
//! Nothing for the binary form. If the new name means something else, add a new field instead.
//!
//! ## Example
//! ```proto
//! message AxisRefProto {
//!   int64 mesh_axis_index = 1;   // was: int64 axis_index = 1;
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::Step;
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "field-renamed",
    step: Some(Step::R2),
    kinds: &[ChangeKind::FieldRenamed],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    if wording::is_another_field(change) {
        return None;
    }
    let Subject::Field(_, field) = &change.subject else { return None };
    let (base, head) = (field.base?, field.head?);
    let mut outcome = Outcome::safe(
        format!("field {} is called {} instead of {}", head.number, head.name, base.name),
        "the binary wire carries numbers, and number and type stayed",
    );
    outcome.remedy = "Use the new name in text goldens.".to_owned();
    Some(outcome)
}
