//! `aotgate golden verify`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::store::{self, Opened};
use crate::cli::context::Context;
use crate::cli::files::Files;
use crate::cli::limits::LimitArgs;
use crate::cli::output::Progress;
use crate::cli::run::Backend;
use crate::cli::{Format, Status, output};
use crate::error::{Error, ErrorKind};
use crate::golden::contents::Contents;
use crate::golden::verify::Verify;
use crate::golden::{Golden, Layout, Selection, TEST_ALL_VERSIONS, select_usable};
use crate::report;
use crate::report::goldens::Problem;
use crate::report::json::Layout as JsonLayout;
use crate::report::verify::{Counts, Report};
use crate::revision::RevisionSpec;
use crate::triage::policy;

#[derive(Debug, Args)]
#[command(after_help = "\
A golden passes if it gives what it should within its tolerance, or bit for bit where it only moves data. One that needs
what is missing here is skipped, which is no pass. One without expected outputs can only run.

Examples:
  aotgate golden verify
  aotgate golden verify fft jaxlib-0.12.0/attention
  aotgate golden verify --boundary --shard 1/4 --format json

Exit status: 0 nothing failed, 1 something did, 2 something could not be read or nothing was executed.")]
pub(in crate::cli) struct VerifyArgs {
    /// Goldens by id (set/program), set or program [default: all].
    names: Vec<String>,
    /// Which revision [default: WORKTREE, in a bare repository HEAD].
    #[arg(long, value_name = "REV", conflicts_with = "store")]
    rev: Option<RevisionSpec>,
    /// Verify this directory instead, in whichever layout it has; it need not be in a repository.
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Only every N-th golden, beginning with the I-th.
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Goldens at a time [default: one per core].
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Every golden; this is the default.
    #[arg(long, conflicts_with = "boundary")]
    all: bool,
    /// Only the oldest and the newest golden of each program inside the backward window.
    #[arg(long)]
    boundary: bool,
    /// What to run on.
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    backend: Backend,
    /// Seed for inputs that a golden has not.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    limits: LimitArgs,
}

impl VerifyArgs {
    /// What it reads and writes.
    pub(in crate::cli) fn files(&self) -> Files {
        Files::default().revisions(&self.rev)
    }
}

/// A part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shard {
    index: usize,
    count: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/');
        let numbers = parts.and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((index, count)) if (1..=count).contains(&index) => Ok(Shard { index, count }),
            _ => Err("expected I/N with I from 1 to N, such as 2/4".to_owned()),
        }
    }
}

pub(super) fn run(context: &Context, args: &VerifyArgs) -> miette::Result<Status> {
    if !matches!(context.format, Format::Human | Format::Json) {
        return Err(context.unsupported_format("golden verify", "human, json").into());
    }
    let backend = args.backend.name()?;
    store::with(context, args.rev.as_ref(), args.store.as_ref(), |opened| {
        verify(context, args, backend, opened)
    })
}

fn verify(
    context: &Context,
    args: &VerifyArgs,
    backend: &'static str,
    opened: &Opened<'_>,
) -> miette::Result<Status> {
    let store = opened.store;
    let goldens = chosen(context, args, opened)?;
    let opener = opened.opener()?.unpacking(args.limits.max_unpacked);
    let limits = args.limits.limits();
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let verify = Verify {
        opener: &opener,
        memory: limits.memory,
        limits,
        seed: args.seed,
        jobs: args.jobs.map_or(cores, NonZeroUsize::get),
    };
    let progress = Progress::new("goldens", goldens.len());
    let cases = verify.run(store, &goldens, &|done| progress.show(done));
    progress.clear();
    let problems: Vec<Problem> = store.problems().iter().map(|error| Problem::of(error)).collect();
    let report = Report {
        revision: &opened.revision.label,
        today: context.today(),
        backend,
        total: store.goldens().len(),
        cases: &cases,
        problems: &problems,
    };
    let text = match context.format {
        Format::Json => report::verify::json(&report, JsonLayout::Pretty),
        _ => report::verify::render(&report, &context.style(false)),
    };
    output::write(context.output.as_deref(), &text)?;
    let counts = Counts::of(&cases);
    // A part of the goldens may well have none that runs.
    if counts.executed == 0 && args.shard.is_none() {
        let all = if cases.is_empty() { "there is none" } else { "see why above" };
        output::note(&format!(
            "no golden was executed: {all}; `aotgate golden list` shows the store"
        ));
        return Ok(Status::CouldNotJudge);
    }
    Ok(match (counts.unreadable + problems.len(), counts.failed) {
        (0, 0) => Status::Passed,
        (0, _) => Status::Blocked,
        _ => Status::CouldNotJudge,
    })
}

/// The goldens that were asked for, by id.
fn chosen<'g>(
    context: &Context,
    args: &VerifyArgs,
    opened: &Opened<'g>,
) -> Result<Vec<&'g Golden>, Error> {
    let selection = if args.boundary {
        let value = std::env::var(TEST_ALL_VERSIONS).ok();
        Selection::Boundary.with_variable(value.as_deref())
    } else {
        Selection::All
    };
    let all = opened.store.goldens();
    for name in &args.names {
        if !all.iter().any(|golden| is_called(golden, name)) {
            let ids = all.iter().map(|golden| &*golden.id);
            let near = policy::closest(name, ids);
            return Err(ErrorKind::Usage {
                message: format!("no golden, set or program is called '{name}'"),
                help: near.map_or_else(
                    || "see `aotgate golden list`".to_owned(),
                    |near| format!("did you mean '{near}'? See `aotgate golden list`"),
                ),
            }
            .into());
        }
    }
    let opener = opened.opener()?;
    let opens = |golden: &Golden| {
        let bytes = opened.store.read(golden);
        bytes.is_ok_and(|bytes| {
            opener.open(&golden.id, &bytes).is_ok_and(|a| Contents::of(&a).is_ok())
        })
    };
    let mut goldens = select_usable(all, selection, context.today(), opened.backward, &opens);
    goldens.retain(|golden| {
        args.names.is_empty() || args.names.iter().any(|name| is_called(golden, name))
    });
    if let Some(Shard { index, count }) = args.shard {
        goldens = goldens.into_iter().skip(index - 1).step_by(count).collect();
    }
    Ok(goldens)
}

/// Whether a name is the golden's id, its set or target, or its program or test.
fn is_called(golden: &Golden, name: &str) -> bool {
    let (set, program) = match &golden.layout {
        Layout::Store { set, program } => (set, program),
        Layout::Upstream { target, test, .. } => (target, test),
    };
    golden.id == name || set == name || program == name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_counted_from_one() {
        assert_eq!("2/4".parse(), Ok(Shard { index: 2, count: 4 }));
        for text in ["", "2", "0/4", "5/4", "1/0", "a/b", "-1/2", "1/2/3"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
