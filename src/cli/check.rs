//! `aotgate check`: the gate.

use std::io::{BufRead as _, Read as _};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::cache::CacheArgs;
use super::context::Context;
use super::files::Files;
use super::{Format, Status, output};
use crate::error::{Error, ErrorKind};
use crate::finding::{Judgement, Verdict};
use crate::gate::{Gate, Request, Watch};
use crate::golden::{Selection, TEST_ALL_VERSIONS};
use crate::report;
use crate::report::json::Layout;
use crate::revision::{Repository, RevisionSpec, choose_base};
use crate::triage::{NoHistory, checks, parse_attestations, policy};

/// Longer lines on standard input are refused: a commit's name has 40 bytes, `git log --oneline` puts its subject after it.
const MAX_LINE: u64 = 16 << 10;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aotgate check                          what this branch changes, uncommitted work included
  aotgate check --base origin/main       against another base
  aotgate check --commit 1a2b3c4         a landed commit against its first parent, as of its date
  aotgate check v1..v2 --each            every first-parent commit of a range
  git rev-list HEAD -20 | aotgate check --stdin --format json

Without --base: the first parent of a pull request's merge commit, else the merge base with the upstream branch, else
(on that branch) the first parent.")]
pub(super) struct CheckArgs {
    /// A range A..B (or A...B, from their merge base), judged as one net change.
    #[arg(value_name = "RANGE", conflicts_with_all = ["base", "head", "commit", "stdin"])]
    range: Option<String>,
    /// The older side.
    #[arg(long, value_name = "REV")]
    base: Option<RevisionSpec>,
    /// The newer side [default: HEAD, or WORKTREE where tracked files changed].
    #[arg(long, value_name = "REV")]
    head: Option<RevisionSpec>,
    /// Judge a landed commit against its first parent, as of its own date.
    #[arg(long, value_name = "SHA", conflicts_with_all = ["base", "head", "stdin"])]
    commit: Option<String>,
    /// Judge every first-parent commit of the range, one document a line.
    #[arg(long, requires = "range")]
    each: bool,
    /// Judge the commits named on standard input, one a line.
    #[arg(long)]
    stdin: bool,
    /// Judge advisory classes and history like everything else.
    #[arg(long)]
    strict: bool,
    /// What exits with status 1.
    #[arg(long, value_enum, default_value_t = FailOn::Review)]
    fail_on: FailOn,
    /// Attest a finding: "CHECK CONSTRUCT - REASON" (for uncommitted work).
    #[arg(long, value_name = "TEXT")]
    attest: Vec<String>,
    /// Golden artifacts to look at and to execute through both contracts [default: boundary]. Named here, one that
    /// cannot be read exits with status 2.
    #[arg(long, value_enum)]
    goldens: Option<Goldens>,
    /// A directory with further goldens, trusted like those of the base; may be repeated.
    #[arg(long, value_name = "DIR")]
    golden_store: Vec<PathBuf>,
    #[command(flatten)]
    cache: CacheArgs,
    /// Show every note.
    #[arg(long, short)]
    verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Errors only.
    Fail,
    /// Errors, and warnings that nobody attested or waived.
    Review,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Goldens {
    /// None: judge schemas only.
    None,
    /// The edges of the promise: per program the oldest and the newest inside the backward window.
    Boundary,
    /// Every one inside the backward window, executed even where nothing changed.
    All,
}

impl CheckArgs {
    /// What it reads and writes.
    pub(in crate::cli) fn files(&self) -> Files {
        Files::default().revisions(self.base.iter().chain(&self.head))
    }

