//! Findings and the document around them: the one thing that reports see.

mod goldens;

pub use goldens::{CaseOutcome, Execution, GoldenCase, Goldens, NO_PROGRAM};

use std::sync::Arc;

use chrono::NaiveDate;

use crate::change::WireEffect;
use crate::descriptor::Location;
use crate::descriptor::fingerprint::short_hash;

/// What a change means for the promises, from harmless to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Triage {
    /// Nobody notices.
    Safe,
    /// Right only if right for every artifact of the backward window: somebody must vouch for it.
    NeedsAttestation,
    /// Readers first, writers a forward window later.
    NeedsRollout,
    /// Older runtimes misread what new compilers emit.
    BreaksForward,
    /// New runtimes misread what older compilers emitted.
    BreaksBackward,
}

impl Triage {
    /// The name used in machine formats.
    pub fn name(self) -> &'static str {
        match self {
            Triage::Safe => "safe",
            Triage::NeedsAttestation => "needs-attestation",
            Triage::NeedsRollout => "needs-rollout",
            Triage::BreaksForward => "breaks-forward",
            Triage::BreaksBackward => "breaks-backward",
        }
    }
}

/// How loudly a finding is reported; errors and warnings can block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// For the record.
    Note,
    /// Blocks as "review" unless satisfied.
    Warning,
    /// Blocks as "fail" unless waived.
    Error,
}

impl Level {
    /// The name used in machine formats and in the policy.
    pub fn name(self) -> &'static str {
        match self {
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// The six triage questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Is a contract surface touched?
    R1,
    /// Does it change how existing artifacts are understood?
    R2,
    /// Does it remove something that artifacts may hold?
    R3,
    /// Does it emit something that older runtimes do not know?
    R4,
    /// Does it rename or delete a registered symbol?
    R5,
    /// Does it add something that older runtimes can ignore?
    R6,
}

impl Step {
    /// All steps in order.
    pub const ALL: [Step; 6] = [Step::R1, Step::R2, Step::R3, Step::R4, Step::R5, Step::R6];

    /// `R1` to `R6`.
    pub fn name(self) -> &'static str {
        match self {
            Step::R1 => "R1",
            Step::R2 => "R2",
            Step::R3 => "R3",
            Step::R4 => "R4",
            Step::R5 => "R5",
            Step::R6 => "R6",
        }
    }

    /// The question, in our words.
    pub fn question(self) -> &'static str {
        match self {
            Step::R1 => "Is a contract surface touched?",
            Step::R2 => "Does it change how the runtime understands artifacts that exist?",
            Step::R3 => "Does it remove something that existing artifacts may hold?",
            Step::R4 => "Does it let compilers emit something that older runtimes do not know?",
            Step::R5 => "Does it rename or delete a registered symbol or handler?",
            Step::R6 => "Does it only add what older runtimes can ignore?",
        }
    }
}

/// Which window a finding concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Window {
    /// New runtime, old artifact.
    Backward,
    /// Old runtime, new artifact.
    Forward,
}

impl Window {
    /// The name used in machine formats.
    pub fn name(self) -> &'static str {
        match self {
            Window::Backward => "backward",
            Window::Forward => "forward",
        }
    }
}

/// Which revision a location is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The older revision.
    Base,
    /// The newer revision.
    Head,
}

impl Side {
    /// The name used in machine formats.
    pub fn name(self) -> &'static str {
        match self {
            Side::Base => "base",
            Side::Head => "head",
        }
    }
}

/// A place in the sources of base or head.
#[derive(Debug, Clone)]
pub struct SourceLocation {
    /// Base or head.
    pub side: Side,
    /// File, lines and columns; line 0 where only the file is known.
    pub location: Location,
    /// What stands there, for the label.
    pub label: String,
    /// Text of the whole file, where the revision has sources.
    pub source: Option<Arc<str>>,
}

/// A dated fact that a finding rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The fact in words.
    pub what: String,
    /// Commit that shows it.
    pub commit: Option<String>,
    /// Date of that commit.
    pub date: Option<NaiveDate>,
    /// File that shows it.
    pub file: Option<String>,
    /// Line in that file.
    pub line: Option<u32>,
}

/// One step of the triage sequence as it was answered for a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceStep {
    /// The question; `None` for the exit "no effective change".
    pub step: Option<Step>,
    /// `yes`, `no`, or what the sequence ended in.
    pub answer: String,
    /// Why.
    pub because: String,
}

