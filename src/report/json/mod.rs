//! The stable machine format `aotgate.check/1`.
//!
//! Keys come in the order of the format's description. Keys may be added within a version; none is ever
//! removed or renamed.

mod entry;

use chrono::NaiveDate;
use serde::Serialize;

use self::entry::FindingEntry;

use crate::finding::{self, CaseOutcome, Judgement, SideInfo};

/// Name and version of the format.
pub const SCHEMA: &str = "aotgate.check/1";

/// How a document is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Indented, ends with a line end.
    Pretty,
    /// One line, for one document a line; ends with a line end.
    Line,
}

/// The document of one check.
pub fn render(judgement: &Judgement, layout: Layout) -> String {
    let document = Document {
        schema: SCHEMA,
        verdict: judgement.verdict().name(),
        triage: judgement.triage().name(),
        base: Side::of(&judgement.base),
        head: Side::of(&judgement.head),
        subject: judgement.subject.as_deref(),
        today: judgement.today,
        policy: Policy { source: &judgement.policy_source, hash: &judgement.policy_hash },
        findings: judgement.findings.iter().map(FindingEntry::of).collect(),
        goldens: Goldens::of(&judgement.goldens),
    };
    to_text(&document, layout)
}

/// The document in place of a revision that could not be judged.
pub fn error(sha: &str, error: &str, layout: Layout) -> String {
    to_text(&Failure { schema: SCHEMA, sha, error }, layout)
}

/// JSON text that is safe on a terminal as well: what JSON itself lets through unescaped and a terminal
/// could act on is escaped. Such characters stand only inside strings, so replacing them keeps it JSON.
pub(super) fn to_text(document: &impl Serialize, layout: Layout) -> String {
    let text = match layout {
        Layout::Pretty => serde_json::to_string_pretty(document),
        Layout::Line => serde_json::to_string(document),
    };
    // Only maps with keys that are no strings, or failing `Serialize` code, could fail; there is none.
    let mut text = text.unwrap_or_default();
    if text.contains(|c| c != '\n' && crate::report::text::is_hostile(c)) {
        let mut units = [0; 2];
        text = text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
            if c == '\n' || !crate::report::text::is_hostile(c) {
                out.push(c);
            } else {
                for unit in c.encode_utf16(&mut units) {
                    crate::report::text::put(&mut out, format_args!("\\u{unit:04x}"));
                }
            }
            out
        });
    }
    text.push('\n');
    text
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    verdict: &'static str,
    triage: &'static str,
    base: Side<'a>,
    head: Side<'a>,
    subject: Option<&'a str>,
    today: NaiveDate,
    policy: Policy<'a>,
    findings: Vec<FindingEntry<'a>>,
    goldens: Goldens<'a>,
}

#[derive(Serialize)]
struct Failure<'a> {
    schema: &'static str,
    sha: &'a str,
    error: &'a str,
}

/// One side of a comparison, as all formats write it.
#[derive(Serialize)]
pub(super) struct Side<'a> {
    revision: &'a str,
    date: Option<NaiveDate>,
    fingerprint: &'a str,
}

impl<'a> Side<'a> {
    pub(super) fn of(side: &'a SideInfo) -> Self {
        Side { revision: &side.revision, date: side.date, fingerprint: &side.fingerprint }
    }
}

#[derive(Serialize)]
struct Policy<'a> {
    source: &'a str,
    hash: &'a str,
}

/// What goldens showed.
#[derive(Serialize)]
struct Goldens<'a> {
    backend: Option<&'static str>,
    executed: usize,
    equal: usize,
    differ: usize,
    failed: usize,
    refused: usize,
    skipped: usize,
    not_covered: &'a [String],
    cases: Vec<Case<'a>>,
    unreadable: &'a [String],
    unmodelled: &'a [String],
}

#[derive(Serialize)]
struct Case<'a> {
    golden: &'a str,
    outcome: &'static str,
    reason: Option<&'a str>,
    loses: Option<&'a str>,
    worst_error: Option<f64>,
    executed: bool,
}

impl<'a> Goldens<'a> {
    fn of(goldens: &'a finding::Goldens) -> Self {
        Goldens {
            backend: goldens.backend(),
            executed: goldens.executed(),
            equal: goldens.count(CaseOutcome::Equal),
            differ: goldens.count(CaseOutcome::Differ),
            failed: goldens.count(CaseOutcome::Failed),
            refused: goldens.count(CaseOutcome::Refused),
            skipped: goldens.count(CaseOutcome::Skipped),
            not_covered: &goldens.not_covered,
            cases: goldens.cases.iter().map(Case::of).collect(),
            unreadable: &goldens.unreadable,
            unmodelled: &goldens.unmodelled,
        }
    }
}

impl<'a> Case<'a> {
    fn of(case: &'a finding::GoldenCase) -> Self {
        Case {
            golden: &case.golden,
            outcome: case.outcome.name(),
            reason: case.reason.as_deref(),
            loses: case.loses.as_deref(),
            // JSON has no infinity.
            worst_error: case.worst_error.map(|error| error.min(f64::MAX)),
            executed: case.execution == finding::Execution::Done,
        }
    }
}
