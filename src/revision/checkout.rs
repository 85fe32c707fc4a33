//! Uncommitted files: the working tree and the index.

use std::path::PathBuf;

use super::git::{Repository, git_error, read_blob};
use crate::descriptor::FileTree;
use crate::error::{Error, ErrorKind};

/// The files of a working tree as they are on disk.
#[derive(Debug)]
pub(super) struct Worktree {
    dir: PathBuf,
}

impl Worktree {
    pub(super) fn new(dir: PathBuf) -> Self {
        Worktree { dir }
    }

    fn content(&self, path: &str) -> Result<Option<Vec<u8>>, Error> {
        let full = self.dir.join(path);
        let io = |error| Error::from(ErrorKind::Io { path: full.clone(), error });
        // A link could lead out of the repository.
        let kind = match std::fs::symlink_metadata(&full) {
            Ok(metadata) => metadata.file_type(),
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
                ) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(io(error)),
        };
        let what = match kind {
            _ if kind.is_file() => return std::fs::read(&full).map(Some).map_err(io),
            _ if kind.is_symlink() => "a symbolic link",
            _ if kind.is_dir() => "a directory",
            _ => "a special file",
        };
        Err(ErrorKind::NotAFile { path: path.to_owned(), what }.into())
    }
}

impl FileTree for Worktree {
    fn find(&self, path: &str) -> Result<Option<git2::Oid>, Error> {
        let Some(content) = self.content(path)? else { return Ok(None) };
        git2::Oid::hash_object(git2::ObjectType::Blob, &content)
            .map(Some)
            .map_err(|error| git_error(&error))
    }

    fn read(&self, path: &str, blob: git2::Oid) -> Result<Vec<u8>, Error> {
        let _ = blob;
        self.content(path)?.ok_or_else(|| {
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
    repository: &'r Repository,
    index: git2::Index,
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
}

impl FileTree for Index<'_> {
    fn find(&self, path: &str) -> Result<Option<git2::Oid>, Error> {
        let stage = |n| self.index.get_path(std::path::Path::new(path), n);
        if let Some(entry) = stage(0) {
            if entry.mode & 0o170_000 == 0o120_000 {
                return Err(
                    ErrorKind::NotAFile { path: path.to_owned(), what: "a symbolic link" }.into()
                );
            }
            return Ok(Some(entry.id));
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
        read_blob(self.repository, "the index", path, blob)
    }
}
