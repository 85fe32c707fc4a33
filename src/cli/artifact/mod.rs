//! `aotgate artifact`: look into serialized executables.
//!
//! One file per subcommand. Files are read and opened here, so that every subcommand takes the same
//! inputs and words the same errors.

mod compat;
mod convert;
mod diff;
mod inspect;
mod lint;
mod size;

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use aotgate_runtime::artifact::{Artifact, Limits};
use clap::{Args, Subcommand};

use super::context::Context;
use super::files::Files;
use super::limits::bytes;
use super::{Status, input};
use crate::descriptor::Contract;
use crate::error::{Error, ErrorKind};
use crate::gate::Gate;
use crate::revision::RevisionSpec;
use crate::triage::policy;
use crate::view;

/// What a text golden is read and written with.
#[derive(Debug, Clone, Args)]
pub(super) struct ArtifactArgs {
    /// For text goldens: the revision, descriptor set or released binary whose schema they are in [default: the
    /// built-in contract].
    #[arg(long, global = true, value_name = "REV")]
    schema: Option<RevisionSpec>,
    /// Bytes that an artifact may have once unpacked [default: 256M].
    #[arg(long, global = true, value_name = "BYTES", value_parser = bytes)]
    max_unpacked: Option<u64>,
    #[command(subcommand)]
    command: ArtifactCommand,
}

#[derive(Debug, Clone, Subcommand)]
enum ArtifactCommand {
    /// Containers, program, thunks, kernels, constants, options: what is in an artifact.
    Inspect(inspect::InspectArgs),
    /// What takes up an artifact's bytes, part by part.
    Size(size::SizeArgs),
    /// What differs between two artifacts, whatever containers they are in.
    Diff(diff::DiffArgs),
    /// Write an artifact in another container.
    Convert(convert::ConvertArgs),
    /// Hold the authoring rules against real artifacts.
    Lint(lint::LintArgs),
    /// Whether runtimes load an artifact and read it as it was meant.
    Compat(compat::CompatArgs),
}

impl ArtifactArgs {
    /// What it reads and writes.
    pub(in crate::cli) fn files(&self) -> Files {
        let files = match &self.command {
            ArtifactCommand::Inspect(args) => args.files(),
            ArtifactCommand::Size(args) => args.files(),
            ArtifactCommand::Diff(args) => args.files(),
            ArtifactCommand::Convert(args) => args.files(),
            ArtifactCommand::Lint(args) => args.files(),
            ArtifactCommand::Compat(args) => args.files(),
        };
        files.revisions(&self.schema)
    }
}

pub(super) fn run(context: &Context, args: &ArtifactArgs) -> miette::Result<Status> {
    let mut limits = Limits::default();
    limits.decompressed = args.max_unpacked.unwrap_or(limits.decompressed);
    let context = &ArtifactContext { context, schema: args.schema.as_ref(), limits };
    match &args.command {
        ArtifactCommand::Inspect(args) => inspect::run(context, args),
        ArtifactCommand::Size(args) => size::run(context, args),
        ArtifactCommand::Diff(args) => diff::run(context, args),
        ArtifactCommand::Convert(args) => convert::run(context, args),
        ArtifactCommand::Lint(args) => lint::run(context, args),
        ArtifactCommand::Compat(args) => compat::run(context, args),
    }
}

/// What the subcommands need besides their own arguments.
struct ArtifactContext<'a> {
    context: &'a Context,
    schema: Option<&'a RevisionSpec>,
    /// What opening an artifact may take.
    limits: Limits,
}

impl Deref for ArtifactContext<'_> {
    type Target = Context;

    fn deref(&self) -> &Context {
        self.context
    }
}

impl ArtifactContext<'_> {
    /// The contract that text goldens are read and written with.
    fn text_contract(&self) -> Result<Arc<Contract>, Error> {
        let built_in = policy::built_in()?;
        let Some(spec) = self.schema else {
            return view::canonical_contract(&built_in.contract).map(Arc::new);
        };
        let repository = self.context.repository_for(&[spec])?;
        let mut gate = Gate::new(repository.as_ref());
        let revision = gate.open(spec)?;
        let mut policy = gate.policy(
            self.context.policy_file(repository.as_ref())?.as_ref(),
            &revision,
            &revision,
        )?;
        policy.contract = view::opening_spec(&policy.contract);
        gate.contract(&revision, &policy)
    }
}

/// The bytes of an artifact's file, and what to call it.
struct Input {
    name: String,
    bytes: Vec<u8>,
}

impl Input {
    /// Reads a file, or standard input for `-`.
    fn read(path: &Path) -> Result<Input, Error> {
        let limit = Limits::default().input;
        let standard = path == Path::new("-");
        let name = if standard { "standard input".into() } else { path.display().to_string() };
        if path.is_dir() {
            return Err(ErrorKind::Usage {
                message: format!("{name} is a directory"),
                help: "name an artifact in it, such as its executable.bin".to_owned(),
            }
            .into());
        }
        let read = match standard {
            true => input::standard(limit),
            false => input::file(path, limit),
        };
        match read? {
            Some(bytes) => Ok(Input { name, bytes }),
            None => Err(ErrorKind::ArtifactTooLarge { path: name, limit }.into()),
        }
    }

    /// Opens the artifact. The only place that does.
    fn open(&self, context: &ArtifactContext<'_>) -> Result<Artifact, Error> {
        match Artifact::read_with(self.bytes.clone(), &context.limits) {
            // Text is what the reader of containers cannot do.
            Err(error) if error.is_unsupported() => {
                let contract = context.text_contract()?;
                view::open(self.bytes.clone(), &contract)
                    .map_err(|error| error.in_artifact(&self.name))
            }
            other => other.map_err(|error| self.error(error)),
        }
    }

    /// An error about this file.
    fn error(&self, error: aotgate_runtime::Error) -> Error {
        ErrorKind::Artifact { path: self.name.clone(), error: Box::new(error) }.into()
    }
}
