//! The command line: parse arguments, run one command, give an exit status.

#[cfg(feature = "runtime")]
mod artifact;
mod cache;
mod check;
mod context;
mod diff;
mod explain;
mod files;
#[cfg(feature = "runtime")]
mod golden;
mod history;
#[cfg(feature = "runtime")]
mod input;
mod ledger;
#[cfg(feature = "runtime")]
mod limits;
mod output;
mod rollout;
#[cfg(feature = "runtime")]
mod run;
mod snapshot;

use std::path::PathBuf;

use chrono::NaiveDate;
use clap::{Args, Parser, Subcommand, ValueEnum};

use context::Context;
use files::Files;

/// Judges changes to the serialized-executable contract of XLA:GPU.
#[derive(Debug, Parser)]
#[command(
    name = "aotgate",
    version,
    about,
    after_help = "\
A REV is anything git understands, WORKTREE, INDEX, EMPTY, a directory (., ./x, x/), a ledger (*.lock), a descriptor set
(*.binpb, *.fds, *.pb), or a released binary (*.so, *.whl) whose embedded descriptors are read.

Exit status: 0 passed, 1 blocked, 2 could not judge."
)]
pub struct Cli {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Args)]
struct GlobalArgs {
    /// Directory inside the repository to work on [default: the current one].
    #[arg(long, global = true, value_name = "DIR")]
    repo: Option<PathBuf>,
    /// Policy file; inside the repository base's version counts.
    #[arg(long, global = true, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Measure windows against this date instead of the current one.
    #[arg(long, global = true, value_name = "YYYY-MM-DD")]
    today: Option<NaiveDate>,
    /// How to print.
    #[arg(long, global = true, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Write to a file instead of standard output.
    #[arg(long, short = 'o', global = true, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print how long it took on standard error.
    #[arg(long, global = true)]
    timing: bool,
}

/// Output formats; not every command has all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Human,
    /// The documented JSON documents.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Workflow annotations for GitHub; the job summary goes to `GITHUB_STEP_SUMMARY`.
    Github,
    /// The job summary alone.
    Markdown,
    /// JUnit XML.
    Junit,
    /// One self-contained page.
    Html,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Judge a change: what is safe, what breaks whom, and what to do.
    Check(check::CheckArgs),
    /// The contract at one revision.
    Snapshot(snapshot::SnapshotArgs),
    /// Every contract change between two revisions with its effect on the wire.
    Diff(diff::DiffArgs),
    /// What happened to the contract, commit by commit: changes, reverts, numbers used twice.
    History(history::HistoryArgs),
    /// Look into artifacts and ask what runtimes make of them.
    #[cfg(feature = "runtime")]
    Artifact(artifact::ArtifactArgs),
    /// What a check means, the list of checks, or a JSON schema.
    Explain(explain::ExplainArgs),
    /// Write or verify the ledger: the contract and its history as text in the governed tree.
    Ledger(ledger::LedgerArgs),
    /// Goldens: artifacts of released compilers that must go on running.
    #[cfg(feature = "runtime")]
    Golden(golden::GoldenArgs),
    /// Staged rollouts: where each stands, what may land when, and whether history agrees.
    Rollout(rollout::RolloutArgs),
    /// Execute one artifact, without a GPU and without XLA.
    #[cfg(feature = "runtime")]
    Run(run::RunArgs),
}

/// What a command ended in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Exit status 0.
    Passed,
    /// Exit status 1.
    Blocked,
    /// Exit status 2.
    CouldNotJudge,
}

impl Cli {
    /// What it reads and writes.
    fn files(&self) -> Files {
        let files = match &self.command {
            Command::Check(args) => args.files(),
            Command::Snapshot(args) => args.files(),
            Command::Diff(args) => args.files(),
            #[cfg(feature = "runtime")]
            Command::Artifact(args) => args.files(),
            Command::Explain(_)
            | Command::History(_)
            | Command::Ledger(_)
            | Command::Rollout(_) => Files::default(),
            #[cfg(feature = "runtime")]
            Command::Golden(args) => args.files(),
            #[cfg(feature = "runtime")]
            Command::Run(args) => args.files(),
        };
        files.reads(&self.global.policy).writes(&self.global.output)
    }

    /// Runs the command.
    ///
    /// # Errors
    /// Anything that could not be read or judged; the caller prints it and exits with 2.
    pub fn run(self) -> miette::Result<Status> {
        let started = std::time::Instant::now();
        let timing = self.global.timing;
        self.files().check()?;
        let context = Context::new(self.global);
        let status = match self.command {
            Command::Check(args) => check::run(&context, &args),
            Command::Snapshot(args) => snapshot::run(&context, &args),
            Command::Diff(args) => diff::run(&context, &args),
            Command::History(args) => history::run(&context, &args),
            #[cfg(feature = "runtime")]
            Command::Artifact(command) => artifact::run(&context, &command),
            Command::Explain(args) => explain::run(&context, &args),
            Command::Ledger(args) => ledger::run(&context, &args),
            #[cfg(feature = "runtime")]
            Command::Golden(args) => golden::run(&context, &args),
            Command::Rollout(args) => rollout::run(&context, &args),
            #[cfg(feature = "runtime")]
            Command::Run(args) => run::run(&context, &args),
        };
        if timing {
            output::note(&format!("{:.1} ms", started.elapsed().as_secs_f64() * 1000.0));
        }
        status
    }
}

/// Prints an error to standard error.
pub fn report_error(error: &miette::Report) {
    // Its text quotes files and names that anybody may have written.
    let mut text = String::new();
    let handler =
        miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::unicode_nocolor());
    if handler.render_report(&mut text, error.as_ref()).is_err() {
        text = error.to_string();
    }
    // A line must not look like a workflow command either.
    let plain = crate::report::text::block(&text).replace("##[", "## [");
    let lines = plain.lines().map(|line| {
        if line.trim_start().starts_with("::") { format!("> {line}") } else { line.to_owned() }
    });
    output::note(&lines.collect::<Vec<_>>().join("\n"));
}
