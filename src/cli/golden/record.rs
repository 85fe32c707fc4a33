//! `aotgate golden record`.

use std::path::PathBuf;

use aotgate_runtime::program::Limits;
use chrono::NaiveDate;
use clap::Args;

use super::store::opener;
use crate::cli::context::Context;
use crate::cli::files::Files;
use crate::cli::run::tolerance;
use crate::cli::{Format, Status, output};
use crate::error::{Error, ErrorKind};
use crate::execute::{Opener, Stop, worst};
use crate::gate::Gate;
use crate::golden::verify::difference;
use crate::golden::{Draft, Given, Producer, Tolerance, draft};
use crate::report;
use crate::revision::RevisionSpec;
use crate::triage::policy;

#[derive(Debug, Args)]
#[command(after_help = "\
The source is an artifact, or a folder with executable.bin, inputs.npz and outputs.npz (per device inputs.0.npz, ...)
and meta.json. Counts, shapes and types are checked against the program before anything is written. Text is read with the
contract beside the store, with --store with the built-in one.

Examples:
  aotgate golden record recorded/fft --set jaxlib-0.11.2 --program fft --emitted-at 2026-09-17
  aotgate golden record fft.bin --inputs in.npz --expected out.npz --set jaxlib-0.11.2 --program fft \\
    --emitted-at 2026-09-17
  aotgate golden record ReduceScatter.bin --execute --set local-1 --program reduce_scatter --emitted-at 2026-11-29")]
pub(in crate::cli) struct RecordArgs {
    /// Artifact or folder to record.
    source: PathBuf,
    /// Set that it belongs to, such as jaxlib-0.11.2.
    #[arg(long)]
    set: String,
    /// Name of the program.
    #[arg(long)]
    program: String,
    /// Day on which the compiler that made it was released.
    #[arg(long, value_name = "YYYY-MM-DD")]
    emitted_at: NaiveDate,
    /// File with the inputs, once per device.
    #[arg(long, value_name = "FILE.npz")]
    inputs: Vec<PathBuf>,
    /// File with the expected outputs, once per device.
    #[arg(long, value_name = "FILE.npz")]
    expected: Vec<PathBuf>,
    /// The compiler [default: from meta.json, or the set's name].
    #[arg(long, num_args = 2, value_names = ["NAME", "VERSION"])]
    producer: Vec<String>,
    /// Device that computed the expected outputs.
    #[arg(long)]
    device: Option<String>,
    /// Anything worth knowing.
    #[arg(long)]
    note: Option<String>,
    /// Compute the expected outputs here, on the reference backend; they show later changes of it, not what a GPU gives.
    #[arg(long, conflicts_with = "expected")]
    execute: bool,
    /// Seed for inputs that are not given.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "execute")]
    seed: u64,
    /// Admit this share of the expected value in every output, instead of the type's default.
    #[arg(long, value_name = "R", value_parser = tolerance)]
    relative: Option<f64>,
    /// Admit so much in the value's own unit, instead of the type's default.
    #[arg(long, value_name = "A", value_parser = tolerance)]
    absolute: Option<f64>,
    /// Store to record in [default: the first of the policy's `goldens.paths`].
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Replace a golden that is there already.
    #[arg(long)]
    force: bool,
}

impl RecordArgs {
    /// What it reads and writes.
    pub(in crate::cli) fn files(&self) -> Files {
        let inside = self.source.is_dir().then(|| std::fs::read_dir(&self.source).ok()).flatten();
        let inside: Vec<PathBuf> =
            inside.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
        let arrays = self.inputs.iter().chain(&self.expected);
        Files::default().reads([&self.source]).reads(&inside).reads(arrays)
    }
}

pub(super) fn run(context: &Context, args: &RecordArgs) -> miette::Result<Status> {
    if context.format != Format::Human {
        return Err(context.unsupported_format("golden record", "human").into());
    }
    let today = context.today();
    if args.emitted_at > today {
        return Err(Error::from(ErrorKind::Usage {
            message: format!("--emitted-at {} is after {today}", args.emitted_at),
            help: "name the day on which the compiler was released: one dated after today is no evidence"
                .to_owned(),
        })
        .into());
    }
    let producer = match &args.producer[..] {
        [name, version] => Some(Producer { name: name.clone(), version: version.clone() }),
        _ => None,
    };
    let given = Given {
        emitted_at: args.emitted_at,
        producer,
        device: args.device.clone(),
        inputs: args.inputs.clone(),
        expected: args.expected.clone(),
        note: args.note.clone(),
        tolerance: (args.relative.is_some() || args.absolute.is_some()).then(|| Tolerance {
            relative: args.relative.unwrap_or(0.0),
            absolute: args.absolute.unwrap_or(0.0),
        }),
        execute: args.execute.then_some(args.seed),
    };
    let (store, opener) = match &args.store {
        Some(dir) => (dir.clone(), Opener::new(&policy::built_in()?.contract)),
        None => default_store(context)?,
    };
    let draft = draft(&args.source, &args.set, &given, &opener)?;
    let dir = draft.write(&store, &args.set, &args.program, args.force)?;
    let executed = executed(&draft, &opener);
    output::write(context.output.as_deref(), &format!("recorded {}\n{executed}\n", dir.display()))?;
    Ok(Status::Passed)
}

/// What `golden verify` is going to say of it.
fn executed(draft: &Draft, opener: &Opener) -> String {
    if let Some(part) = draft.manifest.cannot_run.first() {
        return format!("not executed: {}", report::text::line(part));
    }
    let text = match draft.execute(&Limits::default(), opener) {
        Ok(execution) if !execution.is_compared() => "executed, with nothing to compare".to_owned(),
        Ok(execution) if execution.is_equal() => "executed, and gave what is expected".to_owned(),
        Ok(execution) => {
            let difference = worst(&execution.outputs).map(difference).unwrap_or_default();
            format!(
                "executed on the reference backend, and {difference}; find out why before you record a tolerance"
            )
        }
        Err(Stop::NotSupported { what, .. }) => format!("not executed: not supported: {what}"),
        Err(stop) => format!("not executed: {}", stop.error()),
    };
    report::text::line(&text)
}

/// The store of the working tree's policy, and what opens its artifacts.
fn default_store(context: &Context) -> Result<(PathBuf, Opener), Error> {
    let repository = context.repository()?;
    let named = context.policy_file(Some(&repository))?;
    let gate = Gate::new(Some(&repository));
    let revision = gate.open(&RevisionSpec::Worktree)?;
    let policy = gate.policy(named.as_ref(), &revision, &revision)?;
    let first = policy.goldens.paths.first().map(|path| policy.goldens.below_prefixes(path));
    let place = first.and_then(|places| places.into_iter().next());
    match (place, repository.workdir()) {
        (Some(place), Some(workdir)) => {
            Ok((workdir.join(place), opener(&revision, &policy.contract)?))
        }
        _ => Err(ErrorKind::Usage {
            message: "the policy names no store for goldens".to_owned(),
            help: "pass `--store DIR`, or name one in `goldens.paths`".to_owned(),
        }
        .into()),
    }
}
