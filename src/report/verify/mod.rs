//! Executed goldens: the stable format `aotgate.verify/1`, and a table for people.

mod human;

pub use human::render;

use chrono::NaiveDate;
use serde::Serialize;

use super::goldens::Problem;
use super::json::{Layout, to_text};
use super::output::OutputEntry;
use crate::execute::furthest;
use crate::golden::verify::{Case, Outcome};

/// Name and version of the format.
pub const SCHEMA: &str = "aotgate.verify/1";

/// A verification.
#[derive(Debug)]
pub struct Report<'a> {
    /// What was looked at: a revision or a directory.
    pub revision: &'a str,
    /// The day that windows are measured against.
    pub today: NaiveDate,
    /// Which backend.
    pub backend: &'static str,
    /// Goldens of the store.
    pub total: usize,
    /// Those that were asked for.
    pub cases: &'a [Case],
    /// What is wrong with the stores themselves.
    pub problems: &'a [Problem],
}

/// How many goldens ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Goldens that were asked for.
    pub selected: usize,
    /// Goldens that came to their end.
    pub executed: usize,
    /// Goldens that gave what they should.
    pub passed: usize,
    /// Goldens that ran and have nothing to be compared with.
    pub ran: usize,
    /// Goldens that gave something else, or were refused.
    pub failed: usize,
    /// Goldens that need what is missing here.
    pub skipped: usize,
    /// Goldens whose files cannot be read.
    pub unreadable: usize,
}

impl Counts {
    /// Counts cases.
    pub fn of(cases: &[Case]) -> Self {
        let mut counts = Counts { selected: cases.len(), ..Counts::default() };
        for case in cases {
            counts.executed += usize::from(case.devices.is_some());
            *match case.outcome {
                Outcome::Passed => &mut counts.passed,
                Outcome::Ran => &mut counts.ran,
                Outcome::Failed => &mut counts.failed,
                Outcome::Skipped => &mut counts.skipped,
                Outcome::Unreadable => &mut counts.unreadable,
            } += 1;
        }
        counts
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    revision: &'a str,
    today: NaiveDate,
    backend: &'static str,
    total: usize,
    counts: Counts,
    cases: Vec<CaseEntry<'a>>,
    problems: &'a [Problem],
}

#[derive(Serialize)]
struct CaseEntry<'a> {
    golden: &'a str,
    construct: String,
    outcome: &'static str,
    reason: Option<&'a str>,
    help: Option<String>,
    devices: Option<usize>,
    seed: Option<u64>,
    worst_error: Option<f64>,
    outputs: Vec<OutputEntry<'a>>,
}

/// The document.
pub fn json(report: &Report<'_>, layout: Layout) -> String {
    let document = Document {
        schema: SCHEMA,
        revision: report.revision,
        today: report.today,
        backend: report.backend,
        total: report.total,
        counts: Counts::of(report.cases),
        cases: report.cases.iter().map(CaseEntry::of).collect(),
        problems: report.problems,
    };
    to_text(&document, layout)
}

impl<'a> CaseEntry<'a> {
    fn of(case: &'a Case) -> Self {
        let help = case.error.as_ref().and_then(|error| Problem::of(error).help);
        let comparison = furthest(&case.outputs).and_then(|output| output.comparison.as_ref());
        let error = comparison.map(|c| c.furthest.as_ref().map_or(0.0, |furthest| furthest.error));
        CaseEntry {
            golden: &case.golden,
            construct: format!("golden:{}", case.golden),
            outcome: case.outcome.name(),
            reason: case.reason.as_deref(),
            help,
            devices: case.devices,
            seed: case.seed,
            worst_error: error.filter(|error| error.is_finite()),
            outputs: case.outputs.iter().map(OutputEntry::of).collect(),
        }
    }
}
