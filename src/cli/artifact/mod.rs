//! `aotgate artifact`: what an artifact is, and what becomes of it.

mod compat;
mod lint;

use clap::Subcommand;

use super::Status;
use super::context::Context;

#[derive(Debug, Subcommand)]
pub(super) enum ArtifactCommand {
    /// Hold the authoring rules against real artifacts.
    Lint(lint::LintArgs),
    /// Whether runtimes load an artifact and read it as it was meant.
    Compat(compat::CompatArgs),
}

pub(super) fn run(context: &Context, command: &ArtifactCommand) -> miette::Result<Status> {
    match command {
        ArtifactCommand::Lint(args) => lint::run(context, args),
        ArtifactCommand::Compat(args) => compat::run(context, args),
    }
}
