//! A recorded program computes something else.
//!
//! ## What it flags
//! A golden inside the backward window that was executed as base understands it and as head does, on the same inputs and the
//! same backend, and gave different results. The finding names the first output that differs, the element that is off most,
//! and both values. It needs no recorded outputs: base says what is right.
//! A golden that is what was recorded only with a field that head adds is no such finding: `field-added` says so.
//!
//! ## Why it breaks
//! The descriptors of head give the recorded bytes another meaning, or none. The runtime loads the artifact without an error
//! and computes something else.
//!
//! ## What to do
//! Undo what the findings about the schema of the same golden report: new meaning gets a new number. A waiver for all of
//! those findings holds for this one; an attestation does not, since the opposite was shown.
//!
//! ## Example
//! ```proto
//! message DeviceToDeviceCopyThunkProto {
//!   ShapedSliceProto source_buffer = 2;        // was 1
//!   ShapedSliceProto destination_buffer = 1;   // was 2: golden:jaxlib-0.12.0/add copies backwards
//! }
//! ```

use crate::change::{Change, Surface};
use crate::finding::{Evidence, Finding, Level, SourceLocation, Step, Triage};
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "semantics-changed",
    step: Some(Step::R2),
    kinds: &[],
    surface: Surface::Golden,
    level: None,
    judge,
};

fn judge(_change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    None
}

/// The finding on a golden; `how` names the first output that differs, the element, and both values.
pub fn finding(
    golden: &str,
    how: &str,
    evidence: Vec<Evidence>,
    locations: Vec<SourceLocation>,
) -> Finding {
    let outcome = Outcome::new(
        Triage::BreaksBackward,
        format!("executed as head understands it, it gives something else: {how}"),
        "the same bytes mean another program to head's descriptors",
        "Leave the numbers, types and meaning of what it carries as they were, and put what is new under new numbers.",
    );
    let window = outcome.window;
    let construct = golden.to_owned();
    let finding = wording::input_finding(&CHECK, construct, Level::Error, outcome, locations);
    Finding { window, evidence, ..finding }
}
