//! `aotgate check` executes goldens through both contracts: a repository with this one's `proto/` and three of its goldens,
//! and one change each.
#![allow(clippy::panic, clippy::unwrap_used)] // helpers of tests

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

const TODAY: &str = "2026-11-01";

const POLICY: &str = "\
extends = \"xla-gpu\"
[contract]
prefixes = [\"\"]
include = [\"proto\"]
[goldens]
paths = [\"golden\"]
upstream = []
[waivers]
file = \"waivers.toml\"
";

const GOLDENS: [&str; 3] =
    ["jaxlib-0.11.2/add_mul", "jaxlib-0.11.2/identity_passthrough", "jaxlib-0.12.0/concat_pad_rev"];

/// What slices are declared as.
const SLICE: &str = "proto/xla/buffer_slice.proto";

struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let project = Project { dir: tempfile::tempdir().unwrap() };
        copy(&own("proto"), &project.path("proto"));
        for golden in GOLDENS {
            copy(&own("golden").join(golden), &project.path("golden").join(golden));
        }
        std::fs::write(project.path("aotgate.toml"), POLICY).unwrap();
        project.git(&["init", "-q", "-b", "main"]);
        project.commit();
        project
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn git(&self, arguments: &[&str]) {
        let output = Command::new("git")
            .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.com"])
            .args(arguments)
            .current_dir(self.dir.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "c"]);
    }

    /// Replaces texts in a file, all at once.
    fn edit(&self, name: &str, pairs: &[(&str, &str)]) {
        let mut text = std::fs::read_to_string(self.path(name)).unwrap();
        for (at, (from, _)) in pairs.iter().enumerate() {
            assert!(text.contains(from), "{from}");
            text = text.replacen(from, &format!("@{at}@"), 1);
        }
        for (at, (_, to)) in pairs.iter().enumerate() {
            text = text.replace(&format!("@{at}@"), to);
        }
        std::fs::write(self.path(name), text).unwrap();
    }

    fn check(&self, arguments: &[&str]) -> (Value, i32) {
        let (text, status) = self.run(&[&["--format", "json"], arguments].concat());
        let document: Value = serde_json::from_str(&text).unwrap();
        (document, status)
    }

    fn run(&self, arguments: &[&str]) -> (String, i32) {
        let output = Command::new(env!("CARGO_BIN_EXE_aotgate"))
            .args(["check", "--base", "HEAD", "--head", "WORKTREE"])
            .args(if arguments.contains(&"--today") { &[][..] } else { &["--today", TODAY] })
            .args(arguments)
            .current_dir(self.dir.path())
            .env_remove("GITHUB_EVENT_PATH")
            .env_remove("XLA_AOT_TEST_ALL_VERSIONS")
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        (text, output.status.code().unwrap_or(-1))
    }
}

fn own(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn of<'d>(document: &'d Value, check: &str) -> Vec<&'d Value> {
    let findings = document["findings"].as_array().unwrap();
    findings.iter().filter(|finding| finding["check"] == check).collect()
}

fn counts(document: &Value) -> [u64; 5] {
    ["executed", "equal", "differ", "failed", "skipped"]
        .map(|key| document["goldens"][key].as_u64().unwrap())
}

fn case<'d>(document: &'d Value, golden: &str) -> &'d Value {
    let cases = document["goldens"]["cases"].as_array().unwrap();
    cases.iter().find(|case| case["golden"] == golden).unwrap()
}

