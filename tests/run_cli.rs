//! `aotgate run`, `golden verify` and `golden record` as users run them.
#![cfg(feature = "runtime")]
#![allow(clippy::panic, clippy::unwrap_used)] // helpers of tests

use std::path::{Path, PathBuf};
use std::process::Command;

use aotgate_runtime::npz;
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

fn file(golden: &str, name: &str) -> String {
    committed(golden).join(name).display().to_string()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// A document of a run, which must fit its schema.
fn document(run: &Run, name: &str) -> Value {
    let document: Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err));
    let schema: Value =
        serde_json::from_str(aotgate::report::schema::schema(name).unwrap()).unwrap();
    let url = schema["$id"].as_str().unwrap().to_owned();
    let mut compiler = boon::Compiler::new();
    compiler.add_resource(&url, schema).unwrap();
    let mut schemas = boon::Schemas::new();
    let index = compiler.compile(&url, &mut schemas).unwrap();
    if let Err(error) = schemas.validate(&document, index) {
        panic!("{error:#}");
    }
    let mut extended = document.clone();
    extended["surprise"] = Value::Null;
    assert!(schemas.validate(&extended, index).is_err());
    document
}

/// Adds to the first float of array 0 of an archive.
fn spoil(from: &str, to: &Path, off: f32) {
    let arrays = npz::read(std::fs::read(from).unwrap()).unwrap();
    let mut arrays = npz::numbered(arrays).unwrap();
    let mut data = arrays[0].data.to_vec();
    let first = f32::from_le_bytes(*data.first_chunk().unwrap()) + off;
    data[..4].copy_from_slice(&first.to_le_bytes());
    arrays[0].data = data.into();
    std::fs::write(to, npz::write(&arrays).unwrap()).unwrap();
}

#[test]
fn a_program_gives_what_it_should() {
    let dir = tempfile::tempdir().unwrap();
    let golden = "jaxlib-0.11.2/trisolve";
    let (artifact, inputs) = (file(golden, "executable.bin"), file(golden, "inputs.npz"));
    let expected = file(golden, "expected.npz");
    let call = ["run", &artifact, "--inputs", &inputs, "--expect"];
    let run = |more: &[&str]| aotgate(dir.path(), &[&call[..], more].concat());

    let equal = run(&[&expected]);
    assert_eq!(equal.status, 0, "{}", equal.err);
    insta::assert_snapshot!("run_equal", equal.out);
    let json = document(&run(&[&expected, "--format", "json"]), "run");
    assert_eq!((&json["outcome"], &json["seed"]), (&"equal".into(), &Value::Null));
    assert!(json["outputs"][0]["comparison"]["worst"]["error"].as_f64().unwrap() < 1e-6);

    // Bit for bit the GPU's sums are not the processor's; and whatever is admitted, it is admitted.
    assert_eq!(run(&[&expected, "--exact"]).status, 1);
    let spoiled = dir.path().join("spoiled.npz");
    spoil(&expected, &spoiled, 0.5);
    let spoiled = spoiled.display().to_string();
    assert_eq!(run(&[&spoiled, "--absolute", "0.6"]).status, 0);
    let differs = run(&[&spoiled]);
    assert_eq!(differs.status, 1);
    insta::assert_snapshot!("run_differs", differs.out);
    let json = document(&run(&[&spoiled, "--format", "json"]), "run");
    let comparison = &json["outputs"][0]["comparison"];
    assert_eq!((&json["outcome"], &comparison["beyond"]), (&"differs".into(), &1.into()));
    assert_eq!(comparison["worst"]["index"], serde_json::json!([0, 0]));
}

#[test]
fn what_a_program_gave_is_what_the_next_run_expects() {
    let dir = tempfile::tempdir().unwrap();
    let artifact = file("jaxlib-0.11.2/mg_all_reduce", "executable.bin");
    let call = ["run", &artifact, "--seed", "7"];
    let save = ["--save", "0.npz", "--save", "1.npz"];
    let first = aotgate(dir.path(), &[&call[..], &save].concat());
    assert_eq!(first.status, 0, "{}", first.err);
    assert!(first.out.contains("inputs made from seed 7"), "{}", first.out);
    let expect = ["--expect", "0.npz", "--expect", "1.npz", "--exact", "--format", "json"];
    let again = aotgate(dir.path(), &[&call[..], &expect].concat());
    assert_eq!(again.status, 0, "{}", again.err);
    let json = document(&again, "run");
    assert_eq!((&json["devices"], &json["seed"]), (&2.into(), &7.into()));
    // All devices hold the same sum; another seed gives another one.
    let outputs = &json["outputs"];
    assert_eq!(outputs[0]["digest"], outputs[1]["digest"]);
    let other = ["run", &artifact, "--seed", "8", "--format", "json"];
    let other = document(&aotgate(dir.path(), &other), "run");
    assert_ne!(other["outputs"][0]["digest"], outputs[0]["digest"]);
    // One file for two devices is a mistake.
    let one = aotgate(dir.path(), &[&call[..], &["--save", "0.npz"]].concat());
    assert_eq!(one.status, 2);
    assert!(one.err.contains("give --save once per device"), "{}", one.err);
}

