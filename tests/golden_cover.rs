//! The committed goldens cover what released compilers were seen to write.
//!
//! `golden/cover.txt` lists every thunk kind, opcode and custom call of all recorded artifacts, and the releases that
//! wrote it. `AOTGATE_BLESS=1` rewrites the table in `golden/README.md`; with `AOTGATE_GOLDENS` (a folder
//! `<release>/<program>/executable.bin`) the ignored test recomputes the list itself.
#![cfg(feature = "runtime")]
#![allow(clippy::panic, clippy::print_stdout, clippy::unwrap_used)] // helpers of tests

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use aotgate::execute::Opener;
use aotgate::golden::contents::Contents;
use aotgate::golden::{Draft, Store};
use aotgate::revision::Revision;
use aotgate::triage::policy;
use aotgate_runtime::artifact::Artifact;

/// Constructs that a release wrote and that only another release's golden covers: its inputs are large.
const ELSEWHERE: [(&str, &str); 2] = [
    ("0.10.1", "custom-call xla.gpu.ext.cub_sort_pairs"),
    ("0.11.2", "custom-call xla.gpu.ext.cub_sort_pairs"),
];

/// At most so many bytes are committed.
const BUDGET: u64 = 4_000_000;

fn golden_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")
}

/// Releases by construct.
type Cover = BTreeMap<String, BTreeSet<String>>;

fn listed() -> Cover {
    let text = std::fs::read_to_string(golden_dir().join("cover.txt")).unwrap();
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let (construct, releases) = line.split_once(':').unwrap();
            (construct.to_owned(), releases.split_whitespace().map(str::to_owned).collect())
        })
        .collect()
}

/// Goldens by construct: program and release, the smallest first.
fn committed() -> BTreeMap<String, Vec<(String, String)>> {
    let dir = golden_dir();
    let revision = Revision::directory(&dir);
    let store = Store::open_root(&revision).unwrap();
    let mut found: BTreeMap<String, Vec<(usize, String, String)>> = BTreeMap::new();
    for golden in store.goldens() {
        let bytes = store.read(golden).unwrap();
        let size = bytes.len();
        let (set, program) = golden.id.split_once('/').unwrap();
        let release = set.strip_prefix("jaxlib-").unwrap();
        for construct in Contents::of(&Artifact::read(bytes).unwrap()).unwrap().constructs() {
            let of = (size, program.to_owned(), release.to_owned());
            found.entry(construct).or_default().push(of);
        }
    }
    found
        .into_iter()
        .map(|(construct, mut goldens)| {
            goldens.sort();
            (
                construct,
                goldens.into_iter().map(|(_, program, release)| (program, release)).collect(),
            )
        })
        .collect()
}

#[test]
fn every_construct_is_covered_in_every_release_that_writes_it() {
    let (listed, committed) = (listed(), committed());
    let mut unlisted: Vec<_> = committed.keys().filter(|c| !listed.contains_key(*c)).collect();
    unlisted.sort();
    assert!(unlisted.is_empty(), "not in golden/cover.txt: {unlisted:?}");
    let mut elsewhere = Vec::new();
    for (construct, releases) in &listed {
        let goldens = committed.get(construct).unwrap_or_else(|| panic!("nothing has {construct}"));
        for release in releases {
            if !goldens.iter().any(|(_, r)| r == release) {
                elsewhere.push((release.clone(), construct.clone()));
            }
        }
    }
    elsewhere.sort();
    let expected = ELSEWHERE.map(|(release, construct)| (release.to_owned(), construct.to_owned()));
    assert_eq!(elsewhere, expected);
}

#[test]
fn the_set_is_sound_and_small() {
    let dir = golden_dir();
    let revision = Revision::directory(&dir);
    let store = Store::open_root(&revision).unwrap();
    assert!(store.problems().is_empty() && store.skipped().is_empty());
    let released = BTreeMap::from([
        ("jaxlib-0.10.1", "2026-05-18"),
        ("jaxlib-0.11.2", "2026-09-17"),
        ("jaxlib-0.12.0", "2026-10-16"),
    ]);
    let (mut bytes, mut two_devices) = (0, 0);
    for golden in store.goldens() {
        assert!(golden.problem.is_none(), "{}", golden.id);
        let (set, _) = golden.id.split_once('/').unwrap();
        assert_eq!(golden.emitted_at().unwrap().to_string(), released[set], "{}", golden.id);
        let manifest = golden.manifest.clone().unwrap();
        assert_eq!(set, format!("{}-{}", manifest.producer.name, manifest.producer.version));
        let files: BTreeMap<_, _> = manifest
            .files()
            .into_iter()
            .map(|name| (name.to_owned(), store.read_beside(golden, name).unwrap()))
            .collect();
        bytes += files.values().map(|content| content.len() as u64).sum::<u64>();
        assert!(manifest.devices.iter().all(|device| device.expected.is_some()), "{}", golden.id);
        two_devices += usize::from(manifest.program.devices() == 2);
        let calls_back = golden.id.ends_with("/host_callback");
        assert_eq!(!manifest.cannot_run.is_empty(), calls_back, "{}", golden.id);
        // Shapes, types, donations and counts are those of the program, arrays are those of the manifest.
        let opener = Opener::new(&policy::built_in().unwrap().contract);
        Draft { manifest, files }.validate(&opener).unwrap();
    }
    assert!(bytes <= BUDGET, "{bytes} bytes");
    assert_eq!(two_devices, 5);
}

