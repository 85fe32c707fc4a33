//! `aotgate artifact` as users run it, on the artifacts in tests/data.
#![cfg(feature = "runtime")]
#![allow(clippy::panic, clippy::unwrap_used)] // helpers of tests

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use aotgate::cli::{Cli, Status};
use aotgate::report::schema;
use boon::{Compiler, Schemas};
use clap::Parser as _;
use serde_json::Value;

/// Exit status, standard output, standard error.
type Ran = (i32, String, String);

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_aotgate"));
    command.arg("artifact").args(arguments);
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/artifacts"));
    command.env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8").env_remove("COLUMNS");
    command
}

fn finish(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

fn run(arguments: &[&str]) -> Ran {
    finish(&mut command(arguments))
}

fn passing(arguments: &[&str]) -> String {
    let (status, out, err) = run(arguments);
    assert_eq!(status, 0, "{arguments:?}: {err}");
    out
}

fn failing(arguments: &[&str]) -> String {
    let (status, out, err) = run(arguments);
    assert_eq!((status, out.as_str()), (2, ""), "{arguments:?}: {err}");
    // Wrapped lines are joined, so that a test can look for a sentence.
    err.lines().map(|line| line.trim_start_matches([' ', '│', '×'])).collect::<Vec<_>>().join(" ")
}

/// Every committed artifact.
fn artifacts() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/artifacts");
    let mut found = Vec::new();
    for release in std::fs::read_dir(&root).unwrap() {
        let release = release.unwrap().path();
        for file in
            release.is_dir().then(|| std::fs::read_dir(&release).unwrap()).into_iter().flatten()
        {
            let file = file.unwrap().path();
            found.push(file.strip_prefix(&root).unwrap().to_str().unwrap().to_owned());
        }
    }
    found.sort();
    assert_eq!(found.len(), 8);
    found
}

fn assert_valid(name: &str, text: &str) -> Value {
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
    let mut extended = value.clone();
    extended["surprise"] = Value::Null;
    assert!(schemas.validate(&extended, index).is_err(), "{name} accepts unknown keys");
    value
}

#[test]
fn inspections_read_well() {
    insta::assert_snapshot!("inspect_0.10.1", passing(&["inspect", "0.10.1/constants.bin"]));
    insta::assert_snapshot!("inspect_0.12.0", passing(&["inspect", "0.12.0/pallas_add.bin"]));
    let verbose = passing(&["inspect", "--verbose", "0.11.2/fft.bin"]);
    insta::assert_snapshot!("inspect_verbose", verbose);
    let mut narrow = command(&["inspect", "0.12.0/pallas_add.bin"]);
    let (_, narrow, _) = finish(narrow.env("LC_ALL", "C").env("COLUMNS", "60"));
    assert!(narrow.is_ascii() && narrow.contains("|- "), "{narrow}");
    insta::assert_snapshot!("inspect_narrow", narrow);
}

#[test]
fn sizes_read_well_and_add_up() {
    insta::assert_snapshot!(passing(&["size", "0.12.0/pallas_add.bin"]));
    for file in artifacts() {
        let text = passing(&["size", &file, "--format", "json"]);
        let document = assert_valid("size", &text);
        let parts = document["parts"].as_array().unwrap();
        let stored: u64 = parts.iter().map(|part| part["stored"].as_u64().unwrap()).sum();
        assert_eq!(document["size"].as_u64(), Some(stored), "{file}");
    }
}

#[test]
fn differences_read_well() {
    let (status, out, _) = run(&["diff", "0.10.1/add_mul.bin", "0.12.0/add_mul.bin"]);
    assert_eq!(status, 1);
    insta::assert_snapshot!(out);
    let json = ["diff", "0.10.1/add_mul.bin", "0.12.0/add_mul.bin", "--format", "json"];
    let document = assert_valid("artifact-diff", &run(&json).1);
    assert_eq!(document["equal"], false);
    let same = passing(&["diff", "0.12.0/add_mul.bin", "0.12.0/add_mul.bin", "--format", "json"]);
    assert_eq!(assert_valid("artifact-diff", &same)["same_containers"], true);
}

