//! `aotgate artifact lint`: the authoring rules, held against real artifacts.

use std::path::{Path, PathBuf};

use aotgate_runtime::artifact::lint::{Level, Report, lint};
use clap::Args;

use super::super::{Format, Status, output};
use super::{ArtifactContext, Input};
use crate::cli::files::Files;
use crate::error::Error;
use crate::report;
use crate::report::json::Layout;
use crate::report::lint::Linted;

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  aotgate artifact lint executable.bin
  aotgate artifact lint golden/*/executable.bin --format json
  aotgate explain payload-stored-twice     what a rule means and what to do

Exit status: 0 nothing or notes only, 1 errors or warnings, 2 a file could not be read.")]
pub(in crate::cli) struct LintArgs {
    /// Artifacts in any container.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl LintArgs {
    /// What it reads and writes.
    pub(in crate::cli) fn files(&self) -> Files {
        Files::default().reads(&self.files)
    }
}

pub(super) fn run(context: &ArtifactContext<'_>, args: &LintArgs) -> miette::Result<Status> {
    let mut status = Status::Passed;
    let mut linted = Vec::new();
    for path in &args.files {
        let file = path.display().to_string();
        let (report, error) = match one(context, path) {
            Ok(report) => (report, None),
            Err(error) => (Report::default(), Some(error)),
        };
        status = status.max(match (&error, report.worst) {
            (Some(_), _) => Status::CouldNotJudge,
            (None, Some(Level::Error | Level::Warning)) => Status::Blocked,
            (None, Some(Level::Note) | None) => Status::Passed,
        });
        linted.push(Linted { file, error, report });
    }
    let text = match context.format {
        Format::Json => report::lint::json(&linted, Layout::Pretty),
        Format::Human => report::lint::render(&linted),
        _ => return Err(context.unsupported_format("artifact lint", "human, json").into()),
    };
    output::write(context.output.as_deref(), &text)?;
    Ok(status)
}

fn one(context: &ArtifactContext<'_>, path: &Path) -> Result<Report, String> {
    let report = || {
        let input = Input::read(path)?;
        lint(&input.open(context)?, &context.limits).map_err(|error| input.error(error))
    };
    report().map_err(|error: Error| error.to_string())
}
