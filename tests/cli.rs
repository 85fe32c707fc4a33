//! The command as users run it: what it compares, what it prints, what it exits with.
#![allow(clippy::panic, clippy::unwrap_used)] // helpers of tests

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const POLICY: &str = "\
[contract]
dispatch = [\"p.Step.impl\"]
[[contract.root]]
message = \"p.Root\"
files = [\"p.proto\"]
[waivers]
file = \"waivers.toml\"
";

const BASE: &str = "\
syntax = \"proto3\";
package p;
import \"google/protobuf/any.proto\";
message Root {
  int64 size = 1;
  string name = 2;
  Kind kind = 3;
  repeated Step steps = 4;
}
enum Kind {
  KIND_UNSPECIFIED = 0;
  KIND_COPY = 1;
}
message Step {
  oneof impl {
    Root call = 1;
  }
}
";

/// A repository with one commit on main: the policy and the base contract.
struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let project = Project { dir: tempfile::tempdir().unwrap() };
        project.git(&["init", "-q", "-b", "main"]);
        project.write("aotgate.toml", POLICY);
        project.write("p.proto", BASE);
        project.commit("base");
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn edit(&self, from: &str, to: &str) {
        let text = std::fs::read_to_string(self.path("p.proto")).unwrap();
        assert!(text.contains(from), "{from}");
        self.write("p.proto", &text.replace(from, to));
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.com"])
            .args(arguments)
            .current_dir(self.dir.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_COMMITTER_DATE", "2026-08-01T12:00:00+0200")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn aotgate(&self, arguments: &[&str]) -> Run {
        self.run(Command::new(env!("CARGO_BIN_EXE_aotgate")).args(arguments))
    }

    fn run(&self, command: &mut Command) -> Run {
        let output = command
            .current_dir(self.dir.path())
            .env_remove("GITHUB_EVENT_PATH")
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        Run::new(&output)
    }

    fn check(&self, arguments: &[&str]) -> (Value, i32) {
        let run = self.aotgate(&[&["check", "--format", "json"], arguments].concat());
        (serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err)), run.status)
    }
}

struct Run {
    out: String,
    err: String,
    status: i32,
}

impl Run {
    fn new(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Run {
            out: text(&output.stdout),
            err: text(&output.stderr),
            status: output.status.code().unwrap_or(-1),
        }
    }
}

fn ids(document: &Value) -> Vec<String> {
    let findings = document["findings"].as_array().unwrap();
    findings
        .iter()
        .map(|f| format!("{} {}", f["check"].as_str().unwrap(), f["construct"].as_str().unwrap()))
        .collect()
}

#[test]
fn nothing_changed_passes_and_uncommitted_work_counts() {
    let project = Project::new();
    project.write("note.txt", "x");
    project.commit("no proto");
    let (document, status) = project.check(&[]);
    assert_eq!((document["verdict"].as_str(), status), (Some("pass"), 0));
    assert_eq!(document["findings"], Value::Array(vec![]));
    assert_ne!(document["head"]["revision"], "WORKTREE");

    project.edit("  string name = 2;\n", "");
    let (document, status) = project.check(&[]);
    assert_eq!(document["head"]["revision"], "WORKTREE");
    assert_eq!((document["verdict"].as_str(), status), (Some("fail"), 1));
    assert_eq!(ids(&document)[0], "field-removed p.Root.name");
}

#[test]
fn a_landed_commit_is_judged_as_of_its_own_date() {
    let project = Project::new();
    project.edit("  string name = 2;\n", "  reserved 2;\n  reserved \"name\";\n");
    let sha = project.commit("remove");
    let (document, status) = project.check(&["--commit", &sha]);
    assert_eq!(document["today"], "2026-08-01");
    assert_eq!(document["triage"], "breaks-backward");
    assert_eq!(document["findings"][0]["earliest_safe"], "2027-02-01");
    assert_eq!(status, 1);
    let (document, _) = project.check(&["--commit", &sha, "--today", "2026-09-30"]);
    assert_eq!(document["findings"][0]["earliest_safe"], "2027-03-30");
    // A root commit adds everything.
    let first = project.git(&["rev-list", "--max-parents=0", "HEAD"]);
    let (document, status) = project.check(&["--commit", &first]);
    assert_eq!(document["base"]["revision"], "EMPTY");
    assert_eq!(status, 0);
}

