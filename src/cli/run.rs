//! `aotgate run`.

use std::path::{Path, PathBuf};

use aotgate_runtime::compare::Tolerance;
use aotgate_runtime::npz;
use clap::{Args, ValueEnum};
use prost::bytes::Bytes;

use super::context::Context;
use super::files::Files;
use super::limits::LimitArgs;
use super::{Format, Status, input, output};
use crate::error::{Error, ErrorKind};
use crate::execute::{ArrayFile, Call, Execution, Opener, Stop, execute};
use crate::report;
use crate::report::goldens::Problem;
use crate::report::json::Layout;
use crate::report::run::{Outcome, Report};
use crate::triage::policy;

/// Larger files are not read.
const MAX_FILE: u64 = 1 << 30;

#[derive(Debug, Args)]
#[command(after_help = "\
Arrays are named \"0\", \"1\", ... in parameter or result order, tuples taken apart; an unsigned array of the same width
stands for a type that NumPy lacks. Without --inputs, numbers are made from the seed: floats in -1 to 1, small integers.

Examples:
  aotgate run fft.bin --inputs in.npz --expect out.npz
  aotgate run all_reduce.bin --inputs in.0.npz --inputs in.1.npz --save out.0.npz --save out.1.npz
  aotgate run ReduceScatter.pbtxt --seed 7 --format json

Exit status: 0 equal within tolerance (or nothing to compare), 1 differs, 2 cannot run.")]
pub(super) struct RunArgs {
    /// Artifact in any container; text is read with the built-in contract.
    artifact: PathBuf,
    /// File with the inputs, once per device.
    #[arg(long, value_name = "X.npz")]
    inputs: Vec<PathBuf>,
    /// File with the expected outputs, once per device.
    #[arg(long, value_name = "Y.npz")]
    expect: Vec<PathBuf>,
    /// What to run on.
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    backend: Backend,
    /// Devices to run on, at least as many as the program is for [default: as many, up to 16].
    #[arg(long, value_name = "N")]
    devices: Option<usize>,
    /// Seed for inputs that are not given.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// File for the outputs, once per device.
    #[arg(long, value_name = "OUT.npz")]
    save: Vec<PathBuf>,
    /// Compare bit for bit.
    #[arg(long, conflicts_with_all = ["relative", "absolute"])]
    exact: bool,
    /// Admit this share of the expected value, instead of the type's default.
    #[arg(long, value_name = "R", value_parser = tolerance)]
    relative: Option<f64>,
    /// Admit so much in the value's own unit, instead of the type's default.
    #[arg(long, value_name = "A", value_parser = tolerance)]
    absolute: Option<f64>,
    #[command(flatten)]
    limits: LimitArgs,
}

impl RunArgs {
    /// What it reads and writes.
    pub(in crate::cli) fn files(&self) -> Files {
        let arrays = self.inputs.iter().chain(&self.expect);
        Files::default().reads([&self.artifact]).reads(arrays).writes(&self.save)
    }
}

/// What runs the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Backend {
    /// The best one there is.
    Auto,
    /// The processor: every kernel as the HLO instruction it was compiled from.
    Reference,
    /// A GPU.
    Cuda,
}

impl Backend {
    /// The backend's name.
    ///
    /// # Errors
    /// One that this build does not have.
    pub(super) fn name(self) -> Result<&'static str, Error> {
        match self {
            Backend::Auto | Backend::Reference => Ok("reference"),
            Backend::Cuda => Err(ErrorKind::Usage {
                message: "not supported: this build has no CUDA backend yet".to_owned(),
                help: "use `--backend reference`, which runs on the processor".to_owned(),
            }
            .into()),
        }
    }
}