#[test]
fn breaking_changes_name_golden_and_output() {
    let broken = [
        (
            "renumbered",
            SLICE,
            vec![("int64 buffer_allocation_index = 3", "int64 buffer_allocation_index = 9")],
        ),
        (
            "retyped",
            SLICE,
            vec![("int64 buffer_allocation_index = 3", "string buffer_allocation_index = 3")],
        ),
        ("removed", SLICE, vec![("  int64 buffer_allocation_index = 3;\n", "")]),
        ("repurposed", SLICE, vec![("size = 2", "size = 3"), ("_index = 3", "_index = 2")]),
    ];
    for (what, file, edits) in broken {
        let project = Project::new();
        project.edit(file, &edits);
        let (document, status) = project.check(&[]);
        assert_eq!(status, 1, "{what}");
        assert_eq!(document["verdict"], "fail", "{what}");
        let changed = of(&document, "semantics-changed");
        let failed = of(&document, "golden-failed");
        let shown: Vec<&&Value> = changed.iter().chain(&failed).collect();
        assert!(!shown.is_empty(), "{what}: {:#}", document["goldens"]);
        for finding in shown {
            assert_eq!(finding["level"], "error", "{what}: {finding:#}");
            assert_eq!(finding["triage"], "breaks-backward", "{what}");
            assert!(finding["construct"].as_str().unwrap().starts_with("golden:jaxlib-"), "{what}");
        }
        for finding in changed {
            let message = finding["message"].as_str().unwrap();
            assert!(
                message.contains("output ") && message.contains("base gives"),
                "{what}: {message}"
            );
        }
    }
}

/// Nothing but meaning changes: the wire is the same, and every golden loads and runs.
#[test]
fn results_that_differ_name_both_values() {
    let project = Project::new();
    // A copy between buffers of one size: what is written as its source is read as its destination.
    project.edit(
        "proto/xla/gpu/thunk_memory.proto",
        &[
            ("source_buffer = 1", "source_buffer = 2"),
            ("destination_buffer = 2", "destination_buffer = 1"),
        ],
    );
    let (document, status) = project.check(&[]);
    assert_eq!(status, 1);
    let [finding] = of(&document, "semantics-changed")[..] else {
        panic!("{:#}", document["goldens"])
    };
    let message = finding["message"].as_str().unwrap();
    assert!(message.contains("output 0 of device 0 differs in"), "{message}");
    assert!(message.contains("base gives") && message.contains("head"), "{message}");
    let golden = finding["construct"].as_str().unwrap().trim_start_matches("golden:");
    assert_eq!(case(&document, golden)["outcome"], "differ");
    let (human, _) = project.run(&[]);
    assert!(human.contains("3 executed, 2 equal, 1 differs"), "{human}");
    // Waived with all that the schema says of it, it is let through; attested it is not.
    let waiver = |construct: &str, check: &str| {
        format!(
            "[[waiver]]\ncheck = \"{check}\"\nconstruct = \"{construct}\"\nreason = \"r\"\n\
             approved_by = \"a\"\nexpires = 2027-01-01\n"
        )
    };
    let mut waivers = String::new();
    for finding in document["findings"].as_array().unwrap() {
        if finding["surface"] == "proto" {
            let [construct, check] = ["construct", "check"].map(|k| finding[k].as_str().unwrap());
            waivers.push_str(&waiver(construct, check));
        }
    }
    project.git(&["stash", "-q"]);
    std::fs::write(project.path("waivers.toml"), waivers).unwrap();
    project.commit();
    project.git(&["stash", "pop", "-q"]);
    let (document, status) = project.check(&[]);
    assert_eq!(status, 0, "{:#}", document["findings"]);
    assert_eq!(of(&document, "semantics-changed")[0]["satisfied_by"]["kind"], "waiver");
}

