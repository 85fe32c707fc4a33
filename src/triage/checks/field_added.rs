//! A field was added.
//!
//! ## What it flags
//! A field number that head has and base has not, outside oneofs, in a message that artifacts can hold.
//!
//! ## Why it matters
//! A runtime up to 2 weeks older does not know the number and ignores the value. That is fine where the
//! value is optional and "unset" keeps the old meaning, and wrong where correctness needs it. Two
//! schemas do not tell which; until it is known whether compilers write the field, the cautious answer
//! applies.
//!
//! ## What to do
//! Land the field with the code that reads it. Write it only 2 weeks later, or behind a flag that is off
//! by default until then. If an older runtime may ignore it, say so in the commit message or a waiver.
//!
//! ## Example
//! ```proto
//! message KernelThunkProto {
//!   bool use_pdl = 10;   // new: written from the forward window's end on
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::{Step, Triage};
use crate::triage::{Check, Context, Emission, Outcome};

/// See the module comment.
pub static CHECK: Check = Check {
    id: "field-added",
    step: Some(Step::R4),
    kinds: &[ChangeKind::FieldAdded],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    let Subject::Field(_, field) = &change.subject else { return None };
    let field = field.head?;
    if field.oneof.is_some() || change.repurposed.is_some() {
        return None;
    }
    Some(added(change, context, &format!("field {} = {}", field.name, field.number)))
}

/// The outcome of adding something that older runtimes do not know: `what` names it.
pub(super) fn added(change: &Change<'_>, context: &Context<'_>, what: &str) -> Outcome {
    let emission = context.evidence.emission(&change.construct);
    let forward = context.windows.forward;
    let (triage, message) = match emission {
        Emission::On => (
            Triage::BreaksForward,
            format!("{what} is added and emitted at once, while runtimes up to {forward} older do not know it"),
        ),
        _ => (
            Triage::NeedsRollout,
            format!("{what} is new: runtimes up to {forward} older ignore it"),
        ),
    };
    let mut outcome = Outcome::new(
        triage,
        message,
        "a runtime that does not know a number drops its value without an error",
        format!(
            "Land the reader now and switch emission on {forward} later, or behind a flag that is off until then. If older runtimes may ignore it without a wrong result, say so with a waiver.",
        ),
    );
    outcome.emission = emission;
    outcome.earliest(context.emission_from())
}
