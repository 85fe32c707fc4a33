//! `aotgate golden list` and `record` as users run them.
#![cfg(feature = "runtime")]
#![allow(clippy::panic, clippy::unwrap_used)] // helpers of tests

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

struct Run {
    out: String,
    err: String,
    status: i32,
}

fn aotgate(dir: &Path, arguments: &[&str]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_aotgate"))
        .args(arguments)
        .args(["--today", "2026-11-29"])
        .current_dir(dir)
        .env("NO_COLOR", "1")
        .env_remove("COLUMNS")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Run {
        out: text(&output.stdout),
        err: text(&output.stderr),
        status: output.status.code().unwrap_or(-1),
    }
}

fn committed(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

fn assert_valid(document: &Value) {
    let schema: Value =
        serde_json::from_str(aotgate::report::schema::schema("goldens").unwrap()).unwrap();
    let url = schema["$id"].as_str().unwrap().to_owned();
    let mut compiler = boon::Compiler::new();
    compiler.add_resource(&url, schema).unwrap();
    let mut schemas = boon::Schemas::new();
    let index = compiler.compile(&url, &mut schemas).unwrap();
    if let Err(error) = schemas.validate(document, index) {
        panic!("{error:#}");
    }
    let mut extended = document.clone();
    extended["goldens"][0]["surprise"] = Value::Null;
    assert!(schemas.validate(&extended, index).is_err());
}

/// A folder as a recording harness leaves it.
fn harness(dir: &Path, golden: &str, meta: &str) -> PathBuf {
    let from = committed(golden);
    let to = dir.join("harness");
    copy(&from, &to);
    std::fs::remove_file(to.join("golden.toml")).unwrap();
    for (old, new) in [("expected.npz", "outputs.npz"), ("expected.0.npz", "outputs.0.npz")] {
        if to.join(old).exists() {
            std::fs::rename(to.join(old), to.join(new)).unwrap();
        }
    }
    if to.join("expected.1.npz").exists() {
        std::fs::rename(to.join("expected.1.npz"), to.join("outputs.1.npz")).unwrap();
    }
    std::fs::write(to.join("meta.json"), meta).unwrap();
    to
}

const ADD: &str = r#"{"name": "donated_input", "jaxlib": "0.11.2", "device": "NVIDIA H200", "replicas": 1,
 "inputs": [["float32", [64]], ["float32", [64]]], "outputs": [["float32", [64]]], "options": {}}"#;

#[test]
fn a_listing_reads_well_and_its_document_is_valid() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    for (set, program) in [
        ("jaxlib-0.10.1", "scan_rnn"),
        ("jaxlib-0.11.2", "mg_all_reduce"),
        ("jaxlib-0.11.2", "host_callback"),
        ("jaxlib-0.12.0", "cholesky"),
    ] {
        let name = format!("{set}/{program}");
        copy(&committed(&name), &store.join(&name));
    }
    let run = aotgate(dir.path(), &["golden", "list", "--store", "store"]);
    assert_eq!(run.status, 0, "{}", run.err);
    insta::assert_snapshot!("golden_list", run.out);

    // One date no longer holds for the set, one artifact is none, one file is elsewhere.
    let manifest = store.join("jaxlib-0.11.2/host_callback/golden.toml");
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, text.replace("2026-09-17", "2027-01-01")).unwrap();
    std::fs::write(store.join("jaxlib-0.12.0/cholesky/executable.bin"), "junk").unwrap();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n";
    std::fs::write(store.join("jaxlib-0.10.1/scan_rnn/inputs.npz"), pointer).unwrap();
    std::fs::create_dir(store.join("jaxlib-0.12.0/\u{1b}[31mred")).unwrap();
    std::fs::write(store.join("jaxlib-0.12.0/\u{1b}[31mred/executable.bin"), "x").unwrap();
    let run = aotgate(dir.path(), &["golden", "list", "--store", "store"]);
    assert_eq!(run.status, 2);
    assert!(!run.out.contains('\u{1b}'));
    insta::assert_snapshot!("golden_list_problems", run.out);

    let run = aotgate(dir.path(), &["golden", "list", "--store", "store", "--format", "json"]);
    assert_eq!(run.status, 2);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    assert_valid(&document);
    let golden = |id: &str| {
        let goldens = document["goldens"].as_array().unwrap();
        goldens.iter().find(|golden| golden["id"] == id).unwrap().clone()
    };
    let reduce = golden("jaxlib-0.11.2/mg_all_reduce");
    assert_eq!(reduce["construct"], "golden:jaxlib-0.11.2/mg_all_reduce");
    assert_eq!((&reduce["devices"], &reduce["until"]), (&2.into(), &"2027-03-16".into()));
    assert_eq!(reduce["problem"], Value::Null);
    assert_eq!(golden("jaxlib-0.11.2/host_callback")["standing"], "future");
    assert_eq!(golden("jaxlib-0.10.1/scan_rnn")["standing"], "too-old");
    assert_eq!(golden("jaxlib-0.12.0/cholesky")["thunk_kinds"], Value::Null);
}

