//! An enum number or name means something else now.
//!
//! ## What it flags
//! - a number whose value got another name, while the old name lives on under another number, the new name came
//!   from another number, or one of the names is reserved;
//! - a new value whose number or name base reserves. If base reserves both it may be the old value that comes
//!   back, which somebody has to vouch for; so it is where only the name is reserved.
//!
//! ## Why it breaks
//! The wire carries numbers only. Artifacts of the last 6 months hold the number with its old meaning. A name
//! that comes back under another number misleads readers of text and JSON.
//!
//! ## What to do
//! Take a number and a name that were never used, and keep the old ones reserved.
//!
//! ## Example
//! ```proto
//! enum CommandBufferUpdateMode {
//!   reserved 2;            // was: CAPTURE_CMD_NEVER_UPDATE = 2;
//!   ALWAYS_UPDATE = 0;
//!   SKIP_PROFILED = 3;     // a new number, not 2
//! }
//! ```

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::descriptor::{Enum, EnumValue};
use crate::finding::{Step, Triage};
use crate::triage::{Check, Context, Outcome};

use super::field_number_reused::{comes_back, dated, read_by_old_runtimes};
use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "enum-value-reused",
    step: Some(Step::R2),
    kinds: &[ChangeKind::EnumValueAdded, ChangeKind::EnumValueRenumbered, ChangeKind::EnumValueRenamed],
    surface: Surface::Proto,
    level: None,
    judge,
};

/// Whether a value that is new under its number is certainly not the one that had the number before.
pub(super) fn certain(base: &Enum, head: &EnumValue) -> bool {
    base.reserves_number(head.number) && !base.reserves_name(&head.name)
}

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    let Subject::EnumValue(owner, value) = &change.subject else { return None };
    let (owner, new) = (owner.base?, value.head?);
    if change.kind == ChangeKind::EnumValueRenamed {
        let why = change.repurposed.as_deref()?;
        let old = value.base?;
        let was = format!("number {} was {} and is {} now ({why})", new.number, old.name, new.name);
        return match wording::absent(context, &format!("{}.{}", owner.name, old.name)) {
            Some(absent) => Some(read_by_old_runtimes(change, context, was, absent)),
            None => Some(reused(context, was)),
        };
    }
    let was = format!("number {} is reserved in base and is {} now", new.number, new.name);
    if owner.reserves_number(new.number) {
        let before = context.evidence.number_before(&owner.name, new.number);
        if let Some(outcome) = comes_back(before, |former| former.name == *new.name, &was) {
            return Some(outcome);
        }
    }
    match (owner.reserves_number(new.number), owner.reserves_name(&new.name)) {
        (true, false) => {
            let before = context.evidence.number_before(&owner.name, new.number);
            Some(dated(context, before, reused(context, was)))
        }
        (true, true) => {
            let same = "it is the very value that was removed, with the same meaning";
            Some(vouched(change, format!("{was}, as is the name"), same))
        }
        (false, true) => {
            let was = format!("{} takes a name that base reserves", wording::value(new));
            let same = "no text or JSON from before the removal is read any more, or it means the same";
            Some(vouched(change, was, same))
        }
        (false, false) => None,
    }
}

fn reused(context: &Context<'_>, message: String) -> Outcome {
    let backward = context.windows.backward;
    Outcome::new(
        Triage::BreaksBackward,
        message,
        format!("artifacts of the last {backward} hold the number with its old meaning"),
        "Take a number that was never used, and keep this one reserved.",
    )
}

fn vouched(change: &Change<'_>, message: String, same: &str) -> Outcome {
    Outcome::new(
        Triage::NeedsAttestation,
        message,
        "what was written before the removal means what number and name meant then",
        format!("{} Otherwise take a new number and name.", wording::attest(CHECK.id, change, same)),
    )
}
