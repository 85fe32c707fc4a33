//! What a "revision" is: a git tree, the worktree, the index, a plain directory, a descriptor set file, a released binary,
//! or a ledger, and how base and head are chosen.

mod base;
mod binary;
mod checkout;
mod embedded;
mod first_seen;
mod git;
mod lineage;
mod listing;
mod spec;
mod watched;

pub use base::choose_base;
pub use first_seen::{FirstParents, FirstSeen};
pub use git::{CommitInfo, Repository};
pub use lineage::{Ancestor, LineEnd};
pub(crate) use listing::join;
pub use listing::{Entry, EntryKind, ListLimits};
pub use spec::RevisionSpec;
pub use watched::Watched;

use chrono::NaiveDate;

use crate::descriptor::{ContractSpec, ParseCache, SourceClosure};
use crate::error::Error;
use crate::history::ledger::Ledger;

/// A revision that was found: where its files come from, and its commit if it is one.
#[derive(Debug)]
pub struct Revision<'r> {
    /// How the user named it, shortened for git objects.
    pub label: String,
    /// The commit, for git revisions.
    pub commit: Option<CommitInfo>,
    tree: Tree<'r>,
}

#[derive(Debug)]
enum Tree<'r> {
    Empty,
    Git(git::CommitTree<'r>),
    Worktree(checkout::Worktree),
    Directory(checkout::Worktree),
    Index(checkout::Index<'r>),
    Descriptors(SourceClosure),
    Ledger(Box<Ledger>),
}

impl<'r> Revision<'r> {
    /// Resolves a REV. `repository` may be absent where [`RevisionSpec::needs_repository`] says so, and for directories.
    ///
    /// # Errors
    /// Unknown revisions, missing objects, unreadable files; each with the way out.
    pub fn open(spec: &RevisionSpec, repository: Option<&'r Repository>) -> Result<Self, Error> {
        let repository = || repository.ok_or_else(|| git::no_repository(std::path::Path::new(".")));
        let (label, commit, tree) = match spec {
            RevisionSpec::Empty => ("EMPTY".to_owned(), None, Tree::Empty),
            RevisionSpec::Worktree => {
                ("WORKTREE".to_owned(), None, Tree::Worktree(repository()?.worktree()?))
            }
            RevisionSpec::Index => ("INDEX".to_owned(), None, Tree::Index(repository()?.index()?)),
            RevisionSpec::Git(rev) => match (repository(), spec.as_directory()) {
                (Err(_), Some(dir)) => return Ok(Revision::directory(dir)),
                (Ok(repository), Some(dir)) if repository.commit(rev).is_err() => {
                    return Ok(Revision::directory(dir));
                }
                (repository, _) => {
                    let (commit, tree) = repository?.commit_tree(rev)?;
                    (commit.short(), Some(commit), Tree::Git(tree))
                }
            },
            RevisionSpec::Directory(dir) => return Ok(Revision::directory(dir)),
            RevisionSpec::Ledger(path) => {
                let name = path.display().to_string();
                let ledger = Ledger::read(&name, &binary::read_file(path)?)?;
                (name, None, Tree::Ledger(Box::new(ledger)))
            }
            RevisionSpec::DescriptorSet(path) => {
                let bytes = binary::read_file(path)?;
                let closure =
                    SourceClosure::from_descriptor_set(&bytes).map_err(|e| e.in_file(path))?;
                (path.display().to_string(), None, Tree::Descriptors(closure))
            }
            RevisionSpec::ReleasedBinary(path) => (
                path.display().to_string(),
                None,
                Tree::Descriptors(binary::embedded_descriptors(path)?),
            ),
        };
        Ok(Revision { label, commit, tree })
    }

    /// The files of a directory that need not be in any repository.
    pub fn directory(dir: &std::path::Path) -> Revision<'static> {
        let tree = Tree::Directory(checkout::Worktree::new(dir.to_owned()));
        Revision { label: dir.display().to_string(), commit: None, tree }
    }

    /// Committer's local calendar date of a git revision.
    pub fn date(&self) -> Option<NaiveDate> {
        self.commit.as_ref().map(|c| c.date)
    }

    /// Whether these are uncommitted files, on top of `HEAD`.
    pub fn is_checkout(&self) -> bool {
        matches!(self.tree, Tree::Worktree(_) | Tree::Index(_))
    }

    /// Whether it has files, as opposed to descriptors alone.
    pub fn has_files(&self) -> bool {
        !matches!(self.tree, Tree::Descriptors(_) | Tree::Ledger(_))
    }

    /// The ledger, where the revision is one: it has a contract, and no files.
    pub fn as_ledger(&self) -> Option<&Ledger> {
        match &self.tree {
            Tree::Ledger(ledger) => Some(ledger),
            _ => None,
        }
    }

    /// Whether this is the revision without files.
    pub fn is_empty(&self) -> bool {
        matches!(self.tree, Tree::Empty)
    }

    /// Reads the contract's files; a ledger has none, its contract is [`Ledger::contract`].
    ///
    /// # Errors
    /// Those of [`SourceClosure::read`].
    pub fn closure(
        &self,
        spec: &ContractSpec,
        cache: &mut ParseCache,
    ) -> Result<SourceClosure, Error> {
        self.closure_after(spec, cache, None)
    }

    /// Reads the contract's files where the earlier revision `before` had them.
    ///
    /// # Errors
    /// Those of [`SourceClosure::read_after`].
    pub fn closure_after(
        &self,
        spec: &ContractSpec,
        cache: &mut ParseCache,
        before: Option<&SourceClosure>,
    ) -> Result<SourceClosure, Error> {
        match &self.tree {
            Tree::Empty | Tree::Ledger(_) => Ok(SourceClosure::default()),
            Tree::Git(tree) => SourceClosure::read_after(tree, spec, cache, before),
            Tree::Worktree(tree) | Tree::Directory(tree) => {
                SourceClosure::read_after(tree, spec, cache, before)
            }
            Tree::Index(tree) => SourceClosure::read_after(tree, spec, cache, before),
            Tree::Descriptors(closure) => Ok(closure.clone()),
        }
    }

    /// Content of a file at this revision, `None` if there is none (or no files at all, as in a
    /// descriptor set).
    ///
    /// # Errors
    /// Missing objects and input errors.
    pub fn read_file(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        let read = |tree: &dyn crate::descriptor::FileTree| match tree.find(path)? {
            Some(blob) => tree.read(path, blob).map(Some),
            None => Ok(None),
        };
        match &self.tree {
            Tree::Empty | Tree::Descriptors(_) | Tree::Ledger(_) => Ok(None),
            Tree::Git(tree) => read(tree),
            Tree::Worktree(tree) | Tree::Directory(tree) => read(tree),
            Tree::Index(tree) => read(tree),
        }
    }
}
