//! Directory listings of a revision, and files that are larger than sources.
//!
//! Only what git could hold is listed: files, never empty directories. Links and submodules are named, not
//! followed.

use git2::ObjectType;

use super::checkout::{Index, Worktree};
use super::git::{CommitTree, check_size, git_error, is_tree_path, read_blob};
use super::{Revision, Tree};
use crate::descriptor::FileTree as _;
use crate::error::{Error, ErrorKind};

/// One thing below a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Path from the root of the tree; bytes that are not UTF-8 replaced.
    pub path: String,
    /// What it is.
    pub kind: EntryKind,
    /// Git's id of its content, where the revision knows it without reading it.
    pub blob: Option<git2::Oid>,
}

/// What an [`Entry`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A symbolic link, wherever it leads.
    Link,
    /// The root of another repository.
    Submodule,
    /// A device, a socket, or a name that is not UTF-8.
    Other,
}

impl EntryKind {
    /// What it is called in messages.
    pub fn name(self) -> &'static str {
        match self {
            EntryKind::File => "a file",
            EntryKind::Link => "a symbolic link",
            EntryKind::Submodule => "a submodule",
            EntryKind::Other => "a special file",
        }
    }
}

/// Caps of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListLimits {
    /// Files and directories.
    pub entries: usize,
    /// Directories in one another.
    pub depth: usize,
}

impl Default for ListLimits {
    /// 50,000 entries, 16 directories in one another.
    fn default() -> Self {
        ListLimits { entries: 50_000, depth: 16 }
    }
}

impl Revision<'_> {
    /// Everything below a directory (`""` for all there is), sorted by path; nothing where the directory is
    /// absent, and for descriptor sets.
    ///
    /// # Errors
    /// A directory that is a file or a link, listings over the limits, objects that this clone lacks.
    pub fn list(&self, dir: &str, limits: ListLimits) -> Result<Vec<Entry>, Error> {
        let mut listing = Listing { dir, limits, entries: Vec::new(), seen: 0 };
        if !dir.is_empty() && !is_tree_path(dir) {
            return Ok(Vec::new());
        }
        match &self.tree {
            Tree::Empty | Tree::Descriptors(_) | Tree::Ledger(_) => {}
            Tree::Git(tree) => tree.list(&mut listing)?,
            Tree::Worktree(tree) | Tree::Directory(tree) => tree.list(&mut listing)?,
            Tree::Index(tree) => tree.list(&mut listing)?,
        }
        listing.entries.sort();
        Ok(listing.entries)
    }

    /// Content of a file of at most `limit` bytes, `None` if there is none.
    ///
    /// # Errors
    /// Larger files, missing objects, input errors, and what is no regular file.
    pub fn read_up_to(&self, path: &str, limit: u64) -> Result<Option<Vec<u8>>, Error> {
        match &self.tree {
            Tree::Empty | Tree::Descriptors(_) | Tree::Ledger(_) => Ok(None),
            Tree::Git(tree) => match tree.find(path)? {
                Some(blob) => read_blob(tree.repository, &tree.rev, path, blob, limit).map(Some),
                None => Ok(None),
            },
            Tree::Worktree(tree) | Tree::Directory(tree) => tree.content(path, limit),
            Tree::Index(tree) => match tree.find(path)? {
                Some(blob) => read_blob(tree.repository, "the index", path, blob, limit).map(Some),
                None => Ok(None),
            },
        }
    }

    /// Bytes of a file, without reading it where the revision can tell.
    ///
    /// # Errors
    /// Missing objects, and what is no regular file.
    pub fn file_size(&self, path: &str) -> Result<Option<u64>, Error> {
        let blob = |repository: &super::Repository, rev: &str, blob: git2::Oid| {
            let header = repository.git.odb().and_then(|odb| odb.read_header(blob));
            header
                .map(|(size, _)| Some(size as u64))
                .map_err(|error| repository.missing(&error, &format!("the file {path}"), rev, blob))
        };
        match &self.tree {
            Tree::Empty | Tree::Descriptors(_) | Tree::Ledger(_) => Ok(None),
            Tree::Git(tree) => match tree.find(path)? {
                Some(id) => blob(tree.repository, &tree.rev, id),
                None => Ok(None),
            },
            Tree::Worktree(tree) | Tree::Directory(tree) => tree.size(path),
            Tree::Index(tree) => match tree.find(path)? {
                Some(id) => blob(tree.repository, "the index", id),
                None => Ok(None),
            },
        }
    }
}

