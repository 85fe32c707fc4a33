//! A field was deleted.
//!
//! ## What it flags
//! A field number that base has and head has not, in a message that artifacts can hold. Members of a
//! dispatching oneof are [`thunk-kind-removed`](#thunk-kind-removed) instead.
//!
//! ## Why it breaks
//! Compilers of the last 6 months wrote the field. A runtime without it puts the value into the unknown
//! fields, without an error, and goes on as if it had never been set.
//!
//! ## What to do
//! Stop writing the field first. Keep reading it for 6 months after the last compiler that wrote it;
//! then delete it and reserve its number and its name.
//!
//! ## Example
//! ```proto
//! message CopyThunkProto {
//!   reserved 3;              // was: int64 instr_id = 3;
//!   reserved "instr_id";
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::{Step, Triage};
use crate::triage::{Check, Context, Emission, Outcome};

/// See the module comment.
pub static CHECK: Check = Check {
    id: "field-removed",
    step: Some(Step::R3),
    kinds: &[ChangeKind::FieldRemoved],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    let Subject::Field(owner, field) = &change.subject else { return None };
    let (owner, field) = (owner.base?, field.base?);
    if field.oneof.as_ref().is_some_and(|oneof| context.is_dispatch(&owner.name, oneof)) {
        return None;
    }
    Some(removed(change, context, &format!("field {} = {}", field.name, field.number)))
}

/// The outcome of taking away something that artifacts may hold: `what` names it.
pub(super) fn removed(change: &Change<'_>, context: &Context<'_>, what: &str) -> Outcome {
    match context.evidence.emission(&change.construct) {
        Emission::Off => Outcome::safe(
            format!("{what} is removed, and no compiler ever emitted it"),
            "nothing that exists holds it",
        ),
        Emission::Ceased(since) if context.windows.backward.satisfied(since, context.today) => {
            Outcome::safe(
                format!("{what} is removed, {} after compilers stopped emitting it", context.windows.backward),
                format!("not emitted since {since}"),
            )
        }
        emission => {
            let ceased = match emission {
                Emission::Ceased(since) => since,
                _ => context.today,
            };
            let mut outcome = Outcome::new(
                Triage::BreaksBackward,
                format!("{what} is removed while artifacts of the last {} may hold it", context.windows.backward),
                "a value under a number that the runtime does not know is dropped without an error",
                format!(
                    "Keep reading it until {} after the last compiler that emits it, then reserve number and name. If none emits it from today on, that is the date given; if none has for that long already, attest or waive with the commit that stopped it.",
                    context.windows.backward
                ),
            );
            outcome.emission = emission;
            outcome.earliest(context.windows.backward.after(ceased))
        }
    }
}
