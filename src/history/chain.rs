//! The chain of commits that a history is of.

use std::collections::HashMap;

use chrono::NaiveDate;
use git2::Oid;

use super::{Begin, Position};
use crate::error::Error;
use crate::revision::{Ancestor, LineEnd, Repository};

/// That many older commits in a row end the chain: one commit with a forged or skewed date does not.
const OLDER_IN_A_ROW: usize = 100;

/// First parents of a commit, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// Why it begins where it does.
    pub begin: Begin,
    /// Each with the day on which it landed, which never is earlier than its parent's.
    pub commits: Vec<(Oid, NaiveDate)>,
}

/// Commits to put on a chain, oldest first.
#[derive(Debug)]
pub(super) struct Listed {
    /// The new commits.
    pub(super) new: Vec<Ancestor>,
    /// The commit of the known chain that they follow; `None` for a chain of their own.
    pub(super) after: Option<Position>,
    /// Why a chain of their own begins where it does.
    pub(super) begin: Begin,
}

impl Chain {
    /// A chain without commits.
    pub(super) fn new(begin: Begin) -> Self {
        Chain { begin, commits: Vec::new() }
    }

    /// Where a commit is on the chain.
    pub fn position(&self, id: Oid) -> Option<Position> {
        let at = self.commits.iter().rposition(|(commit, _)| *commit == id)?;
        u32::try_from(at).ok().map(Position)
    }

    /// The commit at a place.
    pub fn at(&self, position: Position) -> Option<(Oid, NaiveDate)> {
        self.commits.get(usize::try_from(position.0).ok()?).copied()
    }

    /// Puts the next commit on.
    pub(super) fn push(&mut self, commit: &Ancestor) {
        let latest = self.commits.last().map_or(NaiveDate::MIN, |(_, date)| *date);
        self.commits.push((commit.id, commit.date.max(latest)));
    }

    /// Takes off what comes after a place.
    pub(super) fn cut(&mut self, end: Position) {
        self.commits.truncate(usize::try_from(end.0).unwrap_or(usize::MAX).saturating_add(1));
    }
}

impl Listed {
    /// Takes dates back that are later than the clock's: dates never run backwards, so one would move all that follow.
    pub(super) fn no_later_than(&mut self, clock: NaiveDate, known: Option<&Chain>) {
        let last = self.after.and_then(|after| known?.at(after)).map(|(_, date)| date);
        let mut before = last.unwrap_or(NaiveDate::MIN);
        let first = self.new.iter().map(|commit| commit.date).find(|date| *date <= clock);
        for commit in &mut self.new {
            if commit.date > clock {
                // Where nothing is older, the next one bounds it.
                commit.date =
                    if before == NaiveDate::MIN { first.unwrap_or(clock) } else { before };
            }
            before = before.max(commit.date);
        }
    }
}

/// Lists the first parents of `tip`: back to a commit of `known`, else to the last one before `since` (which says what
/// was there before), else to the root.
pub(super) fn list(
    repository: &Repository,
    tip: Oid,
    since: Option<NaiveDate>,
    known: Option<&Chain>,
) -> Result<Listed, Error> {
    let commits = known.map_or(&[][..], |chain| &chain.commits);
    let positions: HashMap<Oid, u32> = commits.iter().map(|(id, _)| *id).zip(0..).collect();
    let mut after = None;
    let mut older = 0;
    let (mut line, end) = repository.lineage(tip, |ancestor| {
        after = positions.get(&ancestor.id).copied().map(Position);
        let enough = after.is_some() || older > OLDER_IN_A_ROW;
        let is_older = since.is_some_and(|since| ancestor.date < since);
        older = if is_older { older + 1 } else { 0 };
        enough
    })?;
    let mut begin = match end {
        _ if after.is_some() => known.map_or(Begin::Since, |chain| chain.begin),
        LineEnd::Root => Begin::Root,
        LineEnd::Cut => Begin::Cut,
        LineEnd::Enough => Begin::Since,
    };
    if let (Some(since), None) = (since, after) {
        // The newest older commit says what was there before.
        let inside = line.iter().rposition(|ancestor| ancestor.date >= since);
        let wanted = inside.map_or(1, |last| last + 2);
        if wanted < line.len() || (wanted == line.len() && end != LineEnd::Root) {
            begin = Begin::Since;
        }
        line.truncate(wanted);
    }
    line.reverse();
    Ok(Listed { new: line, after, begin })
}
