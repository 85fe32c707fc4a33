//! The parts of a check, on this repository's data and, with `AOTGATE_XLA_REPO`, on XLA's history:
//!
//! ```sh
//! AOTGATE_XLA_REPO=/path/to/xla/.git cargo bench
//! ```
#![allow(missing_docs, clippy::unwrap_used)]

use aotgate::change::compare;
use aotgate::descriptor::{ContractSpec, ParseCache, SourceClosure};
use aotgate::gate::{Gate, Request};
use aotgate::revision::{Repository, Revision, RevisionSpec};
use aotgate::triage::{NoHistory, policy};
use divan::Bencher;

const RELEASED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/released/");

fn main() {
    divan::main();
}

fn spec() -> ContractSpec {
    policy::built_in().unwrap().contract
}

fn released(version: &str) -> Vec<u8> {
    std::fs::read(format!("{RELEASED}{version}.fds")).unwrap()
}

/// Decoding and resolving a released descriptor set.
#[divan::bench]
fn contract_of_a_released_set(bencher: Bencher<'_, '_>) {
    let bytes = released("0.12.0");
    bencher.bench(|| {
        SourceClosure::from_descriptor_set(&bytes).unwrap().contract(&spec()).unwrap().fingerprint()
    });
}

/// Comparing two releases, contracts at hand.
#[divan::bench]
fn compare_two_releases(bencher: Bencher<'_, '_>) {
    let contract = |version| {
        SourceClosure::from_descriptor_set(&released(version)).unwrap().contract(&spec()).unwrap()
    };
    let (base, head) = (contract("0.10.1"), contract("0.12.0"));
    bencher.bench(|| compare(&base, &head).len());
}

/// One revision of XLA, parsed from blobs.
#[divan::bench]
fn xla_contract_cold(bencher: Bencher<'_, '_>) {
    let Some(repository) = xla() else { return };
    let head = Revision::open(&RevisionSpec::Git("HEAD".into()), Some(&repository)).unwrap();
    bencher.bench_local(|| {
        let closure = head.closure(&spec(), &mut ParseCache::default()).unwrap();
        closure.contract(&spec()).unwrap().fingerprint()
    });
}

/// A whole check of one commit of XLA that removes a thunk kind.
#[divan::bench]
fn xla_check_cold(bencher: Bencher<'_, '_>) {
    let Some(repository) = xla() else { return };
    let request = Request {
        base: RevisionSpec::Empty,
        head: RevisionSpec::Empty,
        today: chrono::NaiveDate::MIN,
        policy: None,
        strict: false,
        goldens: aotgate::golden::Selection::None,
        attestations: Vec::new(),
    };
    bencher.bench_local(|| {
        let mut gate = Gate::new(Some(&repository));
        gate.check_commit("34db469cbf", None, &request, &NoHistory).unwrap().findings.len()
    });
}

fn xla() -> Option<Repository> {
    let path = std::env::var_os("AOTGATE_XLA_REPO")?;
    Some(Repository::discover(path.as_ref()).unwrap())
}
