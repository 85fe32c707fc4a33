//! Reading and writing text goldens: `cargo bench --bench text`.
#![allow(missing_docs, clippy::unwrap_used)]

use std::path::Path;

use aotgate::descriptor::Contract;
use aotgate::triage::policy;
use aotgate::view::{canonical_contract, open, write_text};
use divan::Bencher;
use divan::counter::BytesCount;

fn main() {
    divan::main();
}

const GOLDENS: [&str; 2] = ["AllGatherMixedTypes", "ReduceScatter"];

fn contract() -> Contract {
    canonical_contract(&policy::built_in().unwrap().contract).unwrap()
}

fn text(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/upstream-goldens");
    std::fs::read(folder.join(format!("{name}.pbtxt"))).unwrap()
}

#[divan::bench(args = GOLDENS)]
fn open_text(bencher: Bencher<'_, '_>, name: &str) {
    let (contract, text) = (contract(), text(name));
    bencher
        .counter(BytesCount::new(text.len()))
        .with_inputs(|| text.clone())
        .bench_values(|text| open(text, &contract).unwrap());
}

#[divan::bench(args = GOLDENS)]
fn write(bencher: Bencher<'_, '_>, name: &str) {
    let contract = contract();
    let text = text(name);
    let artifact = open(text.clone(), &contract).unwrap();
    bencher
        .counter(BytesCount::new(text.len()))
        .bench(|| write_text(&artifact, &contract).unwrap());
}

/// 16 MiB of a constant, every byte of it an escape.
#[divan::bench(sample_count = 5)]
fn open_large_constant(bencher: Bencher<'_, '_>) {
    let contract = contract();
    let mut text =
        b"# proto-message: xla.gpu.GpuExecutableProto\nconstants { content { data: \"".to_vec();
    text.extend(b"\\377".repeat(4 << 20));
    text.extend(b"\" } }\n");
    bencher
        .counter(BytesCount::new(text.len()))
        .with_inputs(|| text.clone())
        .bench_values(|text| open(text, &contract).unwrap());
}
