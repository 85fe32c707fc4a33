//! The history of a commit: from the index as far as that goes, the rest walked.

use std::time::{Duration, Instant};

use chrono::{Datelike as _, Months, NaiveDate};
use git2::Oid;

use super::chain::{self, Chain};
use super::index::{Cache, Kept, Store};
use super::walk::{Progress, Walk};
use super::{Begin, Moment, Timeline, View};
use crate::descriptor::ContractSpec;
use crate::error::Error;
use crate::revision::Repository;
use crate::rollout::windows::Length;

/// How often a walk writes down what it has.
const CHECKPOINT: Duration = Duration::from_secs(1);

/// What history is asked for.
#[derive(Debug, Clone)]
pub struct Options {
    /// The day that it goes back to; `None` for the root commit.
    pub since: Option<NaiveDate>,
    /// Where the index is kept.
    pub cache: Cache,
    /// Time between two checkpoints of a walk; `None` for a second.
    pub checkpoint: Option<Duration>,
    /// The day that the clock says: a commit that claims a later one landed when the one before it did. `None` takes
    /// every date as it is written.
    pub clock: Option<NaiveDate>,
    /// Commits that one thread looks at in a row, checkpoints come between them; `None` for what is fast.
    pub chunk: Option<std::num::NonZeroUsize>,
}

impl Options {
    /// The usual way to look at history.
    pub fn new(since: Option<NaiveDate>, cache: Cache) -> Self {
        Options { since, cache, checkpoint: None, clock: None, chunk: None }
    }

    /// Takes no date that is later than the clock's.
    #[must_use]
    pub fn by(self, clock: NaiveDate) -> Self {
        Options { clock: Some(clock), ..self }
    }
}

/// The history of a contract up to a commit.
#[derive(Debug)]
pub struct History {
    /// What happened.
    pub timeline: Timeline,
    /// The commits it is of.
    pub chain: Chain,
    /// How many of them had to be looked at.
    pub walked: usize,
    /// What happened to the index that a user should know.
    pub notes: Vec<String>,
}

/// The day that history goes back to unless told otherwise: the first of the month in which the twelve months before a date
/// begin, so that an index serves for a month before it begins anew.
pub fn default_since(tip: NaiveDate) -> NaiveDate {
    let year_before = tip.checked_sub_months(Months::new(12)).unwrap_or(NaiveDate::MIN);
    year_before.with_day(1).unwrap_or(year_before)
}

/// The day that the history of a check goes back to: at least the backward window before base, and the first day of a
/// half-year, so that one index serves all checks of half a year.
///
/// What was taken away earlier is in no artifact that must still be read.
pub fn since_for_check(base: NaiveDate, backward: Length) -> NaiveDate {
    let before = backward.before(base);
    let month = if before.month() < 7 { 1 } else { 7 };
    NaiveDate::from_ymd_opt(before.year(), month, 1).unwrap_or(before)
}

impl History {
    /// The history of `tip` along first parents.
    ///
    /// An index that can be used is; one that cannot is a note. Where the clone ends, history ends.
    ///
    /// # Errors
    /// A tip that this clone lacks.
    pub fn open(
        repository: &Repository,
        spec: &ContractSpec,
        tip: Oid,
        options: &Options,
        progress: Progress<'_>,
    ) -> Result<Self, Error> {
        let store = Store::new(&options.cache, repository, spec, options.since);
        let mut notes = Vec::new();
        let kept = match store.as_ref().map(Store::read) {
            Some(Ok(kept)) => kept,
            Some(Err(why)) => {
                notes.push(format!("the index of the history was made anew: {why}"));
                None
            }
            None => None,
        };
        let kept = kept.filter(|kept| kept.since == options.since);
        let had = kept.as_ref().map_or(0, |kept| kept.chain.commits.len());
        let chain = kept.as_ref().map(|k| &k.chain);
        let mut listed = chain::list(repository, tip, options.since, chain)?;
        if let Some(clock) = options.clock {
            listed.no_later_than(clock, chain);
        }
        let known = match (kept, listed.after) {
            (Some(Kept { mut chain, timeline, .. }), Some(after)) => {
                chain.cut(after);
                (chain, timeline.cut(after))
            }
            _ => (Chain::new(listed.begin), Timeline::new(listed.begin)),
        };
        let mut walk = Walk::after(repository, spec, known, progress);
        let walked = listed.new.len();
        // A side branch does not take the place of a longer history.
        let keeps = |chain: &Chain| listed.after.is_none() || chain.commits.len() > had;
        let store = store.filter(|_| listed.begin != Begin::Cut && walked > 0);
        let every = options.checkpoint.unwrap_or(CHECKPOINT);
        let mut saved = Instant::now();
        let since = options.since;
        walk.run(&listed.new, options.chunk, &mut |chain, timeline, missing| {
            if let Some(store) = store.as_ref().filter(|_| !missing && keeps(chain))
                && saved.elapsed() >= every
            {
                let _ = store.write(since, chain, timeline);
                saved = Instant::now();
            }
        })?;
        if let Some(store) = store.filter(|_| !walk.missing && keeps(&walk.chain))
            && let Err(why) = store.write(since, &walk.chain, &walk.timeline)
        {
            notes.push(format!("the index of the history is not kept: {why}"));
        }
        Ok(History { timeline: walk.timeline, chain: walk.chain, walked, notes })
    }

    /// What was true at a commit of the chain; `None` for one that is not on it.
    pub fn as_of(&self, id: Oid) -> Option<View<'_>> {
        Some(self.timeline.as_of(self.chain.position(id)?))
    }

    /// What is true at the commit that the history is of.
    pub fn latest(&self) -> View<'_> {
        self.timeline.latest()
    }

    /// The commit that the history begins with.
    pub fn first(&self) -> Option<Moment<'_>> {
        self.timeline.moment(self.timeline.landed.first()?.position)
    }

    /// Whether the history is the same as one made without an index; else what differs first.
    ///
    /// # Errors
    /// Those of [`History::open`].
    pub fn verify(
        &self,
        repository: &Repository,
        spec: &ContractSpec,
        tip: Oid,
        since: Option<NaiveDate>,
        progress: Progress<'_>,
    ) -> Result<Option<String>, Error> {
        let options = Options::new(since, Cache::Off);
        let fresh = History::open(repository, spec, tip, &options, progress)?;
        if self.chain != fresh.chain {
            return Ok(Some(format!(
                "it has {} commits instead of {}",
                self.chain.commits.len(),
                fresh.chain.commits.len()
            )));
        }
        if self.timeline == fresh.timeline {
            return Ok(None);
        }
        let scopes = self.timeline.scopes.iter().zip(&fresh.timeline.scopes);
        let different = scopes.into_iter().find(|(a, b)| a != b);
        let name = different.and_then(|(scope, _)| scope.names.last());
        Ok(Some(name.map_or_else(
            || "its list of changes differs".to_owned(),
            |titled| format!("it tells something else of {}", titled.name),
        )))
    }
}
