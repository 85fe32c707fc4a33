//! JSON payloads of real artifacts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aotgate::change::Pairs;
use aotgate::descriptor::{Contract, ContractSpec, OpaqueSpec, SourceClosure};
use aotgate::view::json::{self, Content};
use aotgate::view::{Limits, decode, losses, translate};
use aotgate_runtime::artifact::Artifact;

use crate::common::xla;

pub(crate) const ROOT: &str = "xla.gpu.GpuExecutableProto";

/// The contract of XLA:GPU with all payload messages of the policy.
pub(crate) fn spec() -> ContractSpec {
    let mut spec = xla();
    for (message, file) in [
        ("xla.gpu.Tile", "xla/service/gpu/backend_configs.proto"),
        ("xla.xtile.Tile", "xla/codegen/xtile/xtile_config.proto"),
        ("xla.TriangularSolveOptions", "xla/xla_data.proto"),
        ("xla.SortOptions", "xla/xla_data.proto"),
        ("xla.cpu.BackendConfig", "xla/service/cpu/backend_config.proto"),
    ] {
        spec.opaque.push(OpaqueSpec {
            field: "xla.HloInstructionProto.backend_config".to_owned(),
            message: message.to_owned(),
            file: file.to_owned(),
        });
    }
    spec
}

pub(crate) fn released(path: &Path) -> Contract {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    SourceClosure::from_descriptor_set(&bytes).unwrap().contract(&spec()).unwrap()
}

fn in_tree(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(kind)
}

fn executable(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    Artifact::read(bytes).unwrap().executable().to_bytes().to_vec()
}

/// Whether two texts are the same but for order and white space.
fn covers(printed: &str, text: &[u8]) -> bool {
    let values = |text: &[u8]| -> serde_json::Value { serde_json::from_slice(text).unwrap() };
    values(printed.as_bytes()) == values(text)
}

/// What payloads there are, by message.
type Census = BTreeMap<String, usize>;

/// Every payload reads with its own era's contract and prints to a text that reads as the same.
fn check(bytes: &[u8], contract: &Contract, place: &str, census: &mut Census) {
    let held = decode(bytes, contract, ROOT, Limits::default()).unwrap();
    for found in json::payloads(&held) {
        let kind = match &found.content {
            Content::Message(name) => {
                let text = found.text.unwrap();
                let read = json::parse(text, contract, name, Limits::default()).unwrap();
                let printed = json::print(&read.held());
                let again = json::parse(printed.as_bytes(), contract, name, Limits::default());
                assert_eq!(again.unwrap().held(), read.held(), "{place} {}", found.path);
                let by_xla = if covers(&printed, text) { "" } else { ", other spelling" };
                let load = if found.parsed_at_load { ", parsed at load" } else { "" };
                format!("{name}{by_xla}{load}")
            }
            Content::Opaque(what) => format!("opaque: {what} ({})", found.target),
            Content::Ambiguous(names) => format!("ambiguous: {names:?} ({})", found.opcode),
            Content::Refused(name, refusal) => {
                format!("REFUSED {name}: {refusal} ({place} {})", found.path)
            }
            Content::NotModelled(name) => format!("not modelled: {name} ({})", found.opcode),
        };
        *census.entry(kind).or_default() += 1;
    }
    assert_eq!(losses(bytes, contract, contract, ROOT), [], "{place}");
    let canonical = json::canonical(&held);
    let again = decode(&canonical, contract, ROOT, Limits::default()).unwrap();
    assert_eq!(json::canonical(&again), canonical, "{place}");
}

#[test]
fn payloads_of_committed_artifacts_read_and_print_back() {
    let mut census = Census::new();
    for (release, folder, programs) in [
        ("0.10.1", "artifacts", ["add_mul", "constants", "fft"].as_slice()),
        ("0.12.0", "artifacts", &["add_mul", "constants", "pallas_add"]),
        ("0.12.0", "payloads", &["while_loop"]),
    ] {
        let contract = released(&in_tree("released").join(format!("{release}.fds")));
        for program in programs {
            let path = in_tree(folder).join(release).join(format!("{program}.bin"));
            check(&executable(&path), &contract, program, &mut census);
        }
    }
    insta::assert_debug_snapshot!(census);
}

/// Needs `AOTGATE_GOLDENS`, a folder of `<release>/<program>/executable.bin`, and `AOTGATE_RELEASED`, one of
/// `<release>.fds`.
#[test]
#[ignore = "needs AOTGATE_GOLDENS and AOTGATE_RELEASED"]
fn payloads_of_all_artifacts_read_and_print_back() {
    let dir = |name| PathBuf::from(std::env::var_os(name).unwrap());
    let sorted = |dir: &Path| {
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let goldens = sorted(&dir("AOTGATE_GOLDENS"));
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let contracts: Vec<(String, Contract)> = goldens
        .iter()
        .map(|release| {
            let set = dir("AOTGATE_RELEASED").join(format!("{}.fds", name(release)));
            (name(release), released(&set))
        })
        .collect();
    for release in &goldens {
        let own = &contracts.iter().find(|(r, _)| *r == name(release)).unwrap().1;
        let (mut census, mut programs) = (Census::new(), 0);
        let mut lost: BTreeMap<&str, BTreeMap<String, usize>> = BTreeMap::new();
        for program in sorted(release) {
            let bytes = executable(&program.join("executable.bin"));
            check(&bytes, own, &name(&program), &mut census);
            programs += 1;
            let held = decode(&bytes, own, ROOT, Limits::default()).unwrap();
            for (other, contract) in &contracts {
                let pairs = Pairs::new(own, contract);
                for loss in json::payload_losses(&held, contract, &pairs) {
                    let line = format!("{} {}: {}", loss.kind.name(), loss.construct, loss.why);
                    *lost.entry(other).or_default().entry(line).or_default() += loss.count;
                }
                let _ = translate(&held, contract, &pairs);
            }
        }
        println!("{}: {programs} artifacts", name(release));
        census.iter().for_each(|(kind, count)| println!("  {count:6} {kind}"));
        for (other, lines) in &lost {
            println!("  read by {other}:");
            lines.iter().for_each(|(line, count)| println!("    {count:6} {line}"));
        }
        assert!(census.keys().all(|kind| !kind.starts_with("REFUSED")));
    }
}
