//! A field tells unset from zero now, or no longer.
//!
//! ## What it flags
//! A field that went from implicit to explicit presence (`optional`, a oneof, proto2) or back.
//!
//! ## Why it breaks
//! With implicit presence a zero is not written. Old artifacts lack it, and a reader that now asks `has_x()`
//! takes a real zero for unset. The other way round a value that was set to the default cannot be told from
//! unset any more, and is no longer sent.
//!
//! ## What to do
//! Make sure that the reader treats unset and zero alike for every artifact of the last 6 months, and say so.
//! Otherwise add a new field with the other presence.
//!
//! ## Example
//! ```proto
//! message KernelThunkProto {
//!   optional int64 shmem_bytes = 4;   // was: int64; absent must keep meaning 0
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::Step;
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "field-presence-changed",
    step: Some(Step::R2),
    kinds: &[ChangeKind::FieldPresenceChanged],
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
    let message = format!("{} has {after} presence instead of {before}", wording::field(field));
    let remedy = wording::replace(context, "a field with the other presence");
    Some(wording::by_wire_effect(CHECK.id, change, context, message, remedy))
}
