//! From a chain of commits to its timeline: which commits touch the contract, and what it is there.
//!
//! Commits are looked at in chunks, by as many threads as there are cores. For each commit only directories are read that
//! changed and hold a file of the contract ([`Watched`](crate::revision::Watched)); where such a file changed, the
//! contract is compiled again and compared with the one before. One thread enters the results in order, so that the
//! timeline does not depend on how the work was shared out.

mod chunk;

use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use git2::Oid;

use self::chunk::{Chunk, Step, Worker};
use super::chain::Chain;
use super::timeline::{Commit, Difference};
use super::{Position, Timeline};
use crate::descriptor::{Contract, ContractSpec, ParseCache};
use crate::error::{Error, ErrorKind};
use crate::revision::{Ancestor, Repository, Revision, RevisionSpec};

/// Commits that one thread looks at in a row; it starts by reading the contract of the one before.
const CHUNK: usize = 512;

/// Fewer commits are not worth a thread.
const FEW: usize = 64;

/// Differences that wait to be entered, of each chunk: more than a chunk usually has, so that no thread waits for the one
/// with an earlier chunk.
const WAITING: usize = 32;

/// Threads have the stack of a main thread: parsers descend into nested declarations.
const STACK: usize = 16 << 20;

/// More uses and changes than this are refused: no contract has them, and they would fill the memory.
const MAX_FACTS: usize = 4_000_000;

/// Is told how many commits have been looked at.
pub type Progress<'p> = &'p (dyn Fn(usize, usize) + Sync);

/// Is given what has been seen so far, and whether objects were missing.
type Pause<'p> = &'p mut dyn FnMut(&Chain, &Timeline, bool);

/// What is walked, and what is known before.
pub(super) struct Walk<'w> {
    repository: &'w Repository,
    spec: &'w ContractSpec,
    /// The commits that the timeline has seen; those of the walk are put on.
    pub(super) chain: Chain,
    pub(super) timeline: Timeline,
    progress: Progress<'w>,
    /// Whether objects were missing.
    pub(super) missing: bool,
    /// Commits that the chain had before the walk.
    known: usize,
}

impl<'w> Walk<'w> {
    /// A walk that starts with the commit after `chain`.
    pub(super) fn after(
        repository: &'w Repository,
        spec: &'w ContractSpec,
        (chain, timeline): (Chain, Timeline),
        progress: Progress<'w>,
    ) -> Self {
        let known = chain.commits.len();
        Walk { repository, spec, chain, timeline, progress, missing: false, known }
    }

    /// Walks the commits that follow the chain, oldest first. `pause` is called every now and then, with everything that
    /// has been seen up to there.
    pub(super) fn run(
        &mut self,
        commits: &[Ancestor],
        chunk: Option<NonZeroUsize>,
        pause: Pause<'_>,
    ) -> Result<(), Error> {
        let before = self.chain.commits.last().and_then(|(id, _)| self.repository.root_tree(*id));
        if commits.len() <= FEW && chunk.is_none() {
            return self.alone(&Chunk { start: 0, before, commits }, pause);
        }
        let chunks = chunks(commits, before, chunk.map_or(CHUNK, NonZeroUsize::get));
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let mut jobs = Vec::new();
        let mut results = Vec::new();
        for chunk in &chunks {
            let (send, receive) = sync_channel(WAITING);
            jobs.push((chunk, send));
            results.push((chunk, receive));
        }
        jobs.reverse();
        let jobs = Mutex::new(jobs);
        let done = Mutex::new(0_usize);
        let (spec, progress) = (self.spec, self.progress);
        let count = || {
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            *done += 1;
            progress(*done, commits.len());
        };
        std::thread::scope(|scope| {
            let mut threads = 0;
            for _ in 0..cores.min(chunks.len()) {
                // libgit2's handles are not shared between threads.
                let Ok(own) = self.repository.again() else { continue };
                let (jobs, count) = (&jobs, &count);
                let work = move || work(&own, spec, jobs, count);
                let thread = std::thread::Builder::new().stack_size(STACK);
                threads += usize::from(thread.spawn_scoped(scope, work).is_ok());
            }
            if threads == 0 {
                drop(results);
                return chunks.iter().try_for_each(|chunk| self.alone(chunk, pause));
            }
            results.into_iter().try_for_each(|(chunk, results)| self.enter(chunk, &results, pause))
        })
    }

    /// Looks at commits and enters them at once.
    fn alone(&mut self, chunk: &Chunk<'_>, pause: Pause<'_>) -> Result<(), Error> {
        let (repository, spec, progress) = (self.repository, self.spec, self.progress);
        let mut result = Ok(());
        let mut seen = 0;
        let mut worker = Worker::new(repository, spec);
        worker.run(
            chunk,
            &mut |step| {
                result = self.step(chunk, step);
                result.is_ok()
            },
            &mut || {
                seen += 1;
                progress(seen, chunk.commits.len());
            },
        );
        result?;
        self.pass(chunk, chunk.start + chunk.commits.len());
        pause(&self.chain, &self.timeline, self.missing);
        Ok(())
    }

