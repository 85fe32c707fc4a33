//! `aotgate snapshot`: the contract at one revision.

use std::path::PathBuf;

use clap::Args;

use super::context::Context;
use super::files::Files;
use super::{Format, Status, output};
use crate::error::{Error, ErrorKind};
use crate::gate::Gate;
use crate::report;
use crate::report::json::Layout;
use crate::revision::RevisionSpec;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aotgate snapshot
  aotgate snapshot v1.2 --format json
  aotgate snapshot HEAD --binpb contract.binpb")]
pub(super) struct SnapshotArgs {
    /// Which revision.
    #[arg(default_value = "HEAD")]
    rev: RevisionSpec,
    /// Also write the files of the contract as a serialized `FileDescriptorSet`.
    #[arg(long, value_name = "FILE")]
    binpb: Option<PathBuf>,
    /// Leave nothing out of the tree.
    #[arg(long, short)]
    verbose: bool,
}

impl SnapshotArgs {
    /// What it reads and writes.
    pub(in crate::cli) fn files(&self) -> Files {
        Files::default().revisions([&self.rev]).writes(&self.binpb)
    }
}

pub(super) fn run(context: &Context, args: &SnapshotArgs) -> miette::Result<Status> {
    let repository = context.repository_for(&[&args.rev])?;
    let named = context.policy_file(repository.as_ref())?;
    let mut gate = Gate::new(repository.as_ref());
    let revision = gate.open(&args.rev)?;
    let policy = gate.policy(named.as_ref(), &revision, &revision)?;
    let contract = gate.contract(&revision, &policy)?;
    let info = gate.info(&revision, &contract);
    let text = match context.format {
        Format::Json => report::snapshot::json(&info, &contract, Layout::Pretty),
        Format::Human => report::snapshot::render(&info, &contract, &context.style(args.verbose)),
        _ => return Err(context.unsupported_format("snapshot", "human, json").into()),
    };
    if let Some(path) = &args.binpb {
        if revision.as_ledger().is_some() {
            return Err(Error::from(ErrorKind::Usage {
                message: format!(
                    "{} has no files that a descriptor set could hold",
                    revision.label
                ),
                help: "name the revision that it was written for".to_owned(),
            })
            .into());
        }
        output::write_bytes(path, &contract.descriptor_set()?)?;
    }
    output::write(context.output.as_deref(), &text)?;
    Ok(Status::Passed)
}
