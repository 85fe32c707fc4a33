//! A field has another name under the same number.
//!
//! ## What it flags
//! A number whose field kept its type and got another name, with no sign that it became another field. If there
//! is such a sign it is [`field-number-reused`](#field-number-reused).
//!
//! ## Why it breaks
//! A rename does not on the binary wire, which carries numbers only. But number and type of a scalar would fit
//! another field as well: where the two names have little in common, somebody has to say which it is. Text goldens and every C++ line that spells the
//! name need the new one. Fields of JSON payloads are [`json-payload-changed`](#json-payload-changed).
//!
//! ## What to do
//! Nothing, where the names say that it is the same field. Else attest it, or add a new field instead.
//!
//! ## Example
//! ```proto
//! message AxisRefProto {
//!   int64 mesh_axis_index = 1;   // was: int64 axis_index = 1;
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface, UNRELATED_NAMES};
use crate::finding::{Step, Triage};
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

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    if wording::is_another_field(change) {
        return None;
    }
    let Subject::Field(_, field) = &change.subject else { return None };
    let (base, head) = (field.base?, field.head?);
    let message = format!("field {} is called {} instead of {}", head.number, head.name, base.name);
    if change.detail.as_deref() == Some(UNRELATED_NAMES) {
        let same = format!("{} is the same field under a new name", head.number);
        let remedy = format!(
            "{} {}",
            wording::attest(CHECK.id, change, &same),
            wording::otherwise(&wording::replace(context, "the new field"))
        );
        let because = "number and type would fit another field as well";
        return Some(Outcome::new(Triage::NeedsAttestation, message, because, remedy));
    }
    let mut outcome =
        Outcome::safe(message, "the binary wire carries numbers, and number and type stayed");
    outcome.remedy = "Use the new name in text goldens.".to_owned();
    Some(outcome)
}