#[test]
fn harmless_changes_pass() {
    let slices = std::fs::read_to_string(own(SLICE)).unwrap();
    let message = slices.find("message BufferAllocationSliceProto").unwrap();
    let (header, moved) = slices.split_at(message);
    let elsewhere = "proto/xla/slice_elsewhere.proto";
    // A pure move to another file.
    let project = Project::new();
    std::fs::write(project.path(elsewhere), format!("{header}{moved}")).unwrap();
    let import = "import public \"xla/slice_elsewhere.proto\";\n";
    std::fs::write(project.path(SLICE), format!("{header}{import}")).unwrap();
    let (document, status) = project.check(&[]);
    assert_eq!(status, 0, "{:#}", document["findings"]);
    assert_eq!(document["goldens"]["failed"], 0);
    // A field that is called otherwise, and one that is new.
    for (from, to) in [
        ("int64 offset = 1", "int64 first_byte = 1"),
        ("int64 offset = 1", "int64 offset = 1;\n  int64 hint = 77"),
    ] {
        let project = Project::new();
        project.edit(SLICE, &[(from, to)]);
        let (document, status) = project.check(&["--fail-on", "fail"]);
        assert_eq!(status, 0, "{to}: {:#}", document["findings"]);
        assert_eq!(counts(&document), [3, 3, 0, 0, 0], "{to}: {:#}", document["goldens"]);
        assert_eq!(document["goldens"]["backend"], "reference");
    }
}

impl Project {
    /// Turns the artifact of the first golden into text.
    fn make_text(&self) {
        let golden = format!("golden/{}", GOLDENS[0]);
        let output = Command::new(env!("CARGO_BIN_EXE_aotgate"))
            .args(["artifact", "convert", "--to", "text", "--drop", "options,envelope"])
            .args(["-o", "text.pbtxt"])
            .arg(format!("{golden}/executable.bin"))
            .current_dir(self.dir.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let to = self.path(&golden).join("executable.bin");
        std::fs::rename(self.path("text.pbtxt"), to).unwrap();
        self.commit();
    }

    /// Renames a field of the contract.
    fn rename(&self) {
        let field = "string profile_annotation = 1";
        self.edit(INFO, &[(field, &field.replace("annotation", "annotation_text"))]);
    }

    /// Does the same to the text.
    fn convert_text(&self, to: &str) {
        let name = format!("golden/{}/executable.bin", GOLDENS[0]);
        let text = std::fs::read_to_string(self.path(&name)).unwrap();
        assert!(text.contains("profile_annotation: "));
        let text = text.replace("profile_annotation: ", &format!("{to}: "));
        std::fs::write(self.path(&name), text).unwrap();
    }

    fn golden(&self, arguments: &[&str]) -> (String, i32) {
        let output = Command::new(env!("CARGO_BIN_EXE_aotgate"))
            .args(["golden"])
            .args(arguments)
            .args(["--today", TODAY])
            .current_dir(self.dir.path())
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (text, output.status.code().unwrap_or(-1))
    }
}

/// Where thunks have their names.
const INFO: &str = "proto/xla/gpu/thunk.proto";

/// The same program as text: renamed at head, it is executed as base's contract reads it, and must be converted.
#[test]
fn a_text_golden_follows_a_rename() {
    let project = Project::new();
    project.make_text();
    project.rename();
    let (document, status) = project.check(&[]);
    assert_eq!(status, 1, "{:#}", document["findings"]);
    let [refused] = of(&document, "golden-refused")[..] else { panic!("{document:#}") };
    assert_eq!(refused["level"], "warning");
    assert_eq!(refused["construct"], format!("golden:{}", GOLDENS[0]));
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("profile_annotation") && !message.contains("golden:"), "{message}");
    assert_eq!(counts(&document), [3, 3, 0, 0, 0], "{:#}", document["goldens"]);

    // Converted in the same change, there is nothing to say.
    project.convert_text("profile_annotation_text");
    let (document, status) = project.check(&[]);
    assert_eq!(status, 0, "{:#}", document["findings"]);
    let about = |document: &Value| {
        let findings = document["findings"].as_array().unwrap().clone();
        findings.iter().filter(|finding| finding["surface"] == "golden").count()
    };
    assert_eq!(about(&document), 0, "{:#}", document["findings"]);
    assert_eq!(counts(&document), [3, 3, 0, 0, 0], "{:#}", document["goldens"]);
    project.commit();
    // All read it with the contract beside it.
    assert_eq!(project.golden(&["list"]).1, 0);
    let (verified, status) = project.golden(&["verify", "add_mul"]);
    assert_eq!(status, 0, "{verified}");
    // Said otherwise, it is an edit.
    project.convert_text_back("the_add");
    let (document, status) = project.check(&[]);
    let [changed] = of(&document, "golden-changed")[..] else { panic!("{document:#}") };
    assert!(
        changed["message"].as_str().unwrap().starts_with("the artifact changed"),
        "{changed:#}"
    );
    assert_eq!(status, 1);
}

