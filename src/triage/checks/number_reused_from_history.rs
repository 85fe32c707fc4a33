//! A number was free in base and stood for something else before.
//!
//! ## What it flags
//! A field or enum value under a number that base neither declares nor reserves, and that history or the ledger
//! knows with another name or type, where it was taken away inside the backward window. So does a message or
//! enum that comes back with other fields or values than it had. The same field or value that comes back
//! unchanged is none: a revert of a revert.
//!
//! ## Why it breaks
//! The wire carries numbers only. Artifacts of the last 6 months hold the old field or value under this number,
//! and the new runtime reads it as the new one, without an error where the wire types fit.
//!
//! ## What to do
//! Take a number that was never used, and reserve the one that was freed. A number that was freed before the
//! window is a note: no artifact that must still be read holds it.
//!
//! ## Example
//! ```proto
//! enum CommandBufferUpdateMode {
//!   ALWAYS_UPDATE = 0;
//!   SKIP_PROFILED = 2;     // until 13 days ago CAPTURE_CMD_NEVER_UPDATE = 2: take 3
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::descriptor::{Enum, EnumValue, Field, Message};
use crate::finding::{Step, Triage};
use crate::triage::{Check, Context, Former, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "number-reused-from-history",
    step: Some(Step::R2),
    kinds: &[
        ChangeKind::FieldAdded,
        ChangeKind::FieldRenumbered,
        ChangeKind::EnumValueAdded,
        ChangeKind::EnumValueRenumbered,
        ChangeKind::MessageAdded,
        ChangeKind::EnumAdded,
    ],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    match &change.subject {
        Subject::Field(owner, field) => {
            let (owner, field) = (owner.base?, field.head?);
            let taken = owner.reserves_number(field.number) || owner.field(field.number).is_some();
            if taken { None } else { of_field(owner, field, context) }
        }
        Subject::EnumValue(owner, value) => {
            let (owner, value) = (owner.base?, value.head?);
            let taken = owner.reserves_number(value.number) || owner.value(value.number).is_some();
            if taken { None } else { of_value(owner, value, context) }
        }
        Subject::Message(owner) => {
            let owner = owner.head?;
            worst(owner.fields.iter().filter_map(|field| of_field(owner, field, context)))
        }
        Subject::Enum(owner) => {
            let owner = owner.head?;
            worst(owner.values.iter().filter_map(|value| of_value(owner, value, context)))
        }
        Subject::Oneof(..) => None,
    }
}

/// The gravest of the outcomes of one type, the first of its kind.
fn worst(outcomes: impl Iterator<Item = Outcome>) -> Option<Outcome> {
    outcomes.reduce(|worst, next| if next.triage > worst.triage { next } else { worst })
}

fn of_field(owner: &Message, field: &Field, context: &Context<'_>) -> Option<Outcome> {
    let before = context.evidence.number_before(&owner.name, field.number);
    let former = Former::last_but(before, |former| former.is(field))?;
    let now = format!("{} {}", field.ty, field.name);
    Some(outcome(&owner.name, &former, &now, context))
}

fn of_value(owner: &Enum, value: &EnumValue, context: &Context<'_>) -> Option<Outcome> {
    let before = context.evidence.number_before(&owner.name, value.number);
    let former = Former::last_but(before, |former| former.name == *value.name)?;
    Some(outcome(&owner.name, &former, &value.name, context))
}

fn outcome(owner: &str, former: &Former, now: &str, context: &Context<'_>) -> Outcome {
    let backward = context.windows.backward;
    let number = former.number;
    let message = format!("number {number} was {former} until {} and is {now} now", former.until);
    let safe = if backward.satisfied(former.until.date, context.today) {
        Some(format!("no artifact of the last {backward} holds the old meaning"))
    } else {
        wording::absent(context, &format!("{owner}.{}", former.name))
            .or_else(|| wording::short_lived(context, former))
    };
    let mut outcome = match safe {
        Some(why) => {
            let mut outcome = Outcome::safe(message, why);
            outcome.remedy =
                "Nothing has to be done; a number that was never used would be clearer.".to_owned();
            outcome
        }
        None => Outcome::new(
            Triage::BreaksBackward,
            message,
            format!("artifacts of the last {backward} hold the old meaning under this number"),
            format!(
                "Take a number that was never used, and reserve {number}. No artifact holds the old meaning from {} on.",
                backward.after(former.until.date)
            ),
        )
        .earliest(backward.after(former.until.date)),
    };
    outcome.evidence = wording::dated(former);
    outcome
}