    /// Enters what a thread finds in a chunk.
    fn enter(
        &mut self,
        chunk: &Chunk<'_>,
        results: &Receiver<Step>,
        pause: Pause<'_>,
    ) -> Result<(), Error> {
        for step in results {
            self.step(chunk, step)?;
        }
        self.pass(chunk, chunk.start + chunk.commits.len());
        pause(&self.chain, &self.timeline, self.missing);
        Ok(())
    }

    fn step(&mut self, chunk: &Chunk<'_>, step: Step) -> Result<(), Error> {
        match step {
            Step::Differs { at, difference } => {
                self.pass(chunk, at + 1);
                self.observe(difference)?;
            }
            Step::Contract { at, contract } => {
                let last_read = self.timeline.last_read();
                self.pass(chunk, at + 1);
                match self.before(last_read) {
                    Ok(before) => self.observe(Difference::new(&before, &contract))?,
                    // Without its predecessor nothing can be said of it.
                    Err(error) => {
                        self.missing = true;
                        if let Some(position) = self.newest() {
                            self.timeline.unreadable(position, error.to_string());
                        }
                    }
                }
            }
            Step::Unreadable { at, reason, missing } => {
                self.pass(chunk, at + 1);
                self.missing |= missing;
                if let Some(position) = self.newest() {
                    self.timeline.unreadable(position, reason);
                }
            }
            Step::Failed => {
                return Err(ErrorKind::HistoryDefect.into());
            }
        }
        Ok(())
    }

    /// Enters the contract of the newest commit.
    fn observe(&mut self, difference: Difference) -> Result<(), Error> {
        let Some(position) = self.newest() else { return Ok(()) };
        let Some((id, date)) = self.chain.at(position) else { return Ok(()) };
        let message = self.repository.message(id);
        self.timeline.observe(Commit { position, id, date, message: &message }, difference);
        // Adding them up takes a while, and one contract cannot have many.
        let count = self.timeline.landed.len().is_multiple_of(16);
        if count && self.timeline.facts() > MAX_FACTS {
            return Err(ErrorKind::HistoryTooLarge { limit: MAX_FACTS }.into());
        }
        Ok(())
    }

    /// The contract that was entered last, read again.
    fn before(&self, last_read: Option<Position>) -> Result<Contract, Error> {
        let known = last_read.filter(|_| !self.timeline.landed.is_empty());
        let Some((id, _)) = known.and_then(|position| self.chain.at(position)) else {
            return Ok(Contract::empty());
        };
        let revision = Revision::open(&RevisionSpec::Git(id.to_string()), Some(self.repository))?;
        let closure = revision.closure(self.spec, &mut ParseCache::default())?;
        closure.contract(self.spec)
    }

    /// Puts the commits before index `end` of the walk on the chain.
    fn pass(&mut self, chunk: &Chunk<'_>, end: usize) {
        let have = self.chain.commits.len().saturating_sub(self.known + chunk.start);
        let wanted = end.saturating_sub(chunk.start);
        for commit in chunk.commits.get(have..wanted).unwrap_or_default() {
            self.chain.push(commit);
        }
        if let Some(newest) = self.newest() {
            self.timeline.pass(newest);
        }
    }

    fn newest(&self) -> Option<Position> {
        u32::try_from(self.chain.commits.len().checked_sub(1)?).ok().map(Position)
    }
}

/// Commits in pieces, each with the root tree of the commit before it.
fn chunks(commits: &[Ancestor], before: Option<Oid>, size: usize) -> Vec<Chunk<'_>> {
    let mut start = 0;
    let mut before = before;
    commits
        .chunks(size)
        .map(|commits| {
            let chunk = Chunk { start, before, commits };
            start += commits.len();
            before = commits.last().map(|commit| commit.tree);
            chunk
        })
        .collect()
}

type Jobs<'j, 'c> = Mutex<Vec<(&'j Chunk<'c>, SyncSender<Step>)>>;

/// Takes one chunk after the other.
fn work(repository: &Repository, spec: &ContractSpec, jobs: &Jobs<'_, '_>, count: &dyn Fn()) {
    let mut worker = Worker::new(repository, spec);
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some((chunk, send)) = job else { return };
        let run = std::panic::AssertUnwindSafe(|| {
            worker.run(chunk, &mut |step| send.send(step).is_ok(), &mut || count());
        });
        if std::panic::catch_unwind(run).is_err() {
            let _ = send.send(Step::Failed);
            return;
        }
    }
}