/// What satisfies a finding, so that it does not block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Satisfaction {
    /// An `AOT-Compat:` line.
    Attestation {
        /// The stated reason.
        reason: String,
        /// Author of the commit, or where the line stands.
        by: String,
    },
    /// An entry of the waiver file.
    Waiver {
        /// The stated reason.
        reason: String,
        /// Who approved it.
        by: String,
        /// The last day on which it holds.
        expires: NaiveDate,
    },
    /// Goldens that carry the construct were executed as base and as head understand them, and gave the same bit for bit.
    Golden {
        /// Their ids, sorted.
        goldens: Vec<String>,
    },
}

/// One judged change.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Id of the check.
    pub check: &'static str,
    /// The triage step that decided; `None` for "no effective change" and for the tool's own inputs.
    pub step: Option<Step>,
    /// What it means.
    pub triage: Triage,
    /// How loud it is, after policy and caps.
    pub level: Level,
    /// Why the level is lower than the check's own, if it was capped.
    pub capped: Option<String>,
    /// What satisfies it.
    pub satisfied_by: Option<Satisfaction>,
    /// The window at risk.
    pub window: Option<Window>,
    /// `proto`, `json-payload`, `policy`, ….
    pub surface: &'static str,
    /// Full name of the construct.
    pub construct: String,
    /// What the change does to data on the wire, where it is one of a schema.
    pub wire: Option<WireEffect>,
    /// The construct before, as compared.
    pub before: Option<String>,
    /// The construct after, as compared.
    pub after: Option<String>,
    /// What is wrong, one sentence.
    pub message: String,
    /// What to do.
    pub remedy: String,
    /// The first day on which it may land (or be switched on), where known.
    pub earliest_safe: Option<NaiveDate>,
    /// Dated facts.
    pub evidence: Vec<Evidence>,
    /// Places in head first, then base.
    pub locations: Vec<SourceLocation>,
    /// The questions and answers that led here.
    pub trace: Vec<TraceStep>,
}

impl Finding {
    /// Stable id: hash of check, construct and what changed; no line numbers, so it survives rebases.
    pub fn fingerprint(&self) -> String {
        let before = self.before.as_deref().unwrap_or("");
        let after = self.after.as_deref().unwrap_or("");
        let text = [self.check, &self.construct, before, after].join("\u{1f}");
        short_hash(text.as_bytes())
    }

    /// Whether it blocks as an error.
    pub fn fails(&self) -> bool {
        let waived = matches!(self.satisfied_by, Some(Satisfaction::Waiver { .. }));
        self.level == Level::Error && !waived
    }

    /// Whether somebody has to look at it.
    pub fn needs_review(&self) -> bool {
        self.level == Level::Warning && self.satisfied_by.is_none()
    }
}

/// Outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Nothing blocks.
    Pass,
    /// An unsatisfied warning.
    Review,
    /// An error without a waiver.
    Fail,
}

impl Verdict {
    /// The name used in machine formats.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Review => "review",
            Verdict::Fail => "fail",
        }
    }
}

/// One side of a comparison.
#[derive(Debug, Clone)]
pub struct SideInfo {
    /// How it was named, or the abbreviated commit.
    pub revision: String,
    /// Committer's date, for commits.
    pub date: Option<NaiveDate>,
    /// Contract fingerprint.
    pub fingerprint: String,
}

/// Everything one `check` found out.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// The older side.
    pub base: SideInfo,
    /// The newer side.
    pub head: SideInfo,
    /// Subject line of head, where it is a commit.
    pub subject: Option<String>,
    /// The date that windows are measured against.
    pub today: NaiveDate,
    /// Where the policy came from.
    pub policy_source: String,
    /// Hash of the policy's text.
    pub policy_hash: String,
    /// All findings, worst first, then by construct; what goldens show comes after what it is shown of.
    pub findings: Vec<Finding>,
    /// What recorded artifacts showed.
    pub goldens: Goldens,
}

impl Judgement {
    /// Fail on an unwaived error, else review on an unsatisfied warning, else pass.
    pub fn verdict(&self) -> Verdict {
        if self.findings.iter().any(Finding::fails) {
            Verdict::Fail
        } else if self.findings.iter().any(Finding::needs_review) {
            Verdict::Review
        } else {
            Verdict::Pass
        }
    }

    /// The worst triage over all findings, whatever their level, class or baseline.
    pub fn triage(&self) -> Triage {
        self.findings.iter().map(|f| f.triage).max().unwrap_or(Triage::Safe)
    }
}
