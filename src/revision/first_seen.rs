//! When a file landed: the first-parent commit that added it.

use std::path::Path;

use chrono::NaiveDate;
use git2::Oid;

use super::git::{CommitInfo, Repository, committed_on, git_error, is_tree_path, written_parents};
use crate::error::Error;

/// That many older commits in a row end the list: one commit with a forged or skewed date does not.
const OLDER_IN_A_ROW: usize = 100;

/// When a file was first seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstSeen {
    /// It landed on this day.
    Known(NaiveDate),
    /// It landed before the day that the list goes back to.
    OlderThan(NaiveDate),
    /// This clone does not go back far enough to tell.
    Unknown,
    /// The tip does not have it.
    Absent,
}

/// The first-parent ancestors of a commit, back to a day.
pub struct FirstParents<'r> {
    repository: &'r Repository,
    not_before: NaiveDate,
    /// Newest first, with dates that never run backwards: a commit landed no earlier than its ancestors.
    commits: Vec<(Oid, NaiveDate)>,
    end: End,
}

impl std::fmt::Debug for FirstParents<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FirstParents").field("commits", &self.commits.len()).finish_non_exhaustive()
    }
}

/// Why the list ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Root,
    Window,
    Cut,
}

impl<'r> FirstParents<'r> {
    /// Lists the first-parent ancestors of `tip`, itself included, that are not older than `not_before`.
    ///
    /// # Errors
    /// A tip that this clone lacks; missing ancestors end the list.
    pub fn list(
        repository: &'r Repository,
        tip: &CommitInfo,
        not_before: NaiveDate,
    ) -> Result<Self, Error> {
        let mut commit = repository.git.find_commit(tip.id).map_err(|e| git_error(&e))?;
        let mut commits = Vec::new();
        let mut older = 0;
        let end = loop {
            let date = committed_on(&commit).unwrap_or(NaiveDate::MIN);
            commits.push((commit.id(), date));
            older = if date < not_before { older + 1 } else { 0 };
            if older > OLDER_IN_A_ROW {
                break End::Window;
            }
            commit = match commit.parent(0) {
                Ok(parent) => parent,
                Err(_) if written_parents(&commit) > 0 => break End::Cut,
                Err(_) => break End::Root,
            };
        };
        let mut latest = NaiveDate::MIN;
        for (_, date) in commits.iter_mut().rev() {
            latest = latest.max(*date);
            *date = latest;
        }
        Ok(FirstParents { repository, not_before, commits, end })
    }

    /// How many commits the list has.
    pub fn len(&self) -> usize {
        self.commits.len()
    }

    /// Whether the list is empty, which it never is.
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty()
    }

    /// When a commit landed on this line; `None` where it is not on it as far as the list goes.
    pub fn landed(&self, commit: Oid) -> Option<NaiveDate> {
        self.commits.iter().find(|(id, _)| *id == commit).map(|(_, date)| *date)
    }

    /// Whether the list ends where this clone does, so that older commits are missing.
    pub fn is_cut(&self) -> bool {
        self.end == End::Cut
    }

    /// When a file that the tip has was added: found by halving the list, so a file that was deleted and
    /// added again gives one of the days on which it was added.
    pub fn first_seen(&self, path: &str) -> FirstSeen {
        if !is_tree_path(path) || self.has(0, path) == Some(false) {
            return FirstSeen::Absent;
        }
        let Some(last) = self.commits.len().checked_sub(1) else { return FirstSeen::Unknown };
        match self.has(last, path) {
            None => return FirstSeen::Unknown,
            Some(true) => {
                return match self.end {
                    End::Root => FirstSeen::Known(self.commits[last].1),
                    End::Window => FirstSeen::OlderThan(self.not_before),
                    End::Cut if self.commits[last].1 < self.not_before => {
                        FirstSeen::OlderThan(self.not_before)
                    }
                    End::Cut => FirstSeen::Unknown,
                };
            }
            Some(false) => {}
        }
        // `with` has the file, `without` has not.
        let (mut with, mut without) = (0, last);
        while without - with > 1 {
            let middle = with + (without - with) / 2;
            match self.has(middle, path) {
                Some(true) => with = middle,
                Some(false) => without = middle,
                None => return FirstSeen::Unknown,
            }
        }
        FirstSeen::Known(self.commits[with].1)
    }

    /// Whether a commit has a path; `None` where the clone lacks a tree on the way.
    fn has(&self, at: usize, path: &str) -> Option<bool> {
        let (id, _) = self.commits.get(at)?;
        let tree = self.repository.git.find_commit(*id).and_then(|c| c.tree()).ok()?;
        match tree.get_path(Path::new(path)) {
            Ok(_) => Some(true),
            Err(error) if error.code() == git2::ErrorCode::NotFound => Some(false),
            Err(_) => None,
        }
    }
}
