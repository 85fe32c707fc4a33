//! Artifacts of released compilers through the whole library: every field accounted for by the schema of
//! the release that wrote it, canonical bytes, every container.
#![allow(clippy::print_stdout)] // tells what it measured
#![cfg(feature = "runtime")]
#![allow(clippy::panic, clippy::unwrap_used)] // helpers of tests are tests too

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use aotgate::descriptor::{Contract, ContractSpec, RootSpec, SourceClosure};
use aotgate::view::{Limits, Node, Slot, Value, decode};
use aotgate_runtime::artifact::{
    Artifact, Compression, ContainerRules, Encoding, EnvelopeForm, Form,
};

const EXECUTABLE: &str = "xla.gpu.GpuExecutableProto";
const OUTER: &str = "xla.ExecutableAndOptionsProto";

/// The schema of a release, with the outer layer's message beside the executable's.
fn contract(folder: &Path, release: &str) -> Contract {
    let path = folder.join(format!("{release}.fds"));
    let set = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let xla = common::xla();
    let mut roots = xla.roots;
    let file = "xla/pjrt/proto/compile_options.proto".to_owned();
    roots.push(RootSpec { message: OUTER.to_owned(), files: vec![file] });
    let spec = ContractSpec { roots, ..xla };
    SourceClosure::from_descriptor_set(&set).unwrap().contract(&spec).unwrap()
}

/// Counts set fields and puts down unknown ones, with the message that they are in.
fn account(node: &Node<'_>, known: &mut usize, unknown: &mut Vec<String>) {
    let owner = &node.message().name;
    unknown.extend(node.unknown().iter().map(|field| format!("{owner}.{}", field.number)));
    for (_, slot) in node.fields() {
        *known += 1;
        match slot {
            Slot::One(Value::Message(node)) => account(node, known, unknown),
            Slot::Messages(list) => list.iter().for_each(|node| account(node, known, unknown)),
            Slot::Map(map) => {
                for value in map.values() {
                    let Value::Message(node) = value else { continue };
                    account(node, known, unknown);
                }
            }
            _ => {}
        }
    }
}

/// Every field of a message is known to the contract, and the canonical bytes hold the same. Returns how
/// many fields are set.
fn accounted(name: &str, bytes: &[u8], contract: &Contract, root: &str) -> usize {
    let held = decode(bytes, contract, root, Limits::default())
        .unwrap_or_else(|refused| panic!("{name}: {refused}"));
    let (mut known, mut unknown) = (0, Vec::new());
    account(held.root(), &mut known, &mut unknown);
    assert!(unknown.is_empty(), "{name}: fields that {root} lacks: {unknown:?}");
    let canonical = held.canonical();
    assert!(canonical == held.canonical_with_unknown(), "{name}");
    let again = decode(&canonical, contract, root, Limits::default()).unwrap();
    assert!(again == held, "{name}: canonical bytes of {root} hold something else");
    assert!(again.canonical() == canonical, "{name}");
    known
}

fn forms() -> Vec<Form> {
    let encodings =
        [Encoding::Plain, Encoding::Split(Compression::None), Encoding::Split(Compression::Snappy)];
    let mut forms = Vec::new();
    for executable in encodings {
        forms.push(Form { executable, ..Form::PLAIN });
        for outer in encodings.map(Some) {
            for envelope in [None, Some(EnvelopeForm::WithoutAbi), Some(EnvelopeForm::WithAbi)] {
                forms.push(Form { envelope, outer, executable });
            }
        }
    }
    forms
}

/// What was found in one release's artifacts.
#[derive(Debug, Default, PartialEq)]
struct Figures {
    artifacts: usize,
    fields: usize,
    rewritten: usize,
    /// Accepted as they are, by the releases whose container rules are known.
    accepted: BTreeMap<&'static str, usize>,
    /// Accepted once written in that release's own container.
    moved: BTreeMap<&'static str, usize>,
}

