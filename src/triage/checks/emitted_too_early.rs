//! Compilers emit something before all runtimes of the forward window can read it.
//!
//! ## What it flags
//! An edit of the rollout file that switches emission on less than the forward window after the reader landed:
//! by the entry's own `reader`, and by the day on which history saw the construct first, whichever is later. A
//! construct that the same change declares counts as landed today.
//!
//! ## Why it breaks
//! Runtimes up to 2 weeks older are in use beside the new compilers. They drop the new field, or cannot run the
//! new step at all.
//!
//! ## What to do
//! Switch it on from the named day on. Until then leave the flag off, and the interval out of the file.
//!
//! ## Example
//! ```toml
//! [[rollout]]
//! constructs = ["xla.gpu.ThunkProto.rng_seed_thunk"]
//! reader = { date = 2026-06-03, commit = "2535abe422" }
//! emitted = [{ on = { date = 2026-06-17 } }]     # the first day that is no break
//! ```

use chrono::NaiveDate;

use crate::change::{Change, Surface};
use crate::finding::{Evidence, Finding, Level, SourceLocation, Step, Triage};
use crate::rollout::windows::Length;
use crate::triage::{Check, Context, Outcome, Seen};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "emitted-too-early",
    step: Some(Step::R4),
    kinds: &[],
    surface: Surface::Policy,
    level: Some(Level::Error),
    judge,
};

fn judge(_change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    None
}

/// What a rollout file switches on.
#[derive(Debug, Clone, Copy)]
pub struct SwitchedOn<'a> {
    /// Full name of what is emitted.
    pub construct: &'a str,
    /// Since when.
    pub on: NaiveDate,
    /// When runtimes learnt to read it.
    pub reader: &'a Seen,
}

/// The finding on a construct that is emitted from `on` on; `None` if that is late enough.
pub fn finding(
    emitted: SwitchedOn<'_>,
    forward: Length,
    locations: Vec<SourceLocation>,
) -> Option<Finding> {
    let SwitchedOn { construct, on, reader } = emitted;
    if forward.satisfied(reader.date, on) {
        return None;
    }
    let from = forward.after(reader.date);
    let days = (on - reader.date).num_days().max(0);
    let mut outcome = Outcome::new(
        Triage::BreaksForward,
        format!("{construct} is emitted from {on} on, {days} days after runtimes learnt to read it"),
        format!("runtimes up to {forward} older do not know it"),
        format!("Switch it on from {from} on."),
    )
    .earliest(from);
    outcome.evidence = vec![
        reader.evidence(format!("{construct} can be read")),
        Evidence {
            what: "emission is switched on".to_owned(),
            commit: None,
            date: Some(on),
            file: None,
            line: None,
        },
    ];
    Some(wording::input_finding(&CHECK, construct.to_owned(), Level::Error, outcome, locations))
}
