//! `aotgate diff`: every contract change between two revisions, unjudged.

use clap::Args;

use super::context::Context;
use super::files::Files;
use super::{Format, Status, output};
use crate::change::{Surface, compare};
use crate::gate::Gate;
use crate::report;
use crate::report::json::Layout;
use crate::revision::RevisionSpec;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aotgate diff main HEAD
  aotgate diff HEAD WORKTREE --format json
  aotgate diff old.binpb new.binpb")]
pub(super) struct DiffArgs {
    /// The older side.
    base: RevisionSpec,
    /// The newer side.
    head: RevisionSpec,
    /// Also list constructs that no artifact reaches.
    #[arg(long)]
    unreachable: bool,
    /// Leave nothing out.
    #[arg(long, short)]
    verbose: bool,
}

impl DiffArgs {
    /// What it reads and writes.
    pub(in crate::cli) fn files(&self) -> Files {
        Files::default().revisions([&self.base, &self.head])
    }
}

pub(super) fn run(context: &Context, args: &DiffArgs) -> miette::Result<Status> {
    let repository = context.repository_for(&[&args.base, &args.head])?;
    let named = context.policy_file(repository.as_ref())?;
    let mut gate = Gate::new(repository.as_ref());
    let (base, head) = (gate.open(&args.base)?, gate.open(&args.head)?);
    let policy = gate.policy(named.as_ref(), &base, &head)?;
    let both = gate.compare(&base, &head, &policy)?;
    let mut changes = compare(&both.base, &both.head);
    changes.retain(|change| {
        args.unreachable
            || match change.surface {
                Surface::Proto => change.reach.wire,
                Surface::JsonPayload => change.reach.json,
                Surface::Container | Surface::Golden | Surface::Policy | Surface::Ledger => false,
            }
    });
    let input = report::diff::Input {
        base: &both.base_info,
        head: &both.head_info,
        changes: &changes,
        base_contract: &both.base,
        head_contract: &both.head,
    };
    let text = match context.format {
        Format::Json => report::diff::json(&input, Layout::Pretty),
        Format::Human => report::diff::render(&input, &context.style(args.verbose)),
        _ => return Err(context.unsupported_format("diff", "human, json").into()),
    };
    output::write(context.output.as_deref(), &text)?;
    Ok(Status::Passed)
}
