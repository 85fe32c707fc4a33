//! The two commands as users run them.

use std::path::Path;
use std::process::{Command, Output};

use aotgate::report::schema;
use boon::{Compiler, Schemas};
use serde_json::Value;

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_aotgate"))
        .args(["artifact"])
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data"))
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn valid(name: &str, output: &Output) -> Value {
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut compiler = Compiler::new();
    let document: Value = serde_json::from_str(schema::schema(name).unwrap()).unwrap();
    let url = document["$id"].as_str().unwrap().to_owned();
    compiler.add_resource(&url, document).unwrap();
    let mut schemas = Schemas::new();
    let index = compiler.compile(&url, &mut schemas).unwrap();
    if let Err(error) = schemas.validate(&value, index) {
        panic!("{name}: {error:#}");
    }
    value
}

#[test]
fn lint_says_where_a_payload_is_stored_twice() {
    let output = run(&["lint", "artifacts/0.10.1/constants.bin"]);
    assert_eq!(code(&output), 1);
    insta::assert_snapshot!("lint_human", text(&output));
    let json = run(&["lint", "artifacts/0.10.1/constants.bin", "--format", "json"]);
    let value = valid("lint", &json);
    let finding = &value["files"][0]["findings"][0];
    assert_eq!(finding["rule"], "payload-stored-twice");
    assert_eq!(finding["bytes"], 1024);
}

#[test]
fn lint_exits_by_the_worst_file() {
    assert_eq!(code(&run(&["lint", "artifacts/0.12.0/add_mul.bin"])), 0);
    let output = run(&["lint", "artifacts/0.12.0/add_mul.bin", "README.md", "--format", "json"]);
    assert_eq!(code(&output), 2);
    let value = valid("lint", &output);
    assert_eq!(value["files"][0]["error"], Value::Null);
    assert!(value["files"][1]["error"].is_string());
    assert_eq!(code(&run(&["lint", "artifacts", "artifacts/0.12.0/add_mul.bin"])), 2);
    assert_eq!(code(&run(&["lint", "artifacts/0.12.0/add_mul.bin", "--format", "junit"])), 2);
}

#[test]
fn compat_answers_for_each_runtime() {
    let arguments = ["compat", "artifacts/0.10.1/add_mul.bin", "--runtime", "released"];
    let output = run(&arguments);
    assert_eq!(code(&output), 1);
    insta::assert_snapshot!("compat_human", text(&output));
    let json = [&arguments[..], &["--format", "json", "--emitted-at", "2026-05-18"]].concat();
    let value = valid("compat", &run(&json));
    assert_eq!(value["minimum_runtime"], "released/0.10.1.fds");
    assert_eq!(value["emitted"]["promised_until"], "2026-11-18");
    let verdicts: Vec<&str> = value["runtimes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|runtime| runtime["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["reads-differently", "reads", "refused", "refused"]);
}

#[test]
fn compat_exits_by_its_answer() {
    let ask = |artifact: &str, more: &[&str]| {
        let artifact = format!("artifacts/{artifact}.bin");
        code(&run(&[&["compat", &artifact][..], more].concat()))
    };
    let new = ["--runtime", "released/0.12.0.fds"];
    assert_eq!(ask("0.11.2/fft", &new), 0);
    assert_eq!(ask("0.10.1/fft", &new), 1);
    assert_eq!(ask("0.12.0/fft_that_is_not_there", &new), 2);
    assert_eq!(ask("0.11.2/fft", &["--runtime", "artifacts"]), 2);
    assert_eq!(ask("0.11.2/fft", &["--runtime", "released/9.9.9.fds"]), 2);
    let writer = ["--writer", "released/0.12.0.fds"];
    assert_eq!(ask("0.12.0/add_mul", &[&new[..], &writer].concat()), 0);
    // A schema whose release nobody can tell: the containers are not known.
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("plugin.fds");
    let set = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/released/0.12.0.fds");
    std::fs::copy(set, &copy).unwrap();
    assert_eq!(ask("0.11.2/fft", &["--runtime", copy.to_str().unwrap()]), 2);
}

#[test]
fn rules_are_explained() {
    let output = Command::new(env!("CARGO_BIN_EXE_aotgate"))
        .args(["explain", "slice-out-of-bounds"])
        .output()
        .unwrap();
    assert_eq!(code(&output), 0);
    assert!(text(&output).contains("## Why it matters"));
}
