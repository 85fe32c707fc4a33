//! A field got a name that base reserves.
//!
//! ## What it flags
//! A new or renamed field whose name base reserves, under a number that base does not reserve.
//!
//! ## Why it breaks
//! The binary wire is unaffected: it carries numbers. Text and JSON carry names, and text goldens or logs
//! from before the removal hold the old field under this name; C++ skips a reserved name in text and would
//! now read it.
//!
//! ## What to do
//! Choose another name, and keep the old one reserved. If the field is the old one in another form and no text
//! of it is read any more, say so.
//!
//! ## Example
//! ```proto
//! message CopyThunkProto {
//!   reserved "instr_id";
//!   int64 instruction_id = 4;   // not instr_id again
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::{Step, Triage};
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "field-name-reused",
    step: Some(Step::R2),
    kinds: &[ChangeKind::FieldAdded, ChangeKind::FieldRenamed],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    let Subject::Field(owner, field) = &change.subject else { return None };
    let (owner, field) = (owner.base?, field.head?);
    let by_number = match change.kind {
        ChangeKind::FieldAdded => owner.reserves_number(field.number),
        _ => wording::is_another_field(change),
    };
    if by_number || !owner.reserves_name(&field.name) {
        return None;
    }
    let unread = format!(
        "no text or JSON from before the removal is read any more, or it means the same ({} back)",
        context.windows.backward
    );
    Some(Outcome::new(
        Triage::NeedsAttestation,
        format!("{} takes a name that base reserves", wording::field(field)),
        "text and JSON written before the removal hold another field under this name",
        format!("Choose another name. {}", wording::attest(CHECK.id, change, &unread)),
    ))
}
