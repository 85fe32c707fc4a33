//! `aotgate history`: what happened to the contract, commit by commit.

use chrono::NaiveDate;
use clap::Args;

use super::cache::CacheArgs;
use super::context::Context;
use super::output::Progress;
use super::{Format, Status, output};
use crate::error::{Error, ErrorKind};
use crate::gate::Gate;
use crate::history::{History, Options, Position, default_since};
use crate::report;
use crate::report::history::{Input, Selected, Shown};
use crate::report::json::Layout;
use crate::revision::{CommitInfo, Repository, RevisionSpec};
use crate::triage::policy::Pattern;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aotgate history
  aotgate history v1.2..HEAD --format json
  aotgate history --construct xla.gpu.ThunkProto
  aotgate history --construct 'xla.DebugOptions.*_cache_*'
  aotgate history --reuses

Dates marked `<` are upper bounds: it was there before the history begins. Those marked `?` lie in a gap.")]
pub(super) struct HistoryArgs {
    /// A commit whose first parents are followed, or the part of them after another one (`A..B`).
    #[arg(default_value = "HEAD")]
    range: String,
    /// How far to go back [default: twelve months before the newest commit, from the first of that month on].
    #[arg(long, value_name = "YYYY-MM-DD")]
    since: Option<NaiveDate>,
    /// The timeline of messages, enums, fields or values: a full name, or a pattern with `*`.
    #[arg(long, value_name = "NAME")]
    construct: Option<String>,
    /// Numbers and names that meant something else before, with both commits and dates.
    #[arg(long, conflicts_with = "construct")]
    reuses: bool,
    /// Make the history anew and compare it with the index.
    #[arg(long)]
    verify: bool,
    #[command(flatten)]
    cache: CacheArgs,
    /// Leave nothing out.
    #[arg(long, short)]
    verbose: bool,
}

pub(super) fn run(context: &Context, args: &HistoryArgs) -> miette::Result<Status> {
    if !matches!(context.format, Format::Human | Format::Json) {
        return Err(context.unsupported_format("history", "human, json").into());
    }
    let repository = context.repository()?;
    let (from, tip) = range(&repository, &args.range)?;
    let gate = Gate::new(Some(&repository));
    let revision = gate.open(&RevisionSpec::Git(tip.id.to_string()))?;
    let named = context.policy_file(Some(&repository))?;
    let policy = gate.policy(named.as_ref(), &revision, &revision)?;
    let since = args.since.unwrap_or_else(|| {
        let default = default_since(tip.date.min(context.clock()));
        from.as_ref().map_or(default, |from| default.min(from.date))
    });
    let options = Options::new(Some(since), args.cache.cache()).by(context.clock());
    let progress = Progress::new("commits", 0);
    let show = |done, of| progress.show_of(done, of);
    let spec = &policy.contract;
    let history = History::open(&repository, spec, tip.id, &options, &show)?;
    let status = match args.verify {
        false => Status::Passed,
        true => match history.verify(&repository, spec, tip.id, options.since, &show)? {
            None => {
                progress.clear();
                output::note("the index says what the commits say");
                Status::Passed
            }
            Some(what) => {
                progress.clear();
                output::note(&format!("the index is wrong: {what}; delete it"));
                Status::Blocked
            }
        },
    };
    progress.clear();
    for note in &history.notes {
        output::note(&report::text::line(note));
    }
    let after = from.as_ref().map(|from| after(&history, from)).transpose()?;
    let shown = match &args.construct {
        Some(name) => Shown::Constructs(constructs(&history, name)?),
        None if args.reuses => Shown::Reuses,
        None => Shown::Commits,
    };
    let input = Input { history: &history, after, shown: &shown };
    let text = match context.format {
        Format::Json => report::history::json(&input, Layout::Pretty),
        _ => report::history::render(&input, &context.style(args.verbose)),
    };
    output::write(context.output.as_deref(), &text)?;
    Ok(status)
}

/// The commit to start after, if any, and the tip.
fn range(repository: &Repository, text: &str) -> Result<(Option<CommitInfo>, CommitInfo), Error> {
    match text.split_once("..") {
        Some((from, tip)) if !tip.starts_with('.') => {
            let rev = |rev: &str| repository.commit(if rev.is_empty() { "HEAD" } else { rev });
            Ok((Some(rev(from)?), rev(tip)?))
        }
        Some(_) => Err(ErrorKind::Usage {
            message: format!("'{text}' names two ends that have parted"),
            help: "history follows first parents: write `A..B`".to_owned(),
        }
        .into()),
        None => Ok((None, repository.commit(text)?)),
    }
}

/// The place of the commit that a range starts after.
fn after(history: &History, from: &CommitInfo) -> Result<Position, Error> {
    history.chain.position(from.id).ok_or_else(|| {
        ErrorKind::Usage {
            message: format!("{} is no first-parent ancestor in this history", from.short()),
            help: "name a commit of the branch itself, or go back further with `--since`"
                .to_owned(),
        }
        .into()
    })
}

/// The scopes that a name or a pattern stands for, whole or by their uses.
fn constructs<'h>(history: &'h History, name: &str) -> Result<Vec<Selected<'h>>, Error> {
    let usage = |message: String, help: &str| {
        Error::from(ErrorKind::Usage { message, help: help.to_owned() })
    };
    let pattern = Pattern::new(name).map_err(|why| {
        usage(
            format!("'{name}' is no name of a construct: {why}"),
            "`*` stands for any part of a name",
        )
    })?;
    let mut found = Vec::new();
    for scope in history.latest().scopes() {
        let names = || scope.names.iter().map(|titled| &titled.name);
        if names().any(|name| pattern.matches(name)) {
            found.push((scope, None));
            continue;
        }
        let matches =
            |simple: &str| names().any(|owner| pattern.matches(&format!("{owner}.{simple}")));
        let uses = scope.uses.iter().enumerate().filter(|(_, used)| matches(&used.name));
        let uses: Vec<usize> = uses.map(|(at, _)| at).collect();
        if !uses.is_empty() {
            found.push((scope, Some(uses)));
        }
    }
    if found.is_empty() {
        return Err(usage(
            format!("'{name}' is no construct of this history"),
            "write the full name without a leading dot; `aotgate snapshot` lists what there is now",
        ));
    }
    found.sort_by_key(|(scope, _)| history.latest().name_of(scope));
    Ok(found)
}
