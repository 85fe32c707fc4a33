//! The index: whatever it went through, history is what the commits say.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use aotgate::history::{Cache, History, Options, Position};
use aotgate::revision::Repository;
use git2::Oid;

use crate::random::{self, Random};
use crate::spec;

/// So many random histories; `AOTGATE_HISTORY_CASES` for more.
fn cases() -> u64 {
    std::env::var("AOTGATE_HISTORY_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(12)
}

fn options(cache: Cache, chunk: usize) -> Options {
    Options {
        checkpoint: Some(Duration::ZERO),
        chunk: NonZeroUsize::new(chunk),
        ..Options::new(None, cache)
    }
}

fn open(repository: &Repository, tip: Oid, options: &Options) -> History {
    History::open(repository, &spec(), tip, options, &|_, _| {}).unwrap()
}

fn scratch(repository: &Repository, tip: Oid) -> History {
    open(repository, tip, &Options::new(None, Cache::Off))
}

#[track_caller]
fn same(seed: u64, a: &History, b: &History) {
    assert_eq!(a.chain, b.chain, "seed {seed}");
    for (one, other) in a.timeline.scopes.iter().zip(&b.timeline.scopes) {
        assert_eq!(one, other, "seed {seed}");
    }
    assert_eq!(a.timeline, b.timeline, "seed {seed}");
}

#[test]
fn grown_bit_by_bit_it_is_the_same() {
    let (mut reads, mut gaps, mut undone) = (0, 0, 0);
    for seed in 0..cases() {
        let (project, chain, side) = random::history(seed, 40);
        let repository = project.open();
        let dir = tempfile::tempdir().unwrap();
        let mut random = Random::new(seed + 1000);
        let mut at = 0;
        while at < chain.len() {
            // Mostly ahead, now and then back or on a branch.
            let tip = match random.below(4) {
                0 => *random.pick(&chain[..=at]),
                1 if !side.is_empty() => *random.pick(&side),
                _ => chain[at],
            };
            let chunk = 1 + random.below(9);
            let grown = open(&repository, tip, &options(Cache::Dir(dir.path().into()), chunk));
            assert_eq!(grown.notes, Vec::<String>::new());
            same(seed, &grown, &scratch(&repository, tip));
            reads += usize::from(grown.walked < grown.chain.commits.len());
            at += random.below(12);
        }
        let whole = scratch(&repository, *chain.last().unwrap());
        gaps += whole.timeline.gaps.len();
        undone += whole
            .timeline
            .landed
            .iter()
            .filter(|l| l.undoes.iter().any(|u| u.position.is_some()))
            .count();
        for (end, tip) in chain.iter().enumerate() {
            let cut = whole.timeline.clone().cut(Position(u32::try_from(end).unwrap()));
            assert_eq!(cut, scratch(&repository, *tip).timeline, "seed {seed} at {end}");
        }
    }
    // The random histories are worth something.
    assert!(reads > 10 && gaps > 10 && undone > 10, "{reads} {gaps} {undone}");
}

#[test]
fn killed_anywhere_it_goes_on() {
    let mut resumed = 0;
    for seed in 0..cases() {
        let (project, chain, _) = random::history(seed, 30);
        let (repository, tip) = (project.open(), *chain.last().unwrap());
        let dir = tempfile::tempdir().unwrap();
        let cache = || Cache::Dir(dir.path().into());
        for kill in [5, 12, 13, 28] {
            let seen = AtomicUsize::new(0);
            let die = |_: usize, _: usize| {
                assert!(seen.fetch_add(1, Ordering::Relaxed) != kill, "killed");
            };
            // Whether it ends in a panic or in an error does not matter.
            let run =
                || History::open(&repository, &spec(), tip, &options(cache(), 3), &die).is_err();
            let _ = catch_unwind(AssertUnwindSafe(run));
        }
        let rest = open(&repository, tip, &options(cache(), 3));
        resumed += usize::from(rest.walked < chain.len());
        same(seed, &rest, &scratch(&repository, tip));
    }
    assert!(resumed > 0);
}

#[test]
fn two_at_once_leave_a_valid_index() {
    let (project, chain, _) = random::history(7, 60);
    let dir = tempfile::tempdir().unwrap();
    for round in 0..4 {
        std::thread::scope(|scope| {
            for tip in [59, 40, 50] {
                let (project, chain, dir) = (&project, &chain, dir.path());
                let repository = project.open();
                scope.spawn(move || {
                    let cache = Cache::Dir(dir.into());
                    let history = open(&repository, chain[tip], &options(cache, 2 + round));
                    assert_eq!(history.notes, Vec::<String>::new());
                    same(7, &history, &scratch(&repository, chain[tip]));
                });
            }
        });
    }
    let files: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|f| f.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let repository = project.open();
    let last = open(&repository, chain[59], &options(Cache::Dir(dir.path().into()), 5));
    assert_eq!(last.notes, Vec::<String>::new());
    assert!(last.walked < 60);
}

fn index_file(dir: &Path) -> std::path::PathBuf {
    std::fs::read_dir(dir).unwrap().next().unwrap().unwrap().path()
}

#[test]
fn damage_is_seen_and_mended() {
    let (project, chain, _) = random::history(3, 12);
    let (repository, tip) = (project.open(), *chain.last().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let cached = options(Cache::Dir(dir.path().into()), 100);
    let whole = open(&repository, tip, &cached);
    let path = index_file(dir.path());
    let good = std::fs::read(&path).unwrap();
    let mended = |bytes: &[u8], what: &str| {
        std::fs::write(&path, bytes).unwrap();
        let history = open(&repository, tip, &cached);
        assert_eq!(history.notes.len(), 1, "{what}");
        assert!(history.notes[0].contains("made anew"), "{what}: {:?}", history.notes);
        assert_eq!(history.timeline, whole.timeline, "{what}");
        assert_eq!(std::fs::read(&path).unwrap(), good, "{what}");
    };
    let step = (good.len() / 120).max(1);
    for at in (0..160.min(good.len())).chain((160..good.len()).step_by(step)) {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        mended(&bad, &format!("byte {at}"));
    }
    for length in [0, 1, 50, 200, good.len() / 2, good.len() - 1] {
        mended(&good[..length], &format!("cut to {length}"));
    }
    mended(&[&good[..], b" "].concat(), "one byte more");
}

#[test]
fn a_forged_index_with_a_right_checksum_is_checked() {
    use sha2::Digest as _;
    let (project, chain, _) = random::history(3, 12);
    let (repository, tip) = (project.open(), *chain.last().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let cached = options(Cache::Dir(dir.path().into()), 100);
    let whole = open(&repository, tip, &cached);
    let path = index_file(dir.path());
    let good = std::fs::read_to_string(&path).unwrap();
    let (header, body) = good.split_once('\n').unwrap();
    let key = header.split(' ').nth(2).unwrap();
    for (from, to) in [
        ("\"from\":0", "\"from\":99"),
        ("\"meaning\":0", "\"meaning\":7"),
        ("\"end\":11", "\"end\":12"),
        ("\"id\":1,", "\"id\":5,"),
        ("\"until\":null", "\"until\":0"),
        ("\"days\":[", "\"days\":[1,"),
        ("\"timeline\":{", "\"surprise\":1,\"timeline\":{"),
    ] {
        assert!(body.contains(from), "{from}");
        let body = body.replace(from, to);
        let hash: String =
            sha2::Sha256::digest(body.as_bytes()).iter().map(|b| format!("{b:02x}")).collect();
        let forged = format!("aotgate-history 1 {key} {} {hash}\n{body}", body.len());
        std::fs::write(&path, forged).unwrap();
        let history = open(&repository, tip, &cached);
        assert_eq!(history.notes.len(), 1, "{from}");
        assert_eq!(history.timeline, whole.timeline, "{from}");
    }
}

#[test]
fn the_policy_and_the_beginning_are_part_of_it() {
    let (project, chain, _) = random::history(5, 12);
    let (repository, tip) = (project.open(), *chain.last().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let cached = options(Cache::Dir(dir.path().into()), 100);
    open(&repository, tip, &cached);
    let mut other = spec();
    other.roots[0].message = "p.Part".into();
    let history = History::open(&repository, &other, tip, &cached, &|_, _| {}).unwrap();
    assert_eq!(history.walked, 12);
    // Another day to go back to begins another chain.
    let since = "2026-01-10".parse().ok();
    let later = Options { since, ..cached };
    let history = open(&repository, tip, &later);
    assert!(history.walked > 0);
    same(5, &history, &open(&repository, tip, &Options::new(since, Cache::Off)));
    assert!(open(&repository, tip, &later).walked == 0);
}

#[test]
fn a_git_directory_that_cannot_be_written_is_no_error() {
    let (project, chain, _) = random::history(5, 12);
    // A file where the directory of the index would be.
    std::fs::write(project.dir.path().join("aotgate"), "").unwrap();
    let (repository, tip) = (project.open(), *chain.last().unwrap());
    let history = open(&repository, tip, &options(Cache::GitDir, 100));
    same(5, &history, &scratch(&repository, tip));
}
