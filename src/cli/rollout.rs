//! `aotgate rollout`: staged rollouts, what may land when, and whether history agrees.

use chrono::NaiveDate;
use clap::Args;

use super::cache::CacheArgs;
use super::context::Context;
use super::output::Progress;
use super::{Format, Status, output};
use crate::change::{ChangeKind, Surface};
use crate::error::{Error, ErrorKind};
use crate::gate::{Gate, landed};
use crate::history::{History, Options, default_since};
use crate::report;
use crate::report::json::Layout;
use crate::report::rollout::{Entry, Input};
use crate::revision::{CommitInfo, Repository, RevisionSpec};
use crate::rollout::{Draft, Facts, Rollouts, faults, standing, suggest};
use crate::triage::Seen;
use crate::triage::policy::{Pattern, Policy};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aotgate rollout
  aotgate rollout xla.gpu.ThunkProto.dynamic_slice_fusion_thunk
  aotgate rollout --verify
  aotgate rollout --suggest --since 2026-05-01

The rollout file is the one that the policy names in `[rollout]`, as it is in the working tree (in HEAD, for a bare
repository).")]
pub(super) struct RolloutArgs {
    /// Only rollouts of constructs with this name, or that match a pattern with `*`.
    construct: Option<String>,
    /// Exit with status 1 where history contradicts an entry, or a window was broken.
    #[arg(long)]
    verify: bool,
    /// Draft entries for what history shows to be new and no entry names.
    #[arg(long, conflicts_with = "verify")]
    suggest: bool,
    /// How far to go back [default: twelve months before HEAD, from the first of that month on].
    #[arg(long, value_name = "YYYY-MM-DD")]
    since: Option<NaiveDate>,
    #[command(flatten)]
    cache: CacheArgs,
}

pub(super) fn run(context: &Context, args: &RolloutArgs) -> miette::Result<Status> {
    if !matches!(context.format, Format::Human | Format::Json) {
        return Err(context.unsupported_format("rollout", "human, json").into());
    }
    let repository = context.repository()?;
    let head = repository.head()?;
    let gate = Gate::new(Some(&repository));
    let spec = match repository.workdir() {
        Some(_) => RevisionSpec::Worktree,
        None => RevisionSpec::Git("HEAD".to_owned()),
    };
    let revision = gate.open(&spec)?;
    let named = context.policy_file(Some(&repository))?;
    let policy = gate.policy(named.as_ref(), &revision, &revision)?;
    let (file, rollouts) = read(&policy, |path| revision.read_file(path))?;
    let history = history(context, &repository, &head, &policy, args)?;
    let facts = Known { repository: &repository, head: &head, history: &history };
    let pattern = args.construct.as_deref().map(pattern).transpose()?;
    let wanted = |construct: &String| pattern.as_ref().is_none_or(|p| p.matches(construct));
    if args.suggest {
        let drafts = drafts(&history, &policy, &wanted);
        output::write(context.output.as_deref(), &suggest(&rollouts, &drafts))?;
        return Ok(Status::Passed);
    }
    let Some(file) = file else {
        let message = "the policy names no rollout file that is there".to_owned();
        let help = "say `file = \"policy/rollouts.toml\"` in `[rollout]`, and start the file with `aotgate rollout --suggest`".to_owned();
        return Err(Error::from(ErrorKind::Usage { message, help }).into());
    };
    let today = context.today();
    let all = faults(&rollouts, &facts);
    let entries: Vec<Entry<'_>> = rollouts
        .entries
        .iter()
        .filter(|rollout| rollout.constructs.iter().chain(&rollout.replaces).any(wanted))
        .map(|rollout| Entry {
            rollout,
            standing: standing(rollout, &policy.windows, today),
            faults: all.iter().filter(|f| f.rollout == rollout.title()).cloned().collect(),
        })
        .collect();
    if entries.is_empty()
        && let Some(name) = &args.construct
    {
        let message = format!("no rollout is about {name}");
        let help = format!("`aotgate rollout --suggest '{name}'` drafts an entry");
        return Err(Error::from(ErrorKind::Usage { message, help }).into());
    }
    let bad = entries.iter().any(|entry| {
        entry.faults.iter().any(|fault| !fault.unknown)
            || entry.standing.emitted_early.is_some()
            || entry.standing.removed_early.is_some()
    });
    let input = Input { file: &file, today, entries };
    let text = match context.format {
        Format::Json => report::rollout::json(&input, Layout::Pretty),
        _ => report::rollout::render(&input),
    };
    output::write(context.output.as_deref(), &text)?;
    Ok(if args.verify && bad { Status::Blocked } else { Status::Passed })
}