#[test]
fn what_cannot_run_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let artifact = file("jaxlib-0.11.2/host_callback", "executable.bin");
    let run = |arguments: &[&str]| aotgate(dir.path(), &[&["run"], arguments].concat());
    let skipped = run(&[&artifact]);
    assert_eq!((skipped.status, &*skipped.out), (2, ""));
    let what = "not supported: custom call \"xla_ffi_python_gpu_callback\"";
    assert!(skipped.err.contains(what), "{}", skipped.err);
    let json = document(&run(&[&artifact, "--format", "json"]), "run");
    assert_eq!(json["outcome"], "not-supported");
    assert!(json["reason"]["message"].as_str().unwrap().contains(what));

    let softmax = file("jaxlib-0.11.2/softmax", "executable.bin");
    let both = file("jaxlib-0.11.2/mg_all_reduce", "executable.bin");
    let other = file("jaxlib-0.11.2/fft", "inputs.npz");
    std::fs::write(dir.path().join("junk.bin"), "junk").unwrap();
    for (arguments, why) in [
        (&[&*softmax, "--backend", "cuda"][..], "this build has no CUDA backend yet"),
        (&[&softmax, "--max-memory", "16"], "raise `--max-memory`"),
        (&[&softmax, "--max-steps", "3"], "raise `--max-steps`"),
        (&[&both, "--devices", "1"], "2 is over the limit of 1"),
        (&[&softmax, "--inputs", &other], "input 0: expected f32"),
        (&[&softmax, "--inputs", &other, "--inputs", &other], "2 files with inputs for 1 devices"),
        (&["junk.bin"], "no known container"),
        (&["absent.bin"], "absent.bin"),
        (&[&softmax, "--format", "sarif"], "has no format sarif"),
    ] {
        let run = run(arguments);
        assert_eq!(run.status, 2, "{arguments:?}");
        let err = run.err.replace("\n  │ ", "");
        assert!(err.contains(why), "{arguments:?}: {}", run.err);
    }
}

#[test]
fn a_text_golden_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = "tests/data/upstream-goldens/ReduceScatter.pbtxt";
    let run = aotgate(root, &["run", path]);
    assert_eq!(run.status, 0, "{}", run.err);
    insta::assert_snapshot!("run_text", run.out);
}

/// A store of goldens whose results depend on no mathematical function of the system, so that snapshots hold
/// everywhere.
fn store(dir: &Path) {
    for (set, program) in [
        ("jaxlib-0.10.1", "int_zoo"),
        ("jaxlib-0.11.2", "cumsum"),
        ("jaxlib-0.11.2", "reduce_multi"),
        ("jaxlib-0.11.2", "host_callback"),
        ("jaxlib-0.11.2", "mg_ppermute"),
        ("jaxlib-0.12.0", "trisolve"),
        ("jaxlib-0.12.0", "while_loop"),
    ] {
        let name = format!("{set}/{program}");
        copy(&committed(&name), &dir.join("store").join(&name));
    }
}

