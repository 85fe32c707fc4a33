//! Git revisions: files straight from the object database, no checkout.

use std::path::{Path, PathBuf};

use chrono::{FixedOffset, NaiveDate, TimeZone as _};
use git2::{ErrorCode, ObjectType};

use super::checkout::{Index, Worktree};
use crate::descriptor::FileTree;
use crate::error::{Error, ErrorKind};

/// An opened repository; bare ones and linked worktrees included.
pub struct Repository {
    pub(super) git: git2::Repository,
}

impl std::fmt::Debug for Repository {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repository").field("path", &self.git.path()).finish()
    }
}

/// What is known of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitInfo {
    /// Full object id.
    pub id: git2::Oid,
    /// Committer's local calendar date (git's `%cs`).
    pub date: NaiveDate,
    /// First line of the message.
    pub subject: String,
    /// The whole message; bytes that are not UTF-8 replaced.
    pub message: String,
    /// Author's name.
    pub author: String,
}

impl CommitInfo {
    /// The first ten hex digits of the id.
    pub fn short(&self) -> String {
        let mut id = self.id.to_string();
        id.truncate(10);
        id
    }
}

impl Repository {
    /// Opens the repository that holds `dir`.
    ///
    /// # Errors
    /// No repository there, or one that libgit2 refuses.
    pub fn discover(dir: &Path) -> Result<Self, Error> {
        let git = git2::Repository::discover(dir).map_err(|error| match error.code() {
            ErrorCode::NotFound => no_repository(dir),
            _ => git_error(&error),
        })?;
        Ok(Repository { git })
    }

    /// The directory of the working tree, if it has one.
    pub fn workdir(&self) -> Option<&Path> {
        // libgit2 takes a git directory without a `config` file for one whose working tree is its parent.
        let named = self.git.path().file_name().is_some_and(|name| name == ".git");
        let configured = || self.git.config().is_ok_and(|c| c.get_entry("core.worktree").is_ok());
        self.git.workdir().filter(|_| named || self.git.is_worktree() || configured())
    }

    pub(super) fn worktree(&self) -> Result<Worktree, Error> {
        let dir = self.workdir().ok_or(ErrorKind::Bare { what: "working tree" })?;
        Ok(Worktree::new(dir.to_owned()))
    }

