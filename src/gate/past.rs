//! What the gate knows of the past: rollouts of base, and its history where a check asks for it.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use chrono::NaiveDate;

use crate::descriptor::ContractSpec;
use crate::history::ledger::Ledger;
use crate::history::{Begin, Cache, History, Options, View, since_for_check};
use crate::revision::{CommitInfo, Repository, Revision};
use crate::rollout::Rollouts;
use crate::rollout::windows::Length;
use crate::triage::policy::Policy;
use crate::triage::{Emission, EvidenceSource, Former, Seen};

use super::Watch;

/// How many histories are kept: a session judges commits of neighbouring months.
const KEPT: usize = 2;

/// The histories that a session has read.
pub(super) struct Past<'r> {
    repository: Option<&'r Repository>,
    cache: Cache,
    clock: NaiveDate,
    watch: Watch,
    read: RefCell<Vec<Rc<Read>>>,
}

impl std::fmt::Debug for Past<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Past").field("cache", &self.cache).finish_non_exhaustive()
    }
}

struct Read {
    spec: ContractSpec,
    since: NaiveDate,
    history: History,
}

impl<'r> Past<'r> {
    pub(super) fn new(
        repository: Option<&'r Repository>,
        cache: Cache,
        clock: NaiveDate,
        watch: Watch,
    ) -> Self {
        Past { repository, cache, clock, watch, read: RefCell::default() }
    }

    /// The history of a contract that has `base` on its chain; `Err` says why there is none.
    fn of(
        &self,
        base: &CommitInfo,
        spec: &ContractSpec,
        backward: Length,
    ) -> Result<Rc<Read>, String> {
        let repository = self.repository.ok_or("no repository")?;
        let back = |commit: &CommitInfo| since_for_check(commit.date.min(self.clock), backward);
        let since = back(base);
        let fits = |read: &Rc<Read>| {
            read.since == since
                && read.spec == *spec
                && read.history.chain.position(base.id).is_some()
        };
        if let Some(read) = self.read.borrow().iter().find(|read| fits(read)) {
            return Ok(read.clone());
        }
        let options = Options::new(Some(since), self.cache.clone()).by(self.clock);
        let watch = &self.watch;
        let progress = |done, of| watch.show(done, of);
        // The branch that is checked out has most of what is asked for, and its index serves all; but commits of long
        // ago have no use for what came after them.
        let head = repository.head().ok();
        let recent = head.filter(|head| back(head) == since);
        let tips = recent.map(|head| head.id).into_iter().chain([base.id]);
        for tip in tips {
            let history = History::open(repository, spec, tip, &options, &progress);
            self.watch.clear();
            let history = history.map_err(|error| error.to_string())?;
            if history.chain.position(base.id).is_none() {
                continue;
            }
            let read = Rc::new(Read { spec: spec.clone(), since, history });
            let mut all = self.read.borrow_mut();
            all.truncate(KEPT - 1);
            all.insert(0, read.clone());
            return Ok(read);
        }
        Err(format!("{} is on no line of first parents", base.short()))
    }
}

/// The evidence on one change.
pub(super) struct Known<'g, 'r> {
    /// What the caller knows, which comes first.
    pub(super) given: &'g dyn EvidenceSource,
    /// Those of base.
    pub(super) rollouts: Rollouts,
    /// The date that windows are measured against.
    pub(super) today: NaiveDate,
    /// Whose past is asked for.
    pub(super) base: &'g Revision<'g>,
    pub(super) policy: &'g Policy,
    /// None where history is not to be read.
    pub(super) past: Option<Rc<Past<'r>>>,
    pub(super) looked: Looked,
}

/// What was read when it was first asked for.
#[derive(Default)]
pub(super) struct Looked {
    /// Base's ledger: with it history is not read.
    ledger: OnceCell<Option<Ledger>>,
    /// The history as of base.
    history: OnceCell<Result<Rc<Read>, String>>,
}

impl Known<'_, '_> {
    fn history(&self) -> Option<&Rc<Read>> {
        let past = self.past.as_ref()?;
        let read = self.looked.history.get_or_init(|| match &self.base.commit {
            Some(commit) => past.of(commit, &self.policy.contract, self.policy.windows.backward),
            None => Err("base is no commit".to_owned()),
        });
        read.as_ref().ok()
    }

    fn ask<T>(&self, ask: impl FnOnce(View<'_>) -> T) -> Option<T> {
        // One that cannot be read is a finding of its own, and history says the same.
        let ledger = || self.base.ledger(self.policy).unwrap_or_default();
        if let Some(ledger) = self.looked.ledger.get_or_init(ledger) {
            return Some(ask(ledger.timeline().latest()));
        }
        let read = self.history()?;
        Some(ask(read.history.as_of(self.base.commit.as_ref()?.id)?))
    }
}

impl EvidenceSource for Known<'_, '_> {
    fn emission(&self, construct: &str) -> Emission {
        match self.given.emission(construct) {
            Emission::Unknown => {}
            known => return known,
        }
        match self.rollouts.emission(construct, self.today) {
            // What replaces it cannot have been emitted before it was declared.
            Emission::Ceased(since) => {
                let new = self.rollouts.replacing(construct);
                let declared = new.filter_map(|new| self.introduced(new)).map(|seen| seen.date);
                Emission::Ceased(declared.fold(since, NaiveDate::max))
            }
            stated => stated,
        }
    }

    fn number_before(&self, scope: &str, number: i32) -> Vec<Former> {
        let given = self.given.number_before(scope, number);
        if !given.is_empty() {
            return given;
        }
        self.ask(|view| view.number_before(scope, number)).unwrap_or_default()
    }

    fn name_before(&self, scope: &str, name: &str) -> Vec<Former> {
        let given = self.given.name_before(scope, name);
        if !given.is_empty() {
            return given;
        }
        self.ask(|view| view.name_before(scope, name)).unwrap_or_default()
    }

    fn introduced(&self, construct: &str) -> Option<Seen> {
        let given = self.given.introduced(construct);
        given.or_else(|| self.ask(|view| view.introduced(construct))?)
    }

    fn number_reserved(&self, scope: &str, number: i32) -> Option<Seen> {
        let given = self.given.number_reserved(scope, number);
        given.or_else(|| self.ask(|view| view.number_reserved_since(scope, number))?)
    }

    fn name_reserved(&self, scope: &str, name: &str) -> Option<Seen> {
        let given = self.given.name_reserved(scope, name);
        given.or_else(|| self.ask(|view| view.name_reserved_since(scope, name))?)
    }

    /// Only what was asked for can be missing.
    fn missing(&self) -> Option<String> {
        const FETCH: &str = "`git fetch --unshallow` supplies it";
        match self.looked.history.get()? {
            Err(why) => Some(format!("the history of base was not read: {why}")),
            Ok(read) if read.history.timeline.begin == Begin::Cut => {
                let first = read.history.first().map(|moment| moment.date);
                let first = first.map(|date| format!(" on {date}")).unwrap_or_default();
                Some(format!(
                    "this clone's history ends{first}, so what was there before is unknown: {FETCH}"
                ))
            }
            Ok(_) => None,
        }
    }
}
