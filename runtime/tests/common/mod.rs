//! What the container tests share.

#![allow(dead_code, reason = "each test binary uses its part")]
#![allow(clippy::expect_used, reason = "a test reports by panicking")]

pub(crate) mod record_file;

use std::fs;
use std::path::{Path, PathBuf};

/// One recorded artifact.
pub(crate) struct Recorded {
    pub(crate) release: String,
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// The committed artifacts.
pub(crate) fn committed() -> Vec<Recorded> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/artifacts");
    let found = collect(&root, |entry| (entry.extension()? == "bin").then(|| entry.to_owned()));
    assert_eq!(found.len(), 8, "the set that README.md describes");
    found
}

/// All recorded artifacts, from the folder that `AOTGATE_GOLDENS` names.
pub(crate) fn recorded() -> Vec<Recorded> {
    let root = std::env::var_os("AOTGATE_GOLDENS").expect("AOTGATE_GOLDENS names a folder");
    let found = collect(Path::new(&root), |entry| {
        let file = entry.join("executable.bin");
        file.is_file().then_some(file)
    });
    assert!(!found.is_empty(), "no <release>/<program>/executable.bin in {}", root.display());
    found
}

fn collect(root: &Path, file: impl Fn(&Path) -> Option<PathBuf>) -> Vec<Recorded> {
    let mut found = Vec::new();
    for release in entries(root).into_iter().filter(|entry| entry.is_dir()) {
        for entry in entries(&release) {
            if let Some(file) = file(&entry) {
                found.push(Recorded {
                    release: name(&release),
                    name: name(&entry),
                    bytes: fs::read(file).expect("readable"),
                });
            }
        }
    }
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut entries: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    entries
}

fn name(path: &Path) -> String {
    path.file_name().expect("a name").to_string_lossy().trim_end_matches(".bin").to_owned()
}

/// A small generator of numbers, the same on every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("fits")
    }
}