#[test]
fn documents_of_inspect_are_valid() {
    let all = artifacts();
    let mut arguments = vec!["inspect", "--format", "json"];
    arguments.extend(all.iter().map(String::as_str));
    let text = passing(&arguments);
    assert_eq!(text.lines().count(), all.len());
    for (line, file) in text.lines().zip(&all) {
        assert_eq!(assert_valid("inspect", line)["file"], *file);
    }
    // One that cannot be read does not hide the others.
    let (status, out, err) = run(&["inspect", "README.md", "0.11.2/fft.bin", "--format", "json"]);
    assert_eq!(status, 2);
    assert!(err.contains("README.md"), "{err}");
    let documents: Vec<_> = out.lines().map(|line| assert_valid("inspect", line)).collect();
    assert!(documents[0]["error"].is_string() && documents[1]["module"].is_string());
    for name in ["inspect", "size", "artifact-diff"] {
        let mut explain = Command::new(env!("CARGO_BIN_EXE_aotgate"));
        let (status, out, _) = finish(explain.args(["explain", "--schema", name]));
        assert_eq!((status, out.as_str()), (0, schema::schema(name).unwrap()));
    }
}

#[test]
fn every_container_leads_back_to_the_same_artifact() {
    let dir = tempfile::tempdir().unwrap();
    for file in artifacts() {
        let release = file.split('/').next().unwrap();
        let own = format!("release:{release}");
        for to in ["release:0.10.1", "release:0.11.2", "release:0.12.0"] {
            let (there, back) = (dir.path().join("there"), dir.path().join("back"));
            let (there, back) = (there.to_str().unwrap(), back.to_str().unwrap());
            passing(&["convert", &file, "--to", to, "-o", there, "--force"]);
            let out = passing(&["diff", &file, there]);
            let container = if to == own { "same container" } else { "other container" };
            if release != "0.10.1" || to == own {
                let same_form = to == own || !to.ends_with("0.10.1") && release != "0.10.1";
                let container = if same_form { "same container" } else { container };
                assert!(
                    out.starts_with(&format!("Same executable, {container}")),
                    "{file} {to}: {out}"
                );
            }
            passing(&["convert", there, "--to", &own, "-o", back, "--force"]);
            let document = passing(&["diff", &file, back, "--format", "json"]);
            let document: Value = serde_json::from_str(&document).unwrap();
            assert_eq!(
                (&document["equal"], &document["same_containers"]),
                (&true.into(), &true.into())
            );
        }
    }
}

#[test]
fn nothing_is_lost_unless_that_was_agreed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out.bin");
    let out = path.to_str().unwrap();
    let file = "0.12.0/add_mul.bin";
    let message = failing(&["convert", file, "--to", "plain", "-o", out]);
    assert!(message.contains("--drop options,envelope"), "{message}");
    let message = failing(&["convert", file, "--to", "outer-split", "-o", out]);
    assert!(message.contains("--drop envelope"), "{message}");
    assert!(!path.exists());
    for to in ["plain", "split", "outer-plain", "outer-split", "aot"] {
        let drop = ["--drop", "options,envelope"];
        let arguments = ["convert", file, "--to", to, "-o", out, "--force", drop[0], drop[1]];
        passing(&arguments);
        let first = std::fs::read(&path).unwrap();
        passing(&arguments);
        assert_eq!(std::fs::read(&path).unwrap(), first, "the same bytes each time");
        let (status, said, _) = run(&["diff", file, out]);
        assert_eq!(status, 1, "layers are missing");
        assert!(said.starts_with("Same executable"), "{said}");
    }
    // What is not there cannot be made up.
    passing(&[
        "convert",
        file,
        "--to",
        "plain",
        "-o",
        out,
        "--force",
        "--drop",
        "options,envelope",
    ]);
    let message = failing(&["convert", out, "--to", "release:0.12.0", "-o", "-"]);
    assert!(message.contains("no compile options"), "{message}");
}

