//! First parents of a commit, read once: ids, dates, trees.

use chrono::NaiveDate;
use git2::Oid;

use super::Repository;
use super::git::{committed_on, git_error, written_parents};
use crate::error::Error;

/// A commit on a line of first parents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ancestor {
    /// Full id.
    pub id: Oid,
    /// Its root tree.
    pub tree: Oid,
    /// Committer's local calendar date, as written.
    pub date: NaiveDate,
}

/// Why a line of first parents ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// With a root commit.
    Root,
    /// Whoever asked had enough.
    Enough,
    /// The clone lacks the next one.
    Cut,
}

impl Repository {
    /// First-parent ancestors of a commit, itself included, newest first, up to and without the first for which
    /// `enough` is true.
    ///
    /// # Errors
    /// A tip that this clone lacks; missing ancestors end the line.
    pub fn lineage(
        &self,
        tip: Oid,
        mut enough: impl FnMut(&Ancestor) -> bool,
    ) -> Result<(Vec<Ancestor>, LineEnd), Error> {
        let mut commit = self.git.find_commit(tip).map_err(|error| git_error(&error))?;
        let mut line = Vec::new();
        loop {
            let date = committed_on(&commit).unwrap_or(NaiveDate::MIN);
            let ancestor = Ancestor { id: commit.id(), tree: commit.tree_id(), date };
            if enough(&ancestor) {
                return Ok((line, LineEnd::Enough));
            }
            line.push(ancestor);
            commit = match commit.parent(0) {
                Ok(parent) => parent,
                Err(_) if written_parents(&commit) > 0 => return Ok((line, LineEnd::Cut)),
                Err(_) => return Ok((line, LineEnd::Root)),
            };
        }
    }

    /// Whether a commit has a first parent that this clone has.
    pub fn has_parent(&self, id: Oid) -> bool {
        self.git.find_commit(id).and_then(|commit| commit.parent(0)).is_ok()
    }

    /// The root tree of a commit, `None` where this clone lacks the commit.
    pub fn root_tree(&self, id: Oid) -> Option<Oid> {
        self.git.find_commit(id).ok().map(|commit| commit.tree_id())
    }

    /// The message of a commit, bytes that are not UTF-8 replaced; empty where this clone lacks it.
    pub fn message(&self, id: Oid) -> String {
        let message = |c: git2::Commit<'_>| String::from_utf8_lossy(c.message_bytes()).into_owned();
        self.git.find_commit(id).map(message).unwrap_or_default()
    }

    /// The git directory that all working trees of the repository share.
    pub fn common_dir(&self) -> &std::path::Path {
        self.git.commondir()
    }

    /// The same repository once more, for another thread.
    ///
    /// # Errors
    /// A repository that went away.
    pub fn again(&self) -> Result<Repository, Error> {
        let git = git2::Repository::open(self.git.path()).map_err(|error| git_error(&error))?;
        Ok(Repository { git })
    }
}