impl Project {
    /// Gives the first thunk in the text another name.
    fn convert_text_back(&self, to: &str) {
        let name = format!("golden/{}/executable.bin", GOLDENS[0]);
        let text = std::fs::read_to_string(self.path(&name)).unwrap();
        let at = text.find("profile_annotation_text: \"").unwrap() + 26;
        let end = at + text[at..].find('"').unwrap();
        std::fs::write(self.path(&name), format!("{}{to}{}", &text[..at], &text[end..])).unwrap();
    }
}

/// Text that the contract beside it does not read: all that look at goldens say so.
#[test]
fn text_that_its_own_contract_refuses_is_unreadable() {
    let project = Project::new();
    project.make_text();
    project.rename();
    project.commit();
    std::fs::write(project.path("README.md"), "nothing to do with it").unwrap();
    let (document, status) = project.check(&["--goldens", "all"]);
    assert_eq!(status, 2, "{document:#}");
    assert_eq!(case(&document, GOLDENS[0])["outcome"], "unreadable");
    assert!(document["goldens"]["unreadable"][0].as_str().unwrap().contains(GOLDENS[0]));
    assert_eq!(project.check(&[]).1, 0);
    let (listed, status) = project.golden(&["list"]);
    assert_eq!(status, 2, "{listed}");
    assert!(listed.contains("profile_annotation"), "{listed}");
    let (verified, status) = project.golden(&["verify"]);
    assert_eq!(status, 2, "{verified}");
    assert!(verified.contains("UNREAD  add_mul"), "{verified}");
}

/// Goldens are what changes are judged by, so whoever edits or deletes one says why.
#[test]
fn edited_and_deleted_goldens_are_findings() {
    let first = format!("golden/{}", GOLDENS[0]);
    let npz = |name: &str, project: &Project| {
        let other = own("golden/jaxlib-0.12.0/donated_input/expected.npz");
        std::fs::copy(other, project.path(&first).join(name)).unwrap();
    };
    let artifact = |project: &Project| {
        let other = own("golden/jaxlib-0.12.0/constants/executable.bin");
        std::fs::copy(other, project.path(&first).join("executable.bin")).unwrap();
    };
    let key = |project: &Project| {
        project
            .edit(&format!("{first}/golden.toml"), &[("version = \"0.11.2\"", "version = \"9\"")]);
    };
    type Edit<'a> = (&'a str, &'a dyn Fn(&Project));
    let edits: [Edit<'_>; 4] = [
        ("the inputs changed in place", &|project| npz("inputs.npz", project)),
        ("the expected outputs changed in place", &|project| npz("expected.npz", project)),
        ("the artifact changed in place", &artifact),
        ("`producer` of golden.toml changed in place", &key),
    ];
    for (message, edit) in edits {
        let project = Project::new();
        edit(&project);
        let (document, status) = project.check(&[]);
        let [finding] = of(&document, "golden-changed")[..] else {
            panic!("{message}: {document:#}")
        };
        assert_eq!(
            (status, &finding["level"], &finding["triage"]),
            (1, &"warning".into(), &"needs-attestation".into())
        );
        assert_eq!(finding["construct"], format!("golden:{}", GOLDENS[0]));
        let found = finding["message"].as_str().unwrap();
        assert!(found.starts_with(message) && found.contains("until 2027-03-16"), "{found}");
        let attest = format!("golden-changed golden:{} - it was wrong", GOLDENS[0]);
        assert_eq!(project.check(&["--attest", &attest]).1, 0);
        // Base's version is what is executed.
        let (document, _) = project.check(&["--goldens", "all"]);
        assert_eq!(counts(&document), [3, 3, 0, 0, 0], "{:#}", document["goldens"]);
    }
    // One by its name, several by their set; nobody minds once their time is over.
    let project = Project::new();
    std::fs::remove_dir_all(project.path(&first)).unwrap();
    let (document, status) = project.check(&[]);
    assert_eq!(
        (status, &of(&document, "golden-changed")[0]["construct"]),
        (1, &format!("golden:{}", GOLDENS[0]).into())
    );
    std::fs::remove_dir_all(project.path("golden/jaxlib-0.11.2")).unwrap();
    let (document, _) = project.check(&[]);
    let [finding] = of(&document, "golden-changed")[..] else { panic!("{document:#}") };
    assert_eq!(finding["construct"], "golden:jaxlib-0.11.2");
    assert!(finding["message"].as_str().unwrap().starts_with("2 of its goldens are deleted"));
    let (document, status) = project.check(&["--today", "2027-03-17"]);
    assert_eq!((status, of(&document, "golden-changed").len()), (0, 0), "{document:#}");
    // More of them are welcome.
    let project = Project::new();
    copy(&own("golden/jaxlib-0.12.0/constants"), &project.path("golden/jaxlib-0.12.0/constants"));
    assert_eq!(project.check(&[]).1, 0);
}

