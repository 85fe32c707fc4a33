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

use crate::change::{Change, ChangeKind, Subject, Surface};
use crate::finding::{Level, Step};
use crate::triage::{Check, Context, Former, Outcome};

use super::{reserved_dropped, wording};

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
const LOOKED_UP: usize = 1000;

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    let dropped = reserved_dropped::dropped(change)?;
    let owner = match &change.subject {
        Subject::Message(owner) => &owner.base?.name,
        Subject::Enum(owner) => &owner.base?.name,
        _ => return None,
    };
    let last = |before: Vec<Former>| before.into_iter().max_by_key(|former| former.until.date);
    let numbers = dropped.numbers.iter().flat_map(|&(lo, hi)| lo..=hi).take(LOOKED_UP);
    let numbers = numbers.filter_map(|number| {
        let former = last(context.evidence.number_before(owner, number))?;
        Some((number.to_string(), former, context.evidence.number_reserved(owner, number)))
    });
    let names = dropped.names.iter().filter_map(|name| {
        let former = last(context.evidence.name_before(owner, name))?;
        Some((format!("\"{name}\""), former, context.evidence.name_reserved(owner, name)))
    });
    let known: Vec<_> = numbers.chain(names).collect();
    let (_, first, _) = known.first()?;
    let list: Vec<&str> = known.iter().map(|(what, ..)| what.as_str()).collect();
    let list = list.join(", ");
    let mut outcome = Outcome::safe(
        format!("{list} is reserved no more, and was {first} until {}", first.until),
        "a later change could take it, and would be read out of old artifacts",
    );
    outcome.remedy = format!("Reserve {list} again.");
    for (what, former, reserved) in &known {
        outcome.evidence.extend(wording::dated(former));
        if let Some(reserved) = reserved {
            outcome.evidence.push(reserved.evidence(format!("{what} was reserved")));
        }
    }
    Some(outcome)
}
