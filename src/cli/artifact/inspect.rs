//! `aotgate artifact inspect`.

use std::path::PathBuf;

use aotgate_runtime::artifact::inspect::Inspection;
use clap::Args;

use super::{ArtifactContext, Input};
use crate::cli::files::Files;
use crate::cli::{Format, Status, output};
use crate::error::Error;
use crate::report;
use crate::report::artifact::inspect::{SCHEMA, json, render};
use crate::report::json::Layout;

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  aotgate artifact inspect executable.bin
  aotgate artifact inspect golden/*.bin --format json    one document a line
  gunzip -c executable.bin.gz | aotgate artifact inspect -")]
pub(in crate::cli) struct InspectArgs {
    /// Artifacts; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Leave nothing out.
    #[arg(long, short)]
    verbose: bool,
}

impl InspectArgs {
    /// What it reads and writes.
    pub(in crate::cli) fn files(&self) -> Files {
        Files::default().reads(&self.files)
    }
}

pub(super) fn run(context: &ArtifactContext<'_>, args: &InspectArgs) -> miette::Result<Status> {
    if !matches!(context.format, Format::Human | Format::Json) {
        return Err(context.unsupported_format("artifact inspect", "human, json").into());
    }
    let single = args.files.len() == 1;
    let layout = if single { Layout::Pretty } else { Layout::Line };
    let mut status = Status::Passed;
    let mut document = String::new();
    for path in &args.files {
        let text = match inspect(context, path) {
            Ok((name, inspection)) => match context.format {
                Format::Json => json(&name, &inspection, layout),
                _ => render(&name, &inspection, &context.style(args.verbose)),
            },
            Err(error) if single => return Err(error.into()),
            // The others are shown all the same.
            Err(error) => {
                status = Status::CouldNotJudge;
                let text = match context.format {
                    Format::Json => {
                        let name = path.display().to_string();
                        report::artifact::error(SCHEMA, &name, &error.to_string())
                    }
                    _ => String::new(),
                };
                crate::cli::report_error(&error.into());
                text
            }
        };
        if !document.is_empty() && context.format == Format::Human && !text.is_empty() {
            document.push('\n');
        }
        document.push_str(&text);
    }
    output::write(context.output.as_deref(), &document)?;
    Ok(status)
}

fn inspect(
    context: &ArtifactContext<'_>,
    path: &std::path::Path,
) -> Result<(String, Inspection), Error> {
    let input = Input::read(path)?;
    let artifact = input.open(context)?;
    let inspection = Inspection::new(&artifact).map_err(|error| input.error(error))?;
    Ok((input.name, inspection))
}
