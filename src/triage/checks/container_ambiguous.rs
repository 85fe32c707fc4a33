//! A golden could be taken for two containers.
//!
//! ## What it flags
//! A golden whose bytes more than one container accepts: they have the shape of an outer message and of an executable, say.
//!
//! ## Why it breaks
//! A loader tells containers apart by their content. Which one it takes such bytes for depends on the order in which it
//! looks, and that is promised nowhere.
//!
//! ## What to do
//! Record the golden again as the compiler serialized it, in one container.
//!
//! ## Example
//! ```text
//! input: ambiguous, the bytes are acceptable as plain ExecutableAndOptionsProto and as plain GpuExecutableProto
//! ```

use crate::change::{Change, Surface};
use crate::finding::{Finding, Level, SourceLocation, Step, Triage};
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "container-ambiguous",
    step: Some(Step::R2),
    kinds: &[],
    surface: Surface::Container,
    level: None,
    judge,
};

fn judge(_change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    None
}

/// The finding on a golden (`golden:<id>`); `new` where head brings it.
pub fn finding(golden: &str, why: &str, new: bool, locations: Vec<SourceLocation>) -> Finding {
    let outcome = Outcome::new(
        if new { Triage::NeedsAttestation } else { Triage::Safe },
        format!("{golden} could be taken for two containers: {why}"),
        "which one a loader takes it for is promised nowhere",
        format!(
            "Record it again in one container. If it is meant to be like that, say so in the commit message: `AOT-Compat: {} {golden} - <reason>`.",
            CHECK.id
        ),
    );
    let level = if new { Level::Warning } else { Level::Note };
    let window = outcome.window;
    let construct = golden.to_owned();
    let finding = wording::input_finding(&CHECK, construct, level, outcome, locations);
    Finding { window, ..finding }
}
