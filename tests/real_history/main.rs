//! aotgate on XLA's real history. Opt-in and slow, since neither the history nor the labelled data belongs
//! to this repository:
//!
//! ```sh
//! export AOTGATE_XLA_REPO=/path/to/xla/.git          # a clone of the public repository
//! export AOTGATE_CORPUS=/path/to/corpus              # commits.jsonl and proto_diffs.jsonl
//! cargo test --release --test real_history -- --ignored --nocapture
//! ```
#![allow(clippy::expect_used, clippy::print_stdout, clippy::unwrap_used)] // tests and their reports

mod diffs;
mod labels;
mod regression;
mod rollouts;
mod timeline;

use std::path::PathBuf;

use aotgate::gate::Request;
use aotgate::revision::{Repository, RevisionSpec};

fn repository() -> Repository {
    let path = std::env::var("AOTGATE_XLA_REPO").expect("set AOTGATE_XLA_REPO to a clone of XLA");
    Repository::discover(path.as_ref()).unwrap()
}

fn corpus(file: &str) -> Vec<serde_json::Value> {
    let dir = std::env::var("AOTGATE_CORPUS").expect("set AOTGATE_CORPUS to the labelled data");
    let text = std::fs::read_to_string(PathBuf::from(dir).join(file)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A request whose revisions and date `check_commit` fills in.
fn request() -> Request {
    Request {
        base: RevisionSpec::Empty,
        head: RevisionSpec::Empty,
        today: chrono::NaiveDate::MAX,
        policy: None,
        strict: false,
        goldens: aotgate::golden::Selection::Boundary,
        golden_stores: Vec::new(),
        attestations: Vec::new(),
    }
}
