//! The rollout file in the gate: base's is evidence, head's edits are judged.

use std::cell::RefCell;
use std::collections::BTreeMap;

use chrono::NaiveDate;

use crate::error::Error;
use crate::finding::{Finding, Level};
use crate::history::Confidence;
use crate::revision::{CommitInfo, FirstParents, Repository, Revision};
use crate::rollout::{self, Facts, Rollouts};
use crate::triage::checks::{emitted_too_early, rollout_malformed};
use crate::triage::policy::Policy;
use crate::triage::{EvidenceSource, Seen, whole_file};

/// The rollouts that base states; none where it has no file. One that cannot be read says nothing, and is a finding:
/// this change may be its repair.
///
/// # Errors
/// Missing objects and input errors.
pub(super) fn of_base(
    policy: &Policy,
    base: &Revision<'_>,
) -> Result<(Rollouts, Option<Finding>), Error> {
    let Some(path) = &policy.rollout_file else { return Ok(Default::default()) };
    let Some(bytes) = base.read_file(path)? else { return Ok(Default::default()) };
    Ok(match Rollouts::parse(path, &String::from_utf8_lossy(&bytes)) {
        Ok(rollouts) => (rollouts, None),
        Err(error) => {
            let why = format!("{} (in base, so none of it counts)", without(path, &error));
            let found = rollout_malformed::finding(path, None, &why, vec![whole_file(path, None)]);
            (Rollouts::default(), Some(Finding { level: Level::Warning, ..found }))
        }
    })
}

/// An error's text without the path that it begins with.
fn without(path: &str, error: &Error) -> String {
    let text = error.to_string();
    text.strip_prefix(path).map_or(&*text, |rest| rest.trim_start_matches(": ")).to_owned()
}

/// Where commits that entries name are looked up.
pub(super) struct Branch<'r> {
    pub(super) repository: Option<&'r Repository>,
    pub(super) head: Option<CommitInfo>,
}

/// Findings on head's rollout file, where it differs from base's.
pub(super) fn edited(
    policy: &Policy,
    today: NaiveDate,
    [base, head]: [&Revision<'_>; 2],
    old: &Rollouts,
    evidence: &dyn EvidenceSource,
    branch: &Branch<'_>,
) -> Result<Vec<Finding>, Error> {
    let Some(path) = &policy.rollout_file else { return Ok(Vec::new()) };
    let (before, after) = (base.read_file(path)?, head.read_file(path)?);
    let Some(after) = after.as_ref().filter(|_| before != after) else { return Ok(Vec::new()) };
    let text = String::from_utf8_lossy(after);
    let locations = || vec![whole_file(path, Some(&text))];
    let new = match Rollouts::parse(path, &text) {
        Ok(rollouts) => rollouts,
        Err(error) => {
            let why = without(path, &error);
            return Ok(vec![rollout_malformed::finding(path, None, &why, locations())]);
        }
    };
    let asked = Asked { evidence, branch, known: RefCell::default() };
    let changed = Rollouts {
        entries: new.entries.iter().filter(|e| !old.entries.contains(e)).cloned().collect(),
    };
    let mut findings = Vec::new();
    for fault in rollout::faults(&changed, &asked) {
        if !fault.unknown {
            let why = format!("{}: {}", fault.key, fault.message);
            findings.push(rollout_malformed::finding(
                path,
                Some(&fault.rollout),
                &why,
                locations(),
            ));
        }
    }
    for entry in &changed.entries {
        for construct in &entry.constructs {
            let was = old.of(construct).map_or(&[][..], |entry| &entry.emitted);
            let reader = reader(entry.reader.as_ref(), evidence.introduced(construct), today);
            let on = entry.emitted.iter().filter(|i| !was.iter().any(|w| w.on == i.on));
            // The first that is too early says it.
            let early = on.filter_map(|interval| {
                let on = interval.on.date;
                let emitted = emitted_too_early::SwitchedOn { construct, on, reader: &reader };
                emitted_too_early::finding(emitted, policy.windows.forward, locations())
            });
            findings.extend(early.take(1));
        }
    }
    Ok(findings)
}

/// When a construct could be read first: what the entry says, but not before it was declared; what base does not
/// declare lands today.
fn reader(stated: Option<&rollout::Event>, declared: Option<Seen>, today: NaiveDate) -> Seen {
    let declared =
        declared.unwrap_or(Seen { commit: None, date: today, confidence: Confidence::Known });
    match stated {
        // An upper bound of the day of declaration does not contradict an earlier one.
        Some(event) if event.date > declared.date || declared.confidence != Confidence::Known => {
            Seen { commit: event.commit.clone(), date: event.date, confidence: Confidence::Known }
        }
        _ => declared,
    }
}

/// History, and the commits of the branch.
struct Asked<'a> {
    evidence: &'a dyn EvidenceSource,
    branch: &'a Branch<'a>,
    known: RefCell<BTreeMap<String, Result<Option<NaiveDate>, String>>>,
}

impl Facts for Asked<'_> {
    fn landed(&self, commit: &str) -> Result<Option<NaiveDate>, String> {
        let mut known = self.known.borrow_mut();
        let look = || match (self.branch.repository, &self.branch.head) {
            (Some(repository), Some(head)) => landed(repository, head, commit),
            _ => Err("there is no commit to look from".to_owned()),
        };
        known.entry(commit.to_owned()).or_insert_with(look).clone()
    }

    fn introduced(&self, construct: &str) -> Option<Seen> {
        self.evidence.introduced(construct)
    }

    fn removed(&self, _construct: &str) -> Option<Seen> {
        None
    }
}

/// When the commit landed on the line of first parents that ends with `head`.
pub(crate) fn landed(
    repository: &Repository,
    head: &CommitInfo,
    commit: &str,
) -> Result<Option<NaiveDate>, String> {
    let shallow = || "this clone does not go back far enough: `git fetch --unshallow`".to_owned();
    let Ok(found) = repository.commit(commit) else {
        return if repository.is_shallow() { Err(shallow()) } else { Ok(None) };
    };
    let line = FirstParents::list(repository, head, found.date).map_err(|e| e.to_string())?;
    match line.landed(found.id) {
        None if line.is_cut() => Err(shallow()),
        landed => Ok(landed),
    }
}
