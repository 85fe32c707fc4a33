//! Uncommitted files: the working tree and the index.

use std::path::PathBuf;

use super::git::{MAX_FILE_BYTES, Repository, git_error, is_tree_path, read_blob};
use super::listing::read_at_most;
use crate::descriptor::FileTree;
use crate::error::{Error, ErrorKind};

/// The files of a working tree as they are on disk.
#[derive(Debug)]
pub(super) struct Worktree {
    pub(super) dir: PathBuf,
}

impl Worktree {
    pub(super) fn new(dir: PathBuf) -> Self {
        Worktree { dir }
    }

    /// Content of a file of at most `limit` bytes.
    pub(super) fn content(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Error> {
        let Some((full, bytes)) = self.regular_file(path)? else { return Ok(None) };
        read_at_most(&full, path, bytes, limit).map(Some)
    }

    /// Where a file is on disk, and its bytes.
    pub(super) fn regular_file(&self, path: &str) -> Result<Option<(PathBuf, u64)>, Error> {
        if !is_tree_path(path) {
            return Ok(None);
        }
        // As in a commit, links to directories lead nowhere and submodules are not looked into.
        let mut dir = self.dir.clone();
        for part in path.rsplit_once('/').map_or("", |(dirs, _)| dirs).split_terminator('/') {
            dir.push(part);
            let is_dir = std::fs::symlink_metadata(&dir).is_ok_and(|m| m.is_dir());
            if !is_dir || dir.join(".git").symlink_metadata().is_ok() {
                return Ok(None);
            }
        }
        let full = self.dir.join(path);
        // A link could lead out of the repository.
        let metadata = match std::fs::symlink_metadata(&full) {
            Ok(metadata) => metadata,
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
                ) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(ErrorKind::Io { path: full, error }.into()),
        };
        let kind = metadata.file_type();
        let what = match kind {
            _ if kind.is_file() => return Ok(Some((full, metadata.len()))),
            _ if kind.is_symlink() => "a symbolic link",
            _ if kind.is_dir() => "a directory",
            _ => "a special file",
        };
        Err(ErrorKind::NotAFile { path: path.to_owned(), what }.into())
    }
}

impl FileTree for Worktree {
    fn find(&self, path: &str) -> Result<Option<git2::Oid>, Error> {
        let Some(content) = self.content(path, MAX_FILE_BYTES)? else { return Ok(None) };
        git2::Oid::hash_object(git2::ObjectType::Blob, &content)
            .map(Some)
            .map_err(|error| git_error(&error))
    }

    fn read(&self, path: &str, blob: git2::Oid) -> Result<Vec<u8>, Error> {
        let _ = blob;
        self.content(path, MAX_FILE_BYTES)?.ok_or_else(|| {
            ErrorKind::Io {
                path: self.dir.join(path),
                error: std::io::Error::from(std::io::ErrorKind::NotFound),
            }
            .into()
        })
    }
}

/// The files as staged.
pub(super) struct Index<'r> {
    pub(super) repository: &'r Repository,
    pub(super) index: git2::Index,
}

impl std::fmt::Debug for Index<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").finish_non_exhaustive()
    }
}

impl<'r> Index<'r> {
    pub(super) fn new(repository: &'r Repository, index: git2::Index) -> Self {
        Index { repository, index }
    }

    /// Whether there are files below a path.
    fn has_below(&self, path: &str) -> bool {
        let prefix = format!("{path}/");
        let first = self.index.find_prefix(&prefix).ok().and_then(|at| self.index.get(at));
        first.is_some_and(|entry| entry.path.starts_with(prefix.as_bytes()))
    }
}

impl FileTree for Index<'_> {
    fn find(&self, path: &str) -> Result<Option<git2::Oid>, Error> {
        if !is_tree_path(path) {
            return Ok(None);
        }
        let stage = |n| self.index.get_path(std::path::Path::new(path), n);
        if let Some(entry) = stage(0) {
            let what = match entry.mode & 0o170_000 {
                0o120_000 => "a symbolic link",
                0o160_000 => "a submodule",
                _ => return Ok(Some(entry.id)),
            };
            return Err(ErrorKind::NotAFile { path: path.to_owned(), what }.into());
        }
        if self.has_below(path) {
            let what = "a directory";
            return Err(ErrorKind::NotAFile { path: path.to_owned(), what }.into());
        }
        if (1..=3).any(|n| stage(n).is_some()) {
            return Err(ErrorKind::NotAFile {
                path: path.to_owned(),
                what: "an unresolved conflict",
            }
            .into());
        }
        Ok(None)
    }

    fn read(&self, path: &str, blob: git2::Oid) -> Result<Vec<u8>, Error> {
        read_blob(self.repository, "the index", path, blob, MAX_FILE_BYTES)
    }
}
