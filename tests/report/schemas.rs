//! Rendered documents against the schemas that the tool ships.

use aotgate::change::ChangeKind;
use aotgate::finding::SideInfo;
use aotgate::report::json::{self, Layout};
use aotgate::report::{diff, schema, snapshot};
use boon::{Compiler, Schemas};
use serde_json::Value;

use crate::fixtures;

fn assert_valid(name: &str, text: &str) {
    let mut compiler = Compiler::new();
    let document: Value = serde_json::from_str(schema::schema(name).unwrap()).unwrap();
    let url = document["$id"].as_str().unwrap().to_owned();
    compiler.add_resource(&url, document).unwrap();
    let mut schemas = Schemas::new();
    let index = compiler.compile(&url, &mut schemas).unwrap();
    let value: Value = serde_json::from_str(text).unwrap();
    if let Err(error) = schemas.validate(&value, index) {
        panic!("{name}: {error:#}");
    }
    // A key that the schema does not know is refused.
    let mut extended = value;
    extended["surprise"] = Value::Null;
    assert!(schemas.validate(&extended, index).is_err(), "{name} accepts unknown keys");
}

#[test]
fn check_documents_are_valid() {
    for judgement in
        [fixtures::failing(), fixtures::passing(), fixtures::many(), fixtures::hostile()]
    {
        assert_valid("aotgate.check/1", &json::render(&judgement, Layout::Pretty));
    }
    assert_valid("aotgate.check/1", &json::error("abc", "no such commit", Layout::Line));
}

#[test]
fn diff_documents_are_valid() {
    let pairs = [
        (fixtures::base_contract(), fixtures::head_contract()),
        (crate::released("0.10.1"), crate::released("0.12.0")),
        (crate::released("0.12.0"), crate::released("0.10.0")),
    ];
    for (base, head) in &pairs {
        let side =
            |contract| SideInfo { date: None, ..fixtures::side("x", "2026-01-01", contract) };
        // Unreachable changes too.
        let input = diff::Input {
            base: &side(base),
            head: &side(head),
            changes: &aotgate::change::compare(base, head),
            base_contract: base,
            head_contract: head,
        };
        assert_valid("aotgate.diff/1", &diff::json(&input, Layout::Pretty));
    }
}

#[test]
fn snapshot_documents_are_valid() {
    for contract in [fixtures::head_contract(), crate::released("0.12.0")] {
        let side = fixtures::side("x", "2026-01-01", &contract);
        assert_valid("aotgate.snapshot/1", &snapshot::json(&side, &contract, Layout::Line));
    }
}

#[test]
fn the_diff_schema_knows_every_kind() {
    let schema: Value = serde_json::from_str(schema::schema("diff").unwrap()).unwrap();
    let kinds: Vec<&str> = ChangeKind::ALL.iter().map(|k| k.name()).collect();
    assert_eq!(schema["$defs"]["change"]["properties"]["kind"]["enum"], serde_json::json!(kinds));
}
