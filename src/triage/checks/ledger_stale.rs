//! The ledger was not brought up to date.
//!
//! ## What it flags
//! Lines of the ledger that head leaves as they are in base although the protos that they describe changed; lines that were
//! out of date in base already are not counted. One finding for all of them.
//!
//! ## Why it breaks
//! A later change is judged by what the ledger says was there. What it never heard of, it cannot protect: a number that came
//! and went between two updates looks as if it had never been used.
//!
//! ## What to do
//! Run `aotgate ledger` and commit the file with the change.
//!
//! ## Example
//! ```sh
//! aotgate ledger && git add aotgate.lock
//! ```

use crate::change::{Change, Surface};
use crate::finding::{Finding, Level, SourceLocation};
use crate::history::ledger::Breach;
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "ledger-stale",
    step: None,
    kinds: &[],
    surface: Surface::Ledger,
    level: Some(Level::Warning),
    judge,
};

fn judge(_change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    None
}

/// The finding on all lines that are out of date; none where there is no such line.
pub fn finding(path: &str, stale: &[&Breach], locations: Vec<SourceLocation>) -> Finding {
    let first = stale.first();
    let example = first.map_or(String::new(), |breach| format!(": `{}`", breach.subject));
    let message = match stale.len() {
        1 => format!("{path} is not up to date{example}"),
        more => format!("{path} is not up to date in {more} lines, the first{example}"),
    };
    let mut outcome = Outcome::safe(message, "the ledger is the evidence for later changes");
    outcome.remedy = "Run `aotgate ledger` and commit what it writes with this change.".to_owned();
    let construct = format!("ledger:{path}");
    let found = wording::input_finding(&CHECK, construct, Level::Warning, outcome, locations);
    let line = |of: fn(&Breach) -> Option<&String>| first.and_then(|b| of(b)).cloned();
    Finding { before: line(|b| b.found.as_ref()), after: line(|b| b.expected.as_ref()), ..found }
}

/// The finding on base's own ledger, which cannot be read: it is no evidence.
pub fn unreadable(path: &str, why: &str, locations: Vec<SourceLocation>) -> Finding {
    let mut outcome = Outcome::safe(
        format!("{path} cannot be read in base:{why}; nothing that it knew is held against this change"),
        "the ledger is the evidence for later changes",
    );
    outcome.remedy = "Run `aotgate ledger` where history is complete, and commit what it writes.".to_owned();
    wording::input_finding(&CHECK, format!("ledger:{path}"), Level::Warning, outcome, locations)
}
