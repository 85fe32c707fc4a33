//! Something is reserved no more that history knows to have been in use.
//!
//! ## What it flags
//! Dropped reservations of numbers and names that a field or value had before, as history or the ledger shows,
//! with the day on which it went and the day on which the reservation was made. Reservations of what was never
//! seen in use are [`reserved-dropped`](#reserved-dropped).
//!
//! ## Why it breaks
//! Nothing breaks by it yet. But the reservation is all that keeps the next change from taking the number, and
//! artifacts of the last 6 months would be read as something else then.
//!
//! ## What to do
//! Reserve it again. A reservation may go when no one can remember artifacts with the old meaning; nothing is
//! gained by it.
//!
//! ## Example
//! ```proto
//! message GpuExecutableProto {
//!   reserved 16;             // held a field until last winter: keep the line
//! }
//! ```

use crate::change::{Change, ChangeKind, Surface};
use crate::finding::{Level, Step};
use crate::triage::{Check, Context, Former, Outcome, Seen};

use super::reserved_dropped::{self, Dropped};
use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "unreserved-again",
    step: Some(Step::R3),
    kinds: &[ChangeKind::ReservedDropped],
    surface: Surface::Proto,
    level: Some(Level::Warning),
    judge,
};

/// At most so many numbers of a dropped range are looked up.
pub(super) const LOOKED_UP: usize = 1000;

/// What was in use before, of all that is reserved no more.
pub(super) struct InUse {
    /// A number, or a name in quotes.
    what: String,
    former: Former,
    reserved: Option<Seen>,
}

/// What of a number or a name history knows.
pub(super) fn number(owner: &str, number: i32, context: &Context<'_>) -> Option<InUse> {
    let former = last(context.evidence.number_before(owner, number))?;
    let reserved = context.evidence.number_reserved(owner, number);
    Some(InUse { what: number.to_string(), former, reserved })
}

/// The same of a name.
pub(super) fn name(owner: &str, name: &str, context: &Context<'_>) -> Option<InUse> {
    let former = last(context.evidence.name_before(owner, name))?;
    let reserved = context.evidence.name_reserved(owner, name);
    Some(InUse { what: format!("\"{name}\""), former, reserved })
}

fn last(before: Vec<Former>) -> Option<Former> {
    before.into_iter().max_by_key(|former| former.until.date)
}

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    let Dropped { owner, numbers, names } = reserved_dropped::dropped(change)?;
    let numbers = numbers.iter().flat_map(|&(lo, hi)| lo..=hi).take(LOOKED_UP);
    let numbers = numbers.filter_map(|n| number(owner, n, context));
    let names = names.iter().filter_map(|n| name(owner, n, context));
    let known: Vec<InUse> = numbers.chain(names).collect();
    let InUse { former, .. } = known.first()?;
    let list: Vec<&str> = known.iter().map(|known| &*known.what).collect();
    let list = list.join(", ");
    let mut outcome = Outcome::safe(
        format!("{list} is reserved no more, and was {former} until {}", former.until),
        "a later change could take it, and would be read out of old artifacts",
    );
    outcome.remedy = format!("Reserve {list} again.");
    for InUse { what, former, reserved } in &known {
        outcome.evidence.extend(wording::dated(former));
        if let Some(reserved) = reserved {
            outcome.evidence.push(reserved.evidence(format!("{what} was reserved")));
        }
    }
    Some(outcome)
}
