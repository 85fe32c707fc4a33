//! From changes to findings: the six questions, one file per check, the policy.

mod attestation;
pub mod checks;
mod class;
mod evidence;
mod inputs;
mod loudness;
pub mod policy;
mod sequence;

pub use attestation::{Attestation, apply_attestations, parse_attestations};
pub(crate) use class::Firm;
pub use evidence::{Emission, EvidenceSource, Former, NoHistory, Seen};
pub(crate) use inputs::whole_file;
pub use inputs::{InputFile, edited_input, unreadable_waivers};
pub use loudness::Loudness;
pub use sequence::{Input, apply_waivers, judge, judge_containers, sort};

use chrono::NaiveDate;

use crate::change::{Change, ChangeKind, Surface};
use crate::finding::{Evidence, Level, Step, Triage, Window};
use crate::rollout::windows::Windows;

/// One check: what it looks at, where it stands in the sequence, and a pure function.
///
/// Its documentation (what `explain` prints) is the module comment of its file.
#[derive(Debug)]
pub struct Check {
    /// Kebab-case id that reads as "allow X".
    pub id: &'static str,
    /// The question that it answers; `None` for the exit "no effective change" and for the tool's own
    /// inputs (policy, waivers).
    pub step: Option<Step>,
    /// The kinds of change that it looks at; empty for checks that no change triggers.
    pub kinds: &'static [ChangeKind],
    /// The schema that it looks at.
    pub surface: Surface,
    /// Level of its findings; `None` derives it from the triage.
    pub level: Option<Level>,
    /// Judges a change of one of `kinds`; `None` leaves it to other checks.
    pub judge: fn(&Change<'_>, &Context<'_>) -> Option<Outcome>,
}

/// What a check may ask.
pub struct Context<'a> {
    /// The date that windows are measured against; what base..head introduces counts as landed then.
    pub today: NaiveDate,
    /// The promised windows.
    pub windows: Windows,
    /// Oneofs whose members are kinds of program steps, such as `xla.gpu.ThunkProto.impl`.
    pub dispatch: &'a [String],
    /// Dated facts about constructs.
    pub evidence: &'a dyn EvidenceSource,
}

/// A check's answer.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What the change means.
    pub triage: Triage,
    /// The window at risk.
    pub window: Option<Window>,
    /// What is wrong, one sentence without a full stop.
    pub message: String,
    /// Why the deciding question is answered with yes (or what the exit rests on).
    pub because: String,
    /// What to do, one or more sentences.
    pub remedy: String,
    /// The first day on which it may land or be switched on, where known.
    pub earliest_safe: Option<NaiveDate>,
    /// Whether compilers emit the construct, as far as known; decides the level of needs-rollout.
    pub emission: Emission,
    /// Dated facts.
    pub evidence: Vec<Evidence>,
}

impl Outcome {
    /// An outcome without dates.
    pub fn new(
        triage: Triage,
        message: impl Into<String>,
        because: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let window = match triage {
            Triage::Safe => None,
            Triage::NeedsAttestation | Triage::BreaksBackward => Some(Window::Backward),
            Triage::NeedsRollout | Triage::BreaksForward => Some(Window::Forward),
        };
        Outcome {
            triage,
            window,
            message: message.into(),
            because: because.into(),
            remedy: remedy.into(),
            earliest_safe: None,
            emission: Emission::Unknown,
            evidence: Vec::new(),
        }
    }

    /// Nobody notices.
    pub fn safe(message: impl Into<String>, because: impl Into<String>) -> Self {
        Outcome::new(Triage::Safe, message, because, "Nothing to do.")
    }

    /// Sets the first day on which it may land or be switched on.
    pub fn earliest(mut self, date: NaiveDate) -> Self {
        self.earliest_safe = Some(date);
        self
    }
}

impl Context<'_> {
    /// The first day on which what lands today may be switched on.
    pub fn emission_from(&self) -> NaiveDate {
        self.windows.forward.after(self.today)
    }

    /// The first day on which what compilers cease to emit today may be removed.
    pub fn removal_from(&self) -> NaiveDate {
        self.windows.backward.after(self.today)
    }

    /// Whether a oneof's members are kinds of program steps.
    pub fn is_dispatch(&self, message: &str, oneof: &str) -> bool {
        self.dispatch
            .iter()
            .any(|d| d.strip_prefix(message).and_then(|r| r.strip_prefix('.')) == Some(oneof))
    }
}
