//! The goldens of a store: the stable format `aotgate.goldens/1`, and a table for people.

mod human;

pub use human::render;

use chrono::NaiveDate;
use serde::Serialize;

use super::json::{Layout as JsonLayout, to_text};
use crate::golden::contents::Contents;
use crate::golden::{Emission, Golden, Layout, Skipped, Standing};

/// Name and version of the format.
pub const SCHEMA: &str = "aotgate.goldens/1";

/// A listing.
#[derive(Debug)]
pub struct Listing<'a> {
    /// What was looked at: a revision or a directory.
    pub revision: &'a str,
    /// The day that windows are measured against.
    pub today: NaiveDate,
    /// The goldens, by id.
    pub entries: Vec<Entry<'a>>,
    /// What is wrong with the stores themselves.
    pub problems: Vec<Problem>,
    /// What is no golden.
    pub skipped: &'a [Skipped],
}

/// One golden.
#[derive(Debug)]
pub struct Entry<'a> {
    /// The golden.
    pub golden: &'a Golden,
    /// What it proves today.
    pub standing: Standing,
    /// Bytes of its artifact, where it could be read.
    pub size: Option<u64>,
    /// What is inside, where it could be read.
    pub contents: Option<Contents>,
    /// Why it cannot be used.
    pub problem: Option<Problem>,
}

/// Why something cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// What is wrong, and where.
    pub message: String,
    /// The way out.
    pub help: Option<String>,
}

impl Problem {
    /// An error that does not end the command.
    pub fn of(error: &dyn miette::Diagnostic) -> Self {
        let help = error.help().map(|help| help.to_string());
        Problem { message: error.to_string(), help }
    }
}

impl Entry<'_> {
    /// Whether its file holds nothing, on purpose.
    pub fn is_empty(&self) -> bool {
        self.golden.manifest.is_none() && self.size == Some(0)
    }

    /// Whether it proves anything today.
    pub fn is_evidence(&self) -> bool {
        matches!(self.standing, Standing::Evidence { .. }) && !self.is_empty()
    }
}

impl Listing<'_> {
    /// Whether everything could be read.
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty() && self.entries.iter().all(|entry| entry.problem.is_none())
    }
}

/// The document.
pub fn json(listing: &Listing<'_>, layout: JsonLayout) -> String {
    let document = Document {
        schema: SCHEMA,
        revision: listing.revision,
        today: listing.today,
        goldens: listing.entries.iter().map(GoldenEntry::of).collect(),
        problems: &listing.problems,
        skipped: listing
            .skipped
            .iter()
            .map(|skipped| SkippedEntry { path: &skipped.path, why: skipped.why })
            .collect(),
    };
    to_text(&document, layout)
}

/// What a standing is called.
fn standing_name(standing: Standing) -> &'static str {
    match standing {
        Standing::Evidence { .. } => "evidence",
        Standing::TooOld => "too-old",
        Standing::Future => "future",
        Standing::Undated => "undated",
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    revision: &'a str,
    today: NaiveDate,
    goldens: Vec<GoldenEntry<'a>>,
    problems: &'a [Problem],
    skipped: Vec<SkippedEntry<'a>>,
}

#[derive(Serialize)]
struct SkippedEntry<'a> {
    path: &'a str,
    why: &'a str,
}

#[derive(Serialize)]
struct GoldenEntry<'a> {
    id: &'a str,
    construct: String,
    layout: &'static str,
    artifact: &'a str,
    producer: Option<String>,
    target: Option<&'a str>,
    emitted_at: Option<NaiveDate>,
    emitted_before: Option<NaiveDate>,
    standing: &'static str,
    until: Option<NaiveDate>,
    devices: Option<u32>,
    size: Option<u64>,
    containers: Vec<&'static str>,
    thunk_kinds: Option<Vec<&'a str>>,
    custom_calls: Vec<&'a str>,
    cannot_run: &'a [String],
    problem: Option<&'a Problem>,
}

impl<'a> GoldenEntry<'a> {
    fn of(entry: &'a Entry<'a>) -> Self {
        let golden = entry.golden;
        let manifest = golden.manifest.as_ref();
        let contents = entry.contents.as_ref();
        GoldenEntry {
            id: &golden.id,
            construct: golden.construct(),
            layout: match golden.layout {
                Layout::Store { .. } => "store",
                Layout::Upstream { .. } => "upstream",
            },
            artifact: &golden.artifact,
            producer: manifest.map(|m| format!("{} {}", m.producer.name, m.producer.version)),
            target: manifest.map(|m| &*m.target.architecture),
            emitted_at: golden.emitted_at(),
            emitted_before: match golden.emission {
                Emission::Before(date) => Some(date),
                Emission::On(_) | Emission::Unknown => None,
            },
            standing: if entry.is_empty() { "empty" } else { standing_name(entry.standing) },
            until: match entry.standing {
                Standing::Evidence { until } if !entry.is_empty() => Some(until),
                _ => None,
            },
            devices: golden.devices(),
            size: entry.size,
            containers: contents.map(|c| c.containers.clone()).unwrap_or_default(),
            thunk_kinds: contents
                .and_then(|c| c.thunk_kinds.as_ref())
                .map(|kinds| kinds.iter().map(|kind| &**kind).collect()),
            custom_calls: contents
                .map(|c| c.custom_calls.iter().map(|call| &**call).collect())
                .unwrap_or_default(),
            cannot_run: manifest.map(|m| &*m.cannot_run).unwrap_or_default(),
            problem: entry.problem.as_ref(),
        }
    }
}
