//! The policy of the gate was edited.
//!
//! ## What it flags
//! A key of the policy that differs between base and head: roots, windows, classes, levels, the waiver file.
//!
//! ## Why it breaks
//! The policy says what is promised and what blocks. Base's policy judges this change, so the edit cannot let its
//! own change pass; but it judges all changes after it.
//!
//! ## What to do
//! Let somebody who owns the contract review the edit, and say so in the commit message.
//!
//! ## Example
//! ```text
//! AOT-Compat: policy-changed policy:windows.forward - agreed with the serving team on 2026-05-04
//! ```

use crate::change::{Change, Surface};
use crate::finding::{Finding, Level, SourceLocation, Triage};
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "policy-changed",
    step: None,
    kinds: &[],
    surface: Surface::Policy,
    level: Some(Level::Warning),
    judge,
};

fn judge(_change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    None
}

/// The finding on one edited key, such as `windows.forward`; `None` where a side does not have it.
pub fn finding(
    key: &str,
    before: Option<String>,
    after: Option<String>,
    locations: Vec<SourceLocation>,
) -> Finding {
    let construct = format!("policy:{key}");
    let message = match (&before, &after) {
        (Some(before), Some(after)) => format!("{key} is {after} instead of {before}"),
        (Some(before), None) => format!("{key} is gone, it was {before}"),
        (None, Some(after)) => format!("{key} is new: {after}"),
        (None, None) => format!("{key} changed"),
    };
    let remedy = format!(
        "Let an owner of the contract review it, then say so in the commit message: `AOT-Compat: {} {construct} - <reason>`.",
        CHECK.id
    );
    let because = "the policy judges every change after this one";
    let outcome = Outcome::new(Triage::NeedsAttestation, message, because, remedy);
    let finding =
        wording::input_finding(&CHECK, construct, Level::Warning, outcome, locations);
    Finding { before, after, ..finding }
}
