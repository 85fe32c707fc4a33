//! The history on disk, so that a second run reads one file instead of ten thousand commits.
//!
//! One file holds one chain of commits with its timeline: a header line (magic, format version, key, length and SHA-256 of
//! the rest), then JSON. That suffices: all of it is needed at once and it is a few megabytes, so a database would add
//! files, locks and a format of its own without saving time; JSON can be looked at, and its reader is bounded in depth and,
//! by the size of the file, in memory.
//!
//! - **Key.** What a history says follows from the commits' ids, the policy's contract, the day it goes back to and the
//!   program, so the key hashes policy and program, and the rest is compared when it is used. Which repository or working
//!   tree asks does not matter: ids name content.
//! - **Writing** goes to a file of its own in the same directory, is flushed to the disk and renamed over the old one. A
//!   run that is killed leaves the old file or the new one; of two runs at once, both valid, the later one stays. No lock is
//!   needed. While a long history is walked, what is known so far is written now and then, and the next run goes on there.
//! - **Reading** trusts nothing: a file that is too large, cut off, altered, of another version or key, or whose positions
//!   do not fit together is dropped with a note and made anew.

mod check;
mod format;

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::chain::Chain;
use super::{Begin, Timeline};
use crate::descriptor::ContractSpec;
use crate::descriptor::fingerprint::short_hash;
use crate::revision::Repository;

/// Larger files are no index (that of a year of XLA has 2 MB).
const MAX_BYTES: u64 = 256 << 20;

/// Files that a killed run left behind are removed after this time.
const STALE: std::time::Duration = std::time::Duration::from_secs(3600);

/// Where the index is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cache {
    /// Nowhere: nothing is read or written.
    Off,
    /// In the git directory, below `aotgate/`.
    GitDir,
    /// In a directory of the user's, which other repositories may share.
    Dir(PathBuf),
}

/// What is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The day that the chain goes back to; `None` for the root commit.
    pub since: Option<NaiveDate>,
    /// The commits.
    pub chain: Chain,
    /// Their history.
    pub timeline: Timeline,
}

/// The form in which it is written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    since: Option<NaiveDate>,
    begin: Begin,
    /// Ids of the chain in hex, one after the other.
    ids: String,
    /// Days since the common era.
    days: Vec<i32>,
    timeline: Timeline,
}

/// The file of one repository and policy.
#[derive(Debug, Clone)]
pub struct Store {
    path: PathBuf,
    key: String,
}

impl Store {
    /// The place of the index of a history back to `since`; `None` where none is to be kept. Commands that go back to
    /// different days have an index each.
    pub fn new(
        cache: &Cache,
        repository: &Repository,
        spec: &ContractSpec,
        since: Option<NaiveDate>,
    ) -> Option<Self> {
        let key = key(spec);
        let since = since.map_or_else(|| "root".to_owned(), |since| since.to_string());
        let path = match cache {
            Cache::Off => return None,
            Cache::GitDir => {
                repository.common_dir().join("aotgate").join(format!("history-{key}-{since}.index"))
            }
            Cache::Dir(dir) => {
                let common = repository.common_dir();
                let common = std::fs::canonicalize(common).unwrap_or_else(|_| common.to_owned());
                let place = short_hash(common.as_os_str().as_encoded_bytes());
                dir.join(format!("history-{place}-{key}-{since}.index"))
            }
        };
        Some(Store { path, key })
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is kept; `Ok(None)` where there is no file.
    ///
    /// # Errors
    /// Why the file cannot be used.
    pub fn read(&self) -> Result<Option<Kept>, String> {
        let mut file = match std::fs::File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        let metadata = file.metadata().map_err(|error| error.to_string())?;
        if !metadata.is_file() || metadata.len() > MAX_BYTES {
            return Err("it is no file of a sensible size".to_owned());
        }
        let mut bytes = Vec::new();
        let read = (&mut file).take(MAX_BYTES).read_to_end(&mut bytes);
        read.map_err(|error| error.to_string())?;
        format::decode(&bytes, &self.key).map(Some)
    }

    /// Keeps a history in place of what is there.
    ///
    /// # Errors
    /// Why it cannot be written, as in a directory that is read-only.
    pub fn write(
        &self,
        since: Option<NaiveDate>,
        chain: &Chain,
        timeline: &Timeline,
    ) -> Result<(), String> {
        let bytes = format::encode(since, chain, timeline, &self.key);
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_BYTES {
            return Err(format!("it would have {} bytes", bytes.len()));
        }
        let dir = self.path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(dir).map_err(|error| error.to_string())?;
        self.remove_stale(dir);
        // Threads of one process must not share a name either.
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let new = self.path.with_extension(format!("{}-{count}.new", std::process::id()));
        let written = std::fs::File::create_new(&new).and_then(|mut file| {
            file.write_all(&bytes)?;
            file.sync_all()
        });
        written.and_then(|()| std::fs::rename(&new, &self.path)).map_err(|error| {
            let _ = std::fs::remove_file(&new);
            error.to_string()
        })
    }

    /// Removes what killed runs left of this index.
    fn remove_stale(&self, dir: &Path) {
        let stem = self.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let (Some(stem), Ok(entries)) = (stem, std::fs::read_dir(dir)) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
            if name.starts_with(&stem) && name.ends_with(".new") && age().is_some_and(|a| a > STALE)
            {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// Hash of what decides about a history besides commits and dates.
fn key(spec: &ContractSpec) -> String {
    let mut text = format!("{} {}\n", format::VERSION, env!("CARGO_PKG_VERSION"));
    let mut list = |what: &str, items: Vec<&str>| {
        text.push_str(&format!("{what} {}\n", items.len()));
        for item in items {
            text.push_str(&format!("{} {item}\n", item.len()));
        }
    };
    for root in &spec.roots {
        list("root", vec![&root.message]);
        list("files", root.files.iter().map(String::as_str).collect());
    }
    for opaque in &spec.opaque {
        list("opaque", vec![&opaque.field, &opaque.message, &opaque.file]);
    }
    list("include", spec.include.iter().map(String::as_str).collect());
    list("prefixes", spec.prefixes.iter().map(String::as_str).collect());
    short_hash(text.as_bytes())
}