#[test]
fn a_store_is_verified() {
    let dir = tempfile::tempdir().unwrap();
    store(dir.path());
    let verify = |more: &[&str]| {
        aotgate(dir.path(), &[&["golden", "verify", "--store", "store"], more].concat())
    };
    let run = verify(&[]);
    assert_eq!(run.status, 0, "{}", run.err);
    assert_eq!(run.err, "", "progress is for terminals");
    insta::assert_snapshot!("verify", run.out);
    for jobs in ["1", "5"] {
        assert_eq!(verify(&["--jobs", jobs]).out, run.out);
    }
    let json = verify(&["--format", "json"]);
    let json = document(&json, "verify");
    assert_eq!(
        json["counts"],
        serde_json::json!({
            "selected": 7, "executed": 6, "passed": 6, "ran": 0, "failed": 0, "skipped": 1, "unreadable": 0
        })
    );
    let names = |run: &Run| -> Vec<String> {
        let cases = document(run, "verify")["cases"].as_array().unwrap().clone();
        cases.iter().map(|case| case["golden"].as_str().unwrap().to_owned()).collect()
    };
    // Shards are apart, and together they are everything.
    let mut all: Vec<String> = ["1/3", "2/3", "3/3"]
        .iter()
        .flat_map(|shard| names(&verify(&["--shard", shard, "--format", "json"])))
        .collect();
    all.sort();
    assert_eq!(all, names(&verify(&["--format", "json"])));
    let some = verify(&["cumsum", "jaxlib-0.12.0", "--format", "json"]);
    assert_eq!(
        names(&some),
        ["jaxlib-0.11.2/cumsum", "jaxlib-0.12.0/trisolve", "jaxlib-0.12.0/while_loop"]
    );
    let unknown = verify(&["jaxlib-0.12.0/trisolv"]);
    assert_eq!(unknown.status, 2);
    assert!(unknown.err.contains("did you mean 'jaxlib-0.12.0/trisolve'"), "{}", unknown.err);

    // One that differs blocks; one that cannot be read means that nothing was judged.
    let name = "store/jaxlib-0.12.0/trisolve/expected.npz";
    let expected = dir.path().join(name);
    spoil(&expected.display().to_string(), &expected, 0.5);
    let differs = verify(&["trisolve", "while_loop"]);
    assert_eq!(differs.status, 1);
    insta::assert_snapshot!("verify_differs", differs.out);
    std::fs::write(dir.path().join("store/jaxlib-0.11.2/cumsum/inputs.npz"), "junk").unwrap();
    std::fs::write(dir.path().join("store/jaxlib-0.12.0/while_loop/executable.bin"), "x").unwrap();
    let unread = verify(&["cumsum", "trisolve", "while_loop"]);
    assert_eq!(unread.status, 2);
    insta::assert_snapshot!("verify_unreadable", unread.out);
    // What was skipped is no pass.
    let skipped = verify(&["host_callback"]);
    assert!(skipped.out.contains("NOTHING EXECUTED"), "{}", skipped.out);
    assert_eq!(skipped.status, 2);
    assert!(skipped.err.contains("no golden was executed: see why above"), "{}", skipped.err);
    // Nor is a directory that is no store; a part of the goldens may have none that runs.
    let wrong = ["golden", "verify", "--store", "store/jaxlib-0.11.2"];
    let wrong = aotgate(dir.path(), &wrong);
    assert_eq!(wrong.status, 2);
    assert!(wrong.err.contains("no golden was executed: there is none"), "{}", wrong.err);
    assert_eq!(verify(&["host_callback", "--shard", "1/9"]).status, 0);
}

#[test]
fn a_store_with_problems_is_incomplete_and_not_failed() {
    let dir = tempfile::tempdir().unwrap();
    let golden = "jaxlib-0.11.2/trisolve";
    copy(&committed(golden), &dir.path().join("store").join(golden));
    std::fs::create_dir_all(dir.path().join("store/s/p")).unwrap();
    std::fs::write(dir.path().join("store/s/p/executable.bin"), "x").unwrap();
    let run = aotgate(dir.path(), &["golden", "verify", "--store", "store"]);
    assert_eq!(run.status, 2, "{}", run.out);
    let last = run.out.lines().last().unwrap();
    assert!(last.starts_with("INCOMPLETE  1 of 1 golden "), "{last}");
    assert!(last.ends_with("1 passed, 1 problem of the store"), "{last}");
}

#[test]
fn a_manifest_has_to_describe_its_program() {
    for (from, to, why) in [
        ("f32[4,4]", "f64[4,4]", "input 0 is f64[4,4], but f32[4,4] in the program"),
        ("f32[4,4]", "f32[16]", "input 0 is f32[16], but f32[4,4] in the program"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let golden = "jaxlib-0.11.2/trisolve";
        let store = dir.path().join("store");
        copy(&committed(golden), &store.join(golden));
        let manifest = store.join(golden).join("golden.toml");
        let text = std::fs::read_to_string(&manifest).unwrap();
        let own = text.split("shape = \"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        let text = text.replacen(&own, &to.replace("4,4", own[4..].trim_end_matches(']')), 1);
        std::fs::write(&manifest, text).unwrap();
        let run =
            aotgate(dir.path(), &["golden", "verify", "--store", "store", "--format", "json"]);
        assert_eq!(run.status, 2, "{from}: {}", run.out);
        let json = document(&run, "verify");
        let reason = json["cases"][0]["reason"].as_str().unwrap();
        let why = why.replace("4,4", own[4..].trim_end_matches(']'));
        assert!(reason.contains(&why), "{reason} should contain {why}");
    }
}

/// An archive with one array of so many zero bytes, deflated.
fn zeros(bytes: usize) -> Vec<u8> {
    use std::io::Write as _;
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({bytes},), }}\n");
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    let mut archive = rawzip::ZipArchiveWriter::new(Vec::new());
    let file = archive.new_file("0.npy").compression_method(rawzip::CompressionMethod::DEFLATE);
    let (mut entry, config) = file.start().unwrap();
    let encoder = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::fast());
    let mut writer = config.wrap(encoder);
    for part in [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes()] {
        writer.write_all(part).unwrap();
    }
    for _ in 0..bytes >> 20 {
        writer.write_all(&vec![0; 1 << 20]).unwrap();
    }
    let (encoder, output) = writer.finish().unwrap();
    encoder.finish().unwrap();
    entry.finish(output).unwrap();
    archive.finish().unwrap()
}