/// A step whose field moves into a oneof of steps means the same, to every value: that is what execution can prove.
#[test]
fn execution_attests_what_it_shows() {
    let project = Project::new();
    let policy = POLICY.replace(
        "include = [\"proto\"]",
        "include = [\"proto\"]\ndispatch = [\"xla.gpu.CopyThunkProto.impl\"]",
    );
    std::fs::write(project.path("aotgate.toml"), policy).unwrap();
    project.commit();
    let text = std::fs::read_to_string(project.path("proto/xla/gpu/thunk_memory.proto")).unwrap();
    let line = text.lines().find(|line| line.contains("source_buffer = 1;")).unwrap();
    let member = format!("  oneof impl {{\n  {line}\n  }}");
    project.edit("proto/xla/gpu/thunk_memory.proto", &[(line, &member)]);
    let (document, status) = project.check(&[]);
    let [finding] = of(&document, "field-moved-into-oneof")[..] else {
        panic!("{:#}", document["findings"])
    };
    assert_eq!(finding["triage"], "needs-attestation");
    assert_eq!(finding["satisfied_by"]["kind"], "golden", "{finding:#}");
    assert_eq!(finding["satisfied_by"]["goldens"].as_array().unwrap().len(), 1);
    assert_eq!(status, 0);
    // Without execution nobody vouches.
    let (document, status) = project.check(&["--goldens", "none"]);
    assert_eq!(of(&document, "field-moved-into-oneof")[0]["satisfied_by"], Value::Null);
    assert_eq!(status, 1);
}

/// What is lost for some values only is not proved by goldens, which hold a few small ones.
#[test]
fn execution_does_not_attest_what_is_lost_in_range() {
    for (to, check) in [
        ("int32 size = 2;", "field-type-changed"),
        ("oneof impl { int64 size = 2; }", "field-moved-into-oneof"),
    ] {
        let project = Project::new();
        project.edit(SLICE, &[("int64 size = 2;", to)]);
        let (document, status) = project.check(&[]);
        let [finding] = of(&document, check)[..] else { panic!("{:#}", document["findings"]) };
        assert_eq!(finding["triage"], "needs-attestation");
        assert_eq!(finding["satisfied_by"], Value::Null, "{finding:#}");
        assert_eq!(counts(&document), [3, 3, 0, 0, 0], "{:#}", document["goldens"]);
        assert_eq!(status, 1);
    }
}

