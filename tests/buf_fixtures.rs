//! buf's public breaking-change fixtures: wherever its WIRE category reports, so do we. Opt-in, since neither
//! buf nor its test data belongs to this repository; `tests/bench/buf_fixtures.sh` makes the folder:
//!
//! ```sh
//! export AOTGATE_BUF_FIXTURES=/path/to/folder   # expected.json, fds/<name>.{previous,current}.binpb
//! cargo test --test buf_fixtures -- --ignored --nocapture
//! ```
#![allow(clippy::expect_used, clippy::print_stdout, clippy::unwrap_used)] // a test and its report

use std::collections::BTreeMap;
use std::path::PathBuf;

use aotgate::finding::{Finding, Level};
use aotgate::gate::{Gate, PolicyFile, Request};
use aotgate::revision::RevisionSpec;
use aotgate::triage::NoHistory;

/// Annotations that we deliberately do not report: where, rule, message, and the reason.
const OUTSIDE: &[(&str, &str, &str, &str)] = &[
    ("", "RPC_SAME_", "", "services are no part of a serialized artifact"),
    ("", "FILE_SAME_PACKAGE", "", "no part of the binary wire; types are matched across packages"),
    (
        "",
        "FIELD_SAME_ONEOF",
        "moved from oneof \"bar\" to oneof \"baz\"",
        "bar, with this one member, is called baz now",
    ),
    (
        "",
        "MESSAGE_SAME_REQUIRED_FIELDS",
        "\"Ten2\" had required field \"2\" deleted",
        "it is still required, by the feature LEGACY_REQUIRED",
    ),
    (
        "breaking_int_enum",
        "FIELD_WIRE_COMPATIBLE_TYPE",
        "",
        "int32 and an open enum are the same on the wire",
    ),
    (
        "breaking_field_same_default",
        "",
        "from \"bytes\" to \"string\"",
        "C++ does not validate strings of proto2 files",
    ),
    (
        "",
        "FIELD_WIRE_COMPATIBLE_TYPE",
        ".Bam\" to \"a.WithIncompatibleEnums.Ban",
        "the enum and the prefix of its values were renamed, the numbers kept",
    ),
];

/// Findings about what an annotation is about, where ours stands at the enum value and buf's at the field.
const ELSEWHERE: &[(&str, &str)] = &[
    ("\"a.Bar\" to \"a.WithIncompatibleEnums.Bar\"", "a.WithIncompatibleEnums.Bar.BAR_TWO"),
    ("\"a.WithIncompatibleEnums.Bat\" to \"a.Bat\"", "a.Bat.BAT_TWO"),
    ("\"a.Bar\" to \"a.Bat\"", "a.Bat.BAT_TWO"),
];

#[test]
#[ignore = "needs AOTGATE_BUF_FIXTURES"]
fn wire_category_is_covered() {
    let dir =
        PathBuf::from(std::env::var("AOTGATE_BUF_FIXTURES").expect("set AOTGATE_BUF_FIXTURES"));
    let text = std::fs::read_to_string(dir.join("expected.json")).unwrap();
    let expected: BTreeMap<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
    let (mut covered, mut outside, mut missing) = (0, BTreeMap::new(), Vec::new());
    for (name, rules) in &expected {
        let findings = judge(&dir, name);
        for annotation in rules["WIRE"].as_array().unwrap() {
            let rule = annotation["rule"].as_str().unwrap();
            let message = annotation["message"].as_str().unwrap();
            let reason = OUTSIDE.iter().find(|(fixture, of, part, _)| {
                name.starts_with(fixture) && rule.starts_with(of) && message.contains(part)
            });
            if let Some((.., reason)) = reason {
                *outside.entry(*reason).or_insert(0) += 1;
                continue;
            }
            let elsewhere = ELSEWHERE.iter().find(|(part, _)| message.contains(part));
            let path = annotation["path"].as_str().unwrap_or_default();
            let line = annotation["line"].as_u64().unwrap_or(0);
            let end = annotation["end_line"].as_u64().unwrap_or(line);
            let covers = |f: &Finding| match elsewhere {
                Some((_, construct)) => f.construct == *construct,
                None => stands_at(f, path, line, end),
            };
            if findings.iter().any(|f| f.level >= Level::Warning && covers(f)) {
                covered += 1;
            } else {
                missing.push(format!("{name} {path}:{line} {rule}: {message}"));
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

/// Whether a finding points into the lines, or at something around them.
fn stands_at(finding: &Finding, path: &str, line: u64, end: u64) -> bool {
    finding.locations.iter().any(|l| {
        let (from, to) = (u64::from(l.location.line), u64::from(l.location.end_line));
        &*l.location.file == path && from <= end && line <= to
    })
}

fn judge(dir: &std::path::Path, name: &str) -> Vec<Finding> {
    let set =
        |side: &str| RevisionSpec::DescriptorSet(dir.join(format!("fds/{name}.{side}.binpb")));
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
        goldens: aotgate::golden::Selection::None,
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
