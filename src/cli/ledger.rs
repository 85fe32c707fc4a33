//! `aotgate ledger`: writes the ledger, or says what is wrong with it.

use std::path::{Path, PathBuf};

use chrono::NaiveDate;
use clap::Args;

use super::cache::CacheArgs;
use super::context::Context;
use super::{Format, Status, output};
use crate::error::{Error, ErrorKind};
use crate::gate::{Gate, Recorded, Recording};
use crate::history::ledger::{Ledger, differences};
use crate::report;
use crate::report::json::Layout;
use crate::report::ledger::Action;
use crate::revision::{Repository, Revision, RevisionSpec};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aotgate ledger                         write aotgate.lock for the checked-out files
  aotgate ledger --verify                does it agree with the protos, and with history as far as that is here
  aotgate ledger --repo protos/          a directory need not be in a repository
  aotgate check --base aotgate.lock --head .     what the protos changed since it was written; needs no git

With --verify: exit status 0 if it agrees, 1 if it does not, 2 if it cannot be read.")]
pub(super) struct LedgerArgs {
    /// Which revision [default: HEAD, or WORKTREE where tracked files changed; the directory where there is no repository].
    rev: Option<RevisionSpec>,
    /// Compare the ledger instead of writing it.
    #[arg(long)]
    verify: bool,
    /// Go that far back into history [default: twelve months before the revision, to the first of the month].
    #[arg(long, value_name = "YYYY-MM-DD")]
    since: Option<NaiveDate>,
    #[command(flatten)]
    cache: CacheArgs,
}

pub(super) fn run(context: &Context, args: &LedgerArgs) -> miette::Result<Status> {
    if !matches!(context.format, Format::Human | Format::Json) {
        return Err(context.unsupported_format("ledger", "human, json").into());
    }
    let repository = context.repository().ok();
    let named = context.policy_file(repository.as_ref())?;
    let mut gate = Gate::new(repository.as_ref());
    let revision = match (&args.rev, &repository) {
        (Some(spec), _) => gate.open(spec)?,
        (None, Some(_)) => {
            let head = gate.default_head(named.as_ref());
            let bare = repository.as_ref().is_none_or(|r| r.workdir().is_none());
            // The ledger itself may be what is not committed.
            gate.open(if bare { &head } else { &RevisionSpec::Worktree })?
        }
        (None, None) => Revision::directory(context.dir()),
    };
    let head = gate.open(&RevisionSpec::Git("HEAD".to_owned())).ok();
    let base = head.as_ref().filter(|_| revision.is_checkout()).unwrap_or(&revision);
    let policy = gate.policy(named.as_ref(), base, &revision)?;
    let cache = args.cache.cache();
    let progress = output::Progress::new("commits", 0);
    let show = |done, of| progress.show_of(done, of);
    let recording = Recording {
        today: context.today(),
        clock: context.clock(),
        since: args.since,
        cache: &cache,
        progress: &show,
    };
    let bytes = revision.ledger_bytes(&policy)?;
    let there = bytes.as_deref().map(|bytes| Ledger::read(&policy.ledger, bytes));
    if args.verify {
        let there = match there {
            Some(there) => there?,
            None => return Err(absent(&policy.ledger, &revision).into()),
        };
        let Recorded { ledger, notes, .. } = gate.record(&revision, &policy, recording)?;
        progress.clear();
        let found = differences(&ledger, &there);
        let status = if found.is_empty() { Status::Passed } else { Status::Blocked };
        let input = report::ledger::Input {
            path: &policy.ledger,
            action: Action::Verified,
            counts: ledger.counts(),
            differences: Some(&found),
            notes: &notes,
        };
        output::write(context.output.as_deref(), &render(context, &input))?;
        return Ok(status);
    }

    let Recorded { ledger, notes, .. } = gate.record(&revision, &policy, recording)?;
    progress.clear();
    let text = ledger.write();
    let path = match &context.output {
        Some(path) => path.clone(),
        None => place(context.dir(), repository.as_ref(), &policy.ledger)?,
    };
    let differs = match &there {
        Some(Ok(there)) => Some(differences(&ledger, there)),
        Some(Err(_)) | None => None,
    };
    let same = context.output.is_none() && bytes.as_deref() == Some(text.as_bytes());
    if path.as_os_str() == "-" {
        output::write(None, &text)?;
        return Ok(Status::Passed);
    }
    if !same {
        regular(&path)?;
        output::write(Some(&path), &text)?;
    }
    let input = report::ledger::Input {
        path: &path.display().to_string(),
        action: if same { Action::Unchanged } else { Action::Written },
        counts: ledger.counts(),
        differences: differs.as_deref(),
        notes: &notes,
    };
    output::write(None, &render(context, &input))?;
    Ok(Status::Passed)
}

fn render(context: &Context, input: &report::ledger::Input<'_>) -> String {
    match context.format {
        Format::Json => report::ledger::json(input, Layout::Pretty),
        _ => report::ledger::render(input),
    }
}

/// Where the ledger is on disk.
fn place(dir: &Path, repository: Option<&Repository>, ledger: &str) -> Result<PathBuf, Error> {
    match repository {
        Some(repository) => match repository.workdir() {
            Some(workdir) => Ok(workdir.join(ledger)),
            None => Err(ErrorKind::Usage {
                message: "a bare repository has no place for the ledger".to_owned(),
                help: "name a file with `--output FILE`".to_owned(),
            }
            .into()),
        },
        None => Ok(dir.join(ledger)),
    }
}

/// A link in the governed tree could lead anywhere.
fn regular(path: &Path) -> Result<(), Error> {
    match path.symlink_metadata() {
        Ok(metadata) if !metadata.is_file() => {
            let what = if metadata.is_symlink() { "a symbolic link" } else { "something else" };
            Err(ErrorKind::NotAFile { path: path.display().to_string(), what }.into())
        }
        _ => Ok(()),
    }
}

fn absent(ledger: &str, revision: &Revision<'_>) -> Error {
    ErrorKind::Usage {
        message: format!("{} has no {ledger}", revision.label),
        help: "write it with `aotgate ledger`; `[history] ledger` of the policy says where it is"
            .to_owned(),
    }
    .into()
}
