//! Head's waiver file cannot be read.
//!
//! ## What it flags
//! A waiver file that is no valid TOML, has unknown or missing keys, or an entry that names no finding.
//!
//! ## Why it breaks
//! Waivers are read from base. Once this change is merged its waiver file is base's, and then no change can be
//! judged at all.
//!
//! ## What to do
//! Correct the file; the message says where. An entry needs `fingerprint`, or `check` and `construct`, and always
//! `reason`, `approved_by` and `expires`.
//!
//! ## Example
//! ```toml
//! [[waiver]]
//! fingerprint = "0123456789abcdef"
//! reason = "never written outside of tests"
//! approved_by = "owner@example.com"
//! expires = 2026-12-31
//! ```

use crate::change::{Change, Surface};
use crate::finding::{Finding, Level, SourceLocation};
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "waiver-malformed",
    step: None,
    kinds: &[],
    surface: Surface::Policy,
    level: Some(Level::Error),
    judge,
};

fn judge(_change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    None
}

/// The finding on head's waiver file at `path`, with the reason why it cannot be read.
pub fn finding(path: &str, why: &str, locations: Vec<SourceLocation>) -> Finding {
    let mut outcome = Outcome::safe(
        format!("the waiver file cannot be read: {why}"),
        "once merged, no change could be judged with it",
    );
    outcome.remedy = "Correct the file before it is merged.".to_owned();
    let construct = format!("policy:{path}");
    wording::input_finding(&CHECK, construct, Level::Error, outcome, locations)
}
