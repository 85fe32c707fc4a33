//! Goldens as evidence of `aotgate check`: what a change does to recorded artifacts.
//!
//! The ignored tests take XLA's history (`AOTGATE_XLA_REPO`) and real artifacts (`AOTGATE_GOLDENS`, a folder with
//! `<jaxlib>/<program>/executable.bin`).
#![allow(clippy::panic, clippy::unwrap_used, clippy::print_stdout)] // helpers of tests

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

const TODAY: &str = "2026-08-01";

const POLICY: &str = "\
[[contract.root]]
message = \"xla.gpu.GpuExecutableProto\"
files = [\"p.proto\"]
[goldens]
paths = [\"golden\"]
execute = \"never\"
[waivers]
file = \"waivers.toml\"
";

const BASE: &str = "\
syntax = \"proto3\";
package xla.gpu;
message GpuExecutableProto {
  Step thunks = 13;
}
message Step {
  int64 size = 1;
  string name = 2;
  int64 unused = 3;
}
";

/// `thunks { size: 2^40 name: \"ab\" }`.
const STEP: &[u8] = b"\x6a\x0b\x08\x80\x80\x80\x80\x80\x20\x12\x02ab";

/// A repository with one commit: policy, contract, and a golden.
struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let project = Project { dir: tempfile::tempdir().unwrap() };
        project.git(&["init", "-q", "-b", "main"]);
        project.write("aotgate.toml", POLICY.as_bytes());
        project.write("p.proto", BASE.as_bytes());
        project.golden("r1/step", "2026-05-01", STEP);
        project.commit("base");
        project
    }

    fn write(&self, name: &str, content: &[u8]) {
        let path = self.dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn golden(&self, id: &str, date: &str, content: &[u8]) {
        let manifest = format!(
            "artifact = \"a.bin\"\nemitted_at = {date}\n[producer]\nname = \"t\"\nversion = \"1\"\n\
             [target]\narchitecture = \"sm_90\"\n[program]\n"
        );
        self.write(&format!("golden/{id}/golden.toml"), manifest.as_bytes());
        self.write(&format!("golden/{id}/a.bin"), content);
    }

    fn edit(&self, from: &str, to: &str) {
        assert!(BASE.contains(from), "{from}");
        self.write("p.proto", BASE.replace(from, to).as_bytes());
    }

    fn git(&self, arguments: &[&str]) {
        self.git_on(arguments, "2026-07-01T12:00:00+0200");
    }

    fn git_on(&self, arguments: &[&str], date: &str) {
        let output = Command::new("git")
            .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.com"])
            .args(arguments)
            .current_dir(self.dir.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_COMMITTER_DATE", date)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    fn commit_on(&self, message: &str, date: &str) {
        self.git(&["add", "-A"]);
        self.git_on(&["commit", "-q", "--allow-empty", "-m", message], date);
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

    fn check(&self, arguments: &[&str]) -> (Value, i32) {
        let (text, status) = self.run(&[&["--format", "json"], arguments].concat());
        (serde_json::from_str(&text).unwrap(), status)
    }
}

/// The findings of a check.
fn of<'d>(document: &'d Value, check: &str) -> Vec<&'d Value> {
    let findings = document["findings"].as_array().unwrap();
    findings.iter().filter(|finding| finding["check"] == check).collect()
}

fn evidence(finding: &Value) -> String {
    let facts = finding["evidence"].as_array().unwrap().iter();
    facts.map(|fact| fact["what"].as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_a_golden_carries_names_it() {
    let renumbered = "int64 size = 9";
    for (check, from, to) in [
        ("field-removed", "  int64 size = 1;\n", "  reserved 1; reserved \"size\";\n"),
        ("field-renumbered", "int64 size = 1", renumbered),
        ("field-type-changed", "int64 size", "string size"),
    ] {
        let project = Project::new();
        project.edit(from, to);
        let (document, status) = project.check(&[]);
        assert_eq!(status, 1, "{check}");
        let [schema] = of(&document, check)[..] else { panic!("{check}: {document:#}") };
        assert!(evidence(schema).contains("golden:r1/step carries it once"), "{schema:#}");
        assert_eq!(schema["level"], "error");
        let [golden] = of(&document, "golden-lost-data")[..] else { panic!("{document:#}") };
        assert_eq!(golden["construct"], "xla.gpu.Step.size");
        assert_eq!(
            (&golden["level"], &golden["triage"]),
            (&"note".into(), &"breaks-backward".into())
        );
        assert_eq!(golden["locations"][0]["file"], "golden/r1/step/a.bin");
        let goldens = &document["goldens"];
        assert_eq!(goldens["backend"], "view");
        assert_eq!((&goldens["differ"], &goldens["executed"]), (&1.into(), &0.into()));
        assert_eq!(goldens["cases"][0]["reason"], "loses xla.gpu.Step.size");
    }
}

#[test]
fn a_milder_finding_is_contradicted() {
    let project = Project::new();
    project.edit("int64 size", "int32 size");
    let (document, _) = project.check(&[]);
    assert_eq!(of(&document, "field-type-changed")[0]["triage"], "needs-attestation");
    let golden = of(&document, "golden-lost-data")[0];
    assert_eq!((&golden["level"], &golden["triage"]), (&"error".into(), &"breaks-backward".into()));
    assert!(golden["message"].as_str().unwrap().contains("which this contradicts"));
    // Vouched for all the same, it stays listed.
    let (document, status) =
        project.check(&["--attest", "field-type-changed xla.gpu.Step.size - never above 2^31"]);
    assert_eq!(of(&document, "golden-lost-data")[0]["satisfied_by"]["kind"], "attestation");
    assert_eq!(status, 0);
}

#[test]
fn renames_and_moves_lose_nothing() {
    for (from, to) in [
        ("int64 size = 1", "int64 bytes = 1"),
        ("Step thunks = 13", "Stage thunks = 13"),
        ("  string name = 2;", "  oneof impl { string name = 2; }"),
    ] {
        let project = Project::new();
        let text = BASE.replace(from, to);
        let text =
            if to.contains("Stage") { text.replace("message Step", "message Stage") } else { text };
        project.write("p.proto", text.as_bytes());
        let (document, _) = project.check(&[]);
        assert_eq!(of(&document, "golden-lost-data"), [&Value::Null; 0], "{to}");
        assert_eq!(document["goldens"]["equal"], 1, "{to}: {document:#}");
    }
}

#[test]
fn only_the_window_is_evidence_and_the_rest_is_not_covered() {
    let project = Project::new();
    project.golden("r1/step", "2026-02-01", STEP);
    project.golden("r9/step", "2026-08-02", STEP);
    project.commit("only old and future goldens");
    project.edit("  int64 size = 1;\n", "");
    let (document, status) = project.check(&[]);
    assert_eq!(status, 1);
    assert!(of(&document, "golden-lost-data").is_empty());
    assert_eq!(evidence(of(&document, "field-removed")[0]), "");
    let goldens = &document["goldens"];
    assert_eq!((&goldens["skipped"], &goldens["backend"]), (&2.into(), &Value::Null));
    assert_eq!(goldens["not_covered"], serde_json::json!(["xla.gpu.Step.size"]));
    // One day earlier it was inside.
    let (document, _) = project.check(&["--today", "2026-07-31"]);
    assert_eq!(of(&document, "golden-lost-data").len(), 1);
    let (human, _) = project.run(&[]);
    assert!(
        human.contains("goldens: 1 outside the window, not covered: xla.gpu.Step.size"),
        "{human}"
    );
    // A field that no golden carries.
    let project = Project::new();
    project.edit("  int64 unused = 3;\n", "");
    let (document, _) = project.check(&[]);
    assert_eq!(document["goldens"]["not_covered"], serde_json::json!(["xla.gpu.Step.unused"]));
    assert_eq!(document["goldens"]["equal"], 1);
}

#[test]
fn goldens_follow_waivers_and_classes() {
    let project = Project::new();
    let waiver = "[[waiver]]\ncheck = \"field-removed\"\nconstruct = \"xla.gpu.Step.size\"\n\
                  reason = \"r\"\napproved_by = \"a\"\nexpires = 2027-01-01\n";
    project.write("waivers.toml", waiver.as_bytes());
    project.commit("waived");
    project.edit("  int64 size = 1;\n", "  reserved 1; reserved \"size\";\n");
    let (document, status) = project.check(&[]);
    assert_eq!(status, 0);
    assert_eq!(of(&document, "golden-lost-data")[0]["satisfied_by"]["kind"], "waiver");

    let project = Project::new();
    let class = "[[class]]\nname = \"c\"\nreason = \"r\"\nconstructs = [\"xla.gpu.Step\"]\ncap = \"note\"\n";
    project.write("aotgate.toml", format!("{POLICY}{class}").as_bytes());
    project.commit("advice");
    project.edit("int64 size", "int32 size");
    let (document, status) = project.check(&[]);
    assert_eq!(status, 0);
    let golden = of(&document, "golden-lost-data")[0];
    assert_eq!((&golden["level"], &golden["triage"]), (&"note".into(), &"breaks-backward".into()));
    assert!(golden["capped"].as_str().unwrap().starts_with("advisory class"));
}

#[test]
fn equal_contracts_read_no_golden() {
    let project = Project::new();
    project.golden("r1/step", "2026-05-01", b"broken");
    project.commit("a broken golden");
    project.write("README.md", b"nothing to do with it");
    let (document, status) = project.check(&["--goldens", "all"]);
    assert_eq!(status, 0);
    assert_eq!(document["goldens"]["cases"], serde_json::json!([]));
    // With `none`, not even where they differ.
    project.edit("  int64 unused = 3;\n", "");
    let (document, status) = project.check(&["--goldens", "none"]);
    assert_eq!((status, &document["goldens"]["cases"]), (1, &serde_json::json!([])));
}

#[test]
fn an_unreadable_golden_of_base_counts_only_where_it_was_asked_for() {
    let project = Project::new();
    project.golden("r1/step", "2026-05-01", b"broken");
    project.commit("a broken golden");
    project.edit("int64 unused", "optional int64 unused");
    let (document, status) = project.check(&["--fail-on", "fail"]);
    assert_eq!(status, 0, "{document:#}");
    assert_eq!(document["goldens"]["cases"][0]["outcome"], "unreadable");
    assert!(document["goldens"]["unreadable"][0].as_str().unwrap().starts_with("golden:r1/step: "));
    let (_, status) = project.check(&["--fail-on", "fail", "--goldens", "boundary"]);
    assert_eq!(status, 2);
}

#[test]
fn hostile_goldens_of_head_are_findings() {
    let project = Project::new();
    project.edit("  int64 size = 1;\n", "");
    // Nesting, a length beyond the end, a split proto's signature and then nothing, endless small fields.
    let mut nested = Vec::new();
    for _ in 0..2000 {
        let mut outer = vec![0x6a];
        let mut length = nested.len();
        while length >= 0x80 {
            outer.push((length & 0x7f) as u8 | 0x80);
            length >>= 7;
        }
        outer.push(length as u8);
        outer.append(&mut nested);
        nested = outer;
    }
    project.golden("h1/nested", "2026-07-01", &nested);
    project.golden("h1/cut", "2026-07-01", b"\x6a\xff\xff\xff\x7f");
    project.golden("h1/riegeli", "2026-07-01", b"\x83\xaf\x70\xd1\x0d\x88\x4a\x3f");
    project.golden("h1/many", "2026-07-01", &b"\x6a\x02\x08\x01".repeat(100_000));
    project.golden("h1/text", "2026-07-01", "gpu_executable {".repeat(20_000).as_bytes());
    for at in 0..300 {
        project.golden(&format!("h2/p{at}"), "2026-07-01", STEP);
    }
    let begun = Instant::now();
    let (document, status) = project.check(&[]);
    assert!(begun.elapsed() < Duration::from_secs(60));
    assert_eq!(status, 1);
    let broken: Vec<&str> =
        of(&document, "golden-refused").iter().map(|f| f["construct"].as_str().unwrap()).collect();
    for name in ["golden:h1/cut", "golden:h1/riegeli", "golden:h1/text"] {
        assert!(broken.contains(&name), "{name}: {broken:?}");
    }
    let cases = document["goldens"]["cases"].as_array().unwrap();
    let passed_over = cases.iter().filter(|case| case["outcome"] == "skipped").count();
    assert!(passed_over > 0, "a change may bring only so many");
}

#[cfg(unix)]
#[test]
fn a_store_that_head_hides_takes_no_evidence_away() {
    use std::os::unix::fs::symlink;
    type Hide = fn(&Project);
    let hidden: [(&str, Hide); 4] = [
        ("golden", |project| {
            std::fs::rename(project.dir.path().join("golden"), project.dir.path().join("moved"))
                .unwrap();
            symlink("moved", project.dir.path().join("golden")).unwrap();
        }),
        ("golden", |project| {
            std::fs::remove_dir_all(project.dir.path().join("golden")).unwrap();
            project.write("golden", b"x");
        }),
        ("golden/r1/link", |project| {
            symlink("step", project.dir.path().join("golden/r1/link")).unwrap();
        }),
        ("golden/r1/\u{fffd}", |project| {
            use std::os::unix::ffi::OsStrExt as _;
            let name = std::ffi::OsStr::from_bytes(b"\xff");
            std::fs::write(project.dir.path().join("golden/r1").join(name), "x").unwrap();
        }),
    ];
    for (place, hide) in hidden {
        for edited in [true, false] {
            let project = Project::new();
            hide(&project);
            if edited {
                project.edit("  int64 size = 1;\n", "  reserved 1; reserved \"size\";\n");
            }
            let (document, status) = project.check(&[]);
            assert_eq!(status, 1, "{place}");
            let [finding] = of(&document, "golden-refused")[..] else { panic!("{document:#}") };
            assert_eq!(finding["level"], "error");
            assert_eq!(finding["surface"], "golden");
            assert_eq!(finding["construct"], format!("golden:{place}"));
            // Base's golden is looked at all the same.
            assert_eq!(of(&document, "golden-lost-data").len(), usize::from(edited), "{place}");
            for format in ["human", "markdown", "github", "sarif", "junit", "html"] {
                let (text, status) = project.run(&["--format", format]);
                assert!(text.contains("golden-refused") && status == 1, "{format}: {text}");
            }
        }
    }
    // What base had already is not head's doing.
    let project = Project::new();
    symlink("step", project.dir.path().join("golden/r1/link")).unwrap();
    project.commit("linked");
    let (document, status) = project.check(&[]);
    assert_eq!((of(&document, "golden-refused").len(), status), (0, 0));
}

#[test]
fn all_files_of_a_new_golden_count() {
    let project = Project::new();
    project.golden("r2/step", "2026-07-01", STEP);
    let manifest = "golden/r2/step/golden.toml";
    let text = std::fs::read_to_string(project.dir.path().join(manifest)).unwrap();
    project.write(manifest, format!("{text}\n[[device]]\ninputs = \"i.npz\"\n").as_bytes());
    let arrays = std::fs::File::create(project.dir.path().join("golden/r2/step/i.npz")).unwrap();
    arrays.set_len(257 << 20).unwrap();
    let (document, _) = project.check(&[]);
    let cases = document["goldens"]["cases"].as_array().unwrap();
    let case = cases.iter().find(|case| case["golden"] == "r2/step").unwrap();
    assert_eq!(case["outcome"], "skipped", "{case:#}");
    assert!(case["reason"].as_str().unwrap().contains("a change may bring"), "{case:#}");
}

#[test]
fn another_container_of_the_same_program_is_a_change() {
    let project = Project::new();
    let artifact =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/artifacts/0.12.0/add_mul.bin");
    project.golden("r2/step", "2026-07-01", &std::fs::read(artifact).unwrap());
    let (document, status) = project.check(&[]);
    assert_eq!(status, 1);
    let [finding] = of(&document, "container-changed")[..] else { panic!("{document:#}") };
    assert_eq!(finding["construct"], "golden:r2/step");
    assert_eq!(finding["before"], "plain-executable");
    assert_eq!(finding["after"], "ifrt-envelope + ifrt-abi-entry + split-outer + split-executable");
    let message = finding["message"].as_str().unwrap();
    assert!(message.contains("golden:r1/step") && message.contains("golden:r2/step"), "{message}");
    assert_eq!(finding["surface"], "container");
}

/// What the policy declares of containers, and what the released loaders and compilers were seen to do.
#[test]
fn eras_agree_with_releases() {
    use aotgate::container::Form;
    use aotgate_runtime::artifact::{Container, ContainerRules, Encoding};

    let containers = aotgate::triage::policy::built_in().unwrap().containers;
    for (release, date) in
        [("0.10.1", "2026-05-18"), ("0.11.2", "2026-09-17"), ("0.12.0", "2026-10-16")]
    {
        let rules = ContainerRules::of(release).unwrap();
        let at = containers.era_at(date.parse().unwrap(), |_| None).unwrap();
        let era = &containers.eras[at];
        let written = match rules.writes.outer {
            Some(Encoding::Plain) => Form::PlainOuter,
            _ => Form::SplitOuter,
        };
        assert!(era.writes.contains(&written), "{release} writes {}", written.name());
        let read = match rules.outer {
            Container::PlainOuter => Form::PlainOuter,
            _ => Form::SplitOuter,
        };
        assert!(era.reads.contains(&read), "{release} reads {}", read.name());
        // 0.10.1 refuses newer artifacts; its source reads a split outer message all the same.
        if release != "0.10.1" {
            assert!(!era.reads.contains(&Form::PlainOuter), "{release} refuses older artifacts");
        }
    }
}

/// Real changes of XLA's, with the artifacts of jaxlib 0.10.1 recorded beside them. Prints the reports.
#[test]
#[ignore = "needs XLA's repository and real artifacts"]
fn real_changes_and_real_artifacts() {
    // A kind of thunk, a debug flag, and the loader that ceased to read a serialized outer message.
    for (sha, date, check, level) in [
        ("0cf18dfa81", "2026-06-12", "golden-lost-data", "note"),
        ("194f1fe5d9", "2026-06-26", "golden-lost-data", "note"),
        ("5e940e27e5", "2026-07-21", "container-refused", "error"),
    ] {
        let project = real_change(sha, date);
        let output = |format: &str| {
            let output = Command::new(env!("CARGO_BIN_EXE_aotgate"))
                .args(["check", "--base", "HEAD^", "--head", "HEAD", "--today", date])
                .args(["--format", format])
                .current_dir(project.dir.path())
                .env("NO_COLOR", "1")
                .output()
                .unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        println!("== {sha}\n{}", output("human"));
        let document: Value = serde_json::from_str(&output("json")).unwrap();
        let found = of(&document, check);
        assert!(!found.is_empty(), "{sha}: {document:#}");
        assert!(found.iter().all(|finding| finding["level"] == level), "{sha}");
        if sha == "0cf18dfa81" {
            let [kind] = of(&document, "thunk-kind-removed")[..] else { panic!("{document:#}") };
            assert_eq!(kind["construct"], "xla.gpu.ThunkProto.dynamic_memcpy_thunk");
            assert!(evidence(kind).contains("golden:jaxlib-0.10.1/"), "{kind:#}");
        }
    }
}

/// Two commits with the contract's files before and after a commit of XLA's, and goldens in both.
fn real_change(sha: &str, date: &str) -> Project {
    use aotgate::descriptor::ParseCache;
    use aotgate::revision::{Repository, Revision, RevisionSpec};
    use aotgate::triage::policy;

    let repository = PathBuf::from(std::env::var_os("AOTGATE_XLA_REPO").unwrap());
    let repository = Repository::discover(&repository).unwrap();
    let goldens = PathBuf::from(std::env::var_os("AOTGATE_GOLDENS").unwrap());
    let project = Project { dir: tempfile::tempdir().unwrap() };
    project.git(&["init", "-q", "-b", "main"]);
    let policy = "extends = \"xla-gpu\"\n[goldens]\npaths = [\"golden\"]\nupstream = []\n";
    project.write("aotgate.toml", policy.as_bytes());
    for program in std::fs::read_dir(goldens.join("0.10.1")).unwrap() {
        let program = program.unwrap();
        let name = program.file_name().into_string().unwrap();
        let content = std::fs::read(program.path().join("executable.bin")).unwrap();
        project.golden(&format!("jaxlib-0.10.1/{name}"), "2026-05-18", &content);
    }
    let built_in = policy::built_in().unwrap();
    let mut spec = built_in.contract.clone();
    spec.roots.extend(built_in.containers.messages.into_iter().map(|message| message.root));
    let day = date.parse::<chrono::NaiveDate>().unwrap();
    for (rev, day) in [(format!("{sha}^"), day.pred_opt().unwrap()), (sha.to_owned(), day)] {
        let revision = Revision::open(&RevisionSpec::Git(rev.clone()), Some(&repository)).unwrap();
        let closure = revision.closure(&spec, &mut ParseCache::default()).unwrap();
        let _ = std::fs::remove_dir_all(project.dir.path().join("xla"));
        for path in closure.paths() {
            if let Some(content) = revision.read_file(path).unwrap() {
                project.write(path, &content);
            }
        }
        project.commit_on(&rev, &format!("{day}T12:00:00+0200"));
    }
    project
}
