//! Every renderer over the same judgements.
#![allow(clippy::panic, clippy::unwrap_used)] // helpers of tests are tests too

mod ci;
mod fixtures;
mod schemas;

use aotgate::descriptor::{Contract, ContractSpec, RootSpec, SourceClosure};
use aotgate::finding::SideInfo;
use aotgate::report::diff;
use aotgate::report::human::{self, Style};
use aotgate::report::json::{self, Layout};
use aotgate::report::snapshot;

/// Nothing that a terminal could act on.
fn assert_harmless(text: &str) {
    let bad = text.chars().find(|&c| c != '\n' && aotgate::report::text::is_hostile(c));
    assert_eq!(bad, None, "in {text}");
}

#[test]
fn json_documents() {
    insta::assert_snapshot!(json::render(&fixtures::failing(), Layout::Pretty));
    let many = json::render(&fixtures::many(), Layout::Line);
    assert_eq!(many.lines().count(), 1);
    let value: serde_json::Value = serde_json::from_str(&many).unwrap();
    assert_eq!(value["findings"][15]["satisfied_by"]["kind"], "attestation");
    assert_eq!(value["findings"][16]["satisfied_by"]["expires"], "2026-07-01");
    assert_eq!(value["findings"][0]["locations"][0]["line"], serde_json::Value::Null);
}

#[test]
fn json_keeps_hostile_text_and_escapes_it() {
    let text = json::render(&fixtures::hostile(), Layout::Line);
    assert_harmless(&text);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["findings"][0]["message"], fixtures::HOSTILE);
    let error = json::error("abc", fixtures::HOSTILE, Layout::Line);
    insta::assert_snapshot!(error);
}

#[test]
fn human_reports() {
    let style = Style::default();
    insta::assert_snapshot!("human_failing", human::render(&fixtures::failing(), &style));
    insta::assert_snapshot!("human_passing", human::render(&fixtures::passing(), &style));
    insta::assert_snapshot!("human_many", human::render(&fixtures::many(), &style));
    let narrow = Style { width: 60, unicode: false, ..style };
    insta::assert_snapshot!("human_narrow_ascii", human::render(&fixtures::failing(), &narrow));
    let verbose = Style { verbose: true, ..style };
    let text = human::render(&fixtures::many(), &verbose);
    assert_eq!(text.matches("note[field-removed]").count(), 30);
}

#[test]
fn human_is_harmless() {
    let text = human::render(&fixtures::hostile(), &Style::default());
    assert_harmless(&text);
    insta::assert_snapshot!(text);
}

#[test]
fn human_colors_only_when_asked() {
    let style = Style { color: true, ..Style::default() };
    assert!(human::render(&fixtures::failing(), &style).contains("\u{1b}["));
}

fn released(name: &str) -> Contract {
    let path = format!("{}/tests/data/released/{name}.fds", env!("CARGO_MANIFEST_DIR"));
    let closure = SourceClosure::from_descriptor_set(&std::fs::read(path).unwrap()).unwrap();
    let root = RootSpec { message: "xla.gpu.GpuExecutableProto".to_owned(), files: Vec::new() };
    closure.contract(&ContractSpec { roots: vec![root], ..ContractSpec::default() }).unwrap()
}

#[test]
fn diffs() {
    let (base, head) = (fixtures::base_contract(), fixtures::head_contract());
    let changes = fixtures::changes(&base, &head);
    let input = diff::Input {
        base: &fixtures::side("f6a7b8c9d0", "2026-05-30", &base),
        head: &fixtures::side("a1b2c3d4e5", "2026-06-01", &head),
        changes: &changes,
        base_contract: &base,
        head_contract: &head,
    };
    insta::assert_snapshot!("diff_json", diff::json(&input, Layout::Pretty));
    insta::assert_snapshot!("diff_human", diff::render(&input, &Style::default()));
    let none = diff::Input { changes: &[], ..input };
    insta::assert_snapshot!("diff_human_empty", diff::render(&none, &Style::default()));
}

#[test]
fn diff_of_two_releases_reads_well() {
    let (base, head) = (released("0.10.1"), released("0.12.0"));
    let changes = fixtures::changes(&base, &head);
    let input = diff::Input {
        base: &fixtures::side("0.10.1", "2026-05-18", &base),
        head: &fixtures::side("0.12.0", "2026-10-16", &head),
        changes: &changes,
        base_contract: &base,
        head_contract: &head,
    };
    insta::assert_snapshot!(diff::render(&input, &Style::default()));
}

#[test]
fn snapshots() {
    let contract = fixtures::head_contract();
    let side = fixtures::side("a1b2c3d4e5", "2026-06-01", &contract);
    insta::assert_snapshot!("snapshot_json", snapshot::json(&side, &contract, Layout::Pretty));
    insta::assert_snapshot!(
        "snapshot_human",
        snapshot::render(&side, &contract, &Style::default())
    );
    let release = released("0.12.0");
    let side = fixtures::side("0.12.0", "2026-10-16", &release);
    insta::assert_snapshot!(
        "snapshot_human_release",
        snapshot::render(&side, &release, &Style::default())
    );
    let verbose = Style { verbose: true, ..Style::default() };
    insta::assert_snapshot!(
        "snapshot_human_release_verbose",
        snapshot::render(&side, &release, &verbose)
    );
    let empty = Contract::empty();
    let side = fixtures::side("EMPTY", "2026-10-16", &empty);
    insta::assert_snapshot!(
        "snapshot_human_empty",
        snapshot::render(&side, &empty, &Style::default())
    );
}

#[test]
fn contracts_with_hostile_names_are_harmless() {
    let base = fixtures::hostile_contract("A\u{9b}31m").unwrap();
    let head = fixtures::hostile_contract("B\u{1b}[31m").unwrap();
    let changes = fixtures::changes(&base, &head);
    assert!(!changes.is_empty());
    let side = |contract| SideInfo {
        revision: fixtures::HOSTILE.to_owned(),
        ..fixtures::side("", "2026-01-01", contract)
    };
    let input = diff::Input {
        base: &side(&base),
        head: &side(&head),
        changes: &changes,
        base_contract: &base,
        head_contract: &head,
    };
    let style = Style::default();
    for text in [
        diff::render(&input, &style),
        diff::json(&input, Layout::Pretty),
        snapshot::render(&side(&head), &head, &style),
        snapshot::json(&side(&head), &head, Layout::Pretty),
    ] {
        assert_harmless(&text);
    }
}
