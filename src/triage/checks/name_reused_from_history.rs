//! A name was free in base and stood for something else before.
//!
//! ## What it flags
//! A field or enum value under a name that base neither declares nor reserves, and that history or the ledger
//! knows under another number or with another type, where it was taken away inside the backward window. Where
//! the number was another's too, [`number-reused-from-history`](#number-reused-from-history) says it all.
//!
//! ## Why it breaks
//! Text goldens and JSON payloads carry names. What was written before the removal is read as the new field or
//! value, or refused where the type does not fit. The binary format does not notice.
//!
//! ## What to do
//! Choose another name, and reserve the old one. If nothing reads text of that time, or it means the same, say
//! so in the commit message.
//!
//! ## Example
//! ```proto
//! message CopyThunkProto {
//!   string mode = 7;         // until last month int32 mode = 3: choose another name
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::{Step, Triage};
use crate::triage::{Check, Context, Former, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "name-reused-from-history",
    step: Some(Step::R2),
    kinds: &[ChangeKind::FieldAdded, ChangeKind::EnumValueAdded],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    let (former, what) = match &change.subject {
        Subject::Field(owner, field) => {
            let (owner, field) = (owner.base?, field.head?);
            if owner.reserves_name(&field.name) || owner.field_named(&field.name).is_some() {
                return None;
            }
            let before = context.evidence.name_before(&owner.name, &field.name);
            (Former::last_but(before, |former| former.is(field))?, wording::field(field))
        }
        Subject::EnumValue(owner, value) => {
            let (owner, value) = (owner.base?, value.head?);
            if owner.reserves_name(&value.name) || owner.value_named(&value.name).is_some() {
                return None;
            }
            let before = context.evidence.name_before(&owner.name, &value.name);
            (Former::last_but(before, |former| former.number == value.number)?, wording::value(value))
        }
        _ => return None,
    };
    let message =
        format!("{what} takes the name of {former} = {}, there until {}", former.number, former.until);
    let backward = context.windows.backward;
    let mut outcome = if backward.satisfied(former.until.date, context.today) {
        let why = format!("no text of the last {backward} holds the old meaning");
        Outcome::safe(message, why)
    } else {
        let unread = "no text or JSON from before the removal is read any more, or it means the same";
        Outcome::new(
            Triage::NeedsAttestation,
            message,
            "text and JSON written before the removal hold something else under this name",
            format!("Choose another name. {}", wording::attest(CHECK.id, change, unread)),
        )
    };
    outcome.evidence = wording::dated(&former);
    Some(outcome)
}