/// A listing under way.
struct Listing<'a> {
    dir: &'a str,
    limits: ListLimits,
    entries: Vec<Entry>,
    seen: usize,
}

impl Listing<'_> {
    /// Counts a file or a directory.
    fn count(&mut self) -> Result<(), Error> {
        self.seen += 1;
        if self.seen > self.limits.entries {
            return Err(self.over(self.limits.entries, "files and directories"));
        }
        Ok(())
    }

    fn add(&mut self, path: String, kind: EntryKind, blob: Option<git2::Oid>) -> Result<(), Error> {
        self.count()?;
        self.entries.push(Entry { path, kind, blob });
        Ok(())
    }

    /// The depth of a directory inside one of depth `depth`.
    fn deeper(&mut self, depth: usize) -> Result<usize, Error> {
        self.count()?;
        if depth >= self.limits.depth {
            return Err(self.over(self.limits.depth, "directories in one another"));
        }
        Ok(depth + 1)
    }

    fn over(&self, limit: usize, what: &'static str) -> Error {
        ErrorKind::ListingTooLarge { dir: self.dir.to_owned(), limit, what }.into()
    }

    fn not_a_directory(&self, what: &'static str) -> Error {
        ErrorKind::NotADirectory { path: self.dir.to_owned(), what }.into()
    }
}

impl CommitTree<'_> {
    fn list(&self, listing: &mut Listing<'_>) -> Result<(), Error> {
        let start = match self.tree.get_path(std::path::Path::new(listing.dir)) {
            _ if listing.dir.is_empty() => return self.list_below(listing, self.tree.id()),
            Ok(entry) => entry,
            Err(error) if error.code() == git2::ErrorCode::NotFound => return Ok(()),
            Err(error) => {
                return Err(self.missing_subtree(listing.dir).unwrap_or_else(|| git_error(&error)));
            }
        };
        if start.kind() != Some(ObjectType::Tree) {
            return Err(listing.not_a_directory(kind_of(start.kind(), start.filemode()).name()));
        }
        self.list_below(listing, start.id())
    }

    fn list_below(&self, listing: &mut Listing<'_>, start: git2::Oid) -> Result<(), Error> {
        let mut open = vec![(listing.dir.to_owned(), start, 0)];
        while let Some((dir, id, depth)) = open.pop() {
            let tree = self.repository.git.find_tree(id).map_err(|error| {
                self.repository.missing(&error, &format!("the directory {dir}"), &self.rev, id)
            })?;
            for entry in &tree {
                let path = join(&dir, &String::from_utf8_lossy(entry.name_bytes()));
                let utf8 = std::str::from_utf8(entry.name_bytes()).is_ok();
                if entry.kind() == Some(ObjectType::Tree) && utf8 {
                    open.push((path, entry.id(), listing.deeper(depth)?));
                } else if utf8 {
                    listing.add(path, kind_of(entry.kind(), entry.filemode()), Some(entry.id()))?;
                } else {
                    listing.add(path, EntryKind::Other, None)?;
                }
            }
        }
        Ok(())
    }
}

/// A path below a directory, `""` being the root of the tree.
pub(crate) fn join(dir: &str, name: &str) -> String {
    if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") }
}

fn kind_of(kind: Option<ObjectType>, mode: i32) -> EntryKind {
    match (kind, mode & 0o170_000) {
        (_, 0o120_000) => EntryKind::Link,
        (Some(ObjectType::Commit), _) | (_, 0o160_000) => EntryKind::Submodule,
        (Some(ObjectType::Blob), _) => EntryKind::File,
        _ => EntryKind::Other,
    }
}