#[test]
fn arrays_that_are_larger_than_wanted_are_not_unpacked() {
    let dir = tempfile::tempdir().unwrap();
    let artifact = file("jaxlib-0.11.2/softmax", "executable.bin");
    let inputs = file("jaxlib-0.11.2/softmax", "inputs.npz");
    std::fs::write(dir.path().join("bomb.npz"), zeros(64 << 20)).unwrap();
    for arguments in [&["--inputs", "bomb.npz"][..], &["--inputs", &inputs, "--expect", "bomb.npz"]]
    {
        let run = aotgate(dir.path(), &[&["run", &artifact][..], arguments].concat());
        assert_eq!(run.status, 2);
        assert!(run.err.contains("bytes once unpacked for 1"), "{}", run.err);
    }
    let set = ["--set", "s-1", "--program", "p", "--emitted-at", "2026-09-17", "--store", "store"];
    let record = ["golden", "record", &artifact, "--inputs", "bomb.npz"];
    let run = aotgate(dir.path(), &[&record[..], &set].concat());
    assert!(run.status == 2 && run.err.contains("bytes once unpacked for 1"), "{}", run.err);
}

#[test]
fn outputs_take_no_inputs_place() {
    let dir = tempfile::tempdir().unwrap();
    let golden = "jaxlib-0.11.2/trisolve";
    copy(&committed(golden), dir.path());
    let whole = |name: &str| {
        std::fs::read(dir.path().join(name)).unwrap()
            == std::fs::read(committed(golden).join(name)).unwrap()
    };
    std::fs::hard_link(dir.path().join("inputs.npz"), dir.path().join("again.npz")).unwrap();
    let call = ["run", "executable.bin", "--inputs", "inputs.npz", "--expect", "expected.npz"];
    for (arguments, why) in [
        (&["--save", "inputs.npz"][..], "inputs.npz cannot be written: it is read"),
        (&["--save", "./expected.npz"], "as expected.npz it is read"),
        (&["--save", "again.npz"], "as inputs.npz it is read"),
        (&["-o", "executable.bin"], "executable.bin cannot be written: it is read"),
        (&["--save", "s.npz", "--save", "s.npz"], "it is written as well"),
        (&["--save", "s.npz", "-o", "./s.npz"], "as s.npz it is written as well"),
    ] {
        let run = aotgate(dir.path(), &[&call[..], arguments].concat());
        let err = run.err.split_whitespace().collect::<Vec<_>>().join(" ").replace(" │ ", " ");
        assert!(run.status == 2 && err.contains(why), "{arguments:?}: {err}");
        assert!(["inputs.npz", "expected.npz", "executable.bin"].iter().all(|name| whole(name)));
        assert!(!dir.path().join("s.npz").exists());
    }
    for arguments in [
        &["artifact", "inspect", "executable.bin", "-o", "executable.bin"][..],
        &["artifact", "diff", "a.bin", "executable.bin", "-o", "executable.bin"],
        &["artifact", "size", "executable.bin", "-o", "executable.bin"],
        &["artifact", "lint", "executable.bin", "-o", "executable.bin"],
        &["artifact", "compat", "executable.bin", "--runtime", "x.fds", "-o", "executable.bin"],
        &["snapshot", "x.fds", "--binpb", "x.fds"],
        &["diff", "x.fds", "y.fds", "-o", "y.fds"],
        &["check", "--base", "x.fds", "--head", "y.fds", "-o", "x.fds"],
    ] {
        let run = aotgate(dir.path(), arguments);
        assert!(run.status == 2 && run.err.contains("cannot be written"), "{}", run.err);
        assert!(whole("executable.bin"));
    }
    // What is there is replaced as a whole, and nothing else is left.
    std::fs::write(dir.path().join("old.npz"), "old").unwrap();
    let run = aotgate(dir.path(), &[&call[..], &["--save", "old.npz", "-o", "new.txt"]].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(npz::read(std::fs::read(dir.path().join("old.npz")).unwrap()).is_ok());
    let left = std::fs::read_dir(dir.path()).unwrap();
    assert!(!left.into_iter().any(|e| e.unwrap().file_name().to_string_lossy().contains(".new")));
}

/// Text is an artifact too; what is deliberately empty is none, and no failure.
#[test]
fn text_is_recorded_and_empty_files_are_skipped() {
    let dir = tempfile::tempdir().unwrap();
    let text = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/upstream-goldens/ReduceScatter.pbtxt");
    let text = text.display().to_string();
    let record = ["golden", "record", &text, "--execute", "--set", "local-1", "--store", "store"];
    let named = ["--program", "sums", "--emitted-at", "2026-11-29"];
    let recorded = aotgate(dir.path(), &[&record[..], &named].concat());
    assert_eq!(recorded.status, 0, "{}", recorded.err);
    assert!(recorded.out.contains("executed, and gave what is expected"), "{}", recorded.out);
    let verified = aotgate(dir.path(), &["golden", "verify", "--store", "store"]);
    assert_eq!(verified.status, 0, "{}", verified.out);
    assert!(verified.out.contains("passed  sums"), "{}", verified.out);

    let upstream = dir.path().join("upstream/some_test/v1");
    std::fs::create_dir_all(&upstream).unwrap();
    std::fs::copy(&text, upstream.join("ReduceScatter.pbtxt")).unwrap();
    std::fs::write(upstream.join("test_dummy_test.pbtxt"), "").unwrap();
    let verify = aotgate(dir.path(), &["golden", "verify", "--store", "upstream"]);
    assert_eq!(verify.status, 0, "{}", verify.out);
    assert!(verify.out.contains("skipped test_dummy_test"), "{}", verify.out);
    assert!(verify.out.contains("an empty file"), "{}", verify.out);
    let list = ["golden", "list", "--store", "upstream", "--format", "json"];
    let listed = document(&aotgate(dir.path(), &list), "goldens");
    let entries = listed["goldens"].as_array().unwrap();
    let dummy = entries.iter().find(|e| e["id"] == "some_test/v1/test_dummy_test").unwrap();
    assert_eq!((&dummy["standing"], &dummy["until"]), (&"empty".into(), &Value::Null));
}

#[test]
fn recording_says_how_it_runs_and_can_compute_what_nobody_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let record = |source: &str, more: &[&str]| {
        let to = ["golden", "record", source, "--set", "local-1", "--store", "store"];
        let rest = ["--emitted-at", "2026-11-29"];
        aotgate(dir.path(), &[&to[..], &rest, more].concat())
    };
    let artifact = file("jaxlib-0.11.2/mg_all_reduce", "executable.bin");
    let missing = record(&artifact, &["--program", "sum"]);
    assert!(missing.out.contains("executed, with nothing to compare"), "{}", missing.out);
    let run = record(&artifact, &["--program", "sums", "--execute", "--seed", "3"]);
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(run.out.contains("executed, and gave what is expected"), "{}", run.out);
    let manifest = dir.path().join("store/local-1/sums/golden.toml");
    insta::assert_snapshot!("record_executed", std::fs::read_to_string(manifest).unwrap());
    let verified = aotgate(dir.path(), &["golden", "verify", "--store", "store"]);
    assert_eq!(verified.status, 0, "{}", verified.err);
    assert!(verified.out.contains("1 passed, 1 ran with nothing to compare"), "{}", verified.out);

    let (artifact, inputs) = (
        file("jaxlib-0.11.2/softmax", "executable.bin"),
        file("jaxlib-0.11.2/softmax", "inputs.npz"),
    );
    spoil(&file("jaxlib-0.11.2/softmax", "expected.npz"), &dir.path().join("off.npz"), 0.5);
    let given = ["--program", "soft", "--inputs", &inputs, "--expected", "off.npz"];
    let off = record(&artifact, &given);
    assert!(off.out.contains("differs in 1 of 256 elements"), "{}", off.out);
    let tolerant = record(&artifact, &[&given[..], &["--absolute", "0.6", "--force"]].concat());
    assert!(tolerant.out.contains("gave what is expected"), "{}", tolerant.out);
    let text = std::fs::read_to_string(dir.path().join("store/local-1/soft/golden.toml")).unwrap();
    assert!(text.contains("relative = 0.0, absolute = 0.6"), "{text}");
}
