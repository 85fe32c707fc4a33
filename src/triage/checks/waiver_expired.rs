//! A waiver covers a finding and is past its date.
//!
//! ## What it flags
//! A finding that an entry of the waiver file names, where that entry's `expires` lies before today.
//!
//! ## Why it breaks
//! A waiver is a decision for a while. Past its date nobody stands behind it any more, so the finding
//! blocks again.
//!
//! ## What to do
//! Do what the finding asks, or have the waiver renewed in a change of its own.
//!
//! ## Example
//! ```toml
//! [[waiver]]
//! check = "field-removed"
//! construct = "xla.gpu.ThunkInfoProto.execution_stream_id"
//! reason = "written by no released compiler"
//! approved_by = "runtime owners"
//! expires = 2026-12-31
//! ```

use crate::change::{Change, Surface};
use crate::finding::{Evidence, Finding, Level, TraceStep, Triage};
use crate::triage::policy::Waiver;
use crate::triage::{Check, Context, Outcome};

/// See the module comment.
pub static CHECK: Check = Check {
    id: "waiver-expired",
    step: None,
    kinds: &[],
    surface: Surface::Policy,
    level: Some(Level::Warning),
    judge,
};

fn judge(_change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    None
}

/// The finding about a waiver of the file `path` that no longer satisfies `finding`.
pub(in crate::triage) fn finding(path: &str, waiver: &Waiver, finding: &Finding) -> Finding {
    let expires = waiver.expires;
    Finding {
        check: CHECK.id,
        step: None,
        triage: Triage::Safe,
        level: Level::Warning,
        capped: None,
        satisfied_by: None,
        window: None,
        surface: CHECK.surface.name(),
        construct: format!("policy:waiver/{}", waiver.target()),
        before: None,
        after: Some(expires.to_string()),
        message: format!("the waiver for {} {} expired on {expires}", finding.check, finding.construct),
        remedy: "Do what the finding asks, or renew the waiver in a change of its own.".to_owned(),
        earliest_safe: None,
        evidence: vec![Evidence {
            what: format!("approved by {}: {}", waiver.approved_by, waiver.reason),
            commit: None,
            date: Some(expires),
            file: Some(path.to_owned()),
            line: None,
        }],
        locations: Vec::new(),
        trace: vec![TraceStep {
            step: None,
            answer: "expired waiver".to_owned(),
            because: "past its date a waiver satisfies nothing".to_owned(),
        }],
    }
}
