//! What the ledger of a revision has to be.

use std::sync::Arc;

use chrono::NaiveDate;

use super::Gate;
use crate::descriptor::Contract;
use crate::error::Error;
use crate::history::ledger::Ledger;
use crate::history::walk::Progress;
use crate::history::{Begin, Cache, History, Options, default_since};
use crate::revision::{CommitInfo, Revision, RevisionSpec};
use crate::triage::policy::Policy;

/// How the ledger of a revision is made.
#[derive(Clone, Copy)]
pub struct Recording<'a> {
    /// The day of what has not landed, and of a contract of which nothing else is known.
    pub today: NaiveDate,
    /// The day that history goes back to; `None` for the usual one.
    pub since: Option<NaiveDate>,
    /// The clock's day: no commit landed after it.
    pub clock: NaiveDate,
    /// Where the index of history is kept.
    pub cache: &'a Cache,
    /// Is told how far the walk has come.
    pub progress: Progress<'a>,
}

/// The ledger that a revision has to have, and the one that it has.
#[derive(Debug)]
pub struct Recorded {
    /// What it has to be.
    pub ledger: Ledger,
    /// What an older one added to it: the last commit's, or else the revision's own.
    pub older: Option<Ledger>,
    /// What a user should know.
    pub notes: Vec<String>,
}

impl Gate<'_> {
    /// Makes the ledger of a revision: of its contract, of the history of the commit that it is or is on top of, and of the
    /// ledger that is there already. That of the commit counts before that of uncommitted files, which may be half written.
    ///
    /// # Errors
    /// A contract that cannot be read. Older ledgers that cannot be read are notes.
    pub fn record(
        &mut self,
        revision: &Revision<'_>,
        policy: &Policy,
        recording: Recording<'_>,
    ) -> Result<Recorded, Error> {
        let contract = self.contract(revision, policy)?;
        let Recording { today, .. } = recording;
        let mut notes = Vec::new();
        let commit = self.commit_of(revision);
        let older = self.older_ledger(revision, commit.as_ref(), policy, &mut notes);
        let landed = match &commit {
            Some(commit) => {
                self.landed(revision, commit, &contract, policy, recording, &mut notes)?
            }
            None => {
                notes.push("no history is here: dates are as the ledger has them".to_owned());
                None
            }
        };
        let ledger = match (landed, &older) {
            (Some(landed), Some(older)) => landed.with_older(older),
            (Some(landed), None) => landed,
            (None, Some(older)) => older.clone(),
            (None, None) => Ledger::without_history(contract.clone(), today),
        };
        let ledger = ledger.observe(&contract, today);
        Ok(Recorded { ledger, older, notes })
    }

    /// What history shows up to a commit.
    fn landed(
        &mut self,
        revision: &Revision<'_>,
        commit: &CommitInfo,
        contract: &Arc<Contract>,
        policy: &Policy,
        recording: Recording<'_>,
        notes: &mut Vec<String>,
    ) -> Result<Option<Ledger>, Error> {
        let Some(repository) = self.repository else { return Ok(None) };
        let committed = match &revision.commit {
            Some(_) => contract.clone(),
            None => {
                let tip = self.open(&RevisionSpec::Git(commit.id.to_string()))?;
                let closure = tip.closure(&policy.contract, &mut self.cache)?;
                self.contracts.get(closure, &policy.contract)?
            }
        };
        let since =
            recording.since.unwrap_or_else(|| default_since(commit.date.min(recording.clock)));
        let options = Options::new(Some(since), recording.cache.clone()).by(recording.clock);
        let history =
            History::open(repository, &policy.contract, commit.id, &options, recording.progress)?;
        notes.extend(history.notes);
        if history.timeline.begin == Begin::Cut {
            let why = "this clone does not have all history, so older dates are as the ledger has them: `git fetch --unshallow` supplies it";
            notes.push(why.to_owned());
        }
        Ok(Some(Ledger::of_history(committed, &history.timeline)))
    }

    fn older_ledger(
        &self,
        revision: &Revision<'_>,
        commit: Option<&CommitInfo>,
        policy: &Policy,
        notes: &mut Vec<String>,
    ) -> Option<Ledger> {
        let mut read = |revision: &Revision<'_>| match revision.ledger(policy) {
            Ok(ledger) => ledger,
            Err(error) => {
                notes.push(format!("the ledger of {} is not used: {error}", revision.label));
                None
            }
        };
        let committed = match (&revision.commit, commit) {
            (None, Some(commit)) => {
                let tip = self.open(&RevisionSpec::Git(commit.id.to_string())).ok();
                tip.and_then(|tip| read(&tip))
            }
            _ => None,
        };
        let Some(committed) = committed else { return read(revision) };
        // In the middle of a merge the other side has a past as well.
        let merged = self.open(&RevisionSpec::Git("MERGE_HEAD".to_owned())).ok();
        match merged.filter(|_| revision.is_checkout()).and_then(|tip| read(&tip)) {
            Some(other) => Some(committed.joined(&other)),
            None => Some(committed),
        }
    }
}
