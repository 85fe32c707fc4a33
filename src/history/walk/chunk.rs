//! What one thread finds in a piece of the chain.

use std::sync::Arc;

use git2::Oid;

use crate::descriptor::{Contract, ContractSpec, ParseCache, SourceClosure};
use crate::error::Error;
use crate::history::timeline::Difference;
use crate::revision::{Ancestor, Repository, Watched};

/// Commits in a row.
pub(super) struct Chunk<'c> {
    /// Index of the first in the walk.
    pub(super) start: usize,
    /// Root tree of the commit before the first.
    pub(super) before: Option<Oid>,
    /// The commits, oldest first.
    pub(super) commits: &'c [Ancestor],
}

/// Something that happened at a commit; `at` is its index in the walk.
pub(super) enum Step {
    /// Another contract, by how it differs from the one before.
    Differs { at: usize, difference: Difference },
    /// A contract that follows nothing in this piece.
    Contract { at: usize, contract: Arc<Contract> },
    /// No contract can be read; whether that is for want of objects.
    Unreadable { at: usize, reason: String, missing: bool },
    /// A panic, which is a defect.
    Failed,
}

/// Looks at commits, with a repository of its own.
pub(super) struct Worker<'r> {
    watched: Watched<'r>,
    spec: &'r ContractSpec,
    cache: ParseCache,
    /// The contract that was read last, compiled when first needed; `None` where none could be read.
    last: Option<Last>,
}

struct Last {
    closure: SourceClosure,
    contract: Option<Arc<Contract>>,
}

impl<'r> Worker<'r> {
    pub(super) fn new(repository: &'r Repository, spec: &'r ContractSpec) -> Self {
        let watched = Watched::new(repository);
        Worker { watched, spec, cache: ParseCache::default(), last: None }
    }

    /// Goes through a piece. `emit` says whether to go on, `count` is called for every commit.
    pub(super) fn run(
        &mut self,
        chunk: &Chunk<'_>,
        emit: &mut dyn FnMut(Step) -> bool,
        count: &mut dyn FnMut(),
    ) {
        self.last = None;
        // Whether the commit before can be read; what comes first follows nothing.
        let mut readable = false;
        if let Some(tree) = chunk.before
            && self.watched.go_to(tree).is_ok()
            && let Ok(closure) = self.read()
        {
            self.last = Some(Last { closure, contract: None });
            readable = true;
        }
        for (index, commit) in chunk.commits.iter().enumerate() {
            count();
            let at = chunk.start + index;
            let first = index == 0 && chunk.before.is_none();
            let read = match self.watched.go_to(commit.tree) {
                Ok(false) if !first => continue,
                Ok(_) => self.read(),
                Err(error) => Err(error),
            };
            let step = match read.and_then(|closure| self.compile(at, closure, readable)) {
                Ok(step) => {
                    readable = true;
                    step
                }
                Err(error) => {
                    readable = false;
                    let (reason, missing) = (error.to_string(), error.is_missing_object());
                    Some(Step::Unreadable { at, reason, missing })
                }
            };
            if step.is_some_and(|step| !emit(step)) {
                return;
            }
        }
    }

    fn read(&mut self) -> Result<SourceClosure, Error> {
        self.cache.advance();
        self.watched.start_reading();
        SourceClosure::read(&self.watched, self.spec, &mut self.cache)
    }

    /// The step to another contract; `None` where it declares the same as the one before.
    fn compile(
        &mut self,
        at: usize,
        closure: SourceClosure,
        readable: bool,
    ) -> Result<Option<Step>, Error> {
        if let Some(last) = &mut self.last
            && readable
            && last.closure.same_declarations(&closure)
        {
            // Newer places do no harm, but compiling for them does.
            last.closure = closure;
            return Ok(None);
        }
        let before = match &self.last {
            Some(Last { contract: Some(before), .. }) => Some(before.clone()),
            Some(Last { closure, .. }) => closure.contract(self.spec).ok().map(Arc::new),
            None => None,
        };
        let contract = Arc::new(match &before {
            Some(before) => closure.contract_after(self.spec, before)?,
            None => closure.contract(self.spec)?,
        });
        let step = match before {
            Some(before) => Step::Differs { at, difference: Difference::new(&before, &contract) },
            None => Step::Contract { at, contract: contract.clone() },
        };
        self.last = Some(Last { closure, contract: Some(contract) });
        Ok(Some(step))
    }
}