/// The rollout file and what it says; no path where there is no such file.
fn read(
    policy: &Policy,
    file: impl Fn(&str) -> Result<Option<Vec<u8>>, Error>,
) -> Result<(Option<String>, Rollouts), Error> {
    let Some(path) = &policy.rollout_file else { return Ok((None, Rollouts::default())) };
    match file(path)? {
        Some(bytes) => {
            let rollouts = Rollouts::parse(path, &String::from_utf8_lossy(&bytes))?;
            Ok((Some(path.clone()), rollouts))
        }
        None => Ok((None, Rollouts::default())),
    }
}

fn history(
    context: &Context,
    repository: &Repository,
    head: &CommitInfo,
    policy: &Policy,
    args: &RolloutArgs,
) -> Result<History, Error> {
    let since = args.since.unwrap_or_else(|| default_since(head.date.min(context.clock())));
    let options = Options::new(Some(since), args.cache.cache()).by(context.clock());
    let progress = Progress::new("commits", 0);
    let show = |done, of| progress.show_of(done, of);
    let history = History::open(repository, &policy.contract, head.id, &options, &show)?;
    progress.clear();
    for note in &history.notes {
        output::note(&report::text::line(note));
    }
    Ok(history)
}

fn pattern(text: &str) -> Result<Pattern, Error> {
    Pattern::new(text).map_err(|why| {
        ErrorKind::Usage {
            message: format!("'{text}' is no pattern: {why}"),
            help: "write a full name, with `*` for any characters".to_owned(),
        }
        .into()
    })
}

/// What is new in artifacts since the history begins: fields and values outside advisory classes.
fn drafts(history: &History, policy: &Policy, wanted: &dyn Fn(&String) -> bool) -> Vec<Draft> {
    let view = history.latest();
    let mut drafts: Vec<Draft> = Vec::new();
    let lines = view.landed().iter().flat_map(|landed| &landed.changes);
    for line in lines {
        let added = matches!(line.kind, ChangeKind::FieldAdded | ChangeKind::EnumValueAdded);
        let Some((owner, _)) = line.construct.rsplit_once('.') else { continue };
        if !added
            || line.surface != Surface::Proto
            || policy.class_of(owner, &line.construct).is_some()
            || !wanted(&line.construct)
            || drafts.iter().any(|draft| draft.construct == line.construct)
        {
            continue;
        }
        let Some(introduced) = view.first_seen(&line.construct) else { continue };
        drafts.push(Draft {
            construct: line.construct.clone(),
            introduced: introduced.into(),
            removed: view.last_seen(&line.construct).map(Seen::from),
        });
    }
    drafts
}

struct Known<'a> {
    repository: &'a Repository,
    head: &'a CommitInfo,
    history: &'a History,
}

impl Facts for Known<'_> {
    fn landed(&self, commit: &str) -> Result<Option<NaiveDate>, String> {
        landed(self.repository, self.head, commit)
    }

    fn introduced(&self, construct: &str) -> Option<Seen> {
        self.history.latest().introduced(construct)
    }

    fn removed(&self, construct: &str) -> Option<Seen> {
        self.history.latest().last_seen(construct).map(Seen::from)
    }
}
