//! Executes goldens: the committed store, XLA's own, and with `AOTGATE_GOLDENS` all recorded artifacts.
//!
//! `tests/data/golden_outcomes.txt` says what becomes of each committed golden. A pass that is lost is a failure; one
//! that is won is recorded with `AOTGATE_BLESS=1`.
#![cfg(feature = "runtime")]
#![allow(clippy::panic, clippy::unwrap_used, clippy::print_stdout)] // a test that reports

use std::path::{Path, PathBuf};

use aotgate::execute::{ArrayFile, Call, Execution, Opener, Stop, execute, worst};
use aotgate::golden::verify::{Case, Outcome, Verify};
use aotgate::golden::{Golden, Store};
use aotgate::revision::Revision;
use aotgate::triage::policy;
use aotgate_runtime::compare::{Tolerance, only_moves};
use aotgate_runtime::npz;
use aotgate_runtime::program::Limits;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn opener() -> Opener {
    Opener::new(&policy::built_in().unwrap().contract)
}

fn verify(opener: &Opener, store: &Store<'_>, jobs: usize, memory: u64) -> Vec<Case> {
    let goldens: Vec<&Golden> = store.goldens().iter().collect();
    let limits = Limits::default();
    Verify { opener, limits, seed: 0, jobs, memory }.run(store, &goldens, &|_| {})
}