const THUNKS: &str = "proto/xla/gpu/thunk.proto";
const WHILE: &str = "jaxlib-0.12.0/while_loop";

/// A repository in which base lacks a line of the thunks' contract that head has; one golden has a loop.
fn new_line(line: &str) -> Project {
    let project = Project::new();
    copy(&own("golden").join(WHILE), &project.path("golden").join(WHILE));
    project.edit(THUNKS, &[(line, "")]);
    project.commit();
    std::fs::copy(own(THUNKS), project.path(THUNKS)).unwrap();
    project
}

/// A new field that the runtime reads: the loop gives the same without its trip count, and cannot run without the buffer
/// that its condition writes.
#[test]
fn a_new_field_is_ignorable_or_needed() {
    let project = new_line("  optional int64 trip_count = 4;\n");
    let (document, status) = project.check(&[]);
    let [finding] = of(&document, "field-added")[..] else { panic!("{:#}", document["findings"]) };
    assert_eq!(finding["triage"], "needs-rollout");
    assert_eq!(finding["satisfied_by"]["kind"], "golden", "{finding:#}");
    assert_eq!(finding["satisfied_by"]["goldens"], serde_json::json!([WHILE]));
    assert_eq!((status, &document["verdict"]), (0, &"pass".into()));
    assert_eq!(counts(&document), [4, 4, 0, 0, 0], "{:#}", document["goldens"]);
    let (human, _) = project.run(&[]);
    assert!(human.contains("ignorable: shown by execution"), "{human}");
    assert!(!human.contains("emission may be switched on"), "{human}");

    let line =
        "  xla.buffer_assignment.BufferAllocationSliceProto condition_result_buffer_index = 1;\n";
    let project = new_line(line);
    let (document, status) = project.check(&[]);
    let [finding] = of(&document, "field-added")[..] else { panic!("{:#}", document["findings"]) };
    assert_eq!((status, &finding["triage"]), (1, &"needs-rollout".into()));
    assert_eq!(finding["satisfied_by"], Value::Null);
    let message = finding["message"].as_str().unwrap();
    assert!(message.contains("execution shows that it is needed"), "{message}");
    let fact = finding["evidence"][0]["what"].as_str().unwrap();
    assert!(fact.contains(WHILE) && fact.contains("older runtimes would not run it"), "{fact}");
    assert_eq!(counts(&document), [4, 3, 1, 0, 0], "{:#}", document["goldens"]);
    assert!(of(&document, "golden-failed").is_empty());

    // What no golden carries stays as it is.
    let project = Project::new();
    project.edit(THUNKS, &[("  optional int64 trip_count = 4;\n", "")]);
    project.commit();
    std::fs::copy(own(THUNKS), project.path(THUNKS)).unwrap();
    let (document, status) = project.check(&[]);
    assert_eq!(of(&document, "field-added")[0]["satisfied_by"], Value::Null);
    assert_eq!(status, 1);
}

