//! A recorded artifact was edited or deleted.
//!
//! ## What it flags
//! A golden that is evidence in base, and that the change edits (its artifact, its inputs, its expected outputs, a key of
//! its `golden.toml`) or deletes. Adding one is fine, and so is deleting one after its backward window. Text that says the
//! same as before, such as a text golden that was converted after a rename, is no edit.
//!
//! ## Why it breaks
//! Goldens are what later changes are judged by. This change is judged by base's version; the next one would be judged by
//! the new one, or by none.
//!
//! ## What to do
//! Leave it as it was, and record a new one beside it under another set or program. If it was wrong, say so.
//!
//! ## Example
//! ```text
//! AOT-Compat: golden-changed golden:jaxlib-0.12.0/softmax - its outputs were recorded with the wrong seed
//! ```

use chrono::NaiveDate;

use crate::change::{Change, Surface};
use crate::finding::{Finding, Level, SourceLocation, Triage};
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "golden-changed",
    step: None,
    kinds: &[],
    surface: Surface::Golden,
    level: None,
    judge,
};

/// So many names stand in a message.
const NAMED: usize = 3;

fn judge(_change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    None
}

/// The finding on a golden (`golden:<id>`) of which these parts differ.
pub fn edited(
    golden: &str,
    parts: &[String],
    until: NaiveDate,
    locations: Vec<SourceLocation>,
) -> Finding {
    let parts = match parts {
        [] => "it".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    };
    settled(
        golden,
        format!("{parts} changed in place, while the golden is evidence until {until}"),
        "Leave it as it was, and record a new one under another set or program",
        locations,
    )
}

/// The finding on deleted goldens: one goes by its own name (`golden:<id>`), several of a set by the set's
/// (`golden:<set>`). `until` is the last day on which one of them is evidence.
pub fn deleted(
    construct: &str,
    programs: &[&str],
    until: NaiveDate,
    locations: Vec<SourceLocation>,
) -> Finding {
    let message = match programs.len() {
        1 => format!("it is deleted, while it is evidence until {until}"),
        count => {
            let named = programs.get(..NAMED).unwrap_or(programs).join(", ");
            let more = match count.saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("{count} of its goldens are deleted, while they are evidence until {until}: {named}{more}")
        }
    };
    let instead = match programs.len() {
        1 => "Leave it until its backward window is over",
        _ => "Leave them until their backward window is over",
    };
    settled(construct, message, instead, locations)
}

fn settled(
    construct: &str,
    message: String,
    instead: &str,
    locations: Vec<SourceLocation>,
) -> Finding {
    let outcome = Outcome::new(
        Triage::NeedsAttestation,
        message,
        "goldens judge every change after this one; this one is judged by base's",
        format!(
            "{instead}. If it was wrong, say so in the commit message: `AOT-Compat: {} {construct} - <reason>`.",
            CHECK.id
        ),
    );
    wording::input_finding(&CHECK, construct.to_owned(), Level::Warning, outcome, locations)
}
