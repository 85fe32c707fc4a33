//! A waiver has expired.
//!
//! ## What it flags
//! An entry of the waiver file whose last day has passed.
//!
//! ## Why it breaks
//! Nothing by itself: the waiver does not hold any more, so what it covered blocks again where it still occurs.
//!
//! ## What to do
//! Delete the entry. If its finding still occurs, fix it, or have the waiver approved again with a new date.
//!
//! ## Example
//! ```toml
//! [[waiver]]
//! check = "field-removed"
//! construct = "xla.gpu.CopyThunkProto.instr_id"
//! reason = "never written outside of tests"
//! approved_by = "owner@example.com"
//! expires = 2026-12-31    # a new date only after a new approval
//! ```

use chrono::NaiveDate;

use crate::change::{Change, Surface};
use crate::finding::{Finding, Level, SourceLocation};
use crate::triage::policy::Waiver;
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "waiver-expired",
    step: None,
    kinds: &[],
    surface: Surface::Policy,
    level: Some(Level::Note),
    judge,
};

fn judge(_change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    None
}

/// The finding on a waiver whose last day is before `today`; `None` for one that still holds.
pub fn finding(
    waiver: &Waiver,
    today: NaiveDate,
    locations: Vec<SourceLocation>,
) -> Option<Finding> {
    if waiver.expires >= today {
        return None;
    }
    let target = waiver.target();
    let mut outcome = Outcome::safe(
        format!("the waiver for {target} expired on {}", waiver.expires),
        "what it covered is judged as if there were no waiver",
    );
    outcome.remedy = format!(
        "Delete it, or have it approved again ({} approved it: {}).",
        waiver.approved_by, waiver.reason
    );
    let construct = format!("policy:waiver {target}");
    let finding = wording::input_finding(&CHECK, construct, Level::Note, outcome, locations);
    Some(Finding { before: Some(waiver.expires.to_string()), ..finding })
}
