//! Reading a REV argument.

use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What a REV argument names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RevisionSpec {
    /// Anything `git rev-parse` understands.
    Git(String),
    /// The files of the working tree (`WORKTREE`).
    Worktree,
    /// The files as staged (`INDEX`).
    Index,
    /// No files at all (`EMPTY`): everything in the other revision counts as added.
    Empty,
    /// A serialized `FileDescriptorSet` (`*.binpb`, `*.fds`, `*.pb`, `*.desc`).
    DescriptorSet(PathBuf),
    /// A ledger (`*.lock`, which no branch or tag ends in): the contract when it was written.
    Ledger(PathBuf),
    /// The files of a directory, in a repository or not: written as a path (`.`, `./x`, `../x`, `/x`, `x/`), or where git
    /// knows no revision of that name.
    Directory(PathBuf),
    /// A released binary (`*.so`, `*.so.1`, `*.whl`) whose embedded descriptors are read.
    ReleasedBinary(PathBuf),
}

impl RevisionSpec {
    /// Whether it names something inside a repository.
    pub fn needs_repository(&self) -> bool {
        matches!(self, RevisionSpec::Git(_) | RevisionSpec::Worktree | RevisionSpec::Index)
    }

    /// The directory that a name stands for where git knows no such revision.
    pub(super) fn as_directory(&self) -> Option<&Path> {
        let RevisionSpec::Git(name) = self else { return None };
        Some(Path::new(name)).filter(|path| path.is_dir())
    }
}

impl FromStr for RevisionSpec {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "WORKTREE" => RevisionSpec::Worktree,
            "INDEX" => RevisionSpec::Index,
            "EMPTY" => RevisionSpec::Empty,
            _ => match Path::new(text).extension().and_then(|e| e.to_str()) {
                Some("binpb" | "fds" | "pb" | "desc") => RevisionSpec::DescriptorSet(text.into()),
                Some("lock") => RevisionSpec::Ledger(text.into()),
                _ if is_directory(text) => RevisionSpec::Directory(text.into()),
                Some("so" | "whl") => RevisionSpec::ReleasedBinary(text.into()),
                _ if is_versioned_library(text) => RevisionSpec::ReleasedBinary(text.into()),
                _ => RevisionSpec::Git(text.to_owned()),
            },
        })
    }
}

/// Whether a text is written as a path, and a directory is there.
fn is_directory(text: &str) -> bool {
    let path = matches!(text, "." | "..")
        || text.ends_with('/')
        || ["./", "../", "/"].iter().any(|start| text.starts_with(start));
    path && Path::new(text).is_dir()
}

/// `libx.so.1`, `libx.so.1.2`.
fn is_versioned_library(text: &str) -> bool {
    text.rsplit_once(".so.").is_some_and(|(_, version)| {
        version.split('.').all(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_extensions_decide() {
        let parse = |text: &str| text.parse::<RevisionSpec>().unwrap();
        assert_eq!(parse("WORKTREE"), RevisionSpec::Worktree);
        assert_eq!(parse("INDEX"), RevisionSpec::Index);
        assert_eq!(parse("EMPTY"), RevisionSpec::Empty);
        assert_eq!(parse("HEAD~3"), RevisionSpec::Git("HEAD~3".into()));
        assert_eq!(parse("v1.2"), RevisionSpec::Git("v1.2".into()));
        assert_eq!(parse("a/b.fds"), RevisionSpec::DescriptorSet("a/b.fds".into()));
        assert_eq!(parse("x.so.1.2"), RevisionSpec::ReleasedBinary("x.so.1.2".into()));
        assert_eq!(parse("x.so.y"), RevisionSpec::Git("x.so.y".into()));
        assert_eq!(parse("a/b.lock"), RevisionSpec::Ledger("a/b.lock".into()));
        assert_eq!(parse("."), RevisionSpec::Directory(".".into()));
        assert_eq!(parse("./src"), RevisionSpec::Directory("./src".into()));
        assert_eq!(parse("src/"), RevisionSpec::Directory("src/".into()));
        // A branch may have the name of a directory.
        assert_eq!(parse("src"), RevisionSpec::Git("src".into()));
        assert_eq!(parse("./absent"), RevisionSpec::Git("./absent".into()));
        assert_eq!(parse("x.whl"), RevisionSpec::ReleasedBinary("x.whl".into()));
    }
}
