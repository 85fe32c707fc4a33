//! Listing and reading goldens at a revision.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::NaiveDate;
use prost::bytes::Bytes;

use super::boundary::version_of;
use super::manifest::{FILE_NAME, Manifest};
use super::{Emission, Golden, Layout};
use crate::error::{Error, ErrorKind};
use crate::revision::{Entry, EntryKind, FirstParents, FirstSeen, ListLimits, Revision, join};
use crate::triage::policy::GoldenPaths;

/// More bytes of manifests, all together, are refused: a real one has half a kilobyte.
const MAX_MANIFESTS: u64 = 8 << 20;
/// Larger artifacts and arrays are refused.
const MAX_FILE: u64 = 1 << 30;
/// How a Git LFS pointer begins, and the most bytes that one has.
const LFS: &[u8] = b"version https://git-lfs.github.com/spec/";
const LFS_MOST: usize = 1024;

/// The goldens of a revision.
#[derive(Debug)]
pub struct Store<'a> {
    revision: &'a Revision<'a>,
    goldens: Vec<Golden>,
    problems: Vec<Error>,
    skipped: Vec<Skipped>,
    /// Git's ids of files' contents, by path, where the revision knows them.
    blobs: HashMap<String, git2::Oid>,
}

/// Something in a store that is no golden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its path.
    pub path: String,
    /// Why it does not count.
    pub why: &'static str,
}

impl<'a> Store<'a> {
    /// Lists the goldens that a revision has in the places of the policy. Manifests are read, artifacts are not.
    ///
    /// What is wrong with one golden is its [`Golden::problem`], what is wrong with a store one of
    /// [`Store::problems`]; both mean that something cannot be judged.
    ///
    /// # Errors
    /// Directories that cannot be listed.
    pub fn open(revision: &'a Revision<'a>, paths: &GoldenPaths) -> Result<Self, Error> {
        Store::list(revision, paths, |_, error| Err(error))
    }

    /// The same for whatever can be listed: a directory that cannot is one of [`Store::problems`], and takes no
    /// other one away.
    pub fn open_rest(revision: &'a Revision<'a>, paths: &GoldenPaths) -> Self {
        let keep = |store: &mut Self, error| {
            store.problems.push(error);
            Ok(())
        };
        // What is kept is no error.
        Store::list(revision, paths, keep).unwrap_or_else(|_| Store::empty(revision))
    }

    fn list(
        revision: &'a Revision<'a>,
        paths: &GoldenPaths,
        unlisted: impl Fn(&mut Self, Error) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let mut store = Store::empty(revision);
        let places = |dirs: &[String]| -> Vec<String> {
            let all = dirs.iter().flat_map(|dir| paths.below_prefixes(dir));
            all.scan(BTreeSet::new(), |seen, place| Some((seen.insert(place.clone()), place)))
                .filter_map(|(new, place)| new.then_some(place))
                .collect()
        };
        for dir in places(&paths.paths) {
            store.add_own(&dir).or_else(|error| unlisted(&mut store, error))?;
        }
        for dir in places(&paths.upstream) {
            store.add_upstream(&dir).or_else(|error| unlisted(&mut store, error))?;
        }
        store.tell_apart();
        store.goldens.sort_by(|one, two| one.id.cmp(&two.id));
        Ok(store)
    }

    /// Lists the goldens of a directory that is a store itself, in whichever layout it has.
    ///
    /// # Errors
    /// Directories that cannot be listed.
    pub fn open_root(revision: &'a Revision<'a>) -> Result<Self, Error> {
        let entries = revision.list("", ListLimits::default())?;
        let upstream = |entry: &Entry| {
            let parts = below(&entry.path, "");
            matches!(parts[..], [_, dir, _] if version_of(dir).is_some())
                && entry.path.ends_with(".pbtxt")
        };
        let mut store = Store::empty(revision);
        if entries.iter().any(upstream) {
            store.add_upstream("")?;
        } else {
            store.add_own("")?;
        }
        store.goldens.sort_by(|one, two| one.id.cmp(&two.id));
        Ok(store)
    }

    fn empty(revision: &'a Revision<'a>) -> Self {
        Store {
            revision,
            goldens: Vec::new(),
            problems: Vec::new(),
            skipped: Vec::new(),
            blobs: HashMap::new(),
        }
    }

    /// All goldens, by id.
    pub fn goldens(&self) -> &[Golden] {
        &self.goldens
    }

    /// The golden of an id.
    pub fn find(&self, id: &str) -> Option<&Golden> {
        self.goldens
            .binary_search_by(|golden| (*golden.id).cmp(id))
            .ok()
            .map(|at| &self.goldens[at])
    }

    /// What is wrong with the stores themselves: targets without a golden, links.
    pub fn problems(&self) -> &[Error] {
        &self.problems
    }

    /// What was found in the stores and is no golden.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// A golden's artifact.
    ///
    /// # Errors
    /// Missing and too large files, links, Git LFS pointers, objects that this clone lacks.
    pub fn read(&self, golden: &Golden) -> Result<Bytes, Error> {
        self.read_path(&golden.artifact)
    }