fn examine(name: &str, bytes: Vec<u8>, contract: &Contract, figures: &mut Figures) {
    let artifact = Artifact::read(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    let executable = artifact.executable().to_bytes();
    figures.artifacts += 1;
    figures.fields += accounted(name, &executable, contract, EXECUTABLE);
    let outer = artifact.outer().unwrap();
    figures.fields += accounted(name, &outer.message().to_bytes(), contract, OUTER);
    for form in forms() {
        let written = artifact.write(&form).unwrap_or_else(|error| panic!("{name}: {error}"));
        let again = Artifact::read(written).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(again.executable().to_bytes() == executable, "{name} {form:?}");
        assert!(form.outer.is_none() || again.outer() == Some(outer), "{name} {form:?}");
        figures.rewritten += 1;
    }
    for rules in &ContainerRules::RELEASES {
        let accepts = usize::from(rules.accept(&artifact).is_ok());
        *figures.accepted.entry(rules.release).or_default() += accepts;
        let moved = Artifact::read(artifact.write(&rules.writes).unwrap()).unwrap();
        let accepts = usize::from(rules.accept(&moved).is_ok());
        *figures.moved.entry(rules.release).or_default() += accepts;
    }
}

/// The figures of each release; artifacts are `<root>/<release>/<program>` as `file` finds them.
fn survey(
    root: &Path,
    released: &Path,
    file: impl Fn(PathBuf) -> Option<PathBuf>,
) -> BTreeMap<String, Figures> {
    let mut surveyed = BTreeMap::new();
    for release in entries(root).into_iter().filter(|path| path.is_dir()) {
        let name = release.file_name().unwrap().to_string_lossy().into_owned();
        let contract = contract(released, &name);
        let figures: &mut Figures = surveyed.entry(name.clone()).or_default();
        for path in entries(&release).into_iter().filter_map(&file) {
            examine(&path.display().to_string(), fs::read(&path).unwrap(), &contract, figures);
        }
        // As found on the devices: the container broke between 0.10.1 and 0.11.2, and what is inside
        // fits into either.
        let of_same_container = |other: &str| (other == "0.10.1") == (name == "0.10.1");
        for rules in &ContainerRules::RELEASES {
            let expected = if of_same_container(rules.release) { figures.artifacts } else { 0 };
            assert_eq!(figures.accepted[rules.release], expected, "{name} in {}", rules.release);
            assert_eq!(figures.moved[rules.release], figures.artifacts, "{name}");
        }
    }
    surveyed
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn committed_artifacts_are_accounted_for() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let binary = |path: PathBuf| path.extension().is_some_and(|e| e == "bin").then_some(path);
    let surveyed = survey(&data.join("artifacts"), &data.join("released"), binary);
    let counts: Vec<_> = surveyed.iter().map(|(name, f)| (name.as_str(), f.artifacts)).collect();
    assert_eq!(counts, [("0.10.1", 3), ("0.11.2", 2), ("0.12.0", 3)]);
    assert!(surveyed.values().all(|figures| figures.fields > 500), "{surveyed:#?}");
}

/// The outer schema finds what it should: an unknown field is one.
#[test]
fn a_field_of_a_later_release_is_noticed() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let old = contract(&data.join("released"), "0.10.0");
    let bytes = fs::read(data.join("artifacts/0.12.0/pallas_add.bin")).unwrap();
    let message = Artifact::read(bytes).unwrap().executable().to_bytes();
    let held = decode(&message, &old, EXECUTABLE, Limits::default()).unwrap();
    let mut unknown = Vec::new();
    account(held.root(), &mut 0, &mut unknown);
    assert!(!unknown.is_empty());
}

/// All recorded artifacts: `AOTGATE_GOLDENS` is a folder `<release>/<program>/executable.bin`,
/// `AOTGATE_RELEASED` one of `<release>.fds`.
#[test]
#[ignore = "reads recorded artifacts: set AOTGATE_GOLDENS and AOTGATE_RELEASED to their folders"]
fn all_recorded_artifacts_are_accounted_for() {
    let folder = |name| PathBuf::from(std::env::var_os(name).expect("a folder"));
    let executable = |path: PathBuf| Some(path.join("executable.bin")).filter(|p| p.is_file());
    let surveyed = survey(&folder("AOTGATE_GOLDENS"), &folder("AOTGATE_RELEASED"), executable);
    println!("{surveyed:#?}");
    assert!(!surveyed.is_empty());
}