    pub(super) fn index(&self) -> Result<Index<'_>, Error> {
        if self.workdir().is_none() {
            return Err(ErrorKind::Bare { what: "index" }.into());
        }
        Ok(Index::new(self, self.git.index().map_err(|e| git_error(&e))?))
    }

    /// The commit that a revision names.
    ///
    /// # Errors
    /// Unknown names, names of something that is no commit, commits that this clone lacks.
    pub fn commit(&self, rev: &str) -> Result<CommitInfo, Error> {
        let object = self.git.revparse_single(rev).map_err(|error| self.unknown(rev, &error))?;
        let commit = object.peel_to_commit().map_err(|error| self.unknown(rev, &error))?;
        info(&commit)
    }

    pub(super) fn commit_tree(&self, rev: &str) -> Result<(CommitInfo, CommitTree<'_>), Error> {
        let commit = self.commit(rev)?;
        let tree = self.git.find_commit(commit.id).and_then(|c| c.tree()).map_err(|error| {
            let tree = self.git.find_commit(commit.id).map_or(commit.id, |c| c.tree_id());
            self.missing(&error, "the root tree", rev, tree)
        })?;
        Ok((commit, CommitTree { repository: self, tree, rev: rev.to_owned() }))
    }

    /// First parent of a commit, `None` for a root commit.
    ///
    /// # Errors
    /// A parent that this clone lacks, as the last commit of a shallow clone has.
    pub fn first_parent(&self, commit: &CommitInfo) -> Result<Option<CommitInfo>, Error> {
        let this = self.git.find_commit(commit.id).map_err(|e| git_error(&e))?;
        let cut_off = || {
            Error::from(ErrorKind::NoBase {
                why: format!("the parent of {} is not in this shallow clone", commit.short()),
                help: "fetch it with `git fetch --deepen=1`, or check out with `fetch-depth: 2`"
                    .to_owned(),
            })
        };
        let Ok(parent) = this.parent_id(0) else {
            let cut = self.git.is_shallow() && written_parents(&this) > 0;
            return if cut { Err(cut_off()) } else { Ok(None) };
        };
        match self.git.find_commit(parent) {
            Ok(parent) => info(&parent).map(Some),
            Err(error) if error.code() == ErrorCode::NotFound && self.git.is_shallow() => {
                Err(cut_off())
            }
            Err(error) => Err(self.missing(&error, "the parent commit", &commit.short(), parent)),
        }
    }

    /// The latest committer date of a commit and its first `limit` first-parent ancestors, as far as this
    /// clone has them.
    pub fn latest_date(&self, commit: &CommitInfo, limit: usize) -> NaiveDate {
        let mut latest = commit.date;
        let mut current = self.git.find_commit(commit.id);
        for _ in 0..limit {
            current = current.and_then(|c| c.parent(0));
            let Ok(ancestor) = &current else { break };
            if let Some(date) = committed_on(ancestor) {
                latest = latest.max(date);
            }
        }
        latest
    }

    /// Number of parents of a commit, those that a shallow clone lacks included.
    pub fn parent_count(&self, commit: &CommitInfo) -> usize {
        self.git.find_commit(commit.id).map_or(0, |c| c.parent_count().max(written_parents(&c)))
    }

    /// The commit `HEAD` points to.
    ///
    /// # Errors
    /// An unborn branch.
    pub fn head(&self) -> Result<CommitInfo, Error> {
        match self.git.head() {
            Ok(_) => self.commit("HEAD"),
            Err(error) if error.code() == ErrorCode::UnbornBranch => {
                let branch = self
                    .git
                    .find_reference("HEAD")
                    .ok()
                    .and_then(|r| r.symbolic_target().ok().flatten().map(str::to_owned))
                    .unwrap_or_else(|| "HEAD".to_owned());
                let branch = branch.trim_start_matches("refs/heads/").to_owned();
                Err(ErrorKind::UnbornBranch { branch }.into())
            }
            Err(error) => Err(git_error(&error)),
        }
    }

    /// Short name of the checked out branch; `None` for a detached head.
    pub fn branch(&self) -> Option<String> {
        let head = self.git.head().ok()?;
        if !head.is_branch() {
            return None;
        }
        head.shorthand().ok().map(str::to_owned)
    }

    /// The best common ancestor, `None` if there is none in this clone.
    pub fn merge_base(&self, one: git2::Oid, two: git2::Oid) -> Option<git2::Oid> {
        self.git.merge_base(one, two).ok()
    }

    /// Whether a commit is, or descends from, the one that `id` names; `None` where this clone lacks it.
    pub fn contains(&self, tip: &CommitInfo, id: &str) -> Option<bool> {
        let commit = self.git.revparse_single(id).and_then(|o| o.peel_to_commit()).ok()?.id();
        Some(commit == tip.id || self.git.graph_descendant_of(tip.id, commit).ok()?)
    }

    /// Whether the working tree has changes below one of these directories, untracked files included; what cannot be
    /// told counts as none.
    pub fn changed_below(&self, directories: &[String]) -> bool {
        if directories.is_empty() {
            return false;
        }
        let mut options = git2::StatusOptions::new();
        options.include_untracked(true).recurse_untracked_dirs(false).disable_pathspec_match(true);
        for directory in directories {
            options.pathspec(directory);
        }
        self.git.statuses(Some(&mut options)).is_ok_and(|statuses| !statuses.is_empty())
    }

    /// Whether git tracks the file at a path of the working tree.
    pub fn tracks(&self, path: &Path) -> bool {
        let Some(root) = self.git.workdir().and_then(|dir| std::fs::canonicalize(dir).ok()) else {
            return false;
        };
        let Ok(path) = std::fs::canonicalize(path) else { return false };
        let Ok(inside) = path.strip_prefix(root) else { return false };
        self.git.index().is_ok_and(|index| index.get_path(inside, 0).is_some())
    }

    /// Whether the clone is shallow.
    pub fn is_shallow(&self) -> bool {
        self.git.is_shallow()
    }

    /// Messages of the commits in `base..head`, newest first, at most `limit`.
    ///
    /// Commits that this clone lacks end the list: attestations in them are not seen.
    pub fn messages(
        &self,
        base: Option<git2::Oid>,
        head: git2::Oid,
        limit: usize,
    ) -> Vec<CommitInfo> {
        let Ok(mut walk) = self.git.revwalk() else { return Vec::new() };
        if walk.push(head).is_err() {
            return Vec::new();
        }
        if let Some(base) = base {
            let _ = walk.hide(base);
        }
        walk.map_while(Result::ok)
            .take(limit)
            .filter_map(|id| self.git.find_commit(id).ok())
            .filter_map(|commit| info(&commit).ok())
            .collect()
    }

    /// First-parent commits of `base..head`, oldest first.
    ///
    /// # Errors
    /// Commits that this clone lacks.
    pub fn first_parents(
        &self,
        base: &CommitInfo,
        head: &CommitInfo,
    ) -> Result<Vec<CommitInfo>, Error> {
        let mut walk = self.git.revwalk().map_err(|e| git_error(&e))?;
        walk.simplify_first_parent().map_err(|e| git_error(&e))?;
        walk.push(head.id).map_err(|e| git_error(&e))?;
        walk.hide(base.id).map_err(|e| git_error(&e))?;
        let mut commits = Vec::new();
        for id in walk {
            let id = id.map_err(|e| git_error(&e))?;
            let commit = self
                .git
                .find_commit(id)
                .map_err(|error| self.missing(&error, "a commit of the range", "it", id))?;
            commits.push(info(&commit)?);
        }
        commits.reverse();
        Ok(commits)
    }

    fn unknown(&self, rev: &str, error: &git2::Error) -> Error {
        if rev == "HEAD" && self.git.head().is_err_and(|e| e.code() == ErrorCode::UnbornBranch) {
            return match self.head() {
                Err(error) => error,
                Ok(_) => git_error(error),
            };
        }
        let relative = rev.contains(['^', '~']);
        let help = match error.code() {
            ErrorCode::NotFound if relative && self.git.is_shallow() => {
                "this clone is shallow: run `git fetch --deepen=1` (or `--unshallow`)".to_owned()
            }
            ErrorCode::NotFound if relative => {
                format!("check the spelling with `git rev-parse {rev}`")
            }
            ErrorCode::NotFound if self.git.is_shallow() => format!(
                "this clone is shallow: fetch it with `git fetch origin {rev}` or `git fetch --unshallow`"
            ),
            ErrorCode::NotFound => {
                format!(
                    "fetch it with `git fetch origin {rev}`, or check the spelling with `git rev-parse {rev}`"
                )
            }
            ErrorCode::Ambiguous => "write more digits of the id".to_owned(),
            ErrorCode::Peel | ErrorCode::InvalidSpec => "name a commit, branch or tag".to_owned(),
            _ => format!("git says: {}", error.message()),
        };
        ErrorKind::UnknownRevision { rev: rev.to_owned(), help }.into()
    }

    pub(super) fn missing(
        &self,
        error: &git2::Error,
        what: &str,
        rev: &str,
        oid: git2::Oid,
    ) -> Error {
        if error.code() != ErrorCode::NotFound {
            return git_error(error);
        }
        let help = if self.git.is_shallow() {
            "this clone is shallow: run `git fetch --unshallow` (or `--deepen=N`)".to_owned()
        } else {
            format!(
                "this clone is partial or damaged: run `git fetch --refetch origin`, or `git fsck` to see what else is missing; git needs {oid}"
            )
        };
        ErrorKind::ObjectMissing { what: format!("{what} of {rev}"), oid: oid.to_string(), help }
            .into()
    }
}

