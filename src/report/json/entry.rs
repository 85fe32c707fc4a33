//! A finding as the format writes it.

use chrono::NaiveDate;
use serde::Serialize;

use crate::finding::{Evidence, Finding, Satisfaction, SourceLocation, TraceStep};

#[derive(Serialize)]
pub(super) struct FindingEntry<'a> {
    fingerprint: String,
    check: &'static str,
    step: Option<&'static str>,
    triage: &'static str,
    level: &'static str,
    capped: Option<&'a str>,
    satisfied_by: Option<SatisfiedBy<'a>>,
    window: Option<&'static str>,
    surface: &'static str,
    construct: &'a str,
    before: Option<&'a str>,
    after: Option<&'a str>,
    message: &'a str,
    remedy: &'a str,
    earliest_safe: Option<NaiveDate>,
    evidence: Vec<EvidenceEntry<'a>>,
    locations: Vec<LocationEntry<'a>>,
    trace: Vec<TraceEntry<'a>>,
}

impl<'a> FindingEntry<'a> {
    pub(super) fn of(finding: &'a Finding) -> Self {
        FindingEntry {
            fingerprint: finding.fingerprint(),
            check: finding.check,
            step: finding.step.map(|s| s.name()),
            triage: finding.triage.name(),
            level: finding.level.name(),
            capped: finding.capped.as_deref(),
            satisfied_by: finding.satisfied_by.as_ref().map(SatisfiedBy::of),
            window: finding.window.map(|w| w.name()),
            surface: finding.surface,
            construct: &finding.construct,
            before: finding.before.as_deref(),
            after: finding.after.as_deref(),
            message: &finding.message,
            remedy: &finding.remedy,
            earliest_safe: finding.earliest_safe,
            evidence: finding.evidence.iter().map(EvidenceEntry::of).collect(),
            locations: finding.locations.iter().map(LocationEntry::of).collect(),
            trace: finding.trace.iter().map(TraceEntry::of).collect(),
        }
    }
}

#[derive(Serialize)]
struct SatisfiedBy<'a> {
    kind: &'static str,
    reason: &'a str,
    by: &'a str,
    expires: Option<NaiveDate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    goldens: Option<&'a [String]>,
}

impl<'a> SatisfiedBy<'a> {
    fn of(satisfaction: &'a Satisfaction) -> Self {
        match satisfaction {
            Satisfaction::Attestation { reason, by } => {
                SatisfiedBy { kind: "attestation", reason, by, expires: None, goldens: None }
            }
            Satisfaction::Waiver { reason, by, expires } => {
                SatisfiedBy { kind: "waiver", reason, by, expires: Some(*expires), goldens: None }
            }
            Satisfaction::Golden { goldens } => SatisfiedBy {
                kind: "golden",
                reason: "executed through both contracts, bit for bit the same",
                by: "reference",
                expires: None,
                goldens: Some(goldens),
            },
        }
    }
}

#[derive(Serialize)]
struct EvidenceEntry<'a> {
    what: &'a str,
    commit: Option<&'a str>,
    date: Option<NaiveDate>,
    file: Option<&'a str>,
    line: Option<u32>,
}

impl<'a> EvidenceEntry<'a> {
    fn of(evidence: &'a Evidence) -> Self {
        EvidenceEntry {
            what: &evidence.what,
            commit: evidence.commit.as_deref(),
            date: evidence.date,
            file: evidence.file.as_deref(),
            line: evidence.line,
        }
    }
}

/// `line` and `column` are null where only the file is known.
#[derive(Serialize)]
struct LocationEntry<'a> {
    side: &'static str,
    file: &'a str,
    line: Option<u32>,
    column: Option<u32>,
}

impl<'a> LocationEntry<'a> {
    fn of(place: &'a SourceLocation) -> Self {
        let known = |number: u32| (place.location.line > 0 && number > 0).then_some(number);
        LocationEntry {
            side: place.side.name(),
            file: &place.location.file,
            line: known(place.location.line),
            column: known(place.location.column),
        }
    }
}

#[derive(Serialize)]
struct TraceEntry<'a> {
    step: Option<&'static str>,
    answer: &'a str,
    because: &'a str,
}

impl<'a> TraceEntry<'a> {
    fn of(trace: &'a TraceStep) -> Self {
        TraceEntry {
            step: trace.step.map(|s| s.name()),
            answer: &trace.answer,
            because: &trace.because,
        }
    }
}