#[test]
fn the_committed_store_gives_what_it_should() {
    let revision = Revision::directory(&root().join("golden"));
    let store = Store::open_root(&revision).unwrap();
    let cases = verify(&opener(), &store, 2, 2 << 30);
    let mut found = String::new();
    for case in &cases {
        let reason = case.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        found.push_str(&format!("{} {}{reason}\n", case.golden, case.outcome.name()));
    }
    let file = root().join("tests/data/golden_outcomes.txt");
    if std::env::var_os("AOTGATE_BLESS").is_some() {
        std::fs::write(&file, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap();
    for (expected, found) in expected.lines().zip(found.lines()) {
        assert_eq!(expected, found, "AOTGATE_BLESS=1 records what was won; what was lost is a bug");
    }
    assert_eq!(expected.lines().count(), found.lines().count());
    // Whatever is recorded, nothing may fail.
    let bad = cases.iter().filter(|c| matches!(c.outcome, Outcome::Failed | Outcome::Unreadable));
    assert_eq!(bad.map(|case| &case.golden).collect::<Vec<_>>(), [""; 0]);
}

/// A budget below what any of them takes makes them run one by one, and changes nothing.
#[test]
fn goldens_without_expected_outputs_only_run() {
    let dir = tempfile::tempdir().unwrap();
    for test in ["ReduceScatter", "AllGatherMixedTypes"] {
        let to = dir.path().join("collective_ops_aot_test_2gpu/v1");
        std::fs::create_dir_all(&to).unwrap();
        let name = format!("{test}.pbtxt");
        let from = root().join("tests/data/upstream-goldens").join(&name);
        std::fs::copy(from, to.join(&name)).unwrap();
    }
    let revision = Revision::directory(dir.path());
    let store = Store::open_root(&revision).unwrap();
    let cases = verify(&opener(), &store, 4, 1);
    assert_eq!(cases.len(), 2);
    for case in cases {
        assert_eq!((case.outcome, case.devices), (Outcome::Ran, Some(2)), "{:?}", case.reason);
    }
}

/// XLA's goldens carry no outputs; what two devices must get follows from the collectives.
#[test]
fn upstream_goldens_give_what_their_collectives_must() {
    let words =
        |values: &[u32]| -> Vec<u8> { values.iter().flat_map(|x| x.to_le_bytes()).collect() };
    // Replica 0 sends the first, replica 1 the second; sums are shared out in halves.
    let sent: [[u32; 8]; 2] = [[1, 2, 3, 4, 5, 6, 7, 8], [10, 11, 12, 13, 14, 15, 16, 17]];
    let sums: Vec<u32> = sent[0].iter().zip(sent[1]).map(|(a, b)| a + b).collect();
    let execution = run(&upstream("ReduceScatter"));
    for (device, half) in sums.chunks(4).enumerate() {
        assert_eq!(execution.arrays[device][0].bytes(), words(half), "device {device}");
    }
    // Each replica sends a pair of its own number, as an integer and as a float; the pairs lie side by side, and what
    // comes out is the transposed matrix.
    let pairs = [[0_u32; 2], [1; 2]];
    let gathered: Vec<u32> = (0..2).flat_map(|at| pairs.map(|pair| pair[at])).collect();
    let floats: Vec<u8> = gathered.iter().flat_map(|x| (*x as f32).to_le_bytes()).collect();
    let execution = run(&upstream("AllGatherMixedTypes"));
    for device in &execution.arrays {
        assert_eq!((device[0].bytes(), device[1].bytes()), (words(&gathered), floats.clone()));
    }
    assert_eq!(execution.arrays.len(), 2);
}

fn upstream(name: &str) -> PathBuf {
    root().join(format!("tests/data/upstream-goldens/{name}.pbtxt"))
}

fn run(path: &Path) -> Execution {
    let (limits, path) = (Limits::default(), path.display().to_string());
    let bytes = std::fs::read(&path).unwrap().into();
    let program = opener().program(&path, &bytes, &limits).unwrap();
    execute(&path, &program, &Call::default(), &limits).unwrap()
}

/// Arrays that a program was called with and gave, there and back through a file: the same bits, whatever the type.
#[test]
fn arrays_come_back_from_files_bit_for_bit() {
    let mut count = 0;
    for golden in ["gemm_fp8", "bf16_elementwise", "int_zoo", "fft", "topk"] {
        let dir = root().join("golden/jaxlib-0.11.2").join(golden);
        let limits = Limits::default();
        let bytes = std::fs::read(dir.join("executable.bin")).unwrap().into();
        let program = opener().program(golden, &bytes, &limits).unwrap();
        let arrays = npz::read(std::fs::read(dir.join("expected.npz")).unwrap()).unwrap();
        let arrays = npz::numbered(arrays).unwrap();
        let held: Vec<_> = arrays
            .iter()
            .zip(&program.outputs)
            .map(|(array, output)| {
                aotgate_runtime::backend::HostArray::from_npz("output", array, &output.shape)
                    .unwrap()
            })
            .collect();
        let written: Vec<npz::Array> = held.iter().map(|array| array.to_npz()).collect();
        assert_eq!(written, arrays, "{golden}");
        let read = npz::numbered(npz::read(npz::write(&written).unwrap()).unwrap()).unwrap();
        assert_eq!(read, arrays, "{golden}");
        count += arrays.len();
    }
    assert!(count > 5);
}

#[test]
fn programs_that_only_move_data_are_told_apart() {
    for (golden, moves) in [
        ("concat_pad_rev", true),
        ("dyn_slice", true),
        ("int_zoo", false), // it converts to f16
        ("rng_bits_philox", true),
        ("topk", true),
        ("add_mul", false),
        ("fft", false),
        ("gather_scatter", false), // it adds
        ("mg_all_reduce", false),
        ("solve", false),
        ("trisolve", false),
    ] {
        let dir = root().join("golden/jaxlib-0.11.2").join(golden);
        let bytes = std::fs::read(dir.join("executable.bin")).unwrap().into();
        let program = opener().program(golden, &bytes, &Limits::default()).unwrap();
        assert_eq!(only_moves(&program), moves, "{golden}");
    }
}

/// Programs whose results are further off than the defaults admit, as a share of their largest result, and why. All of
/// them multiply matrices.
const EXPLAINED: [(&str, f64, &str); 4] = [
    // A product's error of 1e-7 makes the next product round one operand to another TF32 number, 2^-10 away; that
    // spoils a row or column of the result.
    ("two_gemm", 1e-3, "TF32 operands are rounded between two products"),
    ("mlp", 1e-4, "TF32 operands are rounded between two products"),
    ("gemm_chain", 3e-2, "the same, six times over, amplified by tanh(product)"),
    ("gemm_fp8", 4e-4, "8-bit products are added with 14 bits on sm_90"),
];

/// Needs `AOTGATE_GOLDENS`, a folder with `<release>/<program>/{executable.bin,inputs.npz,outputs.npz}` (several
/// devices: `inputs.0.npz`, ...).
#[test]
#[ignore = "runs all recorded artifacts: set AOTGATE_GOLDENS to their folder"]
fn every_recorded_artifact() {
    let root = PathBuf::from(std::env::var_os("AOTGATE_GOLDENS").unwrap());
    let opener = opener();
    let mut failed = Vec::new();
    for release in sorted(&root) {
        let (mut passed, mut skipped) = (0, 0);
        println!("\n{}", release.display());
        for program in sorted(&release) {
            let name = program.file_name().unwrap().to_string_lossy().into_owned();
            match one(&opener, &program, &name) {
                Ok((equal, line)) => {
                    passed += usize::from(equal);
                    if !equal {
                        failed.push(program.display().to_string());
                    }
                    println!("{} {name:28} {line}", if equal { "ok  " } else { "FAIL" });
                }
                Err(Stop::NotSupported { what, .. }) => {
                    skipped += 1;
                    println!("skip {name:28} not supported: {what}");
                }
                Err(stop) => {
                    failed.push(program.display().to_string());
                    println!("FAIL {name:28} {}", stop.error());
                }
            }
        }
        println!("{passed} passed, {skipped} skipped");
    }
    assert_eq!(failed, [""; 0]);
}

fn one(opener: &Opener, program: &Path, name: &str) -> Result<(bool, String), Stop> {
    let path = program.join("executable.bin").display().to_string();
    let limits = Limits::default();
    let parsed = opener.program(&path, &std::fs::read(&path).unwrap().into(), &limits)?;
    let files = |stem: &str| -> Vec<Option<ArrayFile>> {
        let names: Vec<String> = match parsed.devices() {
            1 => vec![format!("{stem}.npz")],
            many => (0..many).map(|at| format!("{stem}.{at}.npz")).collect(),
        };
        let file = |name: &String| {
            let path = program.join(name);
            let bytes = std::fs::read(&path).ok()?.into();
            Some(ArrayFile { path: path.display().to_string(), bytes })
        };
        names.iter().map(file).collect()
    };
    let explained = EXPLAINED.iter().find(|(program, _, _)| *program == name);
    let own = explained.map(|(_, scaled, _)| Tolerance {
        relative: 1e-5,
        scaled: *scaled,
        absolute: 0.0,
    });
    let inputs = if parsed.parameters.is_empty() { Vec::new() } else { files("inputs") };
    let tolerances = vec![own; parsed.outputs.len()];
    let call = Call { inputs, expected: files("outputs"), tolerances, ..Call::default() };
    let execution = execute(&path, &parsed, &call, &limits)?;
    let comparison = worst(&execution.outputs).and_then(|output| output.comparison.as_ref());
    let line = comparison.map_or_else(
        || "not compared".to_owned(),
        |comparison| match &comparison.worst {
            None => format!("{}: all as expected", comparison.rule),
            Some(worst) => format!(
                "{}: {} of {} differ, worst {:.2e} at {:?} ({:.3} of what is admitted, {:.1e} of the largest)",
                comparison.rule,
                comparison.different,
                comparison.elements,
                worst.error,
                worst.index,
                worst.part(),
                worst.error / comparison.largest
            ),
        },
    );
    Ok((execution.is_equal(), line))
}

fn sorted(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap();
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    paths.sort();
    paths
}
