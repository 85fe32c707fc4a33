//! `aotgate golden record`.

use std::path::PathBuf;

use chrono::NaiveDate;
use clap::Args;

use crate::cli::context::Context;
use crate::cli::{Format, Status, output};
use crate::error::{Error, ErrorKind};
use crate::gate::Gate;
use crate::golden::{Given, Producer, draft};
use crate::revision::RevisionSpec;

#[derive(Debug, Args)]
#[command(after_help = "\
The source is an artifact, or a folder with executable.bin, inputs.npz and outputs.npz (per device inputs.0.npz, ...)
and meta.json. Counts, shapes and types are checked against the program before anything is written.

Examples:
  aotgate golden record recorded/fft --set jaxlib-0.11.2 --program fft --emitted-at 2026-09-17
  aotgate golden record fft.bin --inputs in.npz --expected out.npz --set jaxlib-0.11.2 --program fft \\
    --emitted-at 2026-09-17")]
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
    /// Store to record in [default: the first of the policy's `goldens.paths`].
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Replace a golden that is there already.
    #[arg(long)]
    force: bool,
}

pub(super) fn run(context: &Context, args: &RecordArgs) -> miette::Result<Status> {
    if context.format != Format::Human {
        return Err(context.unsupported_format("golden record", "human").into());
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
    };
    let draft = draft(&args.source, &args.set, &given)?;
    let store = match &args.store {
        Some(dir) => dir.clone(),
        None => default_store(context)?,
    };
    let dir = draft.write(&store, &args.set, &args.program, args.force)?;
    output::write(context.output.as_deref(), &format!("recorded {}\n", dir.display()))?;
    Ok(Status::Passed)
}

/// The store of the working tree's policy.
fn default_store(context: &Context) -> Result<PathBuf, Error> {
    let repository = context.repository()?;
    let named = context.policy_file(Some(&repository))?;
    let gate = Gate::new(Some(&repository));
    let revision = gate.open(&RevisionSpec::Worktree)?;
    let policy = gate.policy(named.as_ref(), &revision, &revision)?;
    let first = policy.goldens.paths.first().map(|path| policy.goldens.below_prefixes(path));
    let place = first.and_then(|places| places.into_iter().next());
    match (place, repository.workdir()) {
        (Some(place), Some(workdir)) => Ok(workdir.join(place)),
        _ => Err(ErrorKind::Usage {
            message: "the policy names no store for goldens".to_owned(),
            help: "pass `--store DIR`, or name one in `goldens.paths`".to_owned(),
        }
        .into()),
    }
}
