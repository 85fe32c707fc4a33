//! No recorded artifact speaks for a change.
//!
//! ## What it flags
//! A construct whose change concerns artifacts that exist, and that no golden inside the backward window carries, or that the
//! bundled runtime did not read in any golden that it executed. It is a note beside the finding about the schema, which stays
//! as it is: missing evidence is no pass.
//!
//! ## Why it breaks
//! It breaks nothing by itself. It says that equal results of the goldens prove nothing about this construct.
//!
//! ## What to do
//! Record an artifact that carries it (`aotgate golden record`), or judge the finding about the schema without.
//!
//! ## Example
//! ```proto
//! message ThunkProto {
//!   int32 rare = 9;   // was int64; no recorded artifact has it
//! }
//! ```

use crate::change::{Change, Surface};
use crate::finding::{Finding, Level, Step, Triage};
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "not-covered",
    step: Some(Step::R2),
    kinds: &[],
    surface: Surface::Golden,
    level: Some(Level::Note),
    judge,
};

fn judge(_change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    None
}

/// The finding on a construct; `carried` where goldens have it and the runtime does not read it.
pub fn finding(construct: &str, carried: bool) -> Finding {
    let message = match carried {
        true => "goldens of the backward window carry it, but the bundled runtime did not read it in any that it executed",
        false => "no golden of the backward window carries it",
    };
    let outcome = Outcome::new(
        Triage::NeedsAttestation,
        message,
        "nothing recorded speaks for or against the change",
        "Record an artifact that carries it, or judge the change without one.",
    );
    let window = outcome.window;
    let construct = construct.to_owned();
    let finding = wording::input_finding(&CHECK, construct, Level::Note, outcome, Vec::new());
    Finding { window, ..finding }
}