/// Parents as the commit object lists them; a commit at a shallow clone's edge shows none.
pub(super) fn written_parents(commit: &git2::Commit<'_>) -> usize {
    let header = commit.raw_header_bytes();
    header.split(|b| *b == b'\n').filter(|line| line.starts_with(b"parent ")).count()
}

/// Whether git could hold a file at this path. The bindings panic on some of the others.
pub(super) fn is_tree_path(path: &str) -> bool {
    !path.contains('\0')
        && path.split('/').all(|part| !matches!(part, "" | "." | "..") && part != ".git")
}

/// Committer's local calendar date; `None` for one that no calendar has.
pub(super) fn committed_on(commit: &git2::Commit<'_>) -> Option<NaiveDate> {
    let time = commit.committer().when();
    FixedOffset::east_opt(time.offset_minutes().saturating_mul(60))
        .and_then(|offset| offset.timestamp_opt(time.seconds(), 0).single())
        .map(|at| at.date_naive())
}

fn info(commit: &git2::Commit<'_>) -> Result<CommitInfo, Error> {
    let date = committed_on(commit).ok_or_else(|| ErrorKind::Git {
        message: format!("commit {} has an impossible date", commit.id()),
        help: "name another revision".to_owned(),
    })?;
    let message = String::from_utf8_lossy(commit.message_bytes()).into_owned();
    Ok(CommitInfo {
        id: commit.id(),
        date,
        subject: message.lines().next().unwrap_or("").to_owned(),
        author: String::from_utf8_lossy(commit.author().name_bytes()).into_owned(),
        message,
    })
}