#[test]
fn this_repositorys_own_store_is_listed_from_its_policy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    if !root.join(".git").exists() {
        return; // a source archive has no revisions
    }
    let run = aotgate(root, &["golden", "list", "--format", "json"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let document: Value = serde_json::from_str(&run.out).unwrap();
    assert_valid(&document);
    assert_eq!(document["revision"], "WORKTREE");
    assert!(document["goldens"].as_array().unwrap().len() > 100);
}

#[test]
fn what_was_recorded_can_be_listed() {
    let dir = tempfile::tempdir().unwrap();
    harness(dir.path(), "jaxlib-0.11.2/donated_input", ADD);
    let record = [
        "golden",
        "record",
        "harness",
        "--set",
        "jaxlib-0.11.2",
        "--program",
        "add",
        "--emitted-at",
        "2026-09-17",
        "--store",
        "store",
    ];
    let run = aotgate(dir.path(), &record);
    let said = "recorded store/jaxlib-0.11.2/add\nexecuted, and gave what is expected\n";
    assert_eq!((run.status, &*run.out), (0, said), "{}", run.err);
    let written = dir.path().join("store/jaxlib-0.11.2/add");
    for entry in std::fs::read_dir(&written).unwrap() {
        let name = entry.unwrap().file_name();
        let original = committed("jaxlib-0.11.2/donated_input").join(&name);
        assert_eq!(std::fs::read(written.join(&name)).unwrap(), std::fs::read(original).unwrap());
    }
    let run = aotgate(dir.path(), &record);
    assert_eq!(run.status, 2);
    assert!(run.err.contains("there is a golden already"), "{}", run.err);
    std::fs::write(written.join("stale"), "x").unwrap();
    let run = aotgate(dir.path(), &[&record[..], &["--force", "--note", "again"]].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(!written.join("stale").exists());
    assert_eq!(aotgate(dir.path(), &["golden", "list", "--store", "store"]).status, 0);

    // The same from single files, with the compiler taken from the set's name.
    let run = aotgate(
        dir.path(),
        &[
            "golden",
            "record",
            "harness/executable.bin",
            "--inputs",
            "harness/inputs.npz",
            "--expected",
            "harness/outputs.npz",
            "--set",
            "jaxlib-0.11.2",
            "--program",
            "single",
            "--emitted-at",
            "2026-09-17",
            "--store",
            "store",
        ],
    );
    assert_eq!(run.status, 0, "{}", run.err);
    let text = |program: &str| {
        let path = dir.path().join(format!("store/jaxlib-0.11.2/{program}/golden.toml"));
        std::fs::read_to_string(path).unwrap()
    };
    assert_eq!(
        text("single")
            .replace("[program]", "device = \"NVIDIA H200\"\n\n[program]")
            .replace("\n\ndevice", "\ndevice"),
        text("add").replace("note = \"again\"\n", "")
    );
}

#[test]
fn what_does_not_fit_the_program_is_refused() {
    for (golden, meta, why) in [
        (
            "jaxlib-0.11.2/donated_input",
            ADD.replace("[64]]], \"options", "[65]]], \"options"),
            "output 0 of the program is f32[64], not f32[65]",
        ),
        (
            "jaxlib-0.11.2/donated_input",
            ADD.replace("float32", "bfloat16"),
            "input 0 of the program is f32[64] (donated), not bf16[64] (donated)",
        ),
        (
            "jaxlib-0.11.2/donated_input",
            ADD.replace("\"outputs\": [[\"float32\", [64]]]", "\"outputs\": []"),
            "the program has 1 outputs, not 0",
        ),
        (
            "jaxlib-0.11.2/donated_input",
            ADD.replace("\"replicas\": 1", "\"replicas\": 2"),
            "compiled for 1 replicas of 1 partitions, not 2 of 1",
        ),
        (
            "jaxlib-0.11.2/donated_input",
            ADD.replace("float32", "floaty"),
            "no element type is called",
        ),
        ("jaxlib-0.11.2/donated_input", ADD.replace("options", "opshuns"), "unknown field"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        harness(dir.path(), golden, &meta);
        let run = aotgate(
            dir.path(),
            &[
                "golden",
                "record",
                "harness",
                "--set",
                "s-1",
                "--program",
                "p",
                "--emitted-at",
                "2026-09-17",
                "--store",
                "store",
            ],
        );
        let err = run.err.split_whitespace().collect::<Vec<_>>().join(" ").replace(" │ ", " ");
        assert!(err.contains(why), "{err} should contain {why}");
        assert_eq!(run.status, 2);
        assert!(!dir.path().join("store").exists());
    }
    // Two devices, and arrays of another program.
    let dir = tempfile::tempdir().unwrap();
    harness(
        dir.path(),
        "jaxlib-0.11.2/mg_all_reduce",
        "{\"jaxlib\": \"0.11.2\", \"partitions\": 2}",
    );
    let record = |arguments: &[&str]| {
        let fixed = ["golden", "record", "--store", "store", "--emitted-at", "2026-09-17"];
        aotgate(dir.path(), &[&fixed[..], arguments].concat())
    };
    assert_eq!(record(&["harness", "--set", "s-1", "--program", "p"]).status, 0);
    let other = committed("jaxlib-0.11.2/gemm_fp8/inputs.npz");
    let other = other.to_str().unwrap();
    for (arguments, why) in [
        (
            &["harness", "--set", "s-1", "--program", "q", "--inputs", other][..],
            "1 files of inputs for 2 devices",
        ),
        (
            &["harness", "--set", "s-1", "--program", "q", "--inputs", other, "--inputs", other],
            "2 arrays for 1 parameter",
        ),
        (&["harness", "--set", "../s", "--program", "q"], "is no name for a golden's file"),
        (&["harness", "--set", "s-1", "--program", ".q"], "is no name for a golden's file"),
        (
            &["harness/executable.bin", "--set", "s", "--program", "q"],
            "does not say which compiler",
        ),
        (&["harness/meta.json", "--set", "s-1", "--program", "q"], "no known container"),
        (&["absent", "--set", "s-1", "--program", "q"], "absent"),
    ] {
        let run = record(arguments);
        let err = run.err.split_whitespace().collect::<Vec<_>>().join(" ").replace(" │ ", " ");
        assert!(run.status == 2 && err.contains(why), "{err} should contain {why}");
    }
}

/// Arguments that record under s-1/p.
const RECORD: [&str; 8] =
    ["--set", "s-1", "--program", "p", "--emitted-at", "2026-09-17", "--store", "store"];

#[test]
fn numbers_of_devices_are_checked_before_they_are_counted_to() {
    use aotgate_runtime::artifact::Artifact;
    use prost::Message as _;
    let dir = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(committed("jaxlib-0.11.2/softmax/executable.bin")).unwrap();
    let mut executable = Artifact::read(bytes).unwrap().decode().unwrap();
    let config = executable.hlo_module_with_config.as_mut().unwrap().config.as_mut().unwrap();
    config.num_partitions = 1_000_000_000;
    std::fs::create_dir(dir.path().join("folder")).unwrap();
    std::fs::write(dir.path().join("folder/executable.bin"), executable.encode_to_vec()).unwrap();
    let run = aotgate(dir.path(), &[&["golden", "record", "folder"][..], &RECORD].concat());
    assert_eq!(run.status, 2);
    assert!(run.err.contains("at most 1024 devices"), "{}", run.err);
    assert!(!dir.path().join("store").exists());
}

#[test]
fn options_of_any_name_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let options = r#""options": {"a\"b\n[c]\\\u0001": "x\ny", "\u00e9": true}"#;
    let meta = ADD.replace("\"options\": {}", options);
    harness(dir.path(), "jaxlib-0.11.2/donated_input", &meta);
    let run = aotgate(dir.path(), &[&["golden", "record", "harness"][..], &RECORD].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    let text = std::fs::read_to_string(dir.path().join("store/s-1/p/golden.toml")).unwrap();
    let manifest = aotgate::golden::Manifest::parse("golden.toml", &text).unwrap();
    let names: Vec<_> = manifest.program.options.keys().map(|name| &**name).collect();
    assert_eq!(names, ["a\"b\n[c]\\\u{1}", "\u{e9}"]);
}

#[test]
fn a_release_is_not_after_today() {
    let dir = tempfile::tempdir().unwrap();
    let artifact = committed("jaxlib-0.11.2/softmax/executable.bin");
    let record = ["golden", "record", artifact.to_str().unwrap()];
    let days = RECORD.map(|word| if word == "2026-09-17" { "2026-11-30" } else { word });
    let run = aotgate(dir.path(), &[&record[..], &days].concat());
    assert!(run.status == 2 && run.err.contains("2026-11-30 is after 2026-11-29"), "{}", run.err);
    assert!(!dir.path().join("store").exists());
}

#[test]
fn a_golden_recorded_over_itself_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let golden = "jaxlib-0.11.2/gemm_fp8";
    let place = dir.path().join("store").join(golden);
    copy(&committed(golden), &place);
    let before = std::fs::read_to_string(place.join("golden.toml")).unwrap();
    std::fs::write(place.join("stale"), "x").unwrap();
    let source = format!("store/{golden}");
    let record = ["golden", "record", &source, "--set", "jaxlib-0.11.2", "--program", "gemm_fp8"];
    let rest = ["--emitted-at", "2026-09-17", "--store", "store", "--force"];
    let run = aotgate(dir.path(), &[&record[..], &rest].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(run.out.contains("gave what is expected"), "{}", run.out);
    assert_eq!(std::fs::read_to_string(place.join("golden.toml")).unwrap(), before);
    let names = |dir: &Path| {
        let names = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(names(&place), names(&committed(golden)));
}
