//! Our side of `compare_with_upb.sh`: does on request what the other side does, and tells how long it took.
//!
//! Started with a folder, it writes the messages to compare into it and answers `OPERATION CASE COUNT` on
//! standard input with nanoseconds; with `peak OPERATION CASE` it prints bytes of memory.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, clippy::panic)]

#[path = "artifact/made.rs"]
mod made;

use std::fs;
use std::hint::black_box;
use std::io::Cursor;
use std::path::Path;
use std::time::Instant;

use aotgate::descriptor::{Contract, SourceClosure};
use aotgate::triage::policy;
use aotgate::view;
use aotgate_runtime::artifact::{Artifact, Form};
use made::{Made, ROOT, real};
use prost::bytes::Bytes;

struct Case {
    name: String,
    /// As it was written.
    artifact: Bytes,
    /// The executable, serialized: what upb can parse.
    plain: Bytes,
    contract: String,
}

fn cases() -> Vec<Case> {
    let made =
        Made::ALL.into_iter().map(|made| ("0.12.0".to_owned(), made.to_string(), made.artifact()));
    let real = real().into_iter().map(|(name, bytes)| {
        let release = name.split('/').next().unwrap_or_default().to_owned();
        (release, name, bytes)
    });
    let case = |(contract, name, artifact): (String, String, Bytes)| {
        let plain = Artifact::read(artifact.clone()).unwrap().write(&Form::PLAIN).unwrap().into();
        Case { name, artifact, plain, contract }
    };
    real.chain(made).map(case).collect()
}

fn contract(release: &str) -> Contract {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/released");
    let set = fs::read(folder.join(format!("{release}.fds"))).unwrap();
    let spec = policy::built_in().unwrap().contract;
    SourceClosure::from_descriptor_set(&set).unwrap().contract(&spec).unwrap()
}

/// Does it `count` times.
fn run(operation: &str, case: &Case, contract: &Contract, count: usize) -> u128 {
    let decode = || view::decode(&case.plain, contract, ROOT, view::Limits::default()).unwrap();
    let held = (operation == "canonical").then(decode);
    let start = Instant::now();
    for _ in 0..count {
        match operation {
            "memcpy" => drop(black_box(case.artifact.to_vec())),
            "open" => drop(black_box(Artifact::read(case.artifact.clone()).unwrap())),
            "typed" => {
                let artifact = Artifact::read(case.plain.clone()).unwrap();
                drop(black_box(artifact.decode().unwrap()));
            }
            "view" => drop(black_box(decode())),
            "canonical" => drop(black_box(held.as_ref().unwrap().canonical())),
            // Another reader of record files, where the outermost layer is one.
            "riegeli" => {
                let file = Cursor::new(&case.artifact[..]);
                let mut reader = riegeli::RecordReader::new(file, Default::default()).unwrap();
                while let Some(record) = reader.read_record().unwrap() {
                    drop(black_box(record));
                }
            }
            other => panic!("no operation {other}"),
        }
    }
    start.elapsed().as_nanos()
}

/// The most memory that the process had, in bytes, since the last call with `true`.
fn peak(reset: bool) -> u64 {
    if reset {
        fs::write("/proc/self/clear_refs", "5").unwrap();
    }
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["peak", operation, case] => {
            let cases = cases();
            let case = &cases[case.parse::<usize>().unwrap()];
            let contract = contract(&case.contract);
            let before = peak(true);
            run(operation, case, &contract, 1);
            println!("{}", peak(false) - before);
        }
        [folder] => serve(Path::new(folder)),
        _ => println!("run tests/bench/compare_with_upb.sh"),
    }
}

fn serve(folder: &Path) {
    let cases = cases();
    let contracts: Vec<Contract> = cases.iter().map(|case| contract(&case.contract)).collect();
    for (number, case) in cases.iter().enumerate() {
        fs::write(folder.join(format!("{number}.binpb")), &case.plain).unwrap();
        let record_file = case.artifact.starts_with(&[0x83, 0xaf, 0x70, 0xd1]);
        println!("{}\t{}\t{record_file}\t{}", case.contract, case.artifact.len(), case.name);
    }
    println!();
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let [operation, case, count] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("OPERATION CASE COUNT")
        };
        let case: usize = case.parse().unwrap();
        println!("{}", run(operation, &cases[case], &contracts[case], count.parse().unwrap()));
    }
}
