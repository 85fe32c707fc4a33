//! The contract read from sources equals the one that protoc makes of the same files.
#![allow(clippy::panic, clippy::print_stdout, clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use aotgate::descriptor::{
    Contract, ContractSpec, Enum, Field, Message, Oneof, ParseCache, SourceClosure,
};
use aotgate::revision::{Repository, Revision, RevisionSpec};

/// Compiles files with protoc and reads the result as a descriptor set.
fn protoc(includes: &[&Path], files: &[String], spec: &ContractSpec) -> Contract {
    let out = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new(protoc_bin_vendored::protoc_bin_path().unwrap());
    command.args(includes.iter().map(|dir| format!("-I{}", dir.display())));
    command.arg(format!("-I{}", protoc_bin_vendored::include_path().unwrap().display()));
    command.arg("--include_imports").arg(format!("--descriptor_set_out={}", out.path().display()));
    let result = command.args(files).output().unwrap();
    assert!(result.status.success(), "protoc: {}", String::from_utf8_lossy(&result.stderr));
    let bytes = std::fs::read(out.path()).unwrap();
    SourceClosure::from_descriptor_set(&bytes).unwrap().contract(spec).unwrap()
}

/// Every fact of the model but places, one line each. `google/protobuf` comes from two protobuf
/// versions and is left out.
fn facts(contract: &Contract) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let foreign = |name: &str| name.starts_with("google.protobuf.") || name.starts_with("pb.");
    let roots: Vec<_> = contract.roots.iter().filter(|n| !foreign(n)).collect();
    facts.insert("roots".to_owned(), format!("{roots:?} {:?}", contract.json_roots));
    for message in contract.messages.values().filter(|m| !foreign(&m.name)) {
        let Message {
            name,
            fields,
            oneofs,
            reserved_numbers,
            reserved_names,
            extension_ranges,
            map_entry,
            message_set,
            reach,
            place: _,
            ..
        } = &**message;
        let oneofs: Vec<_> = oneofs.iter().map(|Oneof { name, place: _ }| name).collect();
        facts.insert(format!("message {name}"), format!(
            "oneofs {oneofs:?} reserved {reserved_numbers:?} {reserved_names:?} extensions {extension_ranges:?} \
             map_entry {map_entry} message_set {message_set} {reach:?}"
        ));
        for field in fields {
            let Field {
                name: field_name,
                number,
                ty,
                label,
                presence,
                oneof,
                packed,
                default,
                json_name,
                deprecated,
                verify_utf8,
                delimited,
                closed_enum,
                place: _,
            } = field;
            facts.insert(format!("field {name}.{field_name}"), format!(
                "{number} {ty} {label:?} {presence:?} oneof {oneof:?} packed {packed} default {default:?} \
                 json {json_name:?} deprecated {deprecated} utf8 {verify_utf8} delimited {delimited} closed {closed_enum}"
            ));
        }
    }
    for enumeration in contract.enums.values().filter(|e| !foreign(&e.name)) {
        let Enum {
            name, values, closed, reserved_numbers, reserved_names, reach, place: _, ..
        } = &**enumeration;
        let values: Vec<_> = values.iter().map(|v| (&v.name, v.number)).collect();
        facts.insert(format!("enum {name}"), format!(
            "closed {closed} {values:?} reserved {reserved_numbers:?} {reserved_names:?} {reach:?}"
        ));
    }
    facts
}

/// What differs, `ours` first.
fn differences(ours: &Contract, theirs: &Contract) -> Vec<String> {
    let (ours, theirs) = (facts(ours), facts(theirs));
    let mut lines = Vec::new();
    for key in ours.keys().chain(theirs.keys().filter(|k| !ours.contains_key(*k))) {
        let (a, b) = (ours.get(key), theirs.get(key));
        if a != b {
            let text = |fact: Option<&String>| fact.map_or("-", |f| f).to_owned();
            lines.push(format!("{key}\n    aotgate {}\n    protoc  {}", text(a), text(b)));
        }
    }
    lines
}

fn assert_parity(dir: &Path, least: usize) {
    let files = common::directory(dir);
    let names: Vec<String> = files.0.keys().cloned().collect();
    let spec = common::everything(names.clone());
    let ours = files.contract(&spec).unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    let theirs = protoc(&[dir], &names, &spec);
    let differences = differences(&ours, &theirs);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(facts(&ours).len() >= least, "{}", facts(&ours).len());
    if !ours.messages.keys().any(|n| n.starts_with("google.protobuf.")) {
        assert_eq!(ours.fingerprint(), theirs.fingerprint());
    }
}

#[test]
fn own_protos() {
    assert_parity(&Path::new(env!("CARGO_MANIFEST_DIR")).join("proto"), 1000);
}

#[test]
fn edge_cases() {
    assert_parity(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parity"), 200);
}

/// XLA's closure at twenty dates.
#[test]
#[ignore = "needs AOTGATE_XLA_REPO, a git directory with XLA's history"]
fn real_history() {
    let Some(dir) = std::env::var_os("AOTGATE_XLA_REPO") else {
        println!("skipped: set AOTGATE_XLA_REPO");
        return;
    };
    let repository = Repository::discover(Path::new(&dir)).unwrap();
    let spec = common::xla();
    let mut cache = ParseCache::default();
    let mut failed = 0;
    for date in DATES {
        let output = Command::new("git")
            .args(["rev-list", "-1", "--first-parent"])
            .args([&format!("--before={date}T00:00:00Z"), "HEAD"])
            .current_dir(&dir)
            .output()
            .unwrap();
        let sha = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        let revision = Revision::open(&RevisionSpec::Git(sha.clone()), Some(&repository)).unwrap();
        let start = std::time::Instant::now();
        let closure = match revision.closure(&spec, &mut cache) {
            Ok(closure) => closure,
            Err(error) => {
                failed += 1;
                println!("{date} {:.10} cannot be read: {:?}", sha, miette::Report::new(error));
                continue;
            }
        };
        let ours = closure.contract(&spec).unwrap();
        let elapsed = start.elapsed();

        // The same files for protoc, below the include roots that they were found in.
        let checkout = tempfile::tempdir().unwrap();
        let mut names = Vec::new();
        for file in ours.files.iter().filter(|f| f.source.is_some()) {
            let path = checkout.path().join(&*file.path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, file.source.as_deref().unwrap()).unwrap();
            names.push(file.name.to_string());
        }
        let tsl = checkout.path().join("third_party/tsl");
        let mut includes = vec![checkout.path()];
        if tsl.exists() {
            includes.push(&tsl);
        }
        let theirs = protoc(&includes, &names, &spec);
        let differences = differences(&ours, &theirs);
        let verdict = if differences.is_empty() { "equal" } else { "DIFFERENT" };
        println!(
            "{date} {sha:.10} {verdict}: {} files, {} facts, {elapsed:.1?}",
            names.len(),
            facts(&ours).len(),
        );
        for line in &differences {
            println!("  {line}");
        }
        failed += usize::from(!differences.is_empty());
    }
    assert_eq!(failed, 0, "dates that differ");
}

const DATES: [&str; 20] = [
    "2025-06-01",
    "2025-06-22",
    "2025-07-15",
    "2025-08-05",
    "2025-08-27",
    "2025-09-18",
    "2025-10-10",
    "2025-11-01",
    "2025-11-15",
    "2025-12-05",
    "2025-12-27",
    "2026-01-18",
    "2026-02-08",
    "2026-03-01",
    "2026-03-24",
    "2026-04-15",
    "2026-05-08",
    "2026-06-01",
    "2026-07-01",
    "2026-08-07",
];
