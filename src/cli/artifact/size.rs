//! `aotgate artifact size`.

use std::path::PathBuf;

use aotgate_runtime::artifact::Container;
use aotgate_runtime::artifact::size::Breakdown;
use clap::Args;

use super::{ArtifactContext, Input};
use crate::cli::files::Files;
use crate::cli::{Format, Status, output};
use crate::report::artifact::size::{json, render};
use crate::report::json::Layout;

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  aotgate artifact size executable.bin
  aotgate artifact size executable.bin --format json

Stored bytes add up to the file's size. Compressed ones count for what they stand for: a part that repeats an earlier
one costs little, and that is what it costs.")]
pub(in crate::cli) struct SizeArgs {
    /// An artifact; `-` is standard input.
    file: PathBuf,
    /// Leave nothing out.
    #[arg(long, short)]
    verbose: bool,
}

impl SizeArgs {
    /// What it reads and writes.
    pub(in crate::cli) fn files(&self) -> Files {
        Files::default().reads([&self.file])
    }
}

pub(super) fn run(context: &ArtifactContext<'_>, args: &SizeArgs) -> miette::Result<Status> {
    let input = Input::read(&args.file)?;
    let artifact = input.open(context)?;
    let text = artifact.layers().first().is_some_and(|layer| layer.container == Container::Text);
    let breakdown = if text {
        Breakdown::of_text(&artifact)
    } else {
        Breakdown::read(input.bytes.clone(), &context.limits)
    };
    let breakdown = breakdown.map_err(|error| input.error(error))?;
    let text = match context.format {
        Format::Json => json(&input.name, &breakdown, Layout::Pretty),
        Format::Human => render(&input.name, &breakdown, &context.style(args.verbose)),
        _ => return Err(context.unsupported_format("artifact size", "human, json").into()),
    };
    output::write(context.output.as_deref(), &text)?;
    Ok(Status::Passed)
}
