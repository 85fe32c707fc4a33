//! The command as users run it.

use std::collections::BTreeMap;
use std::process::{Command, Output};

use git2::Oid;
use serde_json::Value;

use crate::repository::Project;

const POLICY: &str =
    "[contract]\n[[contract.root]]\nmessage = \"p.Root\"\nfiles = [\"a/root.proto\"]\n";

fn project() -> (Project, Vec<Oid>) {
    let mut project = Project::new();
    let mut chain: Vec<Oid> = Vec::new();
    for (body, message) in [
        ("int32 a = 1; int32 old = 2;", "Add the contract"),
        ("int32 a = 1;", "PR #12: Remove old"),
        ("int32 a = 1; string fresh = 2;", "Add fresh"),
        ("int32 a = 1;", "Reverts"),
    ] {
        let text = format!("syntax = \"proto3\";\npackage p;\nmessage Root {{ {body} }}\n");
        let files: BTreeMap<_, _> = [
            ("a/root.proto".to_owned(), text),
            ("policy/aotgate.toml".to_owned(), POLICY.to_owned()),
        ]
        .into();
        let parents: Vec<Oid> = chain.last().copied().into_iter().collect();
        let message = match message {
            "Reverts" => format!("Reverts {}", chain[2]),
            other => other.to_owned(),
        };
        chain.push(project.commit(&files, &parents, &message));
    }
    project.head(*chain.last().unwrap());
    (project, chain)
}

fn aotgate(project: &Project, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_aotgate"))
        .arg("history")
        .args(arguments)
        .args(["--repo", project.dir.path().to_str().unwrap()])
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100")
        .env_remove("AOTGATE_CACHE_DIR")
        .output()
        .unwrap()
}

fn text(project: &Project, arguments: &[&str]) -> String {
    let output = aotgate(project, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn commits_constructs_and_reuses_read_well() {
    let (project, chain) = project();
    let short = |text: String| {
        chain.iter().enumerate().fold(text, |text, (at, id)| {
            text.replace(&id.to_string(), &format!("<id {at}>"))
                .replace(&id.to_string()[..10], &format!("<commit {at}>"))
        })
    };
    let parts = [
        text(&project, &[]),
        text(&project, &["--construct", "p.Root"]),
        text(&project, &["--construct", "p.Root.old"]),
        text(&project, &["--reuses"]),
    ];
    insta::assert_snapshot!("history", short(parts.join("\n----\n")));
    let second: Vec<&str> = vec![];
    assert_eq!(text(&project, &second), parts[0]);
    assert!(project.dir.path().join("aotgate").is_dir());
}

#[test]
fn documents_keep_to_the_schema() {
    let (project, chain) = project();
    let schema: Value =
        serde_json::from_str(aotgate::report::schema::schema("history").unwrap()).unwrap();
    let url = schema["$id"].as_str().unwrap().to_owned();
    let mut compiler = boon::Compiler::new();
    compiler.add_resource(&url, schema).unwrap();
    let mut schemas = boon::Schemas::new();
    let index = compiler.compile(&url, &mut schemas).unwrap();
    for arguments in [&[][..], &["--construct", "p.**"], &["--reuses"]] {
        let arguments = [arguments, &["--format", "json", "--no-cache"]].concat();
        let value: Value = serde_json::from_str(&text(&project, &arguments)).unwrap();
        if let Err(error) = schemas.validate(&value, index) {
            panic!("{arguments:?}: {error:#}");
        }
    }
    let all: Value = serde_json::from_str(&text(&project, &["--format", "json"])).unwrap();
    assert_eq!(all["commits"][0]["undoes"][0]["commit"], chain[2].to_string());
    assert_eq!(all["commits"][1]["undone_by"][0], chain[3].to_string());
    let range = format!("{}..{}", chain[1], chain[2]);
    let some: Value = serde_json::from_str(&text(&project, &[&range, "--format", "json"])).unwrap();
    assert_eq!(some["commits"].as_array().unwrap().len(), 1);
}

#[test]
fn caches_are_kept_or_not_as_asked() {
    let (project, _) = project();
    text(&project, &["--no-cache"]);
    assert!(!project.dir.path().join("aotgate").exists());
    let dir = tempfile::tempdir().unwrap();
    text(&project, &["--cache-dir", dir.path().to_str().unwrap()]);
    assert!(!project.dir.path().join("aotgate").exists());
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    let verified = aotgate(&project, &["--verify", "--cache-dir", dir.path().to_str().unwrap()]);
    assert!(verified.status.success());
    let said = String::from_utf8(verified.stderr).unwrap();
    assert_eq!(said, "the index says what the commits say\n");
}

#[test]
fn mistakes_name_the_way_out() {
    let (project, _) = project();
    for (arguments, message) in [
        (&["--construct", "p.Nothing"][..], "'p.Nothing' is no construct of this history"),
        (&["main...HEAD"], "write `A..B`"),
        (&["--format", "sarif"], "use one of: human, json"),
        (&["nowhere"], "'nowhere' is no revision"),
    ] {
        let output = aotgate(&project, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(message), "{arguments:?}: {said}");
    }
}
