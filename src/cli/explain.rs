//! `aotgate explain`: pages of checks, their list, and the JSON schemas.

#[cfg(feature = "runtime")]
use aotgate_runtime::artifact::lint;
use clap::Args;

use super::context::Context;
use super::{Format, Status, output};
use crate::error::{Error, ErrorKind};
use crate::report;
use crate::triage::{Check, checks};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aotgate explain                        all checks, one a line
  aotgate explain field-removed
  aotgate explain --schema check")]
pub(super) struct ExplainArgs {
    /// Id of a check or of a rule of `artifact lint`; without one all checks are listed.
    check: Option<String>,
    /// Print a JSON schema, such as `check`; a wrong name lists them all.
    #[arg(long, value_name = "NAME", conflicts_with = "check")]
    schema: Option<String>,
}

pub(super) fn run(context: &Context, args: &ExplainArgs) -> miette::Result<Status> {
    if !matches!(context.format, Format::Human | Format::Markdown) {
        return Err(context.unsupported_format("explain", "human, markdown").into());
    }
    let text = match (&args.check, &args.schema) {
        (_, Some(name)) => schema(name)?,
        (Some(id), None) => page(id)?,
        (None, None) if context.format == Format::Markdown => checks::markdown(),
        (None, None) => list(),
    };
    output::write(context.output.as_deref(), &text)?;
    Ok(Status::Passed)
}

fn schema(name: &str) -> Result<String, Error> {
    report::schema::schema(name).map(str::to_owned).ok_or_else(|| {
        ErrorKind::Usage {
            message: format!("no schema is called '{name}'"),
            help: format!("there are: {}", report::schema::NAMES.join(", ")),
        }
        .into()
    })
}

fn page(id: &str) -> Result<String, Error> {
    #[cfg(feature = "runtime")]
    if let (Some(rule), Some(page)) = (lint::find(id), lint::page(id)) {
        return Ok(format!("# {id} (artifact lint, {})\n\n{page}\n", rule.level.name()));
    }
    match (checks::find(id), checks::page(id)) {
        (Some(check), Some(page)) => Ok(format!("# {id} ({})\n\n{page}\n", summary(check))),
        _ => {
            let known = checks::ALL.iter().map(|(check, _)| check.id);
            let help = match crate::triage::policy::closest(id, known) {
                Some(known) => {
                    format!("did you mean `{known}`? `aotgate explain` lists all checks")
                }
                None => "`aotgate explain` lists all checks".to_owned(),
            };
            Err(ErrorKind::Usage { message: format!("no check is called '{id}'"), help }.into())
        }
    }
}

/// Step and level of a check.
fn summary(check: &Check) -> String {
    let step = check.step.map_or("no step", |step| step.name());
    let level = check.level.map_or("by triage", |level| level.name());
    format!("{step}, {level}")
}

fn list() -> String {
    checks::ALL
        .iter()
        .map(|(check, _)| {
            let page = checks::page(check.id).unwrap_or_default();
            let title = page.lines().next().unwrap_or_default().to_owned();
            format!("{:34} {:18} {title}\n", check.id, summary(check))
        })
        .collect()
}