/// Executed are those that are equal, differ or failed; the others are refused or skipped, whatever they lose.
#[test]
fn counts_add_up() {
    let project = Project::new();
    for golden in ["jaxlib-0.12.0/attention_cudnn", "jaxlib-0.12.0/constants"] {
        copy(&own("golden").join(golden), &project.path("golden").join(golden));
    }
    project.commit();
    // All slices with a length are refused; those of the program that is not supported are lost as well.
    project.edit(SLICE, &[("int64 size = 2", "int64 size = 9")]);
    let (document, _) = project.check(&[]);
    let [executed, equal, differ, failed, skipped] = counts(&document);
    let goldens = &document["goldens"];
    let refused = goldens["refused"].as_u64().unwrap();
    assert_eq!(executed, equal + differ + failed, "{goldens:#}");
    assert_eq!(executed + refused + skipped, 5, "{goldens:#}");
    assert!(refused > 0 && skipped == 1, "{goldens:#}");
    let not_executed = case(&document, "jaxlib-0.12.0/attention_cudnn");
    assert_eq!(
        (&not_executed["outcome"], &not_executed["executed"]),
        (&"skipped".into(), &false.into())
    );
    assert!(not_executed["reason"].as_str().unwrap().starts_with("not supported: "));
    assert!(not_executed["loses"].as_str().unwrap().contains("BufferAllocationSliceProto.size"));
    let (human, _) = project.run(&[]);
    assert!(human.contains(&format!("{refused} refused, 1 skipped (not supported: ")), "{human}");
    // A loss that changes no result.
    let project = Project::new();
    copy(&own("golden").join(WHILE), &project.path("golden").join(WHILE));
    project.commit();
    project.edit(THUNKS, &[("  optional int64 trip_count = 4;\n", "")]);
    let (document, _) = project.check(&[]);
    assert_eq!(counts(&document), [4, 4, 0, 0, 0], "{:#}", document["goldens"]);
    assert_eq!(case(&document, WHILE)["loses"], "loses xla.gpu.WhileThunkProto.trip_count");
    let (human, _) = project.run(&[]);
    assert!(human.contains("4 executed, 4 equal, 1 loses data"), "{human}");
}

/// The cause comes before what goldens show of it, and of many goldens only some are shown.
#[test]
fn the_cause_comes_first_and_goldens_are_folded() {
    let project = Project::new();
    for golden in ["jaxlib-0.12.0/constants", "jaxlib-0.12.0/int_zoo", "jaxlib-0.12.0/softmax"] {
        copy(&own("golden").join(golden), &project.path("golden").join(golden));
    }
    project.commit();
    project.edit(SLICE, &[("int64 size = 2", "int64 size = 9")]);
    let (document, _) = project.check(&[]);
    assert_eq!(document["findings"][0]["surface"], "proto", "{:#}", document["findings"]);
    let failed = of(&document, "golden-failed").len();
    assert!(failed > 4, "{:#}", document["findings"]);
    let full = |text: &str| text.matches("error[golden-failed]").count();
    let (human, _) = project.run(&[]);
    assert_eq!(full(&human), 3, "{human}");
    assert!(
        human.contains(&format!("and golden-failed of {} more goldens: ", failed - 3)),
        "{human}"
    );
    assert!(human.find("error[field-").unwrap() < human.find("error[golden-failed]").unwrap());
    let (human, _) = project.run(&["--verbose"]);
    assert_eq!(full(&human), failed);
}

#[test]
fn execution_is_asked_for_or_needed() {
    let project = Project::new();
    let (document, status) = project.check(&[]);
    assert_eq!((status, counts(&document)), (0, [0; 5]));
    let (document, status) = project.check(&["--goldens", "all"]);
    assert_eq!((status, counts(&document)), (0, [3, 3, 0, 0, 0]));
    assert!(case(&document, GOLDENS[0])["worst_error"].is_number());
    let policy = POLICY.replace("upstream = []", "upstream = []\nexecute = \"always\"");
    std::fs::write(project.path("aotgate.toml"), policy).unwrap();
    project.commit();
    let (document, _) = project.check(&[]);
    assert_eq!(counts(&document), [3, 3, 0, 0, 0]);
    let (document, _) = project.check(&["--goldens", "none"]);
    assert_eq!(counts(&document), [0; 5]);
    // A store elsewhere, in the same windows.
    let store = own("golden");
    for (today, executed) in [(TODAY, 4), ("2027-06-01", 0)] {
        let elsewhere = tempfile::tempdir().unwrap();
        copy(&store.join("jaxlib-0.12.0/constants"), &elsewhere.path().join("elsewhere/constants"));
        let dir = elsewhere.path().to_str().unwrap();
        let (document, _) = project.check(&["--golden-store", dir, "--today", today]);
        assert_eq!(document["goldens"]["executed"], executed, "{today}: {document:#}");
    }
    let (_, status) = project.check_status(&["--golden-store", "nowhere"]);
    assert_eq!(status, 2);
}

