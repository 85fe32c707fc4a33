//! The ledger forgets what was.
//!
//! ## What it flags
//! A tombstone of base's ledger (a number, name, message or enum that was declared or reserved and is no more) that is gone
//! in head's, an interval that became shorter, or the whole file being deleted. Base's ledger is the evidence.
//!
//! ## Why it breaks
//! Artifacts of the last months hold what the tombstone names. Without it the number or the name looks free, and the next
//! change that takes it is called safe.
//!
//! ## What to do
//! Bring base's ledger back and run `aotgate ledger`: it adds, and never takes away. After a merge conflict take base's
//! side, then run it.
//!
//! ## Example
//! ```text
//! field xla.gpu.ThunkProto 18 dynamic_slice_thunk .xla.gpu.DynamicSliceThunkProto optional explicit oneof=impl : 2025-10-31@0123456789ab..2026-08-06@34db469cbf01
//! ```

use crate::change::{Change, Surface};
use crate::finding::{Finding, Level, SourceLocation, Triage};
use crate::history::ledger::Breach;
use crate::triage::{Check, Context, Outcome};

use super::{ledger_contradicts, wording};

/// See the module comment.
pub static CHECK: Check = Check {
    id: "ledger-tombstone-dropped",
    step: None,
    kinds: &[],
    surface: Surface::Ledger,
    level: Some(Level::Error),
    judge,
};

fn judge(_change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    None
}

const BECAUSE: &str = "what is forgotten can be reused without anybody noticing";

/// The finding on one line.
pub fn finding(breach: &Breach, locations: Vec<SourceLocation>) -> Finding {
    let what = if breach.found.is_some() { "shortens" } else { "drops" };
    let message = format!("the ledger {what} the line `{}`: {}", breach.subject, breach.why);
    let outcome =
        Outcome::new(Triage::NeedsAttestation, message, BECAUSE, ledger_contradicts::REMEDY);
    let construct = format!("ledger:{}", breach.construct);
    let found = wording::input_finding(&CHECK, construct, Level::Error, outcome, locations);
    Finding { before: breach.expected.clone(), after: breach.found.clone(), ..found }
}

/// The finding on a ledger that head deletes.
pub fn file(path: &str, locations: Vec<SourceLocation>) -> Finding {
    let message = format!("{path} is deleted, and with it everything that it knew of the past");
    let outcome =
        Outcome::new(Triage::NeedsAttestation, message, BECAUSE, ledger_contradicts::REMEDY);
    wording::input_finding(&CHECK, format!("ledger:{path}"), Level::Error, outcome, locations)
}
