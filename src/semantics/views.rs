//! An executable as a revision understands it, in the canonical contract's words.

use std::collections::BTreeSet;

use crate::change::Pairs;
use crate::descriptor::Contract;
use crate::error::Error;
use crate::triage::policy;
use crate::view::{self, LossKind};

/// Root message of what an artifact's containers hold.
const ROOT: &str = "xla.gpu.GpuExecutableProto";

/// Base or head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The older contract.
    Base,
    /// The newer contract.
    Head,
}

/// Both contracts and the canonical one.
pub struct Views<'a> {
    base: &'a Contract,
    head: &'a Contract,
    canonical: Contract,
    pairs: [Pairs; 2],
    /// What head calls the root.
    head_root: String,
}

/// An executable in the canonical contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Canonical bytes of the canonical contract's root.
    pub bytes: Vec<u8>,
    /// What the side reads and the canonical contract has no place for, by the side's full names.
    pub unmodelled: BTreeSet<String>,
}

impl<'a> Views<'a> {
    /// Views through two contracts, the same object where nothing changed.
    ///
    /// # Errors
    /// None unless the build is broken.
    pub fn new(base: &'a Contract, head: &'a Contract) -> Result<Self, Error> {
        let canonical = view::canonical_contract(&policy::built_in()?.contract)?;
        let same = std::ptr::eq(base, head);
        let to_base = Pairs::new(base, &canonical);
        let to_head = if same { Pairs::default() } else { Pairs::new(head, &canonical) };
        let across = if same { Pairs::default() } else { Pairs::new(base, head) };
        let renamed = across.message_in_head(ROOT).map(|name| name.to_string());
        let head_root = renamed.unwrap_or_else(|| ROOT.to_owned());
        Ok(Views { base, head, canonical, pairs: [to_base, to_head], head_root })
    }

    /// Whether one view serves both sides.
    pub fn same(&self) -> bool {
        std::ptr::eq(self.base, self.head)
    }

    /// The canonical contract.
    pub fn canonical(&self) -> &Contract {
        &self.canonical
    }

    /// A side's contract, and how its types pair with the canonical ones.
    pub(super) fn side(&self, side: Side) -> (&'a Contract, &Pairs) {
        match side {
            Side::Head if !self.same() => (self.head, &self.pairs[1]),
            _ => (self.base, &self.pairs[0]),
        }
    }

    /// What a side understands.
    ///
    /// # Errors
    /// Why the side's parser refuses the bytes.
    pub fn view(
        &self,
        side: Side,
        executable: &[u8],
        limits: view::Limits,
    ) -> Result<View, String> {
        let (contract, pairs) = self.side(side);
        let root = if side == Side::Head { &*self.head_root } else { ROOT };
        let held = view::decode(executable, contract, root, limits)
            .map_err(|refused| refused.to_string())?;
        let (bytes, losses) = view::translate(&held, &self.canonical, pairs);
        let unmodelled = losses.into_iter().filter(|loss| loss.kind == LossKind::NotModelled);
        Ok(View { bytes, unmodelled: unmodelled.map(|loss| loss.construct).collect() })
    }
}
