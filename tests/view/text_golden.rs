//! Text goldens: upstream's, and those that we write of real artifacts.

use std::path::{Path, PathBuf};

use aotgate::descriptor::{Contract, ContractSpec, SourceClosure};
use aotgate::triage::policy;
use aotgate::view::{
    Limits, Opened, canonical_contract, decode, open, open_reporting, opening_spec, print_artifact,
    write_text,
};
use aotgate_runtime::artifact::{Artifact, Container, Encoding, Form};

const OUTER: &str = "xla.ExecutableAndOptionsProto";
const EXECUTABLE: &str = "xla.gpu.GpuExecutableProto";
const HEADER: &str = "# proto-file: xla/util/split_proto/human_readable_aot_executable.proto\n\
                      # proto-message: xla.HumanReadableAotExecutable\n\n";

fn data(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(path)
}

fn spec() -> ContractSpec {
    policy::built_in().unwrap().contract
}

fn canonical() -> Contract {
    canonical_contract(&spec()).unwrap()
}

/// The contract of a release, where its descriptors are in the repository.
fn released(release: &str) -> Option<Contract> {
    let set = std::fs::read(data(&format!("released/{release}.fds"))).ok()?;
    let closure = SourceClosure::from_descriptor_set(&set).unwrap();
    Some(closure.contract(&opening_spec(&spec())).unwrap())
}

fn upstream() -> Vec<(String, String)> {
    ["AllGatherMixedTypes", "ReduceScatter"]
        .map(|name| {
            let path = data(&format!("upstream-goldens/{name}.pbtxt"));
            (name.to_owned(), std::fs::read_to_string(path).unwrap())
        })
        .into()
}

/// Canonical bytes of the outer message and the executable; nothing in them is unknown.
fn known(artifact: &Artifact, contract: &Contract) -> [Vec<u8>; 2] {
    let outer = artifact.outer().unwrap().message().to_bytes();
    let executable = artifact.executable().to_bytes();
    [(OUTER, outer), (EXECUTABLE, executable)].map(|(name, bytes)| {
        let held = decode(&bytes, contract, name, Limits::default()).unwrap();
        assert_eq!(held.canonical(), held.canonical_with_unknown(), "{name}");
        held.canonical()
    })
}

/// Text to binary and back, twice: nothing changes and nothing is left out. Returns the names of the
/// fields that were passed over.
fn there_and_back(name: &str, text: &str, contract: &Contract) -> Vec<String> {
    let Opened { artifact, skipped } = open_reporting(text.as_bytes().to_vec(), contract)
        .unwrap_or_else(|e| panic!("{name}: {:?}", miette::Report::new(e)));
    let skipped: Vec<String> = skipped.into_iter().map(|skipped| skipped.field).collect();
    assert_eq!(artifact.layers()[0].container, Container::Text);
    let bytes = known(&artifact, contract);
    assert_eq!(artifact.executable().to_bytes(), bytes[1], "{name}");
    assert!(!artifact.decode().unwrap().thunks.is_empty());

    let printed = print_artifact(&artifact, contract).unwrap();
    assert_eq!(printed.left_out, [], "{name}");
    // What C++ printed, but for the header and what this contract passes over.
    let body = text.split_once("\n\n").unwrap().1;
    let held = |line: &&str| {
        let name = line.trim_start().split_once(": ").map(|(name, _)| format!(".{name}"));
        !name.is_some_and(|name| skipped.iter().any(|skipped| skipped.ends_with(&name)))
    };
    let body: String = body.lines().filter(held).map(|line| format!("{line}\n")).collect();
    let expected = format!("{HEADER}{body}");
    let differs = printed.text.lines().zip(expected.lines()).find(|(ours, theirs)| ours != theirs);
    assert_eq!(differs, None, "{name}");
    assert_eq!(printed.text.len(), expected.len(), "{name}");
    let again = open(printed.text.clone().into_bytes(), contract).unwrap();
    assert_eq!(known(&again, contract), bytes, "{name}");

    // Through a container that a loader takes.
    let plain = Encoding::Plain;
    let binary =
        artifact.write(&Form { envelope: None, outer: Some(plain), executable: plain }).unwrap();
    let read = open(binary, contract).unwrap();
    assert_eq!(known(&read, contract), bytes, "{name}");
    assert!(write_text(&read, contract).unwrap() == printed.text, "{name}");
    skipped
}

#[test]
fn upstream_goldens_with_the_canonical_contract() {
    let contract = canonical();
    for (name, text) in upstream() {
        assert_eq!(there_and_back(&name, &text, &contract), [""; 0], "{name}");
    }
}

/// The contract that judges has no outer message, and stays so.
#[test]
fn only_the_opening_contract_has_the_outer_message() {
    let set = aotgate_runtime::DESCRIPTOR_SET;
    let governed = SourceClosure::from_descriptor_set(set).unwrap().contract(&spec()).unwrap();
    assert!(governed.message(OUTER).is_none());
    assert!(canonical().message(OUTER).is_some());
    let (_, text) = &upstream()[0];
    let error = open(text.clone().into_bytes(), &governed).unwrap_err().to_string();
    assert_eq!(
        error,
        "text golden, line 4, column 24, in executable_and_options: the contract has no type xla.ExecutableAndOptionsProto"
    );
}