#[test]
fn a_commit_of_the_future_is_of_today() {
    let project = Project::new();
    project.edit("  string name = 2;\n", "  reserved 2;\n  reserved \"name\";\n");
    project.git(&["add", "-A"]);
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]);
    command.args(["commit", "-q", "-m", "m"]).env("GIT_COMMITTER_DATE", "2099-01-01T00:00:00Z");
    assert!(command.current_dir(project.dir.path()).status().unwrap().success());
    let today = chrono::Local::now().date_naive();
    let judged = |document: &Value| {
        assert_eq!(document["verdict"], "fail", "{document:#}");
        let judged: chrono::NaiveDate = document["today"].as_str().unwrap().parse().unwrap();
        assert!(judged >= today && judged <= today + chrono::Days::new(1), "{judged}");
    };
    judged(&project.check(&["--commit", "HEAD"]).0);
    let run = project.aotgate(&["check", "HEAD~1..HEAD", "--each", "--format", "json"]);
    judged(&serde_json::from_str(&run.out).unwrap());
}

#[test]
fn a_line_on_standard_input_ends() {
    use std::io::Write as _;
    let project = Project::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_aotgate"))
        .args(["check", "--stdin"])
        .current_dir(project.dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(&[b'a'; 20 << 10]).unwrap();
    // It is not waited for the rest.
    let run = Run::new(&child.wait_with_output().unwrap());
    assert_eq!(run.status, 2);
    assert!(run.err.contains("a line on standard input has more than"), "{}", run.err);
    drop(input);
}

#[test]
fn fail_on_decides_what_a_warning_exits_with() {
    let project = Project::new();
    project.edit("  string name = 2;\n", "  string name = 2;\n  int32 more = 9;\n");
    let (document, status) = project.check(&[]);
    assert_eq!(ids(&document), ["field-added p.Root.more"]);
    assert_eq!(document["verdict"], "review");
    assert_eq!(status, 1);
    assert_eq!(project.check(&["--fail-on", "fail"]).1, 0);
}

#[test]
fn an_attestation_anywhere_in_a_message_satisfies_what_it_names() {
    let project = Project::new();
    project.edit("KIND_COPY = 1", "KIND_MOVE = 1");
    let (document, status) = project.check(&[]);
    assert_eq!(document["triage"], "needs-attestation");
    assert_eq!(status, 1);
    let line = "enum-value-renamed p.Kind.KIND_MOVE - the same meaning";
    let (document, status) = project.check(&["--attest", line]);
    assert_eq!(document["findings"][0]["satisfied_by"]["kind"], "attestation");
    assert_eq!(status, 0);

    project.git(&["checkout", "-q", "-b", "topic"]);
    project.commit(&format!("rename\n\nbody\nAOT-Compat: {line}\n\nmore\nSigned-off-by: x"));
    project.write("later.txt", "x");
    project.commit("later");
    let (document, status) = project.check(&[]);
    assert_eq!(status, 0);
    let by = document["findings"][0]["satisfied_by"]["by"].as_str().unwrap();
    assert!(by.starts_with("Ann ("), "{by}");
    assert_eq!(document["verdict"], "pass");

    // It does not excuse a break.
    project.edit("  string name = 2;\n", "");
    project.commit("x\n\nAOT-Compat: field-removed p.Root.name - trust me");
    assert_eq!(project.check(&[]).1, 1);
}

#[test]
fn a_pull_request_body_attests_too() {
    let project = Project::new();
    project.edit("KIND_COPY = 1", "KIND_MOVE = 1");
    let body = "AOT-Compat: enum-value-renamed p.Kind.KIND_MOVE - same";
    let event = serde_json::json!({"pull_request": {"body": body, "user": {"login": "bea"}}});
    project.write("event.json", &event.to_string());
    let mut command = Command::new(env!("CARGO_BIN_EXE_aotgate"));
    command.args(["check", "--format", "json"]).current_dir(project.dir.path());
    let run = Run::new(&command.env("GITHUB_EVENT_PATH", "event.json").output().unwrap());
    let document: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(document["findings"][0]["satisfied_by"]["by"], "pull request by bea");
    assert_eq!(run.status, 0);
}

#[test]
fn a_change_cannot_excuse_itself() {
    let project = Project::new();
    project.git(&["checkout", "-q", "-b", "topic"]);
    project.edit("  string name = 2;\n", "");
    project.write("aotgate.toml", &format!("{POLICY}\n[checks]\nfield-removed = \"off\"\n"));
    project.write(
        "waivers.toml",
        "[[waiver]]\ncheck = \"field-removed\"\nconstruct = \"p.Root.name\"\nreason = \"r\"\n\
         approved_by = \"me\"\nexpires = 2099-01-01\n",
    );
    project.commit("sneaky");
    let (document, status) = project.check(&[]);
    assert_eq!((document["verdict"].as_str(), status), (Some("fail"), 1));
    let ids = ids(&document);
    assert!(ids.contains(&"field-removed p.Root.name".to_owned()), "{ids:?}");
    assert!(ids.contains(&"policy-changed policy:checks.field-removed".to_owned()), "{ids:?}");
    assert!(
        ids.contains(&"policy-changed policy:waiver field-removed p.Root.name".to_owned()),
        "{ids:?}"
    );
    // Naming the file does not help: base's version counts.
    assert_eq!(project.check(&["--policy", "aotgate.toml"]).1, 1);
}

#[test]
fn a_waiver_in_base_holds_until_it_expires() {
    let project = Project::new();
    project.write(
        "waivers.toml",
        "[[waiver]]\ncheck = \"field-removed\"\nconstruct = \"p.Root.name\"\nreason = \"never written\"\n\
         approved_by = \"owner\"\nexpires = 2026-12-31\n",
    );
    project.commit("waive");
    project.edit("  string name = 2;\n", "  reserved 2;\n  reserved \"name\";\n");
    let (document, status) = project.check(&["--today", "2026-12-31"]);
    assert_eq!(document["findings"][0]["satisfied_by"]["kind"], "waiver");
    assert_eq!((document["verdict"].as_str(), status), (Some("pass"), 0));
    let (document, status) = project.check(&["--today", "2027-01-01"]);
    assert_eq!((document["verdict"].as_str(), status), (Some("fail"), 1));
    assert!(ids(&document).iter().any(|id| id.starts_with("waiver-expired")));
}

#[test]
fn ranges_are_net_changes_and_each_judges_every_commit() {
    let project = Project::new();
    let base = project.git(&["rev-parse", "HEAD"]);
    project.edit("  string name = 2;\n", "");
    project.commit("remove");
    project.write("p.proto", BASE);
    project.commit("Revert \"remove\"");
    let range = format!("{base}..HEAD");
    let (document, status) = project.check(&[&range]);
    assert_eq!((document["findings"].as_array().unwrap().len(), status), (0, 0));

    let run = project.aotgate(&["check", "--format", "json", &range, "--each"]);
    let documents: Vec<Value> =
        run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let verdicts: Vec<&str> = documents.iter().map(|d| d["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["fail", "review"]);
    assert_eq!(run.status, 1);
    let run = project.aotgate(&["check", &base]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("is no range"), "{}", run.err);
}

#[test]
fn standard_input_names_commits_and_errors_do_not_stop_it() {
    use std::io::Write as _;
    let project = Project::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_aotgate"))
        .args(["check", "--stdin", "--format", "json"])
        .current_dir(project.dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"deadbeef\n\nHEAD subject\n").unwrap();
    let run = Run::new(&child.wait_with_output().unwrap());
    let lines: Vec<Value> = run.out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines[0]["sha"], "deadbeef");
    assert!(lines[0]["error"].as_str().unwrap().contains("no revision"));
    assert_eq!(lines[1]["verdict"], "pass");
    assert_eq!(run.status, 2);
}

#[test]
fn what_cannot_be_judged_exits_with_2_and_says_what_to_do() {
    let project = Project::new();
    project.write("note.txt", "x");
    project.commit("second");
    for (arguments, text) in [
        (&["check", "--base", "nowhere"][..], "git fetch origin nowhere"),
        (&["explain", "field-removd"], "did you mean `field-removed`?"),
        (&["explain", "--schema", "x"], "aotgate.check/1"),
        (&["snapshot", "--format", "sarif"], "human, json"),
        (&["snapshot", "missing.binpb"], "check that the path exists"),
        (&["check", "--policy", "nothing.toml"], "nothing.toml"),
    ] {
        let run = project.aotgate(arguments);
        assert_eq!(run.status, 2, "{arguments:?}");
        assert!(run.err.contains(text), "{arguments:?}: {}", run.err);
    }
    project.write("bad.toml", "[windows]\nforwards = \"3 days\"\n");
    let run = project.aotgate(&["check", "--policy", "bad.toml"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("did you mean `forward`?"), "{}", run.err);
    project.edit("int64 size = 1;", "int64 size = 1");
    let run = project.aotgate(&["check"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("p.proto:6"), "{}", run.err);
}

#[test]
fn a_first_commit_has_nothing_to_compare_with() {
    let project = Project::new();
    let run = project.aotgate(&["check"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("--base EMPTY"), "{}", run.err);
    let (document, status) = project.check(&["--base", "EMPTY"]);
    assert_eq!((document["verdict"].as_str(), status), (Some("pass"), 0));
}

#[test]
fn a_missing_root_is_a_finding_in_head_and_an_error_on_both_sides() {
    let project = Project::new();
    project.git(&["rm", "-q", "p.proto"]);
    project.commit("gone");
    let (document, status) = project.check(&[]);
    assert_eq!(ids(&document)[0], "root-missing p.Root");
    assert_eq!(status, 1);
    project.write("x.txt", "x");
    project.commit("more");
    let run = project.aotgate(&["check"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("[[contract.root]]"), "{}", run.err);
}

#[test]
fn snapshot_and_diff_agree_with_a_written_descriptor_set() {
    let project = Project::new();
    let run = project.aotgate(&["snapshot", "--binpb", "p.binpb", "--format", "json"]);
    let snapshot: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(snapshot["counts"]["messages"], 2);
    let run = project.aotgate(&["diff", "HEAD", "p.binpb", "--format", "json"]);
    let diff: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(diff["changes"], Value::Array(vec![]));
    assert_eq!(diff["head"]["fingerprint"], snapshot["fingerprint"]);
    project.edit("    Root call = 1;\n", "    Root call = 1;\n    Kind wait = 2;\n");
    let run = project.aotgate(&["diff", "p.binpb", "WORKTREE"]);
    assert!(run.out.contains("+ Kind wait = 2"), "{}", run.out);
    assert_eq!(run.status, 0);
}

#[test]
fn reports_go_where_they_are_sent() {
    let project = Project::new();
    project.edit("  string name = 2;\n", "");
    let run = project.aotgate(&["check", "--format", "sarif", "--output", "out.sarif"]);
    assert_eq!((run.out.as_str(), run.status), ("", 1));
    let sarif: Value =
        serde_json::from_str(&std::fs::read_to_string(project.path("out.sarif")).unwrap()).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "field-removed");

    let mut command = Command::new(env!("CARGO_BIN_EXE_aotgate"));
    command.args(["check", "--format", "github"]).env("GITHUB_STEP_SUMMARY", "summary.md");
    let run = project.run(&mut command);
    assert!(run.out.starts_with("::error file=p.proto,line=4"), "{}", run.out);
    let summary = std::fs::read_to_string(project.path("summary.md")).unwrap();
    assert!(summary.contains("field-removed"), "{summary}");
}

#[test]
fn explain_lists_all_checks_and_prints_pages() {
    let project = Project::new();
    let list = project.aotgate(&["explain"]).out;
    for (check, _) in aotgate::triage::checks::ALL {
        assert!(list.contains(check.id), "{}", check.id);
        let page = project.aotgate(&["explain", check.id]).out;
        assert!(page.contains("## What to do"), "{}", check.id);
    }
    let schema = project.aotgate(&["explain", "--schema", "check"]).out;
    let schema: Value = serde_json::from_str(&schema).unwrap();
    assert!(schema["$id"].as_str().unwrap().ends_with("aotgate.check/1.json"));
}

#[test]
fn the_policy_references_example_is_a_policy() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let reference = std::fs::read_to_string(root.join("policy/README.md")).unwrap();
    let example = reference.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let policy = aotgate::triage::policy::parse("example", example).unwrap();
    assert_eq!(policy.contract.candidates(), ["schema/bundle.proto"]);
    let example = reference.split("```toml\n").nth(2).unwrap().split("```").next().unwrap();
    assert_eq!(aotgate::rollout::Rollouts::parse("example", example).unwrap().entries.len(), 1);
}

#[test]
fn the_readmes_commands_are_those_that_ci_runs() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let ci = std::fs::read_to_string(root.join(".ci/run")).unwrap();
    assert!(readme.contains("\ncargo test --workspace --locked "), "the test command");
    assert!(ci.lines().any(|line| line == "cargo test --workspace --locked"), "the test command");
    assert!(readme.contains("\ncargo run --release --locked -- check "), "the main command");
    assert!(ci.contains("cargo run --release --locked -- check"), "the main command");
}

#[test]
fn a_renamed_root_is_no_missing_root_once_the_policy_names_both() {
    let project = Project::new();
    let roots = POLICY.replace(
        "[waivers]",
        "[[contract.root]]\nmessage = \"p.Bundle\"\nfiles = [\"p.proto\"]\n[waivers]",
    );
    project.write("aotgate.toml", &roots);
    project.commit("the new name comes");
    project.edit("message Root", "message Bundle");
    project.edit("Root call", "Bundle call");
    let (document, status) = project.check(&[]);
    assert_eq!((document["verdict"].as_str(), status), (Some("pass"), 0), "{document}");
}

#[test]
fn a_scalar_under_a_name_with_nothing_in_common_has_to_be_vouched_for() {
    let project = Project::new();
    project.edit("int64 size = 1;", "int64 byte_size = 1;");
    assert_eq!(project.check(&[]).1, 0, "a rename");
    project.edit("int64 byte_size = 1;", "int64 deadline = 1;");
    let (document, status) = project.check(&[]);
    assert_eq!(ids(&document), ["field-renamed p.Root.deadline"]);
    assert_eq!((document["triage"].as_str(), status), (Some("needs-attestation"), 1));
    let line = "field-renamed p.Root.deadline - the same, renamed";
    assert_eq!(project.check(&["--attest", line]).1, 0);
    for wrong in ["nonsense", "field-renamd p.Root.deadline - x"] {
        let run = project.aotgate(&["check", "--attest", wrong]);
        assert_eq!(run.status, 2, "{wrong}");
        assert!(run.err.contains("attests nothing"), "{}", run.err);
    }
    // Reserving the old name, as is good practice, does not make it worse.
    project.edit("int64 deadline = 1;", "int64 byte_size = 1;\n  reserved \"size\";");
    assert_eq!(project.check(&[]).1, 0);
}

#[test]
fn a_shallow_clone_says_that_it_may_lack_attestations() {
    let project = Project::new();
    project.edit("KIND_COPY = 1", "KIND_MOVE = 1");
    project.commit("rename");
    let clone = tempfile::tempdir().unwrap();
    let url = format!("file://{}", project.dir.path().display());
    let dir = clone.path().join("c");
    project.git(&["clone", "-q", "--depth", "2", &url, dir.to_str().unwrap()]);
    let run = project.aotgate(&["check", "--repo", dir.to_str().unwrap(), "--format", "json"]);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    let what = document["findings"][0]["evidence"][0]["what"].as_str().unwrap();
    assert!(what.contains("git fetch --deepen"), "{what}");
}

#[test]
fn a_broken_waiver_file_in_base_does_not_stop_its_own_repair() {
    let project = Project::new();
    project.write("waivers.toml", "[[waiver]]\naproved_by = \"x\"\n");
    project.commit("broken");
    project.write("waivers.toml", "");
    let (document, status) = project.check(&["--fail-on", "fail"]);
    assert!(ids(&document).contains(&"waiver-malformed policy:waivers.toml".to_owned()));
    assert_eq!(status, 0);
}

/// Comparing is linear in the number of fields: quadratic, this would take minutes.
#[test]
fn many_fields_and_values_are_compared_quickly() {
    let project = Project::new();
    let contract = |name: &str| {
        let mut text = String::from("syntax = \"proto3\";\npackage p;\nmessage Root {\n");
        for n in 1..=12_000 {
            text.push_str(&format!("bool {name}{n} = {};\n", n + 20_000));
        }
        text.push_str("Kind kind = 1;\n}\nenum Kind {\nZERO = 0;\n");
        for n in 1..=12_000 {
            text.push_str(&format!("{name}_{n} = {n};\n"));
        }
        text + "}\n"
    };
    project.write("p.proto", &contract("a"));
    project.commit("many");
    project.write("p.proto", &contract("b"));
    let started = std::time::Instant::now();
    let (document, _) = project.check(&[]);
    assert!(document["findings"].as_array().unwrap().len() > 20_000);
    let seconds = started.elapsed().as_secs();
    assert!(seconds < 60, "{seconds} s in a debug build");
}

/// Ways to smuggle a break past the gate. Each removes or changes what old artifacts hold.
#[test]
fn decoys_and_detours_do_not_hide_a_break() {
    // A copy of the old file that comes first in the search order.
    let project = Project::new();
    let policy = POLICY.replace(
        "[contract]",
        "[contract]\nprefixes = [\"\", \"vendor\"]\ninclude = [\"\", \"deep\"]",
    );
    std::fs::create_dir_all(project.path("vendor/deep")).unwrap();
    project.git(&["rm", "-q", "p.proto"]);
    project.write("aotgate.toml", &policy);
    let importing = BASE.replace("package p;", "package p;\nimport \"q.proto\";");
    project.write("vendor/p.proto", &importing);
    let other = "syntax = \"proto3\";\npackage p;\nmessage Q {\n  int32 a = 1;\n}\n";
    project.write("vendor/deep/q.proto", other);
    project.commit("vendored");
    let broken = importing.replace("  string name = 2;\n", "");
    project.write("vendor/p.proto", &broken);
    project.write("p.proto", &importing);
    project.write("q.proto", other);
    project.write("vendor/q.proto", other);
    project.commit("decoy");
    let run = project.aotgate(&["check"]);
    assert_eq!(run.status, 2, "{}", run.out);
    assert!(run.err.contains("which comes first"), "{}", run.err);

    // A policy of head's own where base is governed by the built-in one.
    let project = Project::new();
    project.git(&["rm", "-q", "-r", "."]);
    let root = "xla/service/gpu/gpu_executable.proto";
    std::fs::create_dir_all(project.path("xla/service/gpu")).unwrap();
    let text = "syntax = \"proto3\";\npackage xla.gpu;\nmessage GpuExecutableProto {\n  int32 a = 1;\n  int32 b = 2;\n}\n";
    project.write(root, text);
    project.commit("built-in");
    project.write(root, &text.replace("  int32 b = 2;\n", ""));
    project.write("aotgate.toml", "extends = \"xla-gpu\"\n[checks]\nfield-removed = \"off\"\n");
    project.commit("own policy");
    let (document, _) = project.check(&["--today", "2026-08-01"]);
    assert_eq!(document["policy"]["source"], "built-in:xla-gpu");
    assert!(ids(&document).contains(&"field-removed xla.gpu.GpuExecutableProto.b".to_owned()));
}

#[test]
fn a_break_cannot_be_moved_into_an_advisory_class() {
    let project = Project::new();
    let class = "[[class]]\nname = \"c\"\nreason = \"r\"\nconstructs = [\"p.soft.**\"]\nexcept = [\"p.soft.Part.kept\"]\ncap = \"note\"\n[waivers]";
    project.write("aotgate.toml", &POLICY.replace("[waivers]", class));
    project.edit("  string name = 2;\n", "  string name = 2;\n  Part part = 5;\n");
    let part = "message Part {\n  int32 a = 1;\n  int32 b = 2;\n  int32 c = 3;\n}\n";
    project.write("p.proto", &(std::fs::read_to_string(project.path("p.proto")).unwrap() + part));
    project.commit("part");
    project.edit(part, "");
    project.edit("Part part = 5", "p.soft.Part part = 5");
    project.edit("package p;", "package p;\nimport \"soft.proto\";");
    let soft = "syntax = \"proto3\";\npackage p.soft;\nmessage Part {\n  int32 a = 1;\n  int32 b = 2;\n}\n";
    project.write("soft.proto", soft);
    let (document, status) = project.check(&[]);
    assert_eq!((document["verdict"].as_str(), status), (Some("fail"), 1), "{document}");
    // Nor in two steps: the pure move is seen.
    project
        .write("soft.proto", &soft.replace("  int32 b = 2;\n", "  int32 b = 2;\n  int32 c = 3;\n"));
    let (document, status) = project.check(&[]);
    assert_eq!((document["verdict"].as_str(), status), (Some("review"), 1), "{document}");
    assert!(document.to_string().contains("it enters the advisory class c"));
}

#[test]
fn a_maps_entry_is_not_the_message_that_had_its_name() {
    let project = Project::new();
    let list = "  repeated MEntry m = 9;\n  message MEntry {\n    string key = 1;\n    string value = 2;\n  }\n";
    project.edit("  string name = 2;\n", &format!("  string name = 2;\n{list}"));
    project.commit("list");
    project.edit(list, "  map<string, int32> m = 9;\n");
    let (document, status) = project.check(&[]);
    assert_eq!((document["triage"].as_str(), status), (Some("breaks-backward"), 1), "{document}");
}

#[test]
fn unset_values_and_clones_are_compared() {
    let proto2 = |root: &str, rest: &str| {
        format!(
            "syntax = \"proto2\";\npackage p;\nmessage Root {{\n{root}\n}}\nmessage Step {{ oneof impl {{ Root call = 1; }} }}\n{rest}"
        )
    };
    let cases = [
        // Reordering the values changes what an unset field reads.
        (
            "optional E e = 1;",
            "enum E { A = 1; B = 2; }",
            "optional E e = 1;",
            "enum E { B = 2; A = 1; }",
        ),
        // So does a new first value.
        ("optional E e = 1;", "enum E { A = 1; }", "optional E e = 1;", "enum E { Z = 9; A = 1; }"),
        // A type change must not hide a default.
        ("optional int32 i = 1 [default = 5];", "", "optional int64 i = 1 [default = 7];", ""),
        // The field points at a clone with another default.
        (
            "optional F f = 1; optional F g = 2;",
            "message F { optional int32 x = 1 [default = 5]; }",
            "optional F f = 1; optional G g = 2;",
            "message F { optional int32 x = 1 [default = 5]; } message G { optional int32 x = 1 [default = 7]; }",
        ),
        // An alias moves to another value.
        (
            "optional E e = 1;",
            "enum E { option allow_alias = true; Z = 0; A = 1; B = 1; C = 2; }",
            "optional E e = 1;",
            "enum E { option allow_alias = true; Z = 0; A = 1; C = 2; B = 2; }",
        ),
    ];
    for (root, rest, new_root, new_rest) in cases {
        let project = Project::new();
        project.write("p.proto", &proto2(root, rest));
        project.commit("base");
        project.write("p.proto", &proto2(new_root, new_rest));
        let (document, status) = project.check(&[]);
        assert_eq!(document["triage"], "breaks-backward", "{new_root} {new_rest}: {document}");
        assert_eq!(status, 1);
    }
    // A default that is spelled out or renamed, and means the same, is none.
    let project = Project::new();
    project.write("p.proto", &proto2("optional E e = 1;", "enum E { A = 1; B = 2; }"));
    project.commit("base");
    project
        .write("p.proto", &proto2("optional E e = 1 [default = A];", "enum E { A = 1; B = 2; }"));
    assert_eq!(project.check(&[]).0["triage"], "safe");
}

#[test]
fn hostile_names_do_not_reach_the_terminal() {
    let project = Project::new();
    project.edit("package p;", "package p;\nimport \"x\u{1b}[31m.proto\";");
    let run = project.aotgate(&["check"]);
    assert_eq!(run.status, 2);
    assert!(!run.err.contains('\u{1b}'), "{:?}", run.err);
    std::fs::write(project.path("bad.fds"), [10, 9, 10, 1, b'a', 0x62, 4, b'p', b'r', b'o', b'X'])
        .unwrap();
    let run = project.aotgate(&["snapshot", "bad.fds"]);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("unknown syntax"), "{}", run.err);
    let mut command = Command::new(env!("CARGO_BIN_EXE_aotgate"));
    let run = project.run(command.args(["check", "--stdin"]).stdin(Stdio::null()));
    assert_eq!(run.status, 2, "an empty list judges nothing");
}