impl Index<'_> {
    fn list(&self, listing: &mut Listing<'_>) -> Result<(), Error> {
        let prefix = join(listing.dir, "");
        let found = if prefix.is_empty() { Ok(0) } else { self.index.find_prefix(&prefix) };
        let Ok(first) = found else {
            // A file of that name, or nothing at all.
            return match self.find(listing.dir)? {
                Some(_) => Err(listing.not_a_directory("a file")),
                None => Ok(()),
            };
        };
        let mut last = String::new();
        for entry in (first..).map_while(|at| self.index.get(at)) {
            if !entry.path.starts_with(prefix.as_bytes()) {
                break;
            }
            let path = String::from_utf8_lossy(&entry.path).into_owned();
            if path == last {
                continue; // another stage of a conflict
            }
            let depth = path.matches('/').count() - prefix.matches('/').count();
            if depth > listing.limits.depth {
                return Err(listing.over(listing.limits.depth, "directories in one another"));
            }
            let kind = match entry.mode & 0o170_000 {
                0o120_000 => EntryKind::Link,
                0o160_000 => EntryKind::Submodule,
                _ if std::str::from_utf8(&entry.path).is_err() => EntryKind::Other,
                _ => EntryKind::File,
            };
            listing.add(path.clone(), kind, Some(entry.id))?;
            last = path;
        }
        Ok(())
    }
}

impl Worktree {
    fn list(&self, listing: &mut Listing<'_>) -> Result<(), Error> {
        let mut full = self.dir.clone();
        for part in listing.dir.split_terminator('/') {
            full.push(part);
            match std::fs::symlink_metadata(&full) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(metadata) => {
                    return Err(listing.not_a_directory(on_disk(metadata.file_type()).name()));
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(ErrorKind::Io { path: full, error }.into()),
            }
        }
        self.list_below(listing, full)
    }

    fn list_below(
        &self,
        listing: &mut Listing<'_>,
        start: std::path::PathBuf,
    ) -> Result<(), Error> {
        let mut open = vec![(listing.dir.to_owned(), start, 0)];
        while let Some((dir, full, depth)) = open.pop() {
            let io = |error| Error::from(ErrorKind::Io { path: full.clone(), error });
            for entry in std::fs::read_dir(&full).map_err(io)? {
                let entry = entry.map_err(io)?;
                let name = entry.file_name();
                let path = join(&dir, &name.to_string_lossy());
                let kind = entry.file_type().map_err(io)?;
                if name.to_str().is_none() {
                    listing.add(path, EntryKind::Other, None)?;
                } else if !kind.is_dir() {
                    listing.add(path, on_disk(kind), None)?;
                } else if entry.path().join(".git").symlink_metadata().is_ok() {
                    listing.add(path, EntryKind::Submodule, None)?;
                } else if name != ".git" {
                    open.push((path, entry.path(), listing.deeper(depth)?));
                }
            }
        }
        Ok(())
    }

    fn size(&self, path: &str) -> Result<Option<u64>, Error> {
        Ok(self.regular_file(path)?.map(|(_, bytes)| bytes))
    }
}

fn on_disk(kind: std::fs::FileType) -> EntryKind {
    match kind {
        _ if kind.is_file() => EntryKind::File,
        _ if kind.is_symlink() => EntryKind::Link,
        _ => EntryKind::Other,
    }
}

/// Content of a file on disk that was found to have `bytes` bytes; it may have grown since.
pub(super) fn read_at_most(
    full: &std::path::Path,
    path: &str,
    bytes: u64,
    limit: u64,
) -> Result<Vec<u8>, Error> {
    use std::io::Read as _;
    check_size(path, bytes, limit)?;
    let io = |error| Error::from(ErrorKind::Io { path: full.to_owned(), error });
    let mut content = Vec::new();
    std::fs::File::open(full).map_err(io)?.take(limit + 1).read_to_end(&mut content).map_err(io)?;
    check_size(path, content.len() as u64, limit)?;
    Ok(content)
}
