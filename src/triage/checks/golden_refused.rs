//! A recorded artifact is refused.
//!
//! ## What it flags
//! A golden inside the backward window that base reads and head refuses: a required field that it lacks, or content that is
//! malformed as what head declares. The construct is the first one that head stumbles over. A golden that the change itself
//! brings and that cannot be read is a warning, and so is a text golden that head's contract cannot parse as it stands in
//! head, while what it says in binary is still read: the text must be converted in the same change. A place in head's store
//! that nobody can look into, a link, a submodule, a name that is not UTF-8 or more files than are listed, is an error
//! unless base had it.
//!
//! ## Why it breaks
//! The runtime refuses the artifact as a whole. Text names fields, so a rename that no binary artifact notices breaks it,
//! and with it the tests that load it.
//!
//! ## What to do
//! Make head read it again: drop `required`, bring the type back, read the new form from another field. A text golden is
//! written anew with the schema of head: as long as it says the same, that is no edit.
//!
//! ## Example
//! ```proto
//! message ThunkProto {
//!   required int64 stream = 7;   // golden:jaxlib-0.10.1/add was written without it
//! }
//! ```

use crate::change::{Change, Surface};
use crate::finding::{Evidence, Finding, Level, SourceLocation, Step, Triage};
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "golden-refused",
    step: Some(Step::R2),
    kinds: &[],
    surface: Surface::Golden,
    level: None,
    judge,
};

fn judge(_change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    None
}

/// The finding on this many goldens that base reads and head refuses at `construct`.
pub fn refused(
    construct: &str,
    why: &str,
    goldens: usize,
    evidence: Vec<Evidence>,
    locations: Vec<SourceLocation>,
) -> Finding {
    let many = match goldens {
        1 => "a golden of the backward window".to_owned(),
        count => format!("{count} goldens of the backward window"),
    };
    let outcome = Outcome::new(
        Triage::BreaksBackward,
        format!("{many} can be read no more: {why}"),
        "the runtime refuses the whole artifact",
        "Read it as before: what compilers of the backward window wrote must be accepted.",
    );
    settled(construct, Level::Error, outcome, evidence, locations)
}

/// The finding on a golden (`golden:<id>`) that the change brings and that cannot be read.
pub fn unreadable(golden: &str, why: &str, locations: Vec<SourceLocation>) -> Finding {
    let outcome = Outcome::new(
        Triage::NeedsAttestation,
        format!("it is new and cannot be read: {why}"),
        "what it should prove cannot be looked at",
        format!(
            "Record it again as the compiler serialized it. If it is meant to be like that, say so in the commit message: `AOT-Compat: {} {golden} - <reason>`.",
            CHECK.id
        ),
    );
    settled(golden, Level::Warning, outcome, Vec::new(), locations)
}

/// The finding on a place in head's store (`golden:<path>`) that base's had not and that hides what is behind it.
pub fn hidden(place: &str, why: &str, locations: Vec<SourceLocation>) -> Finding {
    let outcome = Outcome::new(
        Triage::BreaksBackward,
        format!("a store of goldens cannot be looked at: {why}"),
        "whatever is there proves nothing from now on",
        "Put regular files with names in UTF-8 there, as many as a store needs.",
    );
    settled(place, Level::Error, outcome, Vec::new(), locations)
}

/// The finding on a text golden (`golden:<id>`) that head's contract cannot parse as it stands in head.
pub fn text(golden: &str, why: &str, locations: Vec<SourceLocation>) -> Finding {
    let outcome = Outcome::new(
        Triage::NeedsAttestation,
        format!("its text is none to head's contract: {why}"),
        "text names what head does not have, so whatever loads it fails; binary artifacts have numbers",
        format!(
            "Convert the text in the same change, or reserve the name that it uses. If it is converted elsewhere, say where in the commit message: `AOT-Compat: {} {golden} - <reason>`.",
            CHECK.id
        ),
    );
    settled(golden, Level::Warning, outcome, Vec::new(), locations)
}

fn settled(
    construct: &str,
    level: Level,
    outcome: Outcome,
    evidence: Vec<Evidence>,
    locations: Vec<SourceLocation>,
) -> Finding {
    let window = outcome.window;
    let finding =
        wording::input_finding(&CHECK, construct.to_owned(), level, outcome, locations);
    Finding { window, evidence, ..finding }
}