/// The files of a commit.
pub(super) struct CommitTree<'r> {
    pub(super) repository: &'r Repository,
    pub(super) tree: git2::Tree<'r>,
    pub(super) rev: String,
}

impl std::fmt::Debug for CommitTree<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommitTree").field("rev", &self.rev).finish()
    }
}

impl FileTree for CommitTree<'_> {
    fn find(&self, path: &str) -> Result<Option<git2::Oid>, Error> {
        if !is_tree_path(path) {
            return Ok(None);
        }
        match self.tree.get_path(Path::new(path)) {
            Ok(entry) => regular(path, entry.filemode(), entry.kind()).map(|()| Some(entry.id())),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            // A directory that is not in the clone gives an error without a code of its own.
            Err(error) => Err(self.missing_subtree(path).unwrap_or_else(|| git_error(&error))),
        }
    }

    fn read(&self, path: &str, blob: git2::Oid) -> Result<Vec<u8>, Error> {
        read_blob(self.repository, &self.rev, path, blob, MAX_FILE_BYTES)
    }
}

impl CommitTree<'_> {
    /// The first directory on the way to `path` whose tree object is not in the clone.
    pub(super) fn missing_subtree(&self, path: &str) -> Option<Error> {
        let parents: Vec<PathBuf> =
            Path::new(path).ancestors().skip(1).map(Path::to_path_buf).collect();
        for dir in parents.iter().rev().filter(|d| !d.as_os_str().is_empty()) {
            let entry = self.tree.get_path(dir).ok()?;
            if entry.kind() != Some(ObjectType::Tree) {
                return None;
            }
            if let Err(error) = self.repository.git.find_tree(entry.id()) {
                let what = format!("the directory {}", dir.display());
                return Some(self.repository.missing(&error, &what, &self.rev, entry.id()));
            }
        }
        None
    }
}

/// A blob from the object database.
pub(super) fn read_blob(
    repository: &Repository,
    rev: &str,
    path: &str,
    blob: git2::Oid,
    limit: u64,
) -> Result<Vec<u8>, Error> {
    // The header is cheap; a huge blob would be unpacked as a whole.
    if let Ok((size, _)) = repository.git.odb().and_then(|odb| odb.read_header(blob)) {
        check_size(path, size as u64, limit)?;
    }
    match repository.git.find_blob(blob) {
        Ok(found) => Ok(found.content().to_vec()),
        Err(error) => Err(repository.missing(&error, &format!("the file {path}"), rev, blob)),
    }
}

/// Larger sources are refused before they are read.
pub(super) const MAX_FILE_BYTES: u64 = 64 << 20;

pub(super) fn check_size(path: &str, bytes: u64, limit: u64) -> Result<(), Error> {
    if bytes > limit {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        return Err(ErrorKind::FileTooLarge { path: path.to_owned(), bytes, limit }.into());
    }
    Ok(())
}

/// Accepts regular files only: a link's content is a path, a submodule's files are elsewhere.
pub(super) fn regular(path: &str, mode: i32, kind: Option<ObjectType>) -> Result<(), Error> {
    let what = match (mode & 0o170_000, kind) {
        (0o120_000, _) => "a symbolic link",
        (_, Some(ObjectType::Tree)) => "a directory",
        (_, Some(ObjectType::Commit)) => "a submodule",
        _ => return Ok(()),
    };
    Err(ErrorKind::NotAFile { path: path.to_owned(), what }.into())
}

pub(super) fn no_repository(dir: &Path) -> Error {
    ErrorKind::NoRepository { dir: dir.to_owned() }.into()
}

pub(super) fn git_error(error: &git2::Error) -> Error {
    let help = match error.code() {
        ErrorCode::Owner => {
            "the repository belongs to another user: run `git config --global --add safe.directory DIR`"
        }
        _ => "check the repository with `git fsck`",
    };
    ErrorKind::Git { message: error.message().to_owned(), help: help.to_owned() }.into()
}