impl Project {
    fn check_status(&self, arguments: &[&str]) -> (String, i32) {
        let output = Command::new(env!("CARGO_BIN_EXE_aotgate"))
            .args(["check", "--base", "HEAD", "--head", "WORKTREE"])
            .args(arguments)
            .current_dir(self.dir.path())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        (text, output.status.code().unwrap_or(-1))
    }
}

/// A golden whose recorded outputs are wrong is not the change's fault.
#[test]
fn wrong_expectations_are_a_warning() {
    let project = Project::new();
    let golden = project.path("golden").join(GOLDENS[0]);
    std::fs::copy(
        own("golden/jaxlib-0.12.0/donated_input/expected.npz"),
        golden.join("expected.npz"),
    )
    .unwrap();
    project.commit();
    let (document, status) = project.check(&["--goldens", "all"]);
    assert_eq!(status, 1);
    let [finding] = of(&document, "golden-failed")[..] else { panic!("{:#}", document["goldens"]) };
    assert_eq!(finding["level"], "warning", "{finding:#}");
    assert_eq!(case(&document, GOLDENS[0])["outcome"], "failed");
}

/// Goldens that a change brings: an endless loop, a huge allocation, garbage. All end within limits.
#[test]
fn hostile_goldens_end_within_limits() {
    use aotgate_runtime::artifact::Artifact;
    use aotgate_runtime::proto::xla::gpu::GpuExecutableProto;
    use prost::Message as _;

    let project = Project::new();
    let bring = |name: &str, from: &str, change: &dyn Fn(&mut GpuExecutableProto)| {
        let to = project.path("golden/evil").join(name);
        copy(&own("golden").join(from), &to);
        let bytes = std::fs::read(to.join("executable.bin")).unwrap();
        let mut executable = Artifact::read(bytes).unwrap().decode().unwrap();
        change(&mut executable);
        std::fs::write(to.join("executable.bin"), executable.encode_to_vec()).unwrap();
    };
    bring("loop", "jaxlib-0.12.0/while_loop", &endless);
    bring("huge", GOLDENS[0], &|executable| {
        for allocation in &mut executable.buffer_allocations.as_mut().unwrap().values {
            allocation.size = 1 << 50;
        }
    });
    bring("garbage", GOLDENS[0], &|executable| {
        executable.thunks = vec![executable.thunks[0].clone(); 50_000];
    });
    let begun = Instant::now();
    let (document, status) = project.check(&[]);
    assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
    assert_eq!(status, 1, "{:#}", document["goldens"]);
    for name in ["evil/loop", "evil/huge", "evil/garbage"] {
        let outcome = case(&document, name)["outcome"].as_str().unwrap();
        assert!(
            matches!(outcome, "failed" | "refused" | "skipped"),
            "{name}: {:#}",
            document["goldens"]
        );
    }
    // Base's own are not run for what head brings.
    assert_eq!(document["goldens"]["equal"], 0);
}

/// Counts up from 0 until -1 is met, for which nothing but the condition is asked.
fn endless(executable: &mut aotgate_runtime::proto::xla::gpu::GpuExecutableProto) {
    use aotgate_runtime::proto::xla::gpu::thunk_proto::Impl;

    for thunk in &mut executable.thunks {
        if let Some(Impl::WhileThunk(repeat)) = &mut thunk.r#impl {
            repeat.trip_count = None;
        }
    }
    let module = executable.hlo_module_with_config.as_mut().unwrap().hlo_module.as_mut().unwrap();
    for instruction in module.computations.iter_mut().flat_map(|c| &mut c.instructions) {
        if instruction.opcode == "compare" {
            instruction.comparison_direction = "NE".to_owned();
        }
        for value in instruction.literal.iter_mut().flat_map(|literal| &mut literal.s32s) {
            *value = if *value == 10 { -1 } else { *value };
        }
    }
}