#[test]
fn files_are_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out.bin");
    std::fs::write(&path, "mine").unwrap();
    let out = path.to_str().unwrap();
    let arguments = ["convert", "0.11.2/fft.bin", "--to", "release:0.10.1", "-o", out];
    assert!(failing(&arguments).contains("pass `--force`"));
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    passing(&[&arguments[..], &["--force"]].concat());
    assert_ne!(std::fs::read(&path).unwrap(), b"mine");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left over");
    assert!(failing(&["convert", "0.11.2/fft.bin", "--to", "plain"]).contains("-o FILE"));
    let (status, _, err) = run(&["convert", "0.11.2/fft.bin", "--to", "splt", "-o", out]);
    assert_eq!(status, 2);
    assert!(err.contains("did you mean split?"), "{err}");
    let (_, _, err) = run(&["convert", "0.11.2/fft.bin", "--to", "release:0.9", "-o", out]);
    assert!(err.contains("known are 0.10.1, 0.11.2, 0.12.0"), "{err}");
}

#[test]
fn a_container_promises_nothing_about_the_executable() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out.bin");
    let out = out.to_str().unwrap();
    let (_, _, err) = run(&["convert", "0.10.1/fft.bin", "--to", "release:0.12.0", "-o", out]);
    assert!(err.contains("buffer_allocations_debug_summary"), "{err}");
    let (_, _, err) =
        run(&["convert", "0.11.2/fft.bin", "--to", "release:0.12.0", "-o", out, "--force"]);
    assert!(!err.contains("note:"), "{err}");
}

