//! Executes recorded artifacts.
#![cfg(feature = "runtime")]
#![allow(clippy::panic, clippy::unwrap_used, clippy::print_stdout)] // a test that reports

use std::path::{Path, PathBuf};

use aotgate::execute::{ArrayFile, Call, Opener, Stop, execute, worst};
use aotgate::triage::policy;
use aotgate_runtime::program::Limits;

/// Needs `AOTGATE_GOLDENS`, a folder with `<release>/<program>/{executable.bin,inputs.npz,outputs.npz}` (several
/// devices: `inputs.0.npz`, ...).
#[test]
#[ignore = "runs all recorded artifacts: set AOTGATE_GOLDENS to their folder"]
fn every_recorded_artifact() {
    let root = PathBuf::from(std::env::var_os("AOTGATE_GOLDENS").unwrap());
    let opener = Opener::new(&policy::built_in().unwrap().contract);
    let mut failed = Vec::new();
    for release in sorted(&root) {
        let (mut passed, mut skipped) = (0, 0);
        println!("\n{}", release.display());
        for program in sorted(&release) {
            let name = program.file_name().unwrap().to_string_lossy().into_owned();
            let started = std::time::Instant::now();
            match one(&opener, &program) {
                Ok((equal, line)) => {
                    passed += usize::from(equal);
                    if !equal {
                        failed.push(program.display().to_string());
                    }
                    let seconds = started.elapsed().as_secs_f64();
                    println!(
                        "{} {name:28} {line} ({seconds:.2} s)",
                        if equal { "ok  " } else { "FAIL" }
                    );
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

fn one(opener: &Opener, program: &Path) -> Result<(bool, String), Stop> {
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
    let inputs = if parsed.parameters.is_empty() { Vec::new() } else { files("inputs") };
    let call = Call { inputs, expected: files("outputs"), ..Call::default() };
    let execution = execute(&path, &parsed, &call, &limits)?;
    let worst = worst(&execution.outputs);
    let comparison = worst.and_then(|output| output.comparison.as_ref());
    let line = comparison.map_or_else(
        || "not compared".to_owned(),
        |comparison| match &comparison.worst {
            None => format!("[{}] all as expected", comparison.rule),
            Some(d) => format!(
                "[{}] {} of {} differ, worst {:.2e} ({:.3} of admitted, {:.1e} of the largest, {:.1e} of it) at {:?}: {} for {}",
                comparison.rule, comparison.different, comparison.elements, d.error, d.part(), d.error / comparison.largest,
                d.error / d.expected.parse::<f64>().unwrap_or(f64::NAN).abs(), d.index, d.actual, d.expected
            ),
        },
    );
    Ok((execution.is_equal(), line))
}

fn sorted(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    paths.sort();
    paths
}
