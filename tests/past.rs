//! `check` on small histories: what numbers were before, rollouts, dates that lie, and clones without a past.
#![allow(clippy::panic, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const POLICY: &str = r#"
[[contract.root]]
message = "m.Root"
files = ["m.proto"]

[goldens]
paths = ["golden"]

[rollout]
file = "rollouts.toml"
"#;

/// A repository whose one message changes.
struct Project {
    dir: PathBuf,
    _temporary: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let project = Project { dir: temporary.path().join("p"), _temporary: temporary };
        std::fs::create_dir(&project.dir).unwrap();
        project.git("2026-01-01", &["init", "-q", "-b", "main"]);
        project.write("aotgate.toml", POLICY);
        project.land("2026-01-01", "int64 first = 1;");
        project
    }

    fn git(&self, date: &str, arguments: &[&str]) -> String {
        let date = format!("{date}T12:00:00 +0000");
        let output = Command::new("git")
            .current_dir(&self.dir)
            .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"])
            .args(arguments)
            .env("GIT_COMMITTER_DATE", &date)
            .env("GIT_AUTHOR_DATE", &date)
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.dir.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Commits the message with these fields.
    fn land(&self, date: &str, fields: &str) {
        let text = format!("syntax = \"proto3\";\npackage m;\nmessage Root {{\n{fields}\n}}\n");
        self.write("m.proto", &text);
        self.git(date, &["add", "-A"]);
        self.git(date, &["commit", "-q", "--allow-empty", "-m", fields]);
    }

    fn run(dir: &Path, arguments: &[&str]) -> (String, i32) {
        let output = Command::new(env!("CARGO_BIN_EXE_aotgate"))
            .current_dir(dir)
            .args(arguments)
            .env_remove("AOTGATE_CACHE_DIR")
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        (if text.is_empty() { error } else { text }, output.status.code().unwrap())
    }

    /// What the last commit is judged to be, as of a day.
    fn judged(&self, today: &str) -> Value {
        let arguments = ["check", "--base", "HEAD~1", "--head", "HEAD", "--today", today];
        let (text, _) = Project::run(&self.dir, &[&arguments[..], &["--format", "json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}

fn finding<'d>(document: &'d Value, check: &str) -> Option<&'d Value> {
    document["findings"].as_array().unwrap().iter().find(|f| f["check"] == check)
}

fn dates(finding: &Value) -> Vec<&str> {
    let evidence = finding["evidence"].as_array().unwrap();
    evidence.iter().filter_map(|e| e["date"].as_str()).collect()
}

const REUSED: &str = "number-reused-from-history";

#[test]
fn a_number_that_was_freed_is_known_with_both_days() {
    let project = Project::new();
    project.land("2026-03-01", "int64 first = 1; int64 old = 2;");
    project.land("2026-05-01", "int64 first = 1;");
    project.land("2026-05-11", "int64 first = 1; string new = 2;");
    let document = project.judged("2026-05-11");
    let found = finding(&document, REUSED).unwrap();
    assert_eq!(found["triage"], "breaks-backward");
    assert_eq!(dates(found), ["2026-03-01", "2026-05-01"]);
    assert_eq!(found["earliest_safe"], "2026-11-01");
    // Half a year later nothing holds it.
    assert_eq!(finding(&project.judged("2026-11-01"), REUSED).unwrap()["triage"], "safe");
    // With and without an index.
    let cold = ["check", "--no-cache", "--base", "HEAD~1", "--head", "HEAD", "--format", "json"];
    let (again, _) = Project::run(&project.dir, &[&cold[..], &["--today", "2026-05-11"]].concat());
    assert_eq!(serde_json::from_str::<Value>(&again).unwrap(), document);
}

#[test]
fn what_comes_back_unchanged_is_no_reuse() {
    let project = Project::new();
    project.land("2026-03-01", "int64 first = 1; int64 old = 2;");
    project.land("2026-03-02", "int64 first = 1;");
    project.land("2026-03-03", "int64 first = 1; int64 old = 2;");
    assert!(finding(&project.judged("2026-03-03"), REUSED).is_none());
}

#[test]
fn a_date_in_the_future_hides_nothing() {
    let project = Project::new();
    project.land("2026-03-01", "int64 first = 1; int64 old = 2;");
    project.land("2026-05-01", "int64 first = 1;");
    project.land("2096-01-01", "int64 first = 1;");
    project.land("2026-05-11", "int64 first = 1; string new = 2;");
    let document = project.judged("2026-05-11");
    let found = finding(&document, REUSED).unwrap();
    assert_eq!(dates(found), ["2026-03-01", "2026-05-01"]);
}

#[test]
fn a_reserved_number_that_is_taken_has_its_days() {
    let project = Project::new();
    project.land("2026-03-01", "int64 first = 1; int64 old = 2;");
    project.land("2026-05-01", "int64 first = 1; reserved 2;");
    project.land("2026-05-11", "int64 first = 1; string new = 2;");
    let document = project.judged("2026-05-11");
    let found = finding(&document, "field-number-reused").unwrap();
    assert_eq!(found["triage"], "breaks-backward");
    assert_eq!(dates(found), ["2026-03-01", "2026-05-01"]);
    let later = project.judged("2026-11-01");
    assert_eq!(finding(&later, "field-number-reused").unwrap()["triage"], "safe");
}

#[test]
fn a_shallow_clone_says_what_is_unknown() {
    let project = Project::new();
    project.land("2026-03-01", "int64 first = 1; int64 old = 2;");
    project.land("2026-05-01", "int64 first = 1;");
    project.land("2026-05-11", "int64 first = 1; string new = 2;");
    let clone = project.dir.with_file_name("clone");
    let url = format!("file://{}", project.dir.display());
    project.git("2026-05-12", &["clone", "-q", "--depth", "2", &url, clone.to_str().unwrap()]);
    let arguments = [
        "check",
        "--base",
        "HEAD~1",
        "--head",
        "HEAD",
        "--today",
        "2026-05-11",
        "--format",
        "json",
    ];
    let (text, status) = Project::run(&clone, &arguments);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("git fetch --unshallow"), "{text}");
}

/// A rollout of `new`, declared on 2026-03-01, in place of `old`.
fn rollout(on: &str) -> String {
    format!(
        "[[rollout]]\nconstructs = [\"m.Root.new\"]\nreplaces = [\"m.Root.old\"]\nreader = {{ date = 2026-03-01 }}\nemitted = [{{ on = {{ date = {on} }} }}]\n"
    )
}

#[test]
fn bases_rollouts_say_when_something_may_go() {
    let project = Project::new();
    project.land("2026-01-02", "int64 first = 1; int64 old = 2;");
    project.land("2026-03-01", "int64 first = 1; int64 old = 2; int64 new = 3;");
    project.write("rollouts.toml", &rollout("2026-03-15"));
    project.land("2026-03-15", "int64 first = 1; int64 old = 2; int64 new = 3;");
    project.land("2026-05-02", "int64 first = 1; reserved 2; reserved \"old\"; int64 new = 3;");
    let document = project.judged("2026-05-02");
    let found = finding(&document, "removed-too-early").unwrap();
    assert_eq!(found["earliest_safe"], "2026-09-15");
    assert!(finding(&document, "field-removed").is_none());
    assert_eq!(project.judged("2026-09-15")["verdict"], "pass");
}

#[test]
fn nothing_was_emitted_before_it_was_declared() {
    let project = Project::new();
    project.land("2026-01-02", "int64 first = 1; int64 old = 2;");
    project.land("2026-03-01", "int64 first = 1; int64 old = 2; int64 new = 3;");
    project.write("rollouts.toml", &rollout("2025-10-01"));
    project.land("2026-03-15", "int64 first = 1; int64 old = 2; int64 new = 3;");
    assert!(finding(&project.judged("2026-03-15"), "rollout-malformed").is_some());
    project.land("2026-05-02", "int64 first = 1; reserved 2; reserved \"old\"; int64 new = 3;");
    let document = project.judged("2026-05-02");
    assert_eq!(finding(&document, "removed-too-early").unwrap()["earliest_safe"], "2026-09-01");
}

#[test]
fn a_change_does_not_excuse_itself() {
    let project = Project::new();
    project.land("2026-03-01", "int64 first = 1; int64 old = 2;");
    project.write("rollouts.toml", "[[rollout]]\nconstructs = [\"m.Root.old\"]\nemitted = []\n");
    project.land("2026-05-02", "int64 first = 1; reserved 2; reserved \"old\";");
    let document = project.judged("2026-05-02");
    assert_eq!(finding(&document, "field-removed").unwrap()["triage"], "breaks-backward");
    assert!(finding(&document, "policy-changed").is_some());
}

#[test]
fn outputs_do_not_replace_what_is_judged() {
    let project = Project::new();
    let before = std::fs::read_to_string(project.dir.join("m.proto")).unwrap();
    let (text, status) = Project::run(&project.dir, &["snapshot", "-o", "m.proto"]);
    assert_eq!(status, 2, "{text}");
    assert!(text.contains("it is what the gate judges"), "{text}");
    assert_eq!(std::fs::read_to_string(project.dir.join("m.proto")).unwrap(), before);
}

#[test]
fn uncommitted_goldens_are_work_to_judge() {
    let project = Project::new();
    project.write("golden/set/program/golden.toml", "no golden at all");
    let arguments = ["check", "--format", "json", "--today", "2026-03-01"];
    let (text, _) = Project::run(&project.dir, &arguments);
    let document: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    assert_eq!(document["head"]["revision"], "WORKTREE");
}
