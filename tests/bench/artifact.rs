//! Reading artifacts, beside copying the same bytes; the view on real ones.
//!
//! ```sh
//! cargo bench --bench artifact
//! ```
//!
//! The constant of the made ones has 64 MiB. `AOTGATE_GOLDENS` adds the recorded artifacts of that folder.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "artifact/made.rs"]
mod made;

use aotgate::descriptor::{Contract, SourceClosure};
use aotgate::triage::policy;
use aotgate::view;
use aotgate_runtime::artifact::{Artifact, Form};
use divan::counter::BytesCount;
use divan::{AllocProfiler, Bencher};
use made::{Made, ROOT, real};
use prost::bytes::Bytes;

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// The baseline: the same bytes copied into memory that was never used before, as a reader's would be.
#[divan::bench(args = Made::ALL, sample_count = 20)]
fn large_memcpy(bencher: Bencher<'_, '_>, made: &Made) {
    let bytes = made.artifact();
    bencher.counter(BytesCount::new(bytes.len())).bench(|| bytes.to_vec());
}

/// Opened, every hash checked, nothing decoded.
#[divan::bench(args = Made::ALL, sample_count = 20)]
fn large_read(bencher: Bencher<'_, '_>, made: &Made) {
    let bytes = made.artifact();
    bencher.counter(BytesCount::new(bytes.len())).bench(|| Artifact::read(bytes.clone()).unwrap());
}

/// Opened and decoded: each constant in one piece.
#[divan::bench(args = Made::ALL, sample_count = 20)]
fn large_read_and_decode(bencher: Bencher<'_, '_>, made: &Made) {
    let bytes = made.artifact();
    bencher
        .counter(BytesCount::new(bytes.len()))
        .bench(|| Artifact::read(bytes.clone()).unwrap().decode().unwrap());
}

#[divan::bench]
fn real_memcpy(bencher: Bencher<'_, '_>) {
    let all = real();
    bencher.bench(|| all.iter().map(|(_, bytes)| bytes.to_vec().len()).sum::<usize>());
}

#[divan::bench]
fn real_read(bencher: Bencher<'_, '_>) {
    let all = real();
    let read = |bytes: &Bytes| Artifact::read(bytes.clone()).unwrap().executable().len();
    bencher.bench(|| all.iter().map(|(_, bytes)| read(bytes)).sum::<usize>());
}

#[divan::bench]
fn real_read_and_decode(bencher: Bencher<'_, '_>) {
    let all = real();
    let read =
        |bytes: &Bytes| Artifact::read(bytes.clone()).unwrap().decode().unwrap().thunks.len();
    bencher.bench(|| all.iter().map(|(_, bytes)| read(bytes)).sum::<usize>());
}

fn contract(version: &str) -> Contract {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/released/");
    let set = std::fs::read(format!("{folder}{version}.fds")).unwrap();
    let spec = policy::built_in().unwrap().contract;
    SourceClosure::from_descriptor_set(&set).unwrap().contract(&spec).unwrap()
}

/// The executables of the real artifacts, serialized.
fn messages() -> Vec<Vec<u8>> {
    let plain = |bytes: &Bytes| Artifact::read(bytes.clone()).unwrap().write(&Form::PLAIN).unwrap();
    real().iter().map(|(_, bytes)| plain(bytes)).collect()
}

#[divan::bench]
fn real_view_decode(bencher: Bencher<'_, '_>) {
    let (messages, contract) = (messages(), contract("0.12.0"));
    let decode = |bytes: &[u8]| {
        view::decode(bytes, &contract, ROOT, view::Limits::default())
            .unwrap()
            .root()
            .fields()
            .count()
    };
    bencher.bench(|| messages.iter().map(|bytes| decode(bytes)).sum::<usize>());
}

#[divan::bench]
fn real_view_canonical(bencher: Bencher<'_, '_>) {
    let (messages, contract) = (messages(), contract("0.12.0"));
    let decode = |bytes| view::decode(bytes, &contract, ROOT, view::Limits::default()).unwrap();
    let held: Vec<_> = messages.iter().map(|bytes| decode(bytes)).collect();
    bencher.bench(|| held.iter().map(|held| held.canonical().len()).sum::<usize>());
}

#[divan::bench]
fn real_view_losses(bencher: Bencher<'_, '_>) {
    let (messages, writer, reader) = (messages(), contract("0.12.0"), contract("0.10.1"));
    let lost = |bytes: &[u8]| view::losses(bytes, &writer, &reader, ROOT).len();
    bencher.bench(|| messages.iter().map(|bytes| lost(bytes)).sum::<usize>());
}