    /// A file beside a golden's manifest, such as its inputs.
    ///
    /// # Errors
    /// Those of [`Store::read`].
    pub fn read_beside(&self, golden: &Golden, name: &str) -> Result<Bytes, Error> {
        self.read_path(&format!("{}/{name}", golden.dir))
    }

    fn read_path(&self, path: &str) -> Result<Bytes, Error> {
        let content = self.revision.read_up_to(path, MAX_FILE)?.ok_or_else(|| missing(path))?;
        if is_pointer(&content) {
            return Err(ErrorKind::LfsPointer { path: path.to_owned() }.into());
        }
        Ok(content.into())
    }

    /// Bytes of a golden's artifact, without reading it.
    ///
    /// # Errors
    /// Those of [`Revision::file_size`], and missing files.
    pub fn size(&self, golden: &Golden) -> Result<u64, Error> {
        self.revision.file_size(&golden.artifact)?.ok_or_else(|| missing(&golden.artifact))
    }

    /// Bytes of all files of a golden, its manifest left out, without reading them.
    ///
    /// # Errors
    /// Those of [`Store::size`].
    pub fn size_of_all(&self, golden: &Golden) -> Result<u64, Error> {
        let mut bytes = self.size(golden)?;
        for name in golden.manifest.iter().flat_map(Manifest::files).skip(1) {
            let path = format!("{}/{name}", golden.dir);
            let size = self.revision.file_size(&path)?.ok_or_else(|| missing(&path))?;
            bytes = bytes.saturating_add(size);
        }
        Ok(bytes)
    }

    /// Dates the goldens of XLA's layout by the commit that added them. A file that the tip of `history` does
    /// not have lands `today`.
    pub fn date(&mut self, history: &FirstParents<'_>, today: NaiveDate) {
        for golden in &mut self.goldens {
            if !matches!(golden.layout, Layout::Upstream { .. }) {
                continue;
            }
            golden.emission = match history.first_seen(&golden.artifact) {
                // Nothing has landed after today, whatever its commit says.
                FirstSeen::Known(date) => Emission::On(date.min(today)),
                FirstSeen::OlderThan(date) => Emission::Before(date),
                FirstSeen::Absent => Emission::On(today),
                FirstSeen::Unknown => Emission::Unknown,
            };
        }
    }

    /// Everything below a directory; what it holds is remembered by its ids.
    fn entries(&mut self, dir: &str) -> Result<Vec<Entry>, Error> {
        let entries = self.revision.list(dir, ListLimits::default())?;
        let blobs = entries.iter().filter_map(|entry| Some((entry.path.clone(), entry.blob?)));
        self.blobs.extend(blobs);
        Ok(entries)
    }

    /// Whether a file of this store and one of another have the same content. Files that cannot be read have not, and a
    /// Git LFS pointer may stand for anything.
    pub fn same_file(&self, path: &str, other: &Store<'_>, other_path: &str) -> bool {
        let (one, two) = (self.blobs.get(path), other.blobs.get(other_path));
        if let (Some(one), Some(two)) = (one, two) {
            return one == two;
        }
        let read =
            |store: &Store<'_>, path| store.revision.read_up_to(path, MAX_FILE).ok().flatten();
        let (Some(one), Some(two)) = (read(self, path), read(other, other_path)) else {
            return false;
        };
        one == two || is_pointer(&one) != is_pointer(&two)
    }

    /// `<dir>/<set>/<program>/golden.toml`.
    fn add_own(&mut self, dir: &str) -> Result<(), Error> {
        let mut programs: BTreeMap<(String, String), Vec<Entry>> = BTreeMap::new();
        for entry in self.entries(dir)? {
            let parts = below(&entry.path, dir);
            match (&parts[..], entry.kind) {
                ([.., _], EntryKind::Link | EntryKind::Submodule | EntryKind::Other) => {
                    self.refuse(&entry);
                }
                ([set, program, _], EntryKind::File) => {
                    let key = ((*set).to_owned(), (*program).to_owned());
                    programs.entry(key).or_default().push(entry.clone());
                }
                ([_] | [_, _], EntryKind::File) if parts.last() != Some(&FILE_NAME) => {} // README.md
                _ => self.skip(entry.path, "not in <set>/<program>/"),
            }
        }
        let mut budget = MAX_MANIFESTS;
        for ((set, program), files) in programs {
            let dir = join(dir, &format!("{set}/{program}"));
            let manifest = format!("{dir}/{FILE_NAME}");
            if !files.iter().any(|entry| entry.path == manifest) {
                self.problems.push(no_manifest(&dir));
                continue;
            }
            let id = format!("{set}/{program}");
            let layout = Layout::Store { set, program };
            let golden = match self.manifest(&manifest, &mut budget) {
                Ok(read) => {
                    let absent = read.files().into_iter().map(|name| format!("{dir}/{name}"));
                    let absent =
                        absent.into_iter().find(|path| !files.iter().any(|f| f.path == *path));
                    Golden {
                        id,
                        layout,
                        artifact: format!("{dir}/{}", read.artifact),
                        dir,
                        emission: Emission::On(read.emitted_at),
                        manifest: Some(read),
                        problem: absent.map(|path| missing(&path)),
                    }
                }
                Err(error) => Golden {
                    id,
                    layout,
                    dir,
                    artifact: manifest,
                    manifest: None,
                    emission: Emission::Unknown,
                    problem: Some(error),
                },
            };
            self.goldens.push(golden);
        }
        Ok(())
    }

