//! The ledger says what is not so.
//!
//! ## What it flags
//! A line of the ledger that head edits and that says otherwise than head's protos, or that dates something earlier than
//! base's ledger or base's day allows; and a ledger of head's that cannot be read. Base's ledger is the evidence.
//! A date that was vague may become exact, and what was before base's ledger began may be added.
//!
//! ## Why it breaks
//! Windows count from the ledger's dates. A date that is too early lets something be emitted, removed or reused before its
//! window is over, and a wrong property hides the next change of it.
//!
//! ## What to do
//! Do not edit the ledger by hand: `git checkout BASE -- aotgate.lock`, then run `aotgate ledger`.
//!
//! ## Example
//! ```text
//! field xla.gpu.CopyThunkProto 4 size int64 optional implicit : 2020-01-01@0123456789ab..
//! ```

use crate::change::{Change, Surface};
use crate::finding::{Finding, Level, SourceLocation, Triage};
use crate::history::ledger::Breach;
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "ledger-contradicts",
    step: None,
    kinds: &[],
    surface: Surface::Ledger,
    level: Some(Level::Error),
    judge,
};

fn judge(_change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    None
}

/// What brings the ledger back.
pub(super) const REMEDY: &str =
    "Bring base's ledger back (`git checkout BASE -- <ledger>`), then run `aotgate ledger`; it is not edited by hand.";

/// The finding on one line.
pub fn finding(breach: &Breach, locations: Vec<SourceLocation>) -> Finding {
    let message = match (&breach.expected, &breach.found) {
        (_, None) => format!("the ledger has no line `{}`: {}", breach.subject, breach.why),
        _ => format!("the ledger's line `{}` is wrong: {}", breach.subject, breach.why),
    };
    let because = "windows are counted from what the ledger says";
    let outcome = Outcome::new(Triage::NeedsAttestation, message, because, REMEDY);
    let construct = format!("ledger:{}", breach.construct);
    let found = wording::input_finding(&CHECK, construct, Level::Error, outcome, locations);
    Finding { before: breach.expected.clone(), after: breach.found.clone(), ..found }
}

/// The finding on head's ledger at `path`, which cannot be read.
pub fn unreadable(path: &str, why: &str, locations: Vec<SourceLocation>) -> Finding {
    let mut outcome = Outcome::safe(
        format!("{path} cannot be read, line {why}"),
        "once merged, it would be no evidence for later changes",
    );
    outcome.remedy = REMEDY.to_owned();
    wording::input_finding(&CHECK, format!("ledger:{path}"), Level::Error, outcome, locations)
}
