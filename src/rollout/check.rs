//! What a rollout entry says against what history knows.

use chrono::NaiveDate;

use super::file::{Event, Rollout, Rollouts};
use crate::history::Confidence;
use crate::triage::Seen;

/// What entries are held against.
pub trait Facts {
    /// When a commit of the governed branch landed; `Err` says why that is not known, `Ok(None)` that there is
    /// none.
    ///
    /// # Errors
    /// The reason in words, where history does not go far enough.
    fn landed(&self, commit: &str) -> Result<Option<NaiveDate>, String>;

    /// Since when a construct has been declared without a break, if it ever was.
    fn introduced(&self, construct: &str) -> Option<Seen>;

    /// When a construct that is declared no more was taken away.
    fn removed(&self, construct: &str) -> Option<Seen>;
}

/// Something that an entry says and history does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The entry's title.
    pub rollout: String,
    /// The key of the entry, such as `emitted.on`.
    pub key: &'static str,
    /// What is wrong, one sentence without a full stop.
    pub message: String,
    /// Whether it is only that history does not go far enough to tell.
    pub unknown: bool,
}

/// What is wrong with the entries of a file, in its order.
pub fn faults(rollouts: &Rollouts, facts: &dyn Facts) -> Vec<Fault> {
    rollouts.entries.iter().flat_map(|rollout| of(rollout, facts)).collect()
}

fn of(rollout: &Rollout, facts: &dyn Facts) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fault = |key, message: String, unknown| {
        faults.push(Fault { rollout: rollout.title().to_owned(), key, message, unknown });
    };
    for (key, Event { date, commit }) in rollout.events() {
        let Some(commit) = commit else { continue };
        match facts.landed(commit) {
            Ok(Some(landed)) if landed == *date => {}
            Ok(Some(landed)) => {
                fault(key, format!("commit {commit} landed on {landed}, not on {date}"), false);
            }
            Ok(None) => fault(key, format!("no commit {commit} is on the branch"), false),
            Err(why) => fault(key, format!("commit {commit}: {why}"), true),
        }
    }
    if let Some(reader) = &rollout.reader {
        for construct in &rollout.constructs {
            match facts.introduced(construct) {
                Some(seen) if reader.date < seen.date => {
                    let message =
                        format!("{construct} was declared on {seen}, after {}", reader.date);
                    fault("reader", message, seen.confidence != Confidence::Known);
                }
                _ => {}
            }
        }
    }
    if let Some(last) = rollout.emitted.last() {
        for construct in &rollout.constructs {
            match facts.introduced(construct) {
                Some(seen) if last.on.date < seen.date && last.off.is_none() => {
                    let message =
                        format!("{construct} was declared on {seen}, after {}", last.on.date);
                    fault("emitted.on", message, seen.confidence != Confidence::Known);
                }
                _ => {}
            }
        }
    }
    if let Some(removed) = &rollout.removed {
        for construct in &rollout.replaces {
            match facts.removed(construct) {
                Some(seen) if seen.date < removed.date => {
                    let message =
                        format!("{construct} was removed on {seen}, not on {}", removed.date);
                    fault("removed", message, false);
                }
                _ => {}
            }
        }
    }
    faults
}
