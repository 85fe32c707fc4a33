//! What head made of base's goldens themselves.

use std::collections::BTreeMap;

use aotgate_runtime::artifact::Artifact;
use chrono::NaiveDate;
use prost::bytes::Bytes;

use super::super::ROOT;
use super::super::kept::{Edit, EditKind};
use super::super::look::open;
use super::Gatherer;
use crate::change::Pairs;
use crate::finding::{Side, SourceLocation};
use crate::golden::{Golden, Standing};
use crate::triage::checks::{golden_changed, golden_refused};
use crate::view;

/// So many places of deleted goldens are named.
const PLACES: usize = 3;

impl Gatherer<'_> {
    /// Findings on goldens that were evidence and are edited or deleted. Base's version is what counts for this change.
    pub(super) fn kept(&mut self, edits: &[Edit<'_>]) {
        let mut deleted: BTreeMap<&str, Vec<(&Golden, NaiveDate)>> = BTreeMap::new();
        for edit in edits {
            let golden = edit.golden;
            let Some(until) = self.evidence_until(golden) else { continue };
            match &edit.kind {
                EditKind::Deleted => {
                    let set = golden.id.rsplit_once('/').map_or(&*golden.id, |(set, _)| set);
                    deleted.entry(set).or_default().push((golden, until));
                }
                EditKind::Changed { now, artifact, others } => {
                    let mut parts = others.clone();
                    if *artifact && !self.says_the_same(golden, now) {
                        parts.insert(0, "the artifact".to_owned());
                    }
                    if !parts.is_empty() {
                        let places = vec![self.place_of(now, Side::Head)];
                        let construct = golden.construct();
                        self.push(golden_changed::edited(&construct, &parts, until, places));
                    }
                }
            }
        }
        for (set, goldens) in deleted {
            let construct = match &goldens[..] {
                [(only, _)] => only.construct(),
                _ => format!("golden:{set}"),
            };
            let programs = goldens.iter().filter_map(|(golden, _)| golden.id.rsplit('/').next());
            let programs: Vec<&str> = programs.collect();
            let until = goldens.iter().map(|(_, until)| *until).max().unwrap_or_default();
            let places = goldens.iter().take(PLACES);
            let places = places.map(|(golden, _)| self.place_of(golden, Side::Base)).collect();
            self.push(golden_changed::deleted(&construct, &programs, until, places));
        }
    }

    /// The last day on which a golden of base is evidence, if it is.
    fn evidence_until(&self, golden: &Golden) -> Option<NaiveDate> {
        let loudness = self.question.loudness;
        let standing = golden.standing(loudness.today, loudness.policy.windows.backward);
        let Standing::Evidence { until } = standing else { return None };
        // XLA keeps empty files for tests of its own test library.
        let empty = golden.manifest.is_none() && self.base.size(golden).is_ok_and(|size| size == 0);
        (!empty).then_some(until)
    }

    /// A text golden that head leaves as it is must be text to head's contract.
    pub(super) fn text_stays(&mut self, golden: &Golden, content: &Bytes) {
        let own = self.base.find(&golden.id).is_some_and(|base| std::ptr::eq(base, golden));
        let same = std::ptr::eq(self.eyes.base, self.eyes.head);
        if !own || same || self.edited.contains(&*golden.id) {
            return;
        }
        if let Err(error) = self.question.text.parse(content, true) {
            self.text_rejected(golden, &error.to_string());
        }
    }

    fn text_rejected(&mut self, golden: &Golden, why: &str) {
        let places = vec![self.place_of(golden, Side::Head)];
        self.push(golden_refused::text(&golden.construct(), why, places));
    }

    /// Whether head's version of an artifact says what base's does: for text, whatever the words. Text that is none to
    /// head's contract is a finding of its own.
    fn says_the_same(&mut self, golden: &Golden, now: &Golden) -> bool {
        let (Ok(before), Ok(after)) = (self.base.read(golden), self.head.read(now)) else {
            return false;
        };
        let is_text = |bytes: &Bytes, new| matches!(open(bytes, new), Ok(None));
        if !is_text(&before, false) && !is_text(&after, true) {
            return false;
        }
        // What even base cannot read is listed as that, and may be repaired.
        let Some(before) = self.artifact(&before, false) else { return true };
        let after = match open(&after, true) {
            Ok(Some(artifact)) => artifact,
            Ok(None) => match self.question.text.parse(&after, true) {
                Ok(artifact) => artifact,
                Err(error) => {
                    self.text_rejected(now, &error.to_string());
                    return true;
                }
            },
            Err(_) => return false,
        };
        self.same_content(&before, &after)
    }

    fn artifact(&self, bytes: &Bytes, head: bool) -> Option<Artifact> {
        match open(bytes, head) {
            Ok(Some(artifact)) => Some(artifact),
            Ok(None) => self.question.text.parse(bytes, head).ok(),
            Err(_) => None,
        }
    }

    /// Whether two artifacts say the same, each to its own side.
    fn same_content(&self, before: &Artifact, after: &Artifact) -> bool {
        let outer = |artifact: &Artifact| artifact.outer().map(|outer| outer.message().to_bytes());
        if outer(before) != outer(after) {
            return false;
        }
        let (before, after) = (before.executable().to_bytes(), after.executable().to_bytes());
        if before == after {
            return true;
        }
        // Numbers may differ where the contracts do: both as head writes them.
        let (base, head) = (self.eyes.base, self.eyes.head);
        if std::ptr::eq(base, head) {
            return false;
        }
        let limits = view::Limits::default();
        let read = (
            view::decode(&before, base, ROOT, limits),
            view::decode(&after, head, self.eyes.head_root, limits),
        );
        let (Ok(before), Ok(after)) = read else { return false };
        let (before, losses) = view::translate(&before, head, &Pairs::new(base, head));
        let (after, _) = view::translate(&after, head, &Pairs::new(head, head));
        losses.is_empty() && before == after
    }

    fn place_of(&self, golden: &Golden, side: Side) -> SourceLocation {
        SourceLocation { side, ..self.place(golden).location }
    }
}
