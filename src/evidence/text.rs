//! The contracts that text goldens are parsed with.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use aotgate_runtime::artifact::Artifact;
use prost::bytes::Bytes;

use crate::descriptor::{Contract, ContractSpec, ParseCache, SourceClosure};
use crate::error::Error;
use crate::revision::Revision;
use crate::view;

/// Contracts of both sides with the outer message that text goldens begin with, each made when first needed.
#[derive(Debug)]
pub struct TextContracts<'a> {
    revisions: [&'a Revision<'a>; 2],
    spec: ContractSpec,
    cache: RefCell<ParseCache>,
    base_closure: OnceCell<SourceClosure>,
    made: [OnceCell<Arc<Contract>>; 2],
}

impl<'a> TextContracts<'a> {
    /// For base and head of a check; `cache` has files that are parsed already.
    pub fn new(
        base: &'a Revision<'a>,
        head: &'a Revision<'a>,
        spec: &ContractSpec,
        cache: ParseCache,
    ) -> Self {
        TextContracts {
            revisions: [base, head],
            spec: view::opening_spec(spec),
            cache: RefCell::new(cache),
            base_closure: OnceCell::new(),
            made: [OnceCell::new(), OnceCell::new()],
        }
    }

    /// The cache, with what was parsed meanwhile.
    pub fn into_cache(self) -> ParseCache {
        self.cache.into_inner()
    }

    /// Opens text with head's contract or base's.
    ///
    /// # Errors
    /// Text that the contract does not allow, and a contract that cannot be read.
    pub fn parse(&self, text: &Bytes, head: bool) -> Result<Artifact, Error> {
        let contract = self.made(usize::from(head))?;
        view::open(text.clone(), &contract)
    }

    fn made(&self, side: usize) -> Result<Arc<Contract>, Error> {
        if let Some(contract) = self.made[side].get() {
            return Ok(contract.clone());
        }
        let closure = match side {
            0 => self.base_closure()?.clone(),
            _ => {
                let before = self.base_closure()?;
                let mut cache = self.cache.borrow_mut();
                self.revisions[side].closure_after(&self.spec, &mut cache, Some(before))?
            }
        };
        let contract = Arc::new(closure.contract(&self.spec)?);
        Ok(self.made[side].get_or_init(|| contract).clone())
    }

    fn base_closure(&self) -> Result<&SourceClosure, Error> {
        if let Some(closure) = self.base_closure.get() {
            return Ok(closure);
        }
        let closure = self.revisions[0].closure(&self.spec, &mut self.cache.borrow_mut())?;
        Ok(self.base_closure.get_or_init(|| closure))
    }
}