#[test]
fn the_header_or_the_fields_tell_the_message() {
    let contract = canonical();
    let (_, text) = &upstream()[1];
    let artifact = open(text.clone().into_bytes(), &contract).unwrap();
    let body = text.split_once("\n\n").unwrap().1;
    let inner: String = body
        .split_once("gpu_executable {\n")
        .and_then(|(_, inner)| inner.strip_suffix("}\n"))
        .unwrap()
        .to_owned();
    let outer: String = body
        .split_once("executable_and_options {\n")
        .and_then(|(_, rest)| rest.split_once("\n}\n"))
        .map(|(outer, _)| format!("{outer}\n"))
        .unwrap();
    let serialized = artifact.write(&Form::SPLIT).unwrap();
    let octal: String = serialized.iter().map(|byte| format!("\\{byte:03o}")).collect();
    let whole_outer = format!("serialized_executable: '{octal}'\n{outer}");
    for (text, has_outer) in [
        (body.to_owned(), true),
        (format!("# proto-message: xla.HumanReadableAotExecutable\n{body}"), true),
        (inner.clone(), false),
        (format!("#proto-message: xla.gpu.GpuExecutableProto\n{inner}"), false),
        (whole_outer.clone(), true),
        (format!("# proto-message: xla.ExecutableAndOptionsProto\n{whole_outer}"), true),
        (format!("executable_and_options {{ {whole_outer} }}"), true),
    ] {
        let start = text.chars().take(60).collect::<String>();
        let read = open(text.into_bytes(), &contract)
            .unwrap_or_else(|e| panic!("{start}: {:?}", miette::Report::new(e)));
        // A split proto has its fields in another order.
        let held = [&read, &artifact].map(|artifact| {
            let bytes = artifact.executable().to_bytes();
            decode(&bytes, &contract, EXECUTABLE, Limits::default()).unwrap().canonical()
        });
        assert!(held[0] == held[1], "{start}");
        assert_eq!(read.outer().is_some(), has_outer, "{start}");
        if has_outer {
            assert_eq!(read.outer(), artifact.outer(), "{start}");
        }
    }
}

#[test]
fn what_is_no_text_golden() {
    let contract = canonical();
    let error = |text: &str| open(text.as_bytes().to_vec(), &contract).unwrap_err().to_string();
    assert_eq!(
        error("# proto-message: xla.HloProto\nhlo_module {}"),
        "the header of the text golden names xla.HloProto, which is no artifact"
    );
    assert_eq!(
        error("name: 'x'"),
        "the text golden has no header, and no message has all its fields; tried xla.HumanReadableAotExecutable, xla.ExecutableAndOptionsProto, xla.gpu.GpuExecutableProto"
    );
    assert_eq!(
        error("# proto-message: xla.HumanReadableAotExecutable\nexecutable_and_options { }"),
        "the text golden holds no executable"
    );
    assert_eq!(
        error("gpu_executable { thunks { copy_thunk { } nope: 1 } }"),
        "text golden, line 1, column 42, in gpu_executable.thunks[0]: the contract has no field xla.gpu.ThunkProto.nope"
    );
    assert!(error("serialized_executable: 'x'").contains("serialized_executable"));
    assert!(error("not text format").contains("no known container"));
}

/// A field that two of the messages have.
#[test]
fn several_messages_fit() {
    let schema = "syntax = \"proto3\"; package xla; message ExecutableAndOptionsProto { bytes serialized_executable = 1; string name = 3; }";
    let inner =
        "syntax = \"proto3\"; package xla.gpu; message GpuExecutableProto { string name = 1; }";
    let spec = crate::common::everything(["a.proto".to_owned(), "b.proto".to_owned()]);
    let contract = crate::common::Files::new(&[("a.proto", schema), ("b.proto", inner)])
        .contract(&spec)
        .unwrap();
    let error = open(b"name: 'x'".to_vec(), &contract).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the text golden has no header, and may be any of xla.ExecutableAndOptionsProto, xla.gpu.GpuExecutableProto"
    );
}

