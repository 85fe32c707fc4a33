//! What rules report.

use std::collections::BTreeMap;

use serde::Serialize;

use super::catalog;
use super::rule::RuleInfo;

/// Findings of one rule beyond this many are only counted.
const LISTED: usize = 100;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Worth knowing.
    Note,
    /// Against an authoring rule; a loader takes it.
    Warning,
    /// A loader refuses it, or reads or writes memory that is not its own.
    Error,
}

impl Level {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// One thing that a rule found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Id of the rule.
    pub rule: &'static str,
    /// How bad it is.
    pub level: Level,
    /// Where, as field names from the executable on: `thunks[3].copy_thunk.source_buffer`. Begins with
    /// `outer` or `envelope` in those layers.
    pub path: String,
    /// The thunk that it is in: its kind, and the HLO instruction it was compiled from.
    pub thunk: Option<String>,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// Other places that belong to it.
    pub also: Vec<String>,
    /// Bytes that it is about: what is stored needlessly, or how large the thing is.
    pub bytes: Option<u64>,
    /// How often it occurs; `path` is the first place.
    pub count: u64,
}

/// What linting an artifact gave.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// In the order of the rules.
    pub findings: Vec<Finding>,
    /// How many more findings of a rule there are that are not listed.
    pub omitted: BTreeMap<&'static str, u64>,
    /// The worst level, listed or not; `None` where there is no finding.
    pub worst: Option<Level>,
}

impl Report {
    /// Number of findings of a level, not counting omitted ones.
    pub fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|finding| finding.level == level).count()
    }
}

/// Takes findings in.
#[derive(Default)]
pub(super) struct Sink {
    report: Report,
    listed: BTreeMap<&'static str, usize>,
}

/// A finding without what its place says.
pub(super) struct Draft {
    pub(super) message: String,
    pub(super) level: Option<Level>,
    pub(super) also: Vec<String>,
    pub(super) bytes: Option<u64>,
    pub(super) count: u64,
}

impl Draft {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Draft { message: message.into(), level: None, also: vec![], bytes: None, count: 1 }
    }

    /// Another level than the rule's own.
    pub(super) fn level(self, level: Level) -> Self {
        Draft { level: Some(level), ..self }
    }

    pub(super) fn bytes(self, bytes: usize) -> Self {
        Draft { bytes: Some(bytes as u64), ..self }
    }

    pub(super) fn also(self, also: Vec<String>) -> Self {
        Draft { also, ..self }
    }

    pub(super) fn count(self, count: u64) -> Self {
        Draft { count, ..self }
    }
}

impl Sink {
    /// Adds a finding; `place` gives path and thunk, and is asked only when it is listed.
    pub(super) fn add(
        &mut self,
        rule: &'static RuleInfo,
        place: impl FnOnce() -> (String, Option<String>),
        draft: Draft,
    ) {
        let level = draft.level.unwrap_or(rule.level);
        self.report.worst = self.report.worst.max(Some(level));
        let listed = self.listed.entry(rule.id).or_default();
        if *listed >= LISTED {
            *self.report.omitted.entry(rule.id).or_default() += 1;
            return;
        }
        *listed += 1;
        let (path, thunk) = place();
        let Draft { message, also, bytes, count, .. } = draft;
        let finding = Finding { rule: rule.id, level, path, thunk, message, also, bytes, count };
        self.report.findings.push(finding);
    }

    pub(super) fn into_report(mut self) -> Report {
        self.report.findings.sort_by_key(|finding| catalog::position(finding.rule));
        self.report
    }
}