    fn manifest(&self, path: &str, budget: &mut u64) -> Result<Manifest, Error> {
        let bytes = self.revision.read_up_to(path, *budget)?.ok_or_else(|| missing(path))?;
        *budget = budget.saturating_sub(bytes.len() as u64);
        let text = String::from_utf8(bytes).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
            ErrorKind::NotUtf8 { path: path.to_owned(), line }
        })?;
        Manifest::parse(path, &text)
    }

    /// `<root>/<target>/v<N>/<test>.pbtxt`.
    fn add_upstream(&mut self, root: &str) -> Result<(), Error> {
        let mut targets: BTreeMap<String, usize> = BTreeMap::new();
        for entry in self.entries(root)? {
            let parts = below(&entry.path, root);
            let [target, dir, rest @ ..] = &parts[..] else {
                self.skip(entry.path, "not in <target>/v<N>/");
                continue;
            };
            let count = targets.entry((*target).to_owned()).or_default();
            let test = match rest {
                [file] => file.strip_suffix(".pbtxt").filter(|test| !test.is_empty()),
                _ => None,
            };
            match (version_of(dir), test) {
                (None, _) => self.skip(entry.path, "not in a version directory v<N>"),
                (Some(_), None) => self.skip(entry.path, "no <test>.pbtxt directly in v<N>/"),
                _ if entry.kind != EntryKind::File => self.refuse(&entry),
                (Some(version), Some(_)) if *dir != format!("v{version}") => {
                    self.problems.push(odd_version(&entry.path, dir, version));
                }
                (Some(version), Some(test)) => {
                    *count += 1;
                    self.goldens.push(Golden {
                        id: format!("{target}/{dir}/{test}"),
                        layout: Layout::Upstream {
                            root: root.to_owned(),
                            target: (*target).to_owned(),
                            version,
                            test: test.to_owned(),
                        },
                        dir: join(root, &format!("{target}/{dir}")),
                        artifact: entry.path.clone(),
                        manifest: None,
                        emission: Emission::Unknown,
                        problem: None,
                    });
                }
            }
        }
        for (target, _) in targets.iter().filter(|(_, count)| **count == 0) {
            self.problems.push(no_golden(&join(root, target)));
        }
        Ok(())
    }

    /// The same id in two places: the one that the policy names first keeps it.
    fn tell_apart(&mut self) {
        let mut seen = BTreeSet::new();
        for golden in &mut self.goldens {
            if !seen.insert(golden.id.clone()) {
                golden.id = format!("{}@{}", golden.id, golden.dir);
            }
        }
    }

    fn skip(&mut self, path: String, why: &'static str) {
        self.skipped.push(Skipped { path, why });
    }

    fn refuse(&mut self, entry: &Entry) {
        let path = entry.path.clone();
        self.problems.push(ErrorKind::NotAFile { path, what: entry.kind.name() }.into());
    }
}

/// Whether a file is what Git LFS keeps in the place of a larger one.
fn is_pointer(content: &[u8]) -> bool {
    content.len() <= LFS_MOST && content.starts_with(LFS)
}

/// The parts of a path below a directory.
fn below<'p>(path: &'p str, dir: &str) -> Vec<&'p str> {
    path.strip_prefix(dir).unwrap_or(path).trim_start_matches('/').split('/').collect()
}

fn missing(path: &str) -> Error {
    ErrorKind::Golden {
        path: path.to_owned(),
        what: "there is no such file".to_owned(),
        help: "commit the file, or correct its name in golden.toml".to_owned(),
    }
    .into()
}

fn no_manifest(dir: &str) -> Error {
    ErrorKind::Golden {
        path: dir.to_owned(),
        what: format!("no {FILE_NAME}"),
        help: "record it with `aotgate golden record`, or move the files out of the store"
            .to_owned(),
    }
    .into()
}

fn no_golden(target: &str) -> Error {
    ErrorKind::Golden {
        path: target.to_owned(),
        what: "a target without any golden".to_owned(),
        help: "add v1/<test>.pbtxt, or delete the directory".to_owned(),
    }
    .into()
}

fn odd_version(path: &str, dir: &str, version: i32) -> Error {
    ErrorKind::Golden {
        path: path.to_owned(),
        what: format!(
            "`{dir}` counts as version {version}, but its goldens are looked for in v{version}/"
        ),
        help: format!("rename the directory to v{version}"),
    }
    .into()
}