#[test]
fn standard_input_and_output_are_files_too() {
    let mut child = command(&["convert", "-", "--to", "release:0.10.1", "-o", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/artifacts");
    let bytes = std::fs::read(root.join("0.12.0/constants.bin")).unwrap();
    child.stdin.take().unwrap().write_all(&bytes).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("converted.bin");
    std::fs::write(&file, &output.stdout).unwrap();
    let said = passing(&["diff", "0.12.0/constants.bin", file.to_str().unwrap()]);
    assert!(said.starts_with("Same executable, other container"), "{said}");
    assert!(failing(&["diff", "-", "-"]).contains("holds one artifact"));
}

#[test]
fn what_is_no_artifact_is_said_to_be_what_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let cases: [(&[u8], &str); 9] = [
        (b"", "an empty file"),
        (b"<!DOCTYPE html><html></html>", "an HTML page"),
        (b"\x7fELF\x02\x01\x01\x00 and so on", "an ELF file"),
        (b"PK\x03\x04....", "a ZIP archive"),
        (b"\x1f\x8b\x08....", "gzip data"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "git lfs pull"),
        (b"\x80\x04\x95....", "a Python pickle"),
        (b"HloModule jit_f, entry", "HLO text"),
        (b"\x83\xaf\x70\xd1\x0d\x88\x4a\x3f cut", "expected"),
    ];
    for (bytes, expected) in cases {
        let file = dir.path().join("file.bin");
        std::fs::write(&file, bytes).unwrap();
        for command in [&["inspect"][..], &["size"], &["diff", "0.11.2/fft.bin"]] {
            let message = failing(&[command, &[file.to_str().unwrap()]].concat());
            assert!(message.contains(expected), "{expected}: {message}");
            assert!(message.contains("file.bin") && message.contains("help:"), "{message}");
        }
    }
    assert!(failing(&["inspect", dir.path().to_str().unwrap()]).contains("is a directory"));
    assert!(failing(&["inspect", "missing.bin"]).contains("missing.bin"));
    // Cut anywhere, a real artifact names the layer and the byte.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/artifacts");
    let bytes = std::fs::read(root.join("0.12.0/add_mul.bin")).unwrap();
    for length in [bytes.len() / 2, bytes.len() - 1] {
        let file = dir.path().join("cut.bin");
        std::fs::write(&file, &bytes[..length]).unwrap();
        let message = failing(&["inspect", file.to_str().unwrap()]);
        assert!(message.contains("IFRT envelope, byte"), "{message}");
    }
    assert!(failing(&["inspect", "0.11.2/fft.bin", "--format", "sarif"]).contains("human, json"));
}

#[test]
fn an_ambiguous_file_is_said_to_be_one() {
    // Field 13 of an executable with 32 bytes, and a field `j` of text format.
    let bytes = b"j {                              }";
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file.bin");
    std::fs::write(&file, bytes).unwrap();
    let message = failing(&["inspect", file.to_str().unwrap()]);
    assert!(message.contains("file.bin: input: ambiguous"), "{message}");
    assert!(message.contains("write the artifact again in one container"), "{message}");
}

#[test]
fn hostile_names_do_not_reach_the_terminal() {
    // A GpuExecutableProto with a module name, a constant, and thunks that try.
    let name = "x\u{1b}[31m\u{202e}\n::error::y";
    let text = |number: u8, text: &str| {
        [&[number << 3 | 2, u8::try_from(text.len()).unwrap()][..], text.as_bytes()].concat()
    };
    let wrap = |number: u8, inner: &[u8]| {
        [&[number << 3 | 2, u8::try_from(inner.len()).unwrap()][..], inner].concat()
    };
    let thunk = wrap(13, &wrap(1, &text(1, name)));
    let bytes =
        [text(8, name), wrap(12, &text(1, name)), thunk.clone(), wrap(5, &text(1, name))].concat();
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (dir.path().join("a.bin"), dir.path().join("b\u{1b}.bin"));
    std::fs::write(&first, &bytes).unwrap();
    std::fs::write(&second, [bytes, thunk].concat()).unwrap();
    let (first, second) = (first.to_str().unwrap(), second.to_str().unwrap());
    for format in ["human", "json"] {
        for arguments in [
            &["inspect", "--verbose", first][..],
            &["inspect", first, second],
            &["size", second],
            &["diff", first, second],
        ] {
            let (status, out, err) = run(&[arguments, &["--format", format]].concat());
            assert!(status < 2, "{err}");
            let bad = out.chars().find(|&c| c != '\n' && aotgate::report::text::is_hostile(c));
            assert_eq!(bad, None, "{out:?}");
            assert!(!out.lines().any(|line| line.starts_with("::")), "{out}");
        }
    }
}

/// Runs a command inside this process.
fn cli(arguments: &[&str]) -> Status {
    match Cli::try_parse_from([&["aotgate", "artifact"], arguments].concat()) {
        Ok(cli) => cli.run().unwrap_or_else(|error| panic!("{arguments:?}: {error:?}")),
        Err(error) => panic!("{arguments:?}: {error}"),
    }
}

/// All commands over all recorded artifacts: `AOTGATE_GOLDENS` names a folder with
/// `<release>/<program>/executable.bin`.
#[test]
#[ignore = "reads all recorded artifacts: set AOTGATE_GOLDENS to their folder"]
fn all_recorded_artifacts_go_through_every_command() {
    let root = PathBuf::from(std::env::var_os("AOTGATE_GOLDENS").unwrap());
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (there, back, document) = (path("there"), path("back"), path("document"));
    let read = || std::fs::read_to_string(&document).unwrap();
    let (mut artifacts, mut conversions) = (0, 0);
    for release in std::fs::read_dir(root).unwrap() {
        let release = release.unwrap();
        let own = format!("release:{}", release.file_name().to_str().unwrap());
        for program in std::fs::read_dir(release.path()).unwrap() {
            let file = program.unwrap().path().join("executable.bin");
            let file = file.to_str().unwrap();
            artifacts += 1;
            let json = ["--format", "json", "-o", &document];
            assert_eq!(cli(&[&["inspect", file], &json[..]].concat()), Status::Passed);
            assert_valid("inspect", &read());
            assert_eq!(cli(&["inspect", file, "-o", &document]), Status::Passed);
            assert_eq!(cli(&[&["size", file], &json[..]].concat()), Status::Passed);
            let size = assert_valid("size", &read());
            let parts = size["parts"].as_array().unwrap();
            let stored: u64 = parts.iter().map(|part| part["stored"].as_u64().unwrap()).sum();
            assert_eq!(size["size"].as_u64(), Some(stored), "{file}");
            let drop = ["--drop", "options,envelope", "--force"];
            for to in ["release:0.10.1", "release:0.11.2", "release:0.12.0"] {
                cli(&["convert", file, "--to", to, "-o", &there, "--force"]);
                cli(&["convert", &there, "--to", &own, "-o", &back, "--force"]);
                assert_eq!(
                    cli(&[&["diff", file, &back], &json[..]].concat()),
                    Status::Passed,
                    "{file} {to}"
                );
                assert_eq!(assert_valid("artifact-diff", &read())["same_containers"], true);
                conversions += 2;
            }
            for compression in ["none", "snappy"] {
                for to in ["plain", "split", "outer-plain", "outer-split"] {
                    let store = ["--compression", compression];
                    cli(&[&["convert", file, "--to", to, "-o", &there], &drop[..], &store[..]]
                        .concat());
                    cli(&[&["diff", file, &there], &json[..]].concat());
                    assert_eq!(assert_valid("artifact-diff", &read())["same_executable"], true);
                    cli(&[&["convert", &there, "--to", "split", "-o", &back], &drop[..]].concat());
                    cli(&[&["diff", &there, &back], &json[..]].concat());
                    assert_eq!(assert_valid("artifact-diff", &read())["same_executable"], true);
                    conversions += 2;
                }
            }
        }
    }
    println!("{artifacts} artifacts, {conversions} conversions");
}

/// A text golden goes through every command, and to a binary container and back.
#[test]
fn text_goldens_are_artifacts_like_others() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name).display().to_string();
    let golden = "../upstream-goldens/ReduceScatter.pbtxt";
    let inspection: Value =
        serde_json::from_str(&passing(&["inspect", golden, "--format", "json"])).unwrap();
    let kinds: Vec<&Value> =
        inspection["thunks"].as_array().unwrap().iter().map(|thunk| &thunk["kind"]).collect();
    assert!(kinds.contains(&&Value::from("reduce_scatter")), "{kinds:?}");
    assert_valid("size", &passing(&["size", golden, "--format", "json"]));
    passing(&["lint", golden]);
    passing(&["convert", golden, "--to", "outer-split", "-o", &at("binary")]);
    passing(&["convert", &at("binary"), "--to", "text", "-o", &at("text.pbtxt")]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/artifacts");
    let body = |path: &str| {
        let text = std::fs::read_to_string(root.join(path)).unwrap();
        text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(body(golden), body(&at("text.pbtxt")));
    // A schema that lacks a field and does not reserve its name refuses the text, and says where.
    let error = failing(&["inspect", golden, "--schema", "../released/0.10.0.fds"]);
    assert!(error.contains("ReduceScatter.pbtxt: text golden, line "), "{error}");
}

#[cfg(unix)]
#[test]
fn files_without_an_end_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let set = dir.path().join("pipe.fds");
    assert!(Command::new("mkfifo").arg(&set).status().unwrap().success());
    let (pipe, set) = (pipe.to_str().unwrap(), set.to_str().unwrap());
    let artifact = artifacts().swap_remove(0);
    for arguments in [
        &["inspect", "/dev/zero"][..],
        &["inspect", pipe],
        &["size", "/dev/zero"],
        &["lint", "/dev/zero"],
        &["diff", pipe, &artifact],
        &["compat", pipe, "--runtime", "x.fds"],
        &["compat", &artifact, "--runtime", set],
        &["convert", "/dev/zero", "--to", "plain", "-o", "-"],
    ] {
        let (status, out, err) = run(arguments);
        let said = format!("{out}{err}");
        assert!(status == 2 && said.contains("is a device or a pipe"), "{arguments:?}: {said}");
    }
}

