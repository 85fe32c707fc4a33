//! A message field is written as a group now, or no longer.
//!
//! ## What it flags
//! A message field that went between length-prefixed and delimited encoding (`features.message_encoding`, or
//! `group` in proto2).
//!
//! ## Why it breaks
//! The two have different wire types. A reader of one puts the other into the unknown fields, without an error:
//! the sub-message is unset.
//!
//! ## What to do
//! Leave the encoding as it is, or put the other one under a new number.
//!
//! ## Example
//! ```proto
//! edition = "2023";
//! message ThunkProto {
//!   InfoProto info = 1;   // no [features.message_encoding = DELIMITED] on an existing field
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::Step;
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "field-encoding-changed",
    step: Some(Step::R2),
    kinds: &[ChangeKind::FieldEncodingChanged],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    if wording::is_another_field(change) {
        return None;
    }
    let Subject::Field(_, field) = &change.subject else { return None };
    let (field, before, after) = (field.head?, change.before.as_deref()?, change.after.as_deref()?);
    let message = format!("{} is {after} instead of {before}", wording::field(field));
    let remedy = wording::replace(context, "the new encoding");
    Some(wording::by_wire_effect(CHECK.id, change, context, message, remedy))
}