pub(super) fn run(context: &Context, args: &RunArgs) -> miette::Result<Status> {
    if !matches!(context.format, Format::Human | Format::Json) {
        return Err(context.unsupported_format("run", "human, json").into());
    }
    let backend = args.backend.name()?;
    let path = args.artifact.display().to_string();
    let mut limits = args.limits.limits();
    limits.devices = args.devices.unwrap_or(limits.devices);
    let call = call(args)?;
    let opener = Opener::new(&policy::built_in()?.contract).unpacking(args.limits.max_unpacked);
    let mut report = Report {
        artifact: &path,
        program: None,
        backend,
        devices: None,
        seed: None,
        outcome: Outcome::Failed,
        reason: None,
        outputs: &[],
    };
    let program = match opener.program(&path, &read(&args.artifact)?, &limits) {
        Ok(program) => program,
        Err(stop) => return stopped(context, report, stop),
    };
    report.program = Some(&program.name);
    report.devices = Some(program.devices());
    if !args.save.is_empty() && args.save.len() != program.devices() {
        return Err(Error::from(ErrorKind::Usage {
            message: format!("{} files to save {} devices", args.save.len(), program.devices()),
            help: "give --save once per device, in their order".to_owned(),
        })
        .into());
    }
    // One tolerance on the command line holds for every output.
    let own = (args.relative.is_some() || args.absolute.is_some()).then(|| Tolerance {
        relative: args.relative.unwrap_or(0.0),
        absolute: args.absolute.unwrap_or(0.0),
        scaled: 0.0,
    });
    let call = Call { tolerances: vec![own; program.outputs.len()], ..call };
    let execution = match execute(&path, &program, &call, &limits) {
        Ok(execution) => execution,
        Err(stop) => return stopped(context, report, stop),
    };
    save(&args.save, &execution)?;
    report.seed = execution.seed;
    report.outputs = &execution.outputs;
    report.outcome = match (execution.is_compared(), execution.is_equal()) {
        (false, _) => Outcome::Ran,
        (true, true) => Outcome::Equal,
        (true, false) => Outcome::Differs,
    };
    let text = match context.format {
        Format::Json => report::run::json(&report, Layout::Pretty),
        _ => report::run::render(&report, &context.style(false)),
    };
    output::write(context.output.as_deref(), &text)?;
    Ok(match report.outcome {
        Outcome::Differs => Status::Blocked,
        _ => Status::Passed,
    })
}

/// Ends with the error, or with a document that says why.
fn stopped(context: &Context, mut report: Report<'_>, stop: Stop) -> miette::Result<Status> {
    if context.format != Format::Json {
        return Err(stop.into_error().into());
    }
    if matches!(stop, Stop::NotSupported { .. }) {
        report.outcome = Outcome::NotSupported;
    }
    report.reason = Some(Problem::of(stop.error()));
    output::write(context.output.as_deref(), &report::run::json(&report, Layout::Pretty))?;
    Ok(Status::CouldNotJudge)
}

fn call(args: &RunArgs) -> Result<Call, Error> {
    let files = |paths: &[PathBuf]| -> Result<Vec<Option<ArrayFile>>, Error> {
        let file = |path: &PathBuf| {
            Ok(Some(ArrayFile { path: path.display().to_string(), bytes: read(path)? }))
        };
        paths.iter().map(file).collect()
    };
    Ok(Call {
        inputs: files(&args.inputs)?,
        expected: files(&args.expect)?,
        tolerances: Vec::new(),
        exact: args.exact,
        seed: args.seed,
    })
}

/// Writes the outputs of each device.
fn save(paths: &[PathBuf], execution: &Execution) -> Result<(), Error> {
    for (path, arrays) in paths.iter().zip(&execution.arrays) {
        let arrays: Vec<npz::Array> = arrays.iter().map(|array| array.to_npz()).collect();
        let shown = path.display().to_string();
        let bytes = npz::write(&arrays);
        let bytes =
            bytes.map_err(|error| ErrorKind::Artifact { path: shown, error: Box::new(error) })?;
        output::write_bytes(path, &bytes)?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<Bytes, Error> {
    input::file(path, MAX_FILE)?.map(Bytes::from).ok_or_else(|| {
        let path = path.display().to_string();
        ErrorKind::ArtifactTooLarge { path, limit: MAX_FILE }.into()
    })
}

/// A tolerance on the command line.
pub(super) fn tolerance(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
    value.ok_or_else(|| "expected a number that is not negative, such as 1e-5".to_owned())
}
