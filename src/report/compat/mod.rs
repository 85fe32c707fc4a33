//! What runtimes make of an artifact: the stable format `aotgate.compat/1`, and text for people.

mod human;

pub use human::render;

use chrono::NaiveDate;
use serde::Serialize;

use super::json::{Layout, to_text};
use crate::compat::{Outcome, Promise, Runtime, Verdict};

/// Name and version of the format.
pub const SCHEMA: &str = "aotgate.compat/1";

/// Everything that was found out.
#[derive(Debug)]
pub struct Input<'a> {
    /// The artifact's file, as the user named it.
    pub artifact: &'a str,
    /// The contract that it is taken to be written with.
    pub writer: &'a str,
    /// Until when it is promised to be read.
    pub promise: Promise,
    /// What it depends on that no schema shows.
    pub unseen: &'a [String],
    /// The runtimes, with what each makes of it.
    pub runtimes: &'a [(Runtime, Outcome)],
}

impl Input<'_> {
    /// The oldest runtime that reads it as meant; those without a date come last, in the order given.
    pub fn minimum(&self) -> Option<&Runtime> {
        let reads = self.runtimes.iter().filter(|(_, outcome)| outcome.verdict == Verdict::Reads);
        reads
            .map(|(runtime, _)| runtime)
            .min_by_key(|runtime| runtime.era.date.unwrap_or(NaiveDate::MAX))
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    artifact: &'a str,
    writer: &'a str,
    emitted: Emitted,
    unseen: &'a [String],
    minimum_runtime: Option<&'a str>,
    runtimes: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Emitted {
    date: Option<NaiveDate>,
    not_before: Option<NaiveDate>,
    not_after: Option<NaiveDate>,
    promised_until: Option<NaiveDate>,
    promised_until_at_latest: Option<NaiveDate>,
}

#[derive(Serialize)]
struct Entry<'a> {
    runtime: &'a str,
    release: Option<&'static str>,
    date: Option<NaiveDate>,
    verdict: &'static str,
    first_failure: Option<String>,
    reads_executable: bool,
    obstacles: Vec<Obstacle<'a>>,
    differences: Vec<Difference<'a>>,
}

#[derive(Serialize)]
struct Obstacle<'a> {
    layer: &'static str,
    certain: bool,
    construct: Option<&'a str>,
    path: Option<&'a str>,
    reason: &'a str,
    message: Option<&'static str>,
}

#[derive(Serialize)]
struct Difference<'a> {
    kind: &'static str,
    construct: &'a str,
    path: &'a str,
    count: usize,
    why: &'static str,
    detail: &'a str,
    harmless: Option<&'a str>,
}

/// The document.
pub fn json(input: &Input<'_>, layout: Layout) -> String {
    let promise = input.promise;
    let document = Document {
        schema: SCHEMA,
        artifact: input.artifact,
        writer: input.writer,
        emitted: Emitted {
            date: promise.emitted,
            not_before: promise.not_before,
            not_after: promise.not_after,
            promised_until: promise.until,
            promised_until_at_latest: promise.until_at_latest,
        },
        unseen: input.unseen,
        minimum_runtime: input.minimum().map(|runtime| runtime.label.as_str()),
        runtimes: input.runtimes.iter().map(|(runtime, outcome)| entry(runtime, outcome)).collect(),
    };
    to_text(&document, layout)
}

fn entry<'a>(runtime: &'a Runtime, outcome: &'a Outcome) -> Entry<'a> {
    let obstacles = outcome.obstacles.iter().map(|o| Obstacle {
        layer: o.layer.name(),
        certain: o.certain,
        construct: o.construct.as_deref(),
        path: o.path.as_deref(),
        reason: &o.reason,
        message: o.message,
    });
    let differences = outcome.differences.iter().map(|difference| Difference {
        kind: difference.loss.kind.name(),
        construct: &difference.loss.construct,
        path: &difference.loss.path,
        count: difference.loss.count,
        why: difference.loss.why,
        detail: &difference.loss.detail,
        harmless: difference.harmless.as_deref(),
    });
    Entry {
        runtime: &runtime.label,
        release: runtime.era.release,
        date: runtime.era.date,
        verdict: outcome.verdict.name(),
        first_failure: outcome.first_failure(),
        reads_executable: outcome.reads_executable(),
        obstacles: obstacles.collect(),
        differences: differences.collect(),
    }
}
