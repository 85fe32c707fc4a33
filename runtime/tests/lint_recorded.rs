//! What the authoring rules find in real artifacts.

#![allow(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a test reports")]

mod common;

use std::collections::BTreeMap;

use aotgate_runtime::artifact::lint::{Level, Report, lint};
use aotgate_runtime::artifact::{Artifact, Limits};
use common::{Recorded, committed, recorded};

fn report(recorded: &Recorded) -> Report {
    let artifact = Artifact::read(recorded.bytes.clone()).expect("read");
    lint(&artifact, &Limits::default()).expect("linted")
}

/// Real compilers write no errors. Prints what each rule found, per release; every finding where
/// `AOTGATE_SHOW_ALL` is set.
fn examine(all: Vec<Recorded>) {
    let mut counts: BTreeMap<(&str, Level, String), (u64, String)> = BTreeMap::new();
    for recorded in &all {
        for finding in report(recorded).findings {
            let place = format!(
                "{}: {} at {} in {:?} also {:?} ({:?} bytes)",
                recorded.name,
                finding.message,
                finding.path,
                finding.thunk,
                finding.also,
                finding.bytes
            );
            if std::env::var_os("AOTGATE_SHOW_ALL").is_some() {
                println!("{} {} {place}", recorded.release, finding.rule);
            }
            let key = (finding.rule, finding.level, recorded.release.clone());
            counts.entry(key).or_insert_with(|| (0, place)).0 += 1;
        }
    }
    for ((rule, level, release), (count, first)) in &counts {
        println!("{rule} {} {release}: {count}, first {first}", level.name());
    }
    assert!(counts.keys().all(|(_, level, _)| *level != Level::Error));
}

#[test]
fn committed_artifacts_have_no_errors() {
    examine(committed());
}

#[test]
#[ignore = "reads all recorded artifacts: set AOTGATE_GOLDENS to their folder"]
fn recorded_artifacts_have_no_errors() {
    examine(recorded());
}