    /// XLA's own variable asks for all as well, where nothing is named here.
    fn selection(&self) -> Selection {
        match self.goldens {
            Some(Goldens::None) => Selection::None,
            Some(Goldens::Boundary) => Selection::Boundary,
            Some(Goldens::All) => Selection::All,
            None => {
                Selection::Boundary.with_variable(std::env::var(TEST_ALL_VERSIONS).ok().as_deref())
            }
        }
    }
}

pub(super) fn run(context: &Context, args: &CheckArgs) -> miette::Result<Status> {
    if args.stdin || args.each {
        return many(context, args);
    }
    let judgement = one(context, args)?;
    if context.format == Format::Github
        && let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY")
    {
        output::append(&PathBuf::from(path), &report::markdown::render(&judgement))?;
    }
    output::write(context.output.as_deref(), &render(context, args, &judgement))?;
    Ok(status(args, &judgement))
}

fn one(context: &Context, args: &CheckArgs) -> Result<Judgement, Error> {
    let mut request = request(context, args)?;
    if let Some(sha) = &args.commit {
        let repository = context.repository()?;
        request.policy = context.policy_file(Some(&repository))?;
        return gate(context, args, Some(&repository)).check_commit(
            sha,
            context.given_today(),
            &request,
            &NoHistory,
        );
    }
    if let (Some(base), Some(head)) = (&args.base, &args.head) {
        // Descriptor sets need no repository.
        let repository = context.repository_for(&[base, head])?;
        request.policy = context.policy_file(repository.as_ref())?;
        (request.base, request.head) = (base.clone(), head.clone());
        return gate(context, args, repository.as_ref()).check(&request, &NoHistory);
    }
    let repository = context.repository()?;
    request.policy = context.policy_file(Some(&repository))?;
    let mut gate = gate(context, args, Some(&repository));
    if let Some(range) = &args.range {
        (request.base, request.head) = parse_range(&repository, range)?;
        return gate.check(&request, &NoHistory);
    }
    request.head = match &args.head {
        Some(head) => head.clone(),
        None => gate.default_head(request.policy.as_ref()),
    };
    request.base = match &args.base {
        Some(base) => base.clone(),
        None => choose_base(&repository, &request.head)?,
    };
    gate.check(&request, &NoHistory)
}

/// A gate whose progress shows.
fn gate<'r>(context: &Context, args: &CheckArgs, repository: Option<&'r Repository>) -> Gate<'r> {
    let (cache, clock) = (args.cache.cache(), context.clock());
    let gate = Gate::new(repository).with_history(cache, clock, watch("commits"));
    #[cfg(feature = "runtime")]
    let gate = gate.watched(watch("goldens"));
    gate
}

/// Shows how many of the things of some kind are done.
fn watch(of_what: &'static str) -> Watch {
    let progress = std::sync::Arc::new(output::Progress::new(of_what, 0));
    let clear = progress.clone();
    Watch::new(move |done, of| progress.show_of(done, of), move || clear.clear())
}

/// `A..B`, `A...B` (from the merge base), with `HEAD` for a missing end.
fn parse_range(
    repository: &Repository,
    range: &str,
) -> Result<(RevisionSpec, RevisionSpec), Error> {
    let end = |text: &str| if text.is_empty() { "HEAD".to_owned() } else { text.to_owned() };
    if let Some((a, b)) = range.split_once("...") {
        let (a, b) = (repository.commit(&end(a))?, repository.commit(&end(b))?);
        let base = repository.merge_base(a.id, b.id).ok_or_else(|| ErrorKind::NoBase {
            why: format!("{} and {} have no common ancestor in this clone", a.short(), b.short()),
            help: "fetch more history (`git fetch --unshallow`), or write A..B".to_owned(),
        })?;
        let git = |id: git2::Oid| RevisionSpec::Git(id.to_string());
        return Ok((git(base), git(b.id)));
    }
    match range.split_once("..") {
        Some((a, b)) => Ok((RevisionSpec::Git(end(a)), RevisionSpec::Git(end(b)))),
        None => Err(ErrorKind::Usage {
            message: format!("'{range}' is no range"),
            help: format!("write A..B, or `--commit {range}` for a single commit"),
        }
        .into()),
    }
}

/// One document per commit; a commit that cannot be judged gives an error document and status 2.
fn many(context: &Context, args: &CheckArgs) -> miette::Result<Status> {
    let repository = context.repository()?;
    let mut request = request(context, args)?;
    request.policy = context.policy_file(Some(&repository))?;
    let mut gate = gate(context, args, Some(&repository));
    let mut status_so_far = Status::Passed;
    let mut document = String::new();
    let mut judge = |rev: &str| -> Result<(), Error> {
        let text = match gate.check_commit(rev, context.given_today(), &request, &NoHistory) {
            Ok(judgement) => {
                status_so_far = status_so_far.max(status(args, &judgement));
                match context.format {
                    Format::Json => report::json::render(&judgement, Layout::Line),
                    _ => render(context, args, &judgement),
                }
            }
            Err(error) => {
                status_so_far = Status::CouldNotJudge;
                match context.format {
                    Format::Json => report::json::error(rev, &error.to_string(), Layout::Line),
                    _ => {
                        format!("{}\n", report::text::line(&format!("cannot judge {rev}: {error}")))
                    }
                }
            }
        };
        if context.output.is_some() {
            document.push_str(&text);
            return Ok(());
        }
        output::write(None, &text)
    };
    if args.stdin {
        let mut any = false;
        let mut input = std::io::stdin().lock();
        while let Some(line) = next_line(&mut input)? {
            if let Some(rev) = line.split_whitespace().next() {
                any = true;
                judge(rev)?;
            }
        }
        if !any {
            return Err(Error::from(ErrorKind::Usage {
                message: "standard input names no commit".to_owned(),
                help: "write one a line; if a command made the list, see why it made none"
                    .to_owned(),
            })
            .into());
        }
    } else if let Some(range) = &args.range {
        let (base, head) = parse_range(&repository, range)?;
        if let (RevisionSpec::Git(base), RevisionSpec::Git(head)) = (base, head) {
            let (base, head) = (repository.commit(&base)?, repository.commit(&head)?);
            for commit in repository.first_parents(&base, &head)? {
                judge(&commit.id.to_string())?;
            }
        }
    }
    if let Some(path) = &context.output {
        output::write(Some(path), &document)?;
    }
    Ok(status_so_far)
}

