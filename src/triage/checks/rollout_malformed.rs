//! The rollout file cannot be used.
//!
//! ## What it flags
//! A rollout file in head that is no TOML, has unknown or missing keys, contradicts itself, or says what history
//! does not: a commit that is none of the branch, one that landed on another day, a reader that is older than the
//! construct.
//!
//! ## Why it breaks
//! Dates of rollouts decide what may be removed and what may be emitted. A wrong one approves what breaks.
//!
//! ## What to do
//! Correct the entry. `aotgate rollout --verify` says the same before the change is pushed.
//!
//! ## Example
//! ```toml
//! [[rollout]]
//! constructs = ["xla.gpu.ThunkProto.rng_seed_thunk"]
//! reader = { date = 2026-06-03, commit = "2535abe422" }   # the day on which that commit landed
//! ```

use crate::change::{Change, Surface};
use crate::finding::{Finding, Level, SourceLocation};
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "rollout-malformed",
    step: None,
    kinds: &[],
    surface: Surface::Policy,
    level: Some(Level::Error),
    judge,
};

fn judge(_change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    None
}

/// The finding on a rollout file at `path`; `entry` names the entry where only that is wrong.
pub fn finding(
    path: &str,
    entry: Option<&str>,
    why: &str,
    locations: Vec<SourceLocation>,
) -> Finding {
    let message = match entry {
        Some(entry) => format!("{path}: rollout {entry}: {why}"),
        None => format!("{path} cannot be read: {why}"),
    };
    let mut outcome = Outcome::safe(message, "its dates decide what may be removed and emitted");
    outcome.remedy = "Correct the file before it is merged.".to_owned();
    let construct = match entry {
        Some(entry) => format!("policy:{path}/{entry}"),
        None => format!("policy:{path}"),
    };
    wording::input_finding(&CHECK, construct, Level::Error, outcome, locations)
}
