//! A field number holds another field now.
//!
//! ## What it flags
//! - a number whose field got another name, while the old name lives on under another number, the new name
//!   came from another number, the old name is reserved, or the type does not fit either;
//! - a new field under a number that base reserves. If base reserves the field's name as well it may be the
//!   old field that comes back, which somebody has to vouch for.
//!
//! ## Why it breaks
//! The wire carries numbers only. Artifacts of the last 6 months hold the old field under this number, and the
//! new runtime reads it as the new one, without an error where the wire types fit.
//!
//! ## What to do
//! Take a number that was never used. Keep the old one reserved, for good.
//!
//! ## Example
//! ```proto
//! message CopyThunkProto {
//!   reserved 3;              // was: int64 instr_id = 3;
//!   bool async = 4;          // a new number, not 3
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::descriptor::{Field, Message};
use crate::finding::{Step, Triage};
use crate::triage::{Check, Context, Emission, Former, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "field-number-reused",
    step: Some(Step::R2),
    kinds: &[ChangeKind::FieldAdded, ChangeKind::FieldRenumbered, ChangeKind::FieldRenamed],
    surface: Surface::Proto,
    level: None,
    judge,
};

/// Whether a field that is new under its number is certainly not the one that had the number before.
pub(super) fn certain(base: &Message, head: &Field) -> bool {
    base.reserves_number(head.number) && !base.reserves_name(&head.name)
}

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    let Subject::Field(owner, field) = &change.subject else { return None };
    let (owner, new) = (owner.base?, field.head?);
    let now = format!("{} {}", new.ty, new.name);
    if change.kind != ChangeKind::FieldRenamed {
        if !owner.reserves_number(new.number) {
            return None;
        }
        let was = format!("number {} is reserved in base and holds {now} now", new.number);
        let before = context.evidence.number_before(&owner.name, new.number);
        if let Some(outcome) = comes_back(before, |former| former.is(new), &was) {
            return Some(outcome);
        }
        let before = context.evidence.number_before(&owner.name, new.number);
        return Some(if certain(owner, new) {
            dated(context, before, reused(context, was))
        } else {
            back(change, was)
        });
    }
    let why = change.repurposed.as_deref()?;
    let old = field.base?;
    let was = format!("number {} was {} {} and holds {now} now ({why})", new.number, old.ty, old.name);
    match wording::absent(context, &format!("{}.{}", owner.name, old.name)) {
        Some(absent) => Some(read_by_old_runtimes(change, context, was, absent)),
        None => Some(reused(context, was)),
    }
}

fn reused(context: &Context<'_>, message: String) -> Outcome {
    let backward = context.windows.backward;
    Outcome::new(
        Triage::BreaksBackward,
        message,
        format!("artifacts of the last {backward} hold the old field under this number"),
        "Take a number that was never used, and keep this one reserved. If it is the same field coming back unchanged, have that waived with the commit that removed it.",
    )
}

/// The same with what history knows of the number: what was freed before the window is in no artifact.
pub(super) fn dated(context: &Context<'_>, before: Vec<Former>, outcome: Outcome) -> Outcome {
    let backward = context.windows.backward;
    let Some(last) = before.into_iter().max_by_key(|former| former.until.date) else {
        return outcome;
    };
    let mut outcome = match backward.satisfied(last.until.date, context.today) {
        true => Outcome::safe(
            format!("{}; it was {last} until {}", outcome.message, last.until),
            format!("no artifact of the last {backward} holds the old meaning"),
        ),
        false => outcome.earliest(backward.after(last.until.date)),
    };
    outcome.evidence = wording::dated(&last);
    outcome
}

/// What history knows to be the very thing that was removed.
pub(super) fn comes_back(
    before: Vec<Former>,
    same: impl Fn(&Former) -> bool,
    message: &str,
) -> Option<Outcome> {
    let same = before.iter().filter(|former| same(former)).max_by_key(|former| former.until.date)?;
    if before.iter().any(|former| former.until.date > same.until.date) {
        return None;
    }
    let why = format!("it is what was taken away on {}, and comes back unchanged", same.until);
    let mut outcome = Outcome::safe(format!("{message}; {why}"), why);
    outcome.evidence = wording::dated(same);
    Some(outcome)
}

/// Number and name come back together.
fn back(change: &Change<'_>, message: String) -> Outcome {
    let same = "it is the very field that was removed, of the same type and meaning";
    Outcome::new(
        Triage::NeedsAttestation,
        format!("{message}, as is the name"),
        "artifacts from before the removal hold whatever had number and name then",
        format!("{} Otherwise take a new number and name.", wording::attest(CHECK.id, change, same)),
    )
}

/// No artifact holds the old field, and the runtimes of the forward window still know it.
pub(super) fn read_by_old_runtimes(
    change: &Change<'_>,
    context: &Context<'_>,
    message: String,
    absent: String,
) -> Outcome {
    let emission = context.evidence.emission(&change.construct);
    let triage = match emission {
        Emission::On => Triage::BreaksForward,
        _ => Triage::NeedsRollout,
    };
    let forward = context.windows.forward;
    let remedy = format!(
        "Take a number that was never used, or emit this one from {} on, when no runtime knows the old one.",
        context.emission_from()
    );
    let because = format!("{absent}, but runtimes up to {forward} older read it as the old one");
    let mut outcome = Outcome::new(triage, message, because, remedy);
    outcome.emission = emission;
    outcome.earliest(context.emission_from())
}
