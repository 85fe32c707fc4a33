//! `aotgate golden list`.

use std::path::PathBuf;

use clap::Args;

use super::store::{self, Opened};
use crate::cli::context::Context;
use crate::cli::files::Files;
use crate::cli::{Format, Status, output};
use crate::error::ErrorKind;
use crate::execute::Opener;
use crate::golden::contents::Contents;
use crate::golden::{Golden, Standing, Store};
use crate::report;
use crate::report::goldens::{Entry, Listing, Problem};
use crate::report::json::Layout;
use crate::revision::RevisionSpec;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aotgate golden list
  aotgate golden list HEAD~10 --format json
  aotgate golden list --store golden

Exit status: 0 all of it can be read, 2 something cannot.")]
pub(in crate::cli) struct ListArgs {
    /// Which revision [default: WORKTREE, in a bare repository HEAD].
    #[arg(conflicts_with = "store")]
    rev: Option<RevisionSpec>,
    /// List this directory instead, in whichever layout it has; it need not be in a repository.
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// List what was skipped too.
    #[arg(long, short)]
    verbose: bool,
}

impl ListArgs {
    /// What it reads and writes.
    pub(in crate::cli) fn files(&self) -> Files {
        Files::default().revisions(&self.rev)
    }
}

pub(super) fn run(context: &Context, args: &ListArgs) -> miette::Result<Status> {
    store::with(context, args.rev.as_ref(), args.store.as_ref(), |opened| {
        print(context, args, opened)
    })
}

fn print(context: &Context, args: &ListArgs, opened: &Opened<'_>) -> miette::Result<Status> {
    let today = context.today();
    let (store, opener) = (opened.store, opened.opener()?);
    let goldens = store.goldens().iter();
    let listing = Listing {
        revision: &opened.revision.label,
        today,
        entries: goldens
            .map(|g| entry(store, g, &opener, g.standing(today, opened.backward)))
            .collect(),
        problems: store.problems().iter().map(|error| Problem::of(error)).collect(),
        skipped: store.skipped(),
    };
    let text = match context.format {
        Format::Json => report::goldens::json(&listing, Layout::Pretty),
        Format::Human => report::goldens::render(&listing, &context.style(args.verbose)),
        _ => return Err(context.unsupported_format("golden list", "human, json").into()),
    };
    output::write(context.output.as_deref(), &text)?;
    Ok(if listing.is_clean() { Status::Passed } else { Status::CouldNotJudge })
}

/// One golden, opened.
fn entry<'g>(
    store: &Store<'_>,
    golden: &'g Golden,
    opener: &Opener,
    standing: Standing,
) -> Entry<'g> {
    let mut entry = Entry {
        golden,
        standing,
        size: None,
        contents: None,
        problem: golden.problem.as_ref().map(|error| Problem::of(error)),
    };
    if golden.manifest.is_none() && golden.problem.is_some() {
        return entry; // nothing says which file the artifact is
    }
    let read = store.read(golden).and_then(|bytes| {
        entry.size = Some(bytes.len() as u64);
        if bytes.is_empty() && golden.manifest.is_none() {
            return Ok(Contents::empty());
        }
        let path = golden.artifact.clone();
        let artifact = opener.open(&path, &bytes)?;
        Contents::of(&artifact)
            .map_err(|error| ErrorKind::Artifact { path, error: Box::new(error) }.into())
    });
    match read {
        Ok(contents) => entry.contents = Some(contents),
        Err(error) => drop(entry.problem.get_or_insert(Problem::of(&error))),
    }
    // Arrays are not opened here, but a pointer instead of a file shows.
    let beside = golden.manifest.iter().flat_map(|manifest| manifest.files()).skip(1);
    for name in beside {
        if let Err(error) = store.read_beside(golden, name) {
            entry.problem.get_or_insert(Problem::of(&error));
        }
    }
    entry
}
