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

use std::io::Read as _;
use std::path::{Path, PathBuf};

use aotgate_runtime::artifact::{Artifact, Limits};
use clap::Subcommand;

use super::Status;
use super::context::Context;
use crate::error::{Error, ErrorKind};

#[derive(Debug, Subcommand)]
pub(super) enum ArtifactCommand {
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

pub(super) fn run(context: &Context, command: &ArtifactCommand) -> miette::Result<Status> {
    match command {
        ArtifactCommand::Inspect(args) => inspect::run(context, args),
        ArtifactCommand::Size(args) => size::run(context, args),
        ArtifactCommand::Diff(args) => diff::run(context, args),
        ArtifactCommand::Convert(args) => convert::run(context, args),
        ArtifactCommand::Lint(args) => lint::run(context, args),
        ArtifactCommand::Compat(args) => compat::run(context, args),
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
        let io = |error| Error::from(ErrorKind::Io { path: PathBuf::from(&name), error });
        let mut bytes = Vec::new();
        let read = if standard {
            std::io::stdin().lock().take(limit + 1).read_to_end(&mut bytes)
        } else {
            let file = std::fs::File::open(path).map_err(io)?;
            let metadata = file.metadata().map_err(io)?;
            if metadata.is_dir() {
                return Err(ErrorKind::Usage {
                    message: format!("{name} is a directory"),
                    help: "name an artifact in it, such as its executable.bin".to_owned(),
                }
                .into());
            }
            if metadata.len() > limit {
                return Err(ErrorKind::ArtifactTooLarge { path: name, limit }.into());
            }
            file.take(limit + 1).read_to_end(&mut bytes)
        };
        read.map_err(io)?;
        if bytes.len() as u64 > limit {
            return Err(ErrorKind::ArtifactTooLarge { path: name, limit }.into());
        }
        Ok(Input { name, bytes })
    }

    /// Opens the artifact. The only place that does: what a text golden needs belongs here.
    fn open(&self) -> Result<Artifact, Error> {
        Artifact::read(self.bytes.clone()).map_err(|error| self.error(error))
    }

    /// An error about this file.
    fn error(&self, error: aotgate_runtime::Error) -> Error {
        ErrorKind::Artifact { path: self.name.clone(), error: Box::new(error) }.into()
    }
}
