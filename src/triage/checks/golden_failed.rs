//! A recorded program runs no more.
//!
//! ## What it flags
//! A golden inside the backward window that could be loaded and executed as base understands it, and cannot as head does: an
//! error. Two milder cases are warnings, because the change need not be at fault: a golden that gives the same through base
//! and head but not what was recorded (the golden or the bundled runtime is wrong), and one that the change itself brings and
//! that cannot be executed or does not give what it should.
//!
//! ## Why it breaks
//! What head's descriptors leave of the artifact is no whole program.
//!
//! ## What to do
//! Undo what the findings about the schema of the same golden report. A waiver for all of those findings holds for this one.
//! A golden with wrong outputs is recorded again.
//!
//! ## Example
//! ```proto
//! message KernelThunkProto {
//!   reserved 1;   // was: repeated ShapedSliceProto args = 1; golden:jaxlib-0.12.0/add has a kernel without arguments
//! }
//! ```

use crate::change::{Change, Surface};
use crate::finding::{Evidence, Finding, Level, SourceLocation, Step, Triage};
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "golden-failed",
    step: Some(Step::R2),
    kinds: &[],
    surface: Surface::Golden,
    level: None,
    judge,
};

fn judge(_change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    None
}

/// The finding on a golden that ran as base understands it only.
pub fn broken(
    golden: &str,
    why: &str,
    evidence: Vec<Evidence>,
    locations: Vec<SourceLocation>,
) -> Finding {
    let outcome = Outcome::new(
        Triage::BreaksBackward,
        format!("it could be executed as base understands it, and cannot as head does: {why}"),
        "head's descriptors leave no whole program of an artifact of a released compiler",
        "Go on reading what it carries as it was written, until no golden of the backward window carries it.",
    );
    settled(golden, Level::Error, outcome, evidence, locations)
}

/// The finding on a golden that gives something else than recorded, whichever side reads it.
pub fn unexpected(golden: &str, how: &str, locations: Vec<SourceLocation>) -> Finding {
    let outcome = Outcome::new(
        Triage::NeedsAttestation,
        format!("as base and as head understand it, it gives the same, which is not what was recorded: {how}"),
        "the golden or the bundled runtime is wrong, whatever the change does",
        "See `aotgate golden verify`; record the golden again, or report what the runtime computes wrongly.",
    );
    settled(golden, Level::Warning, outcome, Vec::new(), locations)
}

/// The finding on a golden that the change brings and that does not do what it should.
pub fn new(golden: &str, why: &str, locations: Vec<SourceLocation>) -> Finding {
    let outcome = Outcome::new(
        Triage::NeedsAttestation,
        format!("the change brings it, and it does not do what it should: {why}"),
        "a golden that fails from the start shows nothing later",
        "Record it again, or leave it out.",
    );
    settled(golden, Level::Warning, outcome, Vec::new(), locations)
}

fn settled(
    golden: &str,
    level: Level,
    outcome: Outcome,
    evidence: Vec<Evidence>,
    locations: Vec<SourceLocation>,
) -> Finding {
    let window = outcome.window;
    let finding = wording::input_finding(&CHECK, golden.to_owned(), level, outcome, locations);
    Finding { window, evidence, ..finding }
}
