//! Something is removed that compilers have ceased to emit, but not long enough ago.
//!
//! ## What it flags
//! A removed field, enum value, thunk kind, message or enum whose last day of emission is on record (rollouts,
//! ledger), where the backward window that began on that day is still open. What no record dates is reported by
//! the check of the removal itself.
//!
//! ## Why it breaks
//! The 6 months of the promise count from the day on which the last compiler stopped writing it, not from the
//! day on which its successor could be read. Artifacts of the days before still hold it.
//!
//! ## What to do
//! Wait for the named day. Then remove it, and reserve its number and name.
//!
//! ## Example
//! ```toml
//! [[rollout]]
//! constructs = ["xla.gpu.ThunkProto.dynamic_slice_fusion_thunk"]
//! replaces = ["xla.gpu.ThunkProto.dynamic_slice_thunk"]
//! emitted = [{ on = { date = 2026-07-31 } }]     # so the old kind may go from 2027-01-31 on
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::{Evidence, Step, Triage};
use crate::triage::{Check, Context, Emission, Outcome};

/// See the module comment.
pub static CHECK: Check = Check {
    id: "removed-too-early",
    step: Some(Step::R3),
    kinds: &[
        ChangeKind::FieldRemoved,
        ChangeKind::EnumValueRemoved,
        ChangeKind::MessageRemoved,
        ChangeKind::EnumRemoved,
    ],
    surface: Surface::Proto,
    level: None,
    judge,
};

/// Whether this check speaks of a removal: its last day of emission is known, and too late.
pub(super) fn ceased(construct: &str, context: &Context<'_>) -> Option<chrono::NaiveDate> {
    match context.evidence.emission(construct) {
        Emission::Ceased(since) if !context.windows.backward.satisfied(since, context.today) => {
            Some(since)
        }
        _ => None,
    }
}

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    let what = match &change.subject {
        Subject::Field(_, field) => format!("field {} = {}", field.base?.name, field.base?.number),
        Subject::EnumValue(_, value) => {
            format!("value {} = {}", value.base?.name, value.base?.number)
        }
        Subject::Message(message) => format!("message {}", message.base?.name),
        Subject::Enum(owner) => format!("enum {}", owner.base?.name),
        Subject::Oneof(..) => return None,
    };
    let since = ceased(&change.construct, context)?;
    let backward = context.windows.backward;
    let from = backward.after(since);
    let days = (context.today - since).num_days();
    let mut outcome = Outcome::new(
        Triage::BreaksBackward,
        format!("{what} is removed {days} days after compilers stopped emitting it"),
        format!("artifacts of the last {backward} may hold it"),
        format!("Keep reading it until then: remove it from {from} on, and reserve its number and name."),
    );
    outcome.emission = Emission::Ceased(since);
    outcome.evidence.push(Evidence {
        what: "last emitted".to_owned(),
        commit: None,
        date: Some(since),
        file: None,
        line: None,
    });
    Some(outcome.earliest(from))
}
