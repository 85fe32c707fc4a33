//! `aotgate artifact diff`.

use std::path::{Path, PathBuf};

use aotgate_runtime::artifact::diff::Diff;
use clap::Args;

use super::{ArtifactContext, Input};
use crate::cli::files::Files;
use crate::cli::{Format, Status, output};
use crate::error::{Error, ErrorKind};
use crate::report::artifact::diff::{json, render};
use crate::report::json::Layout;

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  aotgate artifact diff before.bin after.bin
  aotgate artifact diff before.bin after.bin --format json

Exit status: 0 the same in every layer, whatever the containers; 1 something differs; 2 one cannot be read.")]
pub(in crate::cli) struct DiffArgs {
    /// The first artifact.
    a: PathBuf,
    /// The second artifact.
    b: PathBuf,
    /// Leave nothing out.
    #[arg(long, short)]
    verbose: bool,
}

impl DiffArgs {
    /// What it reads and writes.
    pub(in crate::cli) fn files(&self) -> Files {
        Files::default().reads([&self.a, &self.b])
    }
}

pub(super) fn run(context: &ArtifactContext<'_>, args: &DiffArgs) -> miette::Result<Status> {
    if [&args.a, &args.b].into_iter().all(|path| path == Path::new("-")) {
        return Err(Error::from(ErrorKind::Usage {
            message: "standard input holds one artifact, not both".to_owned(),
            help: "name a file for one of them".to_owned(),
        })
        .into());
    }
    let (a, b) = (Input::read(&args.a)?, Input::read(&args.b)?);
    let (first, second) = (a.open(context)?, b.open(context)?);
    let diff = match Diff::new(&first, &second) {
        Ok(diff) => diff,
        // The message alone does not tell which of the two it is about.
        Err(error) => {
            let of = if Diff::new(&first, &first).is_err() { &a } else { &b };
            return Err(of.error(error).into());
        }
    };
    let files = [a.name.as_str(), b.name.as_str()];
    let text = match context.format {
        Format::Json => json(files, &diff, Layout::Pretty),
        Format::Human => render(files, &diff, &context.style(args.verbose)),
        _ => return Err(context.unsupported_format("artifact diff", "human, json").into()),
    };
    output::write(context.output.as_deref(), &text)?;
    Ok(if diff.is_equal() { Status::Passed } else { Status::Blocked })
}
