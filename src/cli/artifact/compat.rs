//! `aotgate artifact compat`: whether runtimes load an artifact and read it as it was meant.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aotgate_runtime::DESCRIPTOR_SET;
use chrono::NaiveDate;
use clap::Args;

use super::super::{Format, Status, output};
use super::{ArtifactContext, Input};
use crate::cli::files::Files;
use crate::compat::{self, Era, Promise, Runtime, Verdict};
use crate::descriptor::{Contract, ParseCache, SourceClosure};
use crate::error::{Error, ErrorKind};
use crate::gate::Gate;
use crate::report;
use crate::report::json::Layout;
use crate::revision::RevisionSpec;
use crate::triage::policy::{self, Policy};

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  aotgate artifact compat executable.bin --runtime 0.11.2.fds
  aotgate artifact compat executable.bin --runtime jax_cuda13_pjrt-0.12.0-py3-none-any.whl
  aotgate artifact compat executable.bin --runtime main --repo ../xla --emitted-at 2026-05-18
  aotgate artifact compat executable.bin --runtime released/       one row for each .fds and .whl in it

Which containers a runtime takes goes by its release, found in the name of the file, or by the commit's date.
--writer names the schema that the artifact was written with; without it the built-in contract counts, which knows
what every compiler of the window writes.

Exit status: 0 read as meant, 1 refused or read differently, 2 cannot tell.")]
pub(in crate::cli) struct CompatArgs {
    /// The artifact, in any container.
    artifact: PathBuf,
    /// A runtime: a revision, a descriptor set, a released binary, or a directory with such files. Repeat for a table.
    #[arg(long = "runtime", required = true, value_name = "REV")]
    runtimes: Vec<String>,
    /// The contract that the artifact was written with [default: the built-in one].
    #[arg(long, value_name = "REV")]
    writer: Option<RevisionSpec>,
    /// The day the compiler was released that emitted it.
    #[arg(long, value_name = "YYYY-MM-DD")]
    emitted_at: Option<NaiveDate>,
    /// List harmless differences too.
    #[arg(long, short)]
    verbose: bool,
}

impl CompatArgs {
    /// What it reads and writes.
    pub(in crate::cli) fn files(&self) -> Files {
        let runtimes: Vec<PathBuf> = self.runtimes.iter().map(PathBuf::from).collect();
        Files::default().reads([&self.artifact]).reads(&runtimes).revisions(&self.writer)
    }
}

pub(super) fn run(context: &ArtifactContext<'_>, args: &CompatArgs) -> miette::Result<Status> {
    let artifact = Input::read(&args.artifact)?.open(context)?;
    let specs = expand(&args.runtimes)?;
    let named: Vec<&RevisionSpec> = specs.iter().chain(&args.writer).collect();
    let repository = context.repository_for(&named)?;
    let policy_file = context.policy_file(repository.as_ref())?;
    let mut gate = Gate::new(repository.as_ref());

    let built_in = policy::built_in()?;
    let (writer_name, writer) = match &args.writer {
        None => ("the built-in contract".to_owned(), Arc::new(canonical(&built_in)?)),
        Some(spec) => {
            let revision = gate.open(spec)?;
            let policy = gate.policy(policy_file.as_ref(), &revision, &revision)?;
            (revision.label.clone(), gate.contract(&revision, &policy)?)
        }
    };
    let mut window = built_in.windows.backward;
    let mut runtimes = Vec::new();
    for spec in &specs {
        let revision = gate.open(spec)?;
        let policy = gate.policy(policy_file.as_ref(), &revision, &revision)?;
        window = policy.windows.backward;
        let contract = match spec {
            // A set that lacks the message is an answer of its own, and must not hide the others.
            RevisionSpec::DescriptorSet(_) | RevisionSpec::ReleasedBinary(_) => {
                let closure = revision.closure(&policy.contract, &mut ParseCache::default())?;
                Arc::new(closure.contract(&policy.contract)?)
            }
            _ => gate.contract(&revision, &policy)?,
        };
        let era = era(spec, revision.date(), context);
        let runtime = Runtime { label: revision.label.clone(), contract, era };
        let outcome = compat::judge(&artifact, &writer, &runtime, &policy);
        runtimes.push((runtime, outcome));
    }
    let status = runtimes.iter().map(|(_, outcome)| match outcome.verdict {
        Verdict::Reads => Status::Passed,
        Verdict::ReadsDifferently | Verdict::Refused => Status::Blocked,
        Verdict::Unknown => Status::CouldNotJudge,
    });
    let status = status.max().unwrap_or(Status::CouldNotJudge);
    let input = report::compat::Input {
        artifact: &args.artifact.display().to_string(),
        writer: &writer_name,
        promise: Promise::new(&artifact, args.emitted_at, window),
        unseen: &compat::unseen(&artifact)?,
        runtimes: &runtimes,
    };
    let text = match context.format {
        Format::Json => report::compat::json(&input, Layout::Pretty),
        Format::Human => report::compat::render(&input, args.verbose),
        _ => return Err(context.unsupported_format("artifact compat", "human, json").into()),
    };
    output::write(context.output.as_deref(), &text)?;
    Ok(status)
}

/// The contract that the runtime crate was built with.
fn canonical(policy: &Policy) -> Result<Contract, Error> {
    SourceClosure::from_descriptor_set(DESCRIPTOR_SET)?.contract(&policy.contract)
}

/// The runtimes that were named; a directory stands for the descriptor sets and released binaries in it.
fn expand(names: &[String]) -> Result<Vec<RevisionSpec>, Error> {
    let mut specs = Vec::new();
    for name in names {
        let path = Path::new(name);
        let spec = |name: &str| match name.parse::<RevisionSpec>() {
            Ok(spec) => spec,
            Err(never) => match never {},
        };
        if !path.is_dir() {
            specs.push(spec(name));
            continue;
        }
        let io = |error| Error::from(ErrorKind::Io { path: path.to_owned(), error });
        let mut files = Vec::new();
        for entry in std::fs::read_dir(path).map_err(io)? {
            let file = entry.map_err(io)?.path();
            if let Some(file) = file.to_str().map(spec)
                && matches!(file, RevisionSpec::DescriptorSet(_) | RevisionSpec::ReleasedBinary(_))
            {
                files.push(file);
            }
        }
        if files.is_empty() {
            return Err(ErrorKind::Usage {
                message: format!("{name} has no descriptor set or released binary in it"),
                help: "name a directory with *.fds, *.binpb, *.whl or *.so files".to_owned(),
            }
            .into());
        }
        files.sort_by_key(|file| (era_of(file).date, format!("{file:?}")));
        specs.extend(files);
    }
    Ok(specs)
}

fn era(spec: &RevisionSpec, date: Option<NaiveDate>, context: &ArtifactContext<'_>) -> Era {
    match (spec, date) {
        (_, Some(date)) => Era::of_commit(date),
        // What has not landed is of today.
        (RevisionSpec::Worktree | RevisionSpec::Index, None) => Era::of_commit(context.today()),
        _ => era_of(spec),
    }
}

fn era_of(spec: &RevisionSpec) -> Era {
    match spec {
        RevisionSpec::DescriptorSet(path) | RevisionSpec::ReleasedBinary(path) => {
            path.file_name().and_then(|name| name.to_str()).map(Era::of_file).unwrap_or_default()
        }
        _ => Era::default(),
    }
}