/// The next line, `None` after the last.
fn next_line(input: &mut impl std::io::BufRead) -> Result<Option<String>, Error> {
    let mut line = Vec::new();
    let read = input.take(MAX_LINE + 1).read_until(b'\n', &mut line);
    read.map_err(|error| ErrorKind::Io { path: "standard input".into(), error })?;
    if line.len() as u64 > MAX_LINE {
        return Err(ErrorKind::Usage {
            message: format!("a line on standard input has more than {MAX_LINE} bytes"),
            help: "write one commit a line, as `git rev-list` does".to_owned(),
        }
        .into());
    }
    // What is no text names no commit, which is said of the line.
    Ok((!line.is_empty()).then(|| String::from_utf8_lossy(&line).into_owned()))
}

fn request(context: &Context, args: &CheckArgs) -> Result<Request, Error> {
    let mut attestations = Vec::new();
    for text in &args.attest {
        let line = format!("AOT-Compat: {text}");
        let parsed = parse_attestations(&line, "");
        let unknown = parsed.iter().find(|a| checks::find(&a.check).is_none());
        if parsed.is_empty() || unknown.is_some() {
            let known = checks::ALL.iter().map(|(check, _)| check.id);
            let close = unknown.and_then(|a| policy::closest(&a.check, known));
            return Err(ErrorKind::Usage {
                message: format!("--attest \"{text}\" attests nothing"),
                help: match close {
                    Some(id) => format!("did you mean the check `{id}`?"),
                    None => "write \"CHECK CONSTRUCT - REASON\", as the finding says".to_owned(),
                },
            }
            .into());
        }
        attestations.push((line, "--attest".to_owned()));
    }
    attestations.extend(pull_request());
    if let Some(dir) = args.golden_store.iter().find(|dir| !dir.is_dir()) {
        let error = std::io::Error::from(std::io::ErrorKind::NotADirectory);
        return Err(ErrorKind::Io { path: dir.clone(), error }.into());
    }
    Ok(Request {
        base: RevisionSpec::Empty,
        head: RevisionSpec::Empty,
        today: context.today(),
        policy: None,
        strict: args.strict,
        goldens: args.selection(),
        golden_stores: args.golden_store.clone(),
        attestations,
    })
}

/// Body and author of the pull request that a GitHub workflow runs for.
fn pull_request() -> Option<(String, String)> {
    let path = std::env::var_os("GITHUB_EVENT_PATH")?;
    let text = std::fs::read_to_string(path).ok()?;
    let event: serde_json::Value = serde_json::from_str(&text).ok()?;
    let request = event.get("pull_request")?;
    let body = request.get("body")?.as_str()?.to_owned();
    let author = request.pointer("/user/login").and_then(|v| v.as_str()).unwrap_or("its author");
    Some((body, format!("pull request by {author}")))
}

fn render(context: &Context, args: &CheckArgs, judgement: &Judgement) -> String {
    match context.format {
        Format::Human => report::human::render(judgement, &context.style(args.verbose)),
        Format::Json => report::json::render(judgement, Layout::Pretty),
        Format::Sarif => report::sarif::render(judgement),
        Format::Github => report::github::render(judgement),
        Format::Markdown => report::markdown::render(judgement),
        Format::Junit => report::junit::render(judgement),
        Format::Html => report::html::render(judgement),
    }
}

fn status(args: &CheckArgs, judgement: &Judgement) -> Status {
    // Asked for by name, it must not look as if it had been read.
    let named = args.goldens.is_some() || !args.golden_store.is_empty();
    if named && !judgement.goldens.unreadable.is_empty() {
        return Status::CouldNotJudge;
    }
    match (judgement.verdict(), args.fail_on) {
        (Verdict::Pass, _) | (Verdict::Review, FailOn::Fail) => Status::Passed,
        _ => Status::Blocked,
    }
}