#[test]
fn a_byte_order_mark_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bom.pbtxt");
    std::fs::write(&path, "\u{feff}# proto-message: xla.gpu.GpuExecutableProto\n").unwrap();
    let error = failing(&["inspect", path.to_str().unwrap()]);
    assert!(error.contains("text with a byte order mark in front"), "{error}");
}

#[test]
fn what_unpacks_to_much_is_refused_until_it_is_allowed() {
    use aotgate_runtime::artifact::{Artifact, Compression, Encoding, Form};
    use aotgate_runtime::proto::xla::gpu::GpuExecutableProto;
    use prost::Message as _;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bomb.bin");
    let zeros = GpuExecutableProto { binary: vec![0; 260 << 20].into(), ..Default::default() };
    let artifact = Artifact::read(zeros.encode_to_vec()).unwrap();
    let executable = Encoding::Split(Compression::Snappy);
    let form = Form { envelope: None, outer: None, executable };
    std::fs::write(&path, artifact.write(&form).unwrap()).unwrap();
    let path = path.to_str().unwrap();
    let error = failing(&["inspect", path]);
    assert!(error.contains("is over the limit of 268435456"), "{error}");
    assert!(error.contains("raise `--max-unpacked`"), "{error}");
    passing(&["inspect", path, "--max-unpacked", "300M"]);
}
