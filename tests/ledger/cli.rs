//! The command: writing, verifying, and judging without git.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const POLICY: &str = "\
[contract]
[[contract.root]]
message = \"p.Root\"
files = [\"p.proto\"]
";

const BASE: &str = "\
syntax = \"proto3\";
package p;
message Root {
  int64 size = 1;
  string name = 2;
  Kind kind = 3;
}
enum Kind {
  KIND_UNSPECIFIED = 0;
  KIND_COPY = 1;
}
";

/// Files, and no repository around them.
struct Project {
    dir: tempfile::TempDir,
}

struct Run {
    out: String,
    err: String,
    status: i32,
}

impl Project {
    fn plain() -> Self {
        let project = Project { dir: tempfile::tempdir().unwrap() };
        project.write("aotgate.toml", POLICY);
        project.write("p.proto", BASE);
        project
    }

    fn git_project() -> Self {
        let project = Project::plain();
        project.git(&["init", "-q", "-b", "main"], "2026-03-01");
        project.commit("base", "2026-03-01");
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn edit(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert!(text.contains(from), "{from} in\n{text}");
        self.write(name, &text.replace(from, to));
    }

    fn git(&self, arguments: &[&str], day: &str) -> String {
        git(self.dir.path(), arguments, day)
    }

    fn commit(&self, message: &str, day: &str) -> String {
        self.git(&["add", "-A"], day);
        self.git(&["commit", "-q", "-m", message], day);
        self.git(&["rev-parse", "HEAD"], day)
    }

    /// With nothing on the path.
    fn aotgate(&self, arguments: &[&str]) -> Run {
        let output = Command::new(env!("CARGO_BIN_EXE_aotgate"))
            .args(arguments)
            .current_dir(self.dir.path())
            .env_remove("GITHUB_EVENT_PATH")
            .env("PATH", "")
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Run {
            out: text(&output.stdout),
            err: text(&output.stderr),
            status: output.status.code().unwrap_or(-1),
        }
    }

    #[track_caller]
    fn json(&self, arguments: &[&str], status: i32) -> Value {
        let run = self.aotgate(&[&["--format", "json"], arguments].concat());
        assert_eq!(run.status, status, "{}{}", run.out, run.err);
        serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}{}", run.out, run.err))
    }
}

fn git(dir: &Path, arguments: &[&str], day: &str) -> String {
    let date = format!("{day}T12:00:00+0000");
    let output = Command::new("git")
        .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.com"])
        .args(arguments)
        .current_dir(dir)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_COMMITTER_DATE", &date)
        .env("GIT_AUTHOR_DATE", &date)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn ids(document: &Value) -> Vec<String> {
    let findings = document["findings"].as_array().unwrap();
    let id = |f: &Value| {
        format!("{} {}", f["check"].as_str().unwrap(), f["construct"].as_str().unwrap())
    };
    findings.iter().map(id).collect()
}

/// A finding with its schema held to it.
#[track_caller]
fn valid(document: &Value) {
    let schema: Value =
        serde_json::from_str(aotgate::report::schema::schema("ledger").unwrap()).unwrap();
    let url = "https://example.com/schema.json";
    let mut compiler = boon::Compiler::new();
    compiler.add_resource(url, schema).unwrap();
    let mut schemas = boon::Schemas::new();
    let index = compiler.compile(url, &mut schemas).unwrap();
    if let Err(error) = schemas.validate(document, index) {
        panic!("{error}\n{document:#}");
    }
}

#[test]
fn without_any_git() {
    let project = Project::plain();
    let document = project.json(&["ledger", "--today", "2026-05-04"], 0);
    valid(&document);
    assert!(document["notes"].to_string().contains("no history is here"), "{document:#}");
    assert_eq!(
        (&document["action"], &document["counts"]["fields_and_values"]),
        (&"written".into(), &5.into())
    );
    let check = ["check", "--base", "aotgate.lock", "--head", ".", "--today", "2026-06-01"];
    assert_eq!(project.json(&check, 0)["findings"], Value::Array(Vec::new()));
    assert_eq!(project.aotgate(&["ledger", "--verify"]).status, 0);

    // A breaking change is one although nothing but the ledger tells what was.
    project.edit("p.proto", "  string name = 2;\n", "  reserved 7;\n");
    let document = project.json(&check, 1);
    assert_eq!(
        ids(&document)[..2],
        ["field-removed p.Root.name", "ledger-stale ledger:aotgate.lock"]
    );
    assert_eq!(document["base"]["revision"], "aotgate.lock");
    let document = project.json(&["ledger", "--verify", "--today", "2026-06-01"], 1);
    valid(&document);
    let kinds: Vec<_> =
        document["differences"].as_array().unwrap().iter().map(|d| &d["kind"]).collect();
    assert_eq!(kinds, ["tombstone-dropped", "missing"], "{document:#}");

    project.write("before.lock", &project.read("aotgate.lock"));
    project.json(&["ledger", "--today", "2026-06-01"], 0);
    let text = project.read("aotgate.lock");
    let tombstone = "field p.Root 2 name string optional implicit : ?2026-05-04..+2026-06-01\n";
    assert!(text.contains(tombstone), "{text}");
    assert_eq!(project.aotgate(&["ledger", "--verify"]).status, 0);
    // Against the ledger of before the change stays what it is; the ledger is up to date now.
    let document = project.json(&["check", "--base", "before.lock", "--head", "."], 1);
    assert_eq!(ids(&document)[0], "field-removed p.Root.name");
    assert!(ids(&document).iter().all(|id| !id.starts_with("ledger-")), "{:?}", ids(&document));

    // Other commands take both as revisions.
    let run = project.aotgate(&["diff", "before.lock", "./"]);
    assert!(run.status == 0 && run.out.contains("name"), "{}{}", run.out, run.err);
    let snapshots =
        ["aotgate.lock", "."].map(|rev| project.json(&["snapshot", rev], 0)["fingerprint"].clone());
    assert_eq!(snapshots[0], snapshots[1]);
    let run = project.aotgate(&["snapshot", "aotgate.lock", "--binpb", "x.binpb"]);
    assert!(run.status == 2 && run.err.contains("no files"), "{}", run.err);
    assert_eq!(project.aotgate(&["check", "--base", "absent.lock", "--head", "."]).status, 2);
}

#[test]
fn history_gives_dates_and_a_shallow_clone_keeps_them() {
    let project = Project::git_project();
    let first = project.git(&["rev-parse", "HEAD"], "2026-03-01");
    project.edit("p.proto", "  string name = 2;\n", "");
    let second = project.commit("drop name", "2026-04-02");
    let document = project.json(&["ledger"], 0);
    assert_eq!(document["counts"]["tombstones"], 1);
    let text = project.read("aotgate.lock");
    let (first, second) = (&first[..12], &second[..12]);
    let gone = format!(
        "field p.Root 2 name string optional implicit : 2026-03-01@{first}..2026-04-02@{second}\n"
    );
    assert!(text.contains(&gone), "{text}");
    assert!(project.aotgate(&["ledger"]).out.contains("up to date"));
    assert_eq!(project.aotgate(&["ledger", "--verify"]).status, 0);
    project.commit("ledger", "2026-04-03");

    // What is about to land has no commit yet.
    project.edit("p.proto", "  Kind kind = 3;\n", "  Kind kind = 3;\n  bool fine = 4;\n");
    let stale = ids(&project.json(&["check"], 1));
    assert!(stale.contains(&"ledger-stale ledger:aotgate.lock".to_owned()), "{stale:?}");
    project.json(&["ledger", "--today", "2026-05-04"], 0);
    assert!(
        project
            .read("aotgate.lock")
            .contains("field p.Root 4 fine bool optional implicit : +2026-05-04..\n")
    );
    let found = ids(&project.json(&["check", "--today", "2026-05-04", "--fail-on", "fail"], 0));
    assert!(found.iter().all(|id| !id.starts_with("ledger-")), "{found:?}");
    let third = project.commit("add fine", "2026-05-06");
    // Landed, its date can be known, and the ledger of before it does not contradict that.
    assert_eq!(project.aotgate(&["ledger", "--verify", "HEAD"]).status, 0);

    let clone = tempfile::tempdir().unwrap();
    let url = format!("file://{}", project.dir.path().display());
    git(clone.path(), &["clone", "-q", "--depth", "1", &url, "."], "2026-05-07");
    let shallow = Project { dir: clone };
    assert_eq!(shallow.aotgate(&["ledger", "--verify"]).status, 0);
    shallow.json(&["ledger"], 0);
    assert_eq!(shallow.read("aotgate.lock"), project.read("aotgate.lock"));

    project.json(&["ledger"], 0);
    let known =
        format!("field p.Root 4 fine bool optional implicit : 2026-05-06@{}..\n", &third[..12]);
    assert!(project.read("aotgate.lock").contains(&known), "{}", project.read("aotgate.lock"));
}

#[test]
fn a_ledger_edited_by_hand_is_found_out() {
    let project = Project::git_project();
    project.edit("p.proto", "  string name = 2;\n", "  reserved 2;\n  reserved \"name\";\n");
    project.commit("drop name", "2026-04-02");
    project.json(&["ledger"], 0);
    project.commit("ledger", "2026-04-03");
    let text = project.read("aotgate.lock");
    let gone =
        text.lines().find(|line| line.starts_with("field p.Root 2 ")).unwrap().to_owned() + "\n";

    project.edit("aotgate.lock", &gone, "");
    let document = project.json(&["check"], 1);
    assert_eq!(ids(&document), ["ledger-tombstone-dropped ledger:p.Root.name"]);
    assert_eq!(document["findings"][0]["surface"], "ledger");
    let document = project.json(&["ledger", "--verify"], 1);
    assert_eq!(document["differences"][0]["kind"], "tombstone-dropped");

    project.write("aotgate.lock", &text.replace("2026-03-01@", "2025-01-01@"));
    let document = project.json(&["check"], 1);
    assert!(
        ids(&document).contains(&"ledger-contradicts ledger:p.Root.size".to_owned()),
        "{:?}",
        ids(&document)
    );
    let document = project.json(&["ledger", "--verify"], 1);
    assert!(document["differences"].as_array().unwrap().iter().all(|d| d["kind"] == "date"));

    project.write("aotgate.lock", &text.replace("1 size int64", "1 size int32"));
    let document = project.json(&["check"], 1);
    assert_eq!(ids(&document), ["ledger-contradicts ledger:p.Root.size"]);

    project.write("aotgate.lock", &text.replace("root p.Root\n", "<<<<<<< HEAD\n"));
    assert_eq!(ids(&project.json(&["check"], 1)), ["ledger-contradicts ledger:aotgate.lock"]);
    let run = project.aotgate(&["ledger", "--verify"]);
    assert!(run.status == 2 && run.err.contains("merge conflict"), "{}", run.err);
    // Running it again repairs it, from the last commit's.
    project.json(&["ledger"], 0);
    assert_eq!(project.read("aotgate.lock"), text);

    std::fs::remove_file(project.path("aotgate.lock")).unwrap();
    assert_eq!(ids(&project.json(&["check"], 1)), ["ledger-tombstone-dropped ledger:aotgate.lock"]);
    assert_eq!(project.aotgate(&["ledger", "--verify"]).status, 2);
}

#[test]
fn branches_that_change_different_things_merge() {
    let project = Project::git_project();
    project.json(&["ledger"], 0);
    project.commit("ledger", "2026-03-02");
    project.git(&["checkout", "-q", "-b", "other"], "2026-03-02");
    project.edit("p.proto", "  KIND_COPY = 1;\n", "  KIND_COPY = 1;\n  KIND_FREE = 2;\n");
    project.json(&["ledger", "--today", "2026-03-03"], 0);
    project.commit("value", "2026-03-03");
    project.git(&["checkout", "-q", "main"], "2026-03-03");
    project.edit("p.proto", "  int64 size = 1;\n", "  int64 size = 1;\n  int64 other = 9;\n");
    project.json(&["ledger", "--today", "2026-03-04"], 0);
    project.commit("field", "2026-03-04");
    project.git(&["merge", "-q", "-m", "merge", "other"], "2026-03-05");
    assert_eq!(project.aotgate(&["ledger", "--verify"]).status, 0);
    let text = project.read("aotgate.lock");
    assert!(
        text.contains("value p.Kind 2 KIND_FREE : +2026-03-03..") && text.contains("9 other int64"),
        "{text}"
    );
}

#[test]
fn links_are_not_written_through() {
    let project = Project::plain();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("elsewhere.lock", project.path("aotgate.lock")).unwrap();
        let run = project.aotgate(&["ledger"]);
        assert_eq!(run.status, 2, "{}{}", run.out, run.err);
        assert!(!project.path("elsewhere.lock").exists());
    }
    project.write("aotgate.toml", &format!("{POLICY}[history]\nledger = \"../x.lock\"\n"));
    let run = project.aotgate(&["ledger"]);
    assert!(run.status == 2 && run.err.contains("no path of a ledger"), "{}", run.err);
    project.write("aotgate.toml", &format!("{POLICY}[history]\nledger = \"contract.lock\"\n"));
    assert_eq!(project.aotgate(&["ledger"]).status, 0);
    assert!(project.path("contract.lock").exists());
    let run = project.aotgate(&["ledger", "-o", "-"]);
    assert_eq!(run.out, project.read("contract.lock"));
}

/// The Bazel example, over links as Bazel lays them out and with a path that has no git.
#[cfg(unix)]
#[test]
fn the_bazel_example_runs() {
    use std::os::unix::fs::symlink;

    let script =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(".github/examples/bazel/contract_test.sh");
    let project = Project::plain();
    project.json(&["ledger", "--today", "2026-05-04"], 0);
    project.write("released.lock", &project.read("aotgate.lock"));

    let test = tempfile::tempdir().unwrap();
    let place = |name: &str| test.path().join(name);
    for dir in ["bin", "tmp", "runfiles/ws"] {
        std::fs::create_dir_all(place(dir)).unwrap();
    }
    for tool in ["sh", "cp", "mkdir"] {
        let found = ["/bin", "/usr/bin"].map(|dir| Path::new(dir).join(tool));
        symlink(found.iter().find(|path| path.exists()).unwrap(), place("bin").join(tool)).unwrap();
    }
    for file in ["aotgate.toml", "aotgate.lock", "released.lock", "p.proto"] {
        symlink(project.path(file), place("runfiles/ws").join(file)).unwrap();
    }
    symlink(env!("CARGO_BIN_EXE_aotgate"), place("runfiles/ws/aotgate")).unwrap();
    let run = |tmp: &str| {
        Command::new(place("bin/sh"))
            .arg(&script)
            .args(["aotgate", "released.lock"])
            .current_dir(place("runfiles/ws"))
            .env_clear()
            .env("PATH", place("bin"))
            .env("TEST_SRCDIR", place("runfiles"))
            .env("TEST_WORKSPACE", "ws")
            .env("TEST_TMPDIR", place(tmp))
            .env("AOTGATE_TODAY", "2026-06-01")
            .output()
            .unwrap()
    };
    let output = run("tmp/first");
    assert!(output.status.success(), "{output:?}");
    project.edit("p.proto", "  string name = 2;\n", "");
    assert_eq!(run("tmp/second").status.code(), Some(1));
    // With the ledger brought up to date, the release's tells still.
    project.json(&["ledger", "--today", "2026-06-01"], 0);
    let output = run("tmp/third");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.code() == Some(1) && text.contains("field-removed"), "{output:?}");
}

/// `aotgate.lock` at the top is what `aotgate ledger` would write.
#[test]
fn our_own_ledger_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(env!("CARGO_BIN_EXE_aotgate"))
        .args(["ledger", "--verify", "--no-cache", "./"])
        .current_dir(root)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
