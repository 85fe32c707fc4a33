//! Which files a command reads and writes: none of the latter may be one of the former, or another of the latter.

use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind};
use crate::revision::{Repository, RevisionSpec};

/// Links that are followed to a file that is not there yet.
const MAX_LINKS: usize = 40;

/// The files that a command names.
#[derive(Debug, Default)]
pub(super) struct Files {
    reads: Vec<PathBuf>,
    writes: Vec<PathBuf>,
    forced: bool,
}

impl Files {
    /// Files that are read; `-` is standard input.
    pub(super) fn reads<'p>(mut self, paths: impl IntoIterator<Item = &'p PathBuf>) -> Self {
        let paths = paths.into_iter().filter(|path| *path != Path::new("-"));
        self.reads.extend(paths.cloned());
        self
    }

    /// Files of revisions that are files.
    pub(super) fn revisions<'p>(self, specs: impl IntoIterator<Item = &'p RevisionSpec>) -> Self {
        let files = specs.into_iter().filter_map(|spec| match spec {
            RevisionSpec::DescriptorSet(path)
            | RevisionSpec::ReleasedBinary(path)
            | RevisionSpec::Ledger(path) => Some(path),
            _ => None,
        });
        self.reads(files)
    }

    /// Files that are written.
    pub(super) fn writes<'p>(mut self, paths: impl IntoIterator<Item = &'p PathBuf>) -> Self {
        self.writes.extend(paths.into_iter().cloned());
        self
    }

    #[cfg(feature = "runtime")]
    /// Whether files that git keeps may be replaced.
    pub(super) fn forced(self, forced: bool) -> Self {
        Files { forced, ..self }
    }

    /// Looks for files that would be overwritten, under whichever names.
    ///
    /// # Errors
    /// The first of them.
    pub(super) fn check(&self) -> Result<(), Error> {
        let read: Vec<(&PathBuf, Place)> =
            self.reads.iter().filter_map(|path| Some((path, Place::of(path)?))).collect();
        let mut written: Vec<(&PathBuf, Place)> = Vec::new();
        for path in &self.writes {
            if !self.forced && is_source(path) {
                return Err(ErrorKind::Usage {
                    message: format!(
                        "{} cannot be written: it is what the gate judges",
                        path.display()
                    ),
                    help: "name another file for the output, or remove that one first".to_owned(),
                }
                .into());
            }
            let Some(place) = Place::of(path) else { continue };
            let same = |(_, known): &&(&PathBuf, Place)| *known == place;
            let (other, what) = match (read.iter().find(same), written.iter().find(same)) {
                (Some((other, _)), _) => (other, "is read"),
                (None, Some((other, _))) => (other, "is written as well"),
                (None, None) => {
                    written.push((path, place));
                    continue;
                }
            };
            let (path, other) = (path.display().to_string(), other.display().to_string());
            let other = if other == path { "it".to_owned() } else { format!("as {other} it") };
            return Err(ErrorKind::Usage {
                message: format!("{path} cannot be written: {other} {what}"),
                help: "name another file for the output".to_owned(),
            }
            .into());
        }
        Ok(())
    }
}

/// Whether a file is one that changes are judged by and that git keeps: protos, policies, goldens.
fn is_source(path: &Path) -> bool {
    const KINDS: [&str; 5] = ["proto", "toml", "pbtxt", "bin", "npz"];
    let kind = path.extension().and_then(|kind| kind.to_str());
    if !kind.is_some_and(|kind| KINDS.contains(&kind)) || !path.is_file() {
        return false;
    }
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let repository = Repository::discover(dir.unwrap_or(Path::new(".")));
    repository.is_ok_and(|repository| repository.tracks(path))
}

/// Where a file is, whatever its name.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// Device and inode of one that exists.
    #[cfg(unix)]
    Inode(u64, u64),
    /// Where one is, or would be made.
    Path(PathBuf),
}

impl Place {
    /// `None` for devices and pipes, which nothing overwrites.
    fn of(path: &Path) -> Option<Place> {
        match std::fs::metadata(path) {
            Ok(metadata) if !metadata.is_file() => None,
            #[cfg(unix)]
            Ok(metadata) => {
                use std::os::unix::fs::MetadataExt as _;
                Some(Place::Inode(metadata.dev(), metadata.ino()))
            }
            #[cfg(not(unix))]
            Ok(_) => std::fs::canonicalize(path).ok().map(Place::Path),
            Err(_) => Some(Place::Path(target(path))),
        }
    }
}

/// Where writing to a name ends, links followed, whether or not there is a file.
pub(super) fn target(path: &Path) -> PathBuf {
    if let Ok(path) = std::fs::canonicalize(path) {
        return path;
    }
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(next) = std::fs::read_link(&path) else { break };
        path = parent(&path).join(next);
    }
    match (std::fs::canonicalize(parent(&path)), path.file_name()) {
        (Ok(parent), Some(name)) => parent.join(name),
        _ => path,
    }
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn files_are_the_same_under_any_name() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("a"), "x").unwrap();
        std::fs::hard_link(at("a"), at("hard")).unwrap();
        symlink("a", at("soft")).unwrap();
        symlink("new", at("dangling")).unwrap();
        std::fs::create_dir(at("sub")).unwrap();
        let check = |reads: &[&str], writes: &[&str]| {
            let paths = |names: &[&str]| names.iter().map(|name| at(name)).collect::<Vec<_>>();
            Files::default().reads(&paths(reads)).writes(&paths(writes)).check().is_ok()
        };
        for same in ["a", "hard", "soft", "./a", "sub/../a"] {
            assert!(!check(&["a"], &[same]), "{same}");
        }
        assert!(!check(&[], &["new", "dangling"]));
        assert!(!check(&[], &["new", "sub/../new"]));
        assert!(check(&["a", "hard"], &["new", "b"]));
        let null = PathBuf::from("/dev/null");
        assert!(Files::default().reads([&null]).writes([&null, &null]).check().is_ok());
    }
}
