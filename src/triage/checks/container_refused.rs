//! A golden's container is refused by the loader.
//!
//! ## What it flags
//! A golden inside the backward window in a container that head's loaders do not read, as `[[container.era]]` of the
//! policy declares it. One that base's loaders refused already is a note: this change did not cause it.
//!
//! ## Why it breaks
//! The loader refuses the artifact before it sees the executable. What is inside may be understood perfectly.
//!
//! ## What to do
//! Go on reading the form until no compiler of the last 6 months wrote it. An artifact that must be used all the same can
//! be written into a container of today with `aotgate artifact convert`.
//!
//! ## Example
//! ```toml
//! [[container.era]]
//! since = 2026-07-21
//! reads = ["split-outer"]           # compilers of May wrote plain-outer
//! writes = ["split-outer"]
//! ```

use crate::change::{Change, Surface};
use crate::container::Form;
use crate::finding::{Evidence, Finding, Level, SourceLocation, Step, Triage};
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "container-refused",
    step: Some(Step::R3),
    kinds: &[],
    surface: Surface::Container,
    level: None,
    judge,
};

fn judge(_change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    None
}

/// The finding on a form that this many goldens have and head's loaders refuse. `before` is true where base's refused it
/// as well.
pub fn finding(
    form: Form,
    before: bool,
    goldens: usize,
    evidence: Vec<Evidence>,
    locations: Vec<SourceLocation>,
) -> Finding {
    let name = form.name();
    let many = match goldens {
        1 => "a golden of the backward window has".to_owned(),
        count => format!("{count} goldens of the backward window have"),
    };
    let outcome = if before {
        let outcome = Outcome::safe(
            format!("{many} the container {name}, which loaders refused before this change"),
            "base's loaders refuse it as well",
        );
        Outcome {
            remedy: "Convert what must be used (`aotgate artifact convert`), or read the form again."
                .to_owned(),
            ..outcome
        }
    } else {
        Outcome::new(
            Triage::BreaksBackward,
            format!("{many} the container {name}, which loaders do not read any more"),
            "the loader refuses the artifact before it sees what is inside",
            format!("Go on reading {name} until no compiler of the backward window wrote it."),
        )
    };
    let level = if before { Level::Note } else { Level::Error };
    let window = outcome.window;
    let finding = wording::input_finding(&CHECK, form.construct(), level, outcome, locations);
    Finding { window, evidence, ..finding }
}
