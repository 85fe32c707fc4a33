//! A string field is checked for valid UTF-8 now, or no longer.
//!
//! ## What it flags
//! A string whose validation was switched by `features.utf8_validation` or by another syntax (proto2 does not
//! check, proto3 does).
//!
//! ## Why it breaks
//! A reader that checks fails the whole message on one invalid byte. Old artifacts may hold such bytes where
//! nothing checked them; where the check is dropped, new compilers may write what older runtimes reject.
//!
//! ## What to do
//! Use `bytes` for what is not text, in a new field. Leave the validation of existing strings as it is.
//!
//! ## Example
//! ```proto
//! edition = "2023";
//! message CustomCallThunkProto {
//!   string opaque = 4 [features.utf8_validation = NONE];   // stays so: holds raw bytes
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::Step;
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "field-utf8-changed",
    step: Some(Step::R2),
    kinds: &[ChangeKind::FieldUtf8Changed],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    if wording::is_another_field(change) {
        return None;
    }
    let Subject::Field(_, field) = &change.subject else { return None };
    let (field, after) = (field.head?, change.after.as_deref()?);
    let message = format!("the UTF-8 of {} is {after} from now on", wording::field(field));
    let remedy = format!(
        "Keep `features.utf8_validation` of {} as it is; put bytes that are no text into a new `bytes` field.",
        field.name
    );
    Some(wording::by_wire_effect(CHECK.id, change, context, message, remedy))
}
