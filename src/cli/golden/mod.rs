//! `aotgate golden`: the store of goldens.

mod list;
mod record;
mod store;
mod verify;

use clap::{Args, Subcommand};

use super::Status;
use super::context::Context;
use super::files::Files;

#[derive(Debug, Args)]
pub(super) struct GoldenArgs {
    #[command(subcommand)]
    command: GoldenCommand,
}

#[derive(Debug, Subcommand)]
enum GoldenCommand {
    /// What is in the store, what is inside, and until when it is evidence.
    List(list::ListArgs),
    /// Put an artifact with its inputs and expected outputs into the store.
    Record(record::RecordArgs),
    /// Execute goldens and compare what they give with what they should.
    Verify(verify::VerifyArgs),
}

impl GoldenArgs {
    /// What it reads and writes.
    pub(super) fn files(&self) -> Files {
        match &self.command {
            GoldenCommand::List(args) => args.files(),
            GoldenCommand::Record(args) => args.files(),
            GoldenCommand::Verify(args) => args.files(),
        }
    }
}

pub(super) fn run(context: &Context, args: &GoldenArgs) -> miette::Result<Status> {
    match &args.command {
        GoldenCommand::List(args) => list::run(context, args),
        GoldenCommand::Record(args) => record::run(context, args),
        GoldenCommand::Verify(args) => verify::run(context, args),
    }
}
