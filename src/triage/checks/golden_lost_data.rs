//! A recorded artifact loses data.
//!
//! ## What it flags
//! A field or enum value that goldens of the backward window carry, and that head drops or takes for something else. One
//! finding per construct names all of them. Where the change of the schema is reported as a break already, this one is a
//! note beside it, and the goldens stand in both. Where it is reported as something milder (to be attested, or safe because
//! nothing emits it), the goldens contradict that, and this is an error.
//!
//! ## Why it breaks
//! A released compiler wrote the value, and every runtime of the next 6 months has to read it. C++ protobuf gives no error:
//! the value is gone, or another one, and the program runs with that.
//!
//! ## What to do
//! What the finding about the schema says. If that one is waived or attested, this one follows it.
//!
//! ## Example
//! ```proto
//! message CopyThunkProto {
//!   reserved 3;              // was: int64 mem_size = 3; golden:jaxlib-0.10.1/copies carries it 12 times
//!   reserved "mem_size";
//! }
//! ```

use crate::change::{Change, Surface};
use crate::finding::{Evidence, Finding, Level, SourceLocation, Step, Triage};
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "golden-lost-data",
    step: Some(Step::R3),
    kinds: &[],
    surface: Surface::Golden,
    level: None,
    judge,
};

fn judge(_change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    None
}

/// What the findings about the schema say of the construct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// Nothing.
    Nothing,
    /// This check says that it breaks older artifacts.
    Break(&'static str),
    /// This check says something milder.
    Milder(&'static str, Triage),
}

/// A construct whose content is lost.
#[derive(Debug, Clone, Copy)]
pub struct Lost<'a> {
    /// Its name in base.
    pub construct: &'a str,
    /// Whether all that is lost is that a zero was set.
    pub presence: bool,
    /// What head makes of it.
    pub how: &'a str,
    /// Number of goldens that carry it.
    pub goldens: usize,
}

/// The finding on one construct; `evidence` has an entry per golden.
pub fn finding(
    lost: &Lost<'_>,
    told: Told,
    evidence: Vec<Evidence>,
    locations: Vec<SourceLocation>,
) -> Finding {
    let carry = match lost.goldens {
        1 => "1 golden of the backward window carries it".to_owned(),
        count => format!("{count} goldens of the backward window carry it"),
    };
    let (triage, level) = match (lost.presence, told) {
        (false, Told::Break(_)) => (Triage::BreaksBackward, Level::Note),
        (false, Told::Nothing | Told::Milder(..)) => (Triage::BreaksBackward, Level::Error),
        (true, Told::Nothing) => (Triage::NeedsAttestation, Level::Warning),
        (true, Told::Break(_) | Told::Milder(..)) => (Triage::NeedsAttestation, Level::Note),
    };
    let what = format!("{carry}, and {}", lost.how);
    let (message, remedy) = match told {
        Told::Break(check) => {
            (what, format!("See {check}, which reports the change; this shows that it is real."))
        }
        Told::Milder(check, triage) if level == Level::Error => (
            format!("{what}; {check} has it as {}, which this contradicts", triage.name()),
            "Go on reading it as it was written until no golden of the backward window carries it."
                .to_owned(),
        ),
        Told::Milder(check, _) => (what, format!("See {check}, which reports the change.")),
        Told::Nothing => (
            what,
            "Go on reading it as it was written until no golden of the backward window carries it."
                .to_owned(),
        ),
    };
    let outcome =
        Outcome::new(triage, message, "an artifact of a released compiler holds it", remedy);
    let window = outcome.window;
    let construct = lost.construct.to_owned();
    let finding = wording::input_finding(&CHECK, construct, level, outcome, locations);
    Finding { window, evidence, ..finding }
}