#[test]
fn the_readme_says_what_covers_what() {
    let (listed, committed) = (listed(), committed());
    let mut table = String::from("| construct | written by | smallest goldens |\n|---|---|---|\n");
    for (construct, releases) in &listed {
        let names: Vec<_> = committed.get(construct).into_iter().flatten().take(3).collect();
        let names: Vec<_> =
            names.iter().map(|(program, release)| format!("{program} {release}")).collect();
        let releases = releases.iter().cloned().collect::<Vec<_>>().join(", ");
        writeln!(table, "| {construct} | {releases} | {} |", names.join(", ")).unwrap();
    }
    let path = golden_dir().join("README.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (start, end) = ("<!-- cover: made by tests/golden_cover.rs -->\n", "<!-- end of cover -->");
    let (before, rest) = text.split_once(start).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    let expected = format!("{before}{start}{table}{end}{after}");
    if std::env::var_os("AOTGATE_BLESS").is_some() {
        std::fs::write(&path, expected).unwrap();
    } else {
        assert!(text == expected, "run it with AOTGATE_BLESS=1");
    }
}

/// Needs `AOTGATE_GOLDENS`.
#[test]
#[ignore = "reads all recorded artifacts: set AOTGATE_GOLDENS to their folder"]
fn the_list_has_everything_that_was_recorded() {
    let root = PathBuf::from(std::env::var_os("AOTGATE_GOLDENS").unwrap());
    let mut cover = Cover::new();
    let mut items = Vec::new();
    for release in folders(&root) {
        for program in folders(&root.join(&release)) {
            let dir = root.join(&release).join(&program);
            let bytes = std::fs::read(dir.join("executable.bin")).unwrap();
            let files = std::fs::read_dir(&dir).unwrap();
            let size: u64 = files.map(|file| file.unwrap().metadata().unwrap().len()).sum();
            let constructs = Contents::of(&Artifact::read(bytes).unwrap()).unwrap().constructs();
            for construct in &constructs {
                cover.entry(construct.clone()).or_default().insert(release.clone());
            }
            let own: BTreeSet<_> = constructs.iter().map(|c| format!("{release} {c}")).collect();
            items.push((format!("{release}/{program}"), own, size));
        }
    }
    println!(
        "{} artifacts, {} constructs; a small cover of each release:",
        items.len(),
        cover.len()
    );
    smallest(&items).iter().for_each(|name| println!("  {name}"));
    let mut text = String::from(
        "# Thunk kinds, HLO opcodes and custom calls of all recorded artifacts, and the releases that wrote them.\n\
         # Made by tests/golden_cover.rs.\n",
    );
    for (construct, releases) in &cover {
        let releases = releases.iter().cloned().collect::<Vec<_>>().join(" ");
        writeln!(text, "{construct}: {releases}").unwrap();
    }
    if std::env::var_os("AOTGATE_BLESS").is_some() {
        std::fs::write(golden_dir().join("cover.txt"), text).unwrap();
    } else {
        assert_eq!(cover, listed(), "run it with AOTGATE_BLESS=1");
    }
}

/// Names of artifacts that together have everything: each time the one that adds most for its bytes.
fn smallest(items: &[(String, BTreeSet<String>, u64)]) -> BTreeSet<&str> {
    let mut missing: BTreeSet<&String> = items.iter().flat_map(|(_, has, _)| has).collect();
    let mut chosen = BTreeSet::new();
    while !missing.is_empty() {
        let gain = |at: &usize| items[*at].1.iter().filter(|c| missing.contains(c)).count() as u64;
        let better = |one: &usize, two: &usize| {
            (gain(one) * items[*two].2).cmp(&(gain(two) * items[*one].2)).then(two.cmp(one))
        };
        let best = (0..items.len()).max_by(|one, two| better(one, two)).unwrap();
        chosen.insert(&*items[best].0);
        missing.retain(|construct| !items[best].1.contains(*construct));
    }
    chosen
}

fn folders(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap().map(Result::unwrap);
    let mut names: Vec<String> = entries
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