#[test]
fn unknown_fields_are_named() {
    let contract = canonical();
    let (_, text) = &upstream()[0];
    let artifact = open(text.clone().into_bytes(), &contract).unwrap();
    let mut executable = artifact.executable().to_bytes().to_vec();
    executable.extend(b"\xf8\x3f\x05\xfa\x3f\x03abc\xf8\x3f\x06");
    let binary = Artifact::read(executable).unwrap();
    let printed = print_artifact(&binary, &contract).unwrap();
    let left_out: Vec<String> = printed
        .left_out
        .iter()
        .map(|l| format!("{} {} x{} at {}", l.construct, l.what, l.times, l.first))
        .collect();
    assert_eq!(
        left_out,
        [
            "xla.gpu.GpuExecutableProto.1023 length-delimited x1 at gpu_executable.1023",
            "xla.gpu.GpuExecutableProto.1023 varint x2 at gpu_executable.1023",
        ]
    );
    assert!(printed.text.contains("\n# left out: 3 values, see the comments below\n"));
    let end = "  # left out: unknown field 1023, varint\n  # left out: unknown field 1023, length-delimited of 3 bytes\n  # left out: unknown field 1023, varint\n}\n";
    assert!(printed.text.ends_with(end), "{}", printed.text);
    let again = open(printed.text.into_bytes(), &contract).unwrap();
    assert_eq!(again.executable(), artifact.executable());
}

/// Binary to text and back with the contract of the artifact's release: the same canonical bytes, and
/// only unknown fields are left out. Returns the sizes of text and canonical bytes.
fn artifact_there_and_back(path: &Path, contract: &Contract) -> (usize, usize) {
    let artifact = open(std::fs::read(path).unwrap(), contract).unwrap();
    let canonical = |artifact: &Artifact| {
        let bytes = artifact.executable().to_bytes();
        let executable =
            decode(&bytes, contract, EXECUTABLE, Limits::default()).unwrap().canonical();
        let outer = artifact.outer().unwrap().message().to_bytes();
        let outer = decode(&outer, contract, OUTER, Limits::default()).unwrap().canonical();
        (executable, outer)
    };
    let printed = print_artifact(&artifact, contract).unwrap();
    let size = printed.text.len();
    let unknown = printed.left_out.iter().all(|l| !l.what.contains("NaN"));
    assert!(unknown, "{}: {:?}", path.display(), printed.left_out);
    let again = open(printed.text.into_bytes(), contract)
        .unwrap_or_else(|e| panic!("{}: {:?}", path.display(), miette::Report::new(e)));
    let before = canonical(&artifact);
    assert!(canonical(&again) == before, "{}", path.display());
    (size, before.0.len() + before.1.len())
}

#[test]
fn real_artifacts_as_text() {
    for release in ["0.10.1", "0.11.2", "0.12.0"] {
        let contract = released(release).unwrap_or_else(canonical);
        for entry in std::fs::read_dir(data(&format!("artifacts/{release}"))).unwrap() {
            artifact_there_and_back(&entry.unwrap().path(), &contract);
        }
    }
}

/// All recorded artifacts: `AOTGATE_GOLDENS` is a folder with `<release>/<program>/executable.bin`.
#[test]
#[ignore = "needs AOTGATE_GOLDENS"]
fn recorded_artifacts_as_text() {
    let root = PathBuf::from(std::env::var_os("AOTGATE_GOLDENS").unwrap());
    for release in std::fs::read_dir(root).unwrap() {
        let release = release.unwrap();
        let name = release.file_name().into_string().unwrap();
        let contract = released(&name).unwrap_or_else(canonical);
        let (mut count, mut text, mut binary) = (0, 0, 0);
        let started = std::time::Instant::now();
        for program in std::fs::read_dir(release.path()).unwrap() {
            let path = program.unwrap().path().join("executable.bin");
            if path.exists() {
                let sizes = artifact_there_and_back(&path, &contract);
                (count, text, binary) = (count + 1, text + sizes.0, binary + sizes.1);
            }
        }
        println!(
            "{name}: {count} artifacts, {binary} bytes, as text {text}, {:?}",
            started.elapsed()
        );
        assert!(count > 0);
    }
}

/// Upstream's goldens with the contract of the commit that added them. `AOTGATE_XLA_REPO` is XLA's git
/// directory.
#[test]
#[ignore = "needs AOTGATE_XLA_REPO"]
fn upstream_goldens_with_the_contract_of_their_time() {
    use aotgate::descriptor::ParseCache;
    use aotgate::revision::{Repository, Revision, RevisionSpec};

    let repository = std::env::var_os("AOTGATE_XLA_REPO").unwrap();
    let repository = Repository::discover(Path::new(&repository)).unwrap();
    let revision = RevisionSpec::Git("5b675a19fc".to_owned());
    let revision = Revision::open(&revision, Some(&repository)).unwrap();
    let spec = opening_spec(&spec());
    let closure = revision.closure(&spec, &mut ParseCache::default()).unwrap();
    let contract = closure.contract(&spec).unwrap();
    let folder =
        "xla/tests/aot_compatibility_experimental/gpu/executables/collective_ops_aot_test_2gpu/v1";
    for (name, text) in upstream() {
        let theirs = revision.read_file(&format!("{folder}/{name}.pbtxt")).unwrap().unwrap();
        assert!(theirs == text.as_bytes(), "{name}");
        // The compiler that wrote them was older than the tree that they were added to.
        let skipped = there_and_back(&name, &text, &contract);
        println!("{name}: passed over {}", skipped.join(", "));
        assert!(skipped.contains(&"xla.ExecutableBuildOptionsProto.slice_size".to_owned()));
    }
}
