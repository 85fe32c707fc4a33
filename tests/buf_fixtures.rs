//! buf's public breaking-change fixtures: wherever its WIRE category reports, so do we. Opt-in, since neither
//! buf nor its test data belongs to this repository; `tests/bench/buf_fixtures.sh` makes the folder:
//!
//! ```sh
//! export AOTGATE_BUF_FIXTURES=/path/to/folder   # expected.json, fds/<name>.{previous,current}.binpb
//! cargo test --test buf_fixtures -- --ignored --nocapture
//! ```

use std::collections::BTreeMap;
use std::path::PathBuf;

use aotgate::finding::{Finding, Level};
use aotgate::gate::{Gate, PolicyFile, Request};
use aotgate::revision::RevisionSpec;
use aotgate::triage::NoHistory;

/// Rules whose annotations we deliberately do not report, with the reason.
const OUTSIDE: &[(&str, &str)] = &[
    ("RPC_SAME_", "services are no part of a serialized artifact"),
    ("FILE_SAME_PACKAGE", "a package is no part of the binary wire; the types are matched across packages"),
];

#[test]
#[ignore = "needs AOTGATE_BUF_FIXTURES"]
fn wire_category_is_covered() {
    let dir = PathBuf::from(std::env::var("AOTGATE_BUF_FIXTURES").expect("set AOTGATE_BUF_FIXTURES"));
    let text = std::fs::read_to_string(dir.join("expected.json")).unwrap();
    let expected: BTreeMap<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
    let (mut covered, mut outside, mut missing) = (0, BTreeMap::new(), Vec::new());
    for (name, rules) in &expected {
        let findings = judge(&dir, name);
        for annotation in rules["WIRE"].as_array().unwrap() {
            let rule = annotation["rule"].as_str().unwrap();
            if let Some((_, reason)) = OUTSIDE.iter().find(|(prefix, _)| rule.starts_with(prefix)) {
                *outside.entry(*reason).or_insert(0) += 1;
                continue;
            }
            let path = annotation["path"].as_str().unwrap_or_default();
            let line = annotation["line"].as_u64().unwrap_or(0);
            if findings.iter().any(|f| f.level >= Level::Warning && stands_at(f, path, line)) {
                covered += 1;
            } else {
                missing.push(format!("{name} {path}:{line} {rule}: {}", annotation["message"]));
            }
        }
    }
    println!("{} fixtures, {covered} WIRE annotations covered", expected.len());
    for (reason, count) in outside {
        println!("{count} not reported: {reason}");
    }
    for line in &missing {
        println!("MISSING {line}");
    }
    assert!(missing.is_empty(), "{} annotations without a finding", missing.len());
    assert_eq!(expected.len(), 58);
}

/// Whether a finding points at the line, or at something around it.
fn stands_at(finding: &Finding, path: &str, line: u64) -> bool {
    finding.locations.iter().any(|l| {
        &*l.location.file == path
            && u64::from(l.location.line) <= line
            && line <= u64::from(l.location.end_line)
    })
}

fn judge(dir: &std::path::Path, name: &str) -> Vec<Finding> {
    let set = |side: &str| RevisionSpec::DescriptorSet(dir.join(format!("fds/{name}.{side}.binpb")));
    let request = Request {
        base: set("previous"),
        head: set("current"),
        today: "2026-11-29".parse().unwrap(),
        policy: Some(PolicyFile {
            in_tree: None,
            path: "everything".to_owned(),
            text: "[[contract.root]]\nmessage = \"*\"\nfiles = [\"unused\"]\n".to_owned(),
        }),
        strict: true,
        attestations: Vec::new(),
    };
    match Gate::new(None).check(&request, &NoHistory) {
        Ok(judgement) => judgement.findings,
        Err(error) => {
            println!("{name}: {error}");
            Vec::new()
        }
    }
}
