//! What wraps an executable is written or read in another way.
//!
//! ## What it flags
//! - A change of a message that containers consist of (`[[container.message]]` in the policy: the outer message, the
//!   manifest of a split proto), judged by the rules of the wire like a change of the contract. What they carry, such as
//!   compile options, is not followed.
//! - A form that compilers begin to write, or that loaders cease to read, as declared with its day and commit in
//!   `[[container.era]]`. A form that loaders merely begin to read is fine.
//! - A golden that head brings in another container than base's newest golden of the same program.
//!
//! ## Why it breaks
//! Nothing inside an artifact can be read before its container is. A form that loaders of the last 14 days do not know
//! refuses every new artifact there; one that loaders cease to read refuses every artifact of the last 6 months.
//!
//! ## What to do
//! Let loaders read both forms first. Write the new one 14 days later, behind a flag until then. Drop the old one 6 months
//! after the last compiler that wrote it.
//!
//! ## Example
//! ```toml
//! [[container.era]]                 # readers first
//! since = 2026-06-01
//! reads = ["plain-outer", "split-outer"]
//! writes = ["plain-outer"]
//!
//! [[container.era]]                 # writers a forward window later
//! since = 2026-06-15
//! reads = ["plain-outer", "split-outer"]
//! writes = ["split-outer"]
//! ```

use chrono::NaiveDate;

use crate::change::{Change, Surface};
use crate::container::{EraChange, Form, Turn, names};
use crate::finding::{Evidence, Finding, Level, SourceLocation, Step, Triage};
use crate::rollout::windows::Windows;
use crate::triage::{Check, Context, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "container-changed",
    step: Some(Step::R2),
    kinds: &[],
    surface: Surface::Container,
    level: None,
    judge,
};

fn judge(_change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    None
}

/// The outcome of another check as this one reports it: whoever vouches names this check.
pub(in crate::triage) fn restate(judged: &Check, mut outcome: Outcome) -> Outcome {
    let theirs = format!("AOT-Compat: {} ", judged.id);
    outcome.remedy = outcome.remedy.replace(&theirs, &format!("AOT-Compat: {} ", CHECK.id));
    outcome.message = format!("in a container: {}", outcome.message);
    outcome
}

/// The finding on a form that an era begins to write or ceases to read.
pub fn form(change: &EraChange, today: NaiveDate, windows: &Windows) -> Finding {
    let name = change.form.name();
    let (backward, forward) = (windows.backward, windows.forward);
    let staged = |from| {
        format!("Let loaders read {name} first and compilers write it from {from} on at the earliest.")
    };
    let (outcome, step) = match change.turn {
        Turn::WrittenTooSoon => {
            let from = forward.after(today);
            let outcome = Outcome::new(
                Triage::BreaksForward,
                format!("compilers write {name}, which loaders of the last {forward} do not read"),
                "older loaders refuse the artifact before they see what is inside",
                staged(from),
            );
            (outcome.earliest(from), Step::R4)
        }
        Turn::Written => {
            let message =
                format!("compilers write {name}, which loaders have read for {forward} or more");
            (Outcome::safe(message, "every loader of the forward window reads it"), Step::R4)
        }
        Turn::DroppedTooSoon(since) => {
            let from = backward.after(since.unwrap_or(today));
            let wrote = match since {
                Some(day) => format!("compilers wrote until {day}"),
                None => "compilers write".to_owned(),
            };
            let outcome = Outcome::new(
                Triage::BreaksBackward,
                format!("loaders do not read {name} any more, which {wrote}"),
                "the loader refuses such an artifact before it sees what is inside",
                match since {
                    Some(_) => format!("Go on reading {name} until {from}."),
                    None => format!(
                        "Go on reading {name}; if no compiler writes it from today on, drop it from {from} on."
                    ),
                },
            );
            (outcome.earliest(from), Step::R3)
        }
        Turn::Dropped => {
            let message = format!(
                "loaders do not read {name} any more, which no compiler of the last {backward} wrote"
            );
            (Outcome::safe(message, "no artifact of the backward window has it"), Step::R3)
        }
    };
    let level = level_of(outcome.triage);
    let evidence = Evidence {
        what: "declared in the policy (`container.era`)".to_owned(),
        commit: change.commit.as_ref().map(|commit| commit.chars().take(10).collect()),
        date: Some(change.since),
        file: None,
        line: None,
    };
    let (was, now) = match change.turn {
        Turn::WrittenTooSoon | Turn::Written => ("not written", "written"),
        Turn::DroppedTooSoon(_) | Turn::Dropped => ("read", "not read"),
    };
    let window = outcome.window;
    let finding =
        wording::input_finding(&CHECK, change.form.construct(), level, outcome, Vec::new());
    let mut trace = finding.trace.clone();
    trace.iter_mut().for_each(|answer| answer.step = Some(step));
    Finding {
        step: Some(step),
        window,
        before: Some(was.to_owned()),
        after: Some(now.to_owned()),
        evidence: vec![evidence],
        trace,
        ..finding
    }
}

/// A golden and its container.
#[derive(Debug, Clone)]
pub struct Contained<'a> {
    /// `golden:<id>`.
    pub golden: &'a str,
    /// Its forms.
    pub forms: &'a [Form],
}

/// The finding on a golden of head's in another container than the newest one of the same program in base.
/// `refused` is the form that loaders of the forward window do not read; `None` where nothing says what they read.
pub fn golden(
    base: &Contained<'_>,
    head: &Contained<'_>,
    refused: Option<Option<Form>>,
    locations: Vec<SourceLocation>,
) -> Finding {
    let (was, now) = (names(base.forms), names(head.forms));
    let message = format!("{} is in {now}, {} is in {was}", head.golden, base.golden);
    let outcome = match refused {
        Some(None) => Outcome::safe(message, "loaders of the forward window read both"),
        Some(Some(form)) => Outcome::new(
            Triage::BreaksForward,
            format!("{message}; loaders of the forward window do not read {}", form.name()),
            "older loaders refuse the artifact before they see what is inside",
            format!(
                "Let loaders read {} first, and compilers write it a forward window later.",
                form.name()
            ),
        ),
        None => Outcome::new(
            Triage::NeedsAttestation,
            message,
            "the policy does not say which containers loaders read",
            format!(
                "Declare both in `[[container.era]]` of the policy. If loaders of the forward window read the new one, say so in the commit message: `AOT-Compat: {} {} - <reason>`.",
                CHECK.id, head.golden
            ),
        ),
    };
    let (level, window) = (level_of(outcome.triage), outcome.window);
    let construct = head.golden.to_owned();
    let finding = wording::input_finding(&CHECK, construct, level, outcome, locations);
    Finding { window, before: Some(was), after: Some(now), ..finding }
}

fn level_of(triage: Triage) -> Level {
    match triage {
        Triage::BreaksBackward | Triage::BreaksForward => Level::Error,
        Triage::NeedsRollout | Triage::NeedsAttestation => Level::Warning,
        Triage::Safe => Level::Note,
    }
}
