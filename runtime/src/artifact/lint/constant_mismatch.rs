//! A constant's value is missing or does not fit its allocation.
//!
//! ## What it flags
//!
//! - A constant with more bytes than its allocation (error) or fewer (warning).
//! - A constant with empty content whose global the module's device code does not have (error).
//! - A constant without content whose HLO constant is not in the module, or has no value there (error).
//!   Its global is named `buffer_for_` and the instruction's name.
//!
//! ## Why it matters
//!
//! The loader copies the bytes to the allocation before the first run. What it does not find, it refuses
//! or leaves as it was.
//!
//! ## What to do
//!
//! Write the value in exactly one of the three places.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use prost::Message as _;
use prost_reflect::MessageDescriptor;

use super::finding::{Draft, Level};
use super::rule::{At, Rule, RuleInfo};
use super::subject::Subject;
use crate::artifact::rope::Rope;
use crate::proto::xla::gpu::gpu_executable_proto::ConstantInfoProto;

pub(super) static RULE: RuleInfo = RuleInfo { id: "constant-mismatch", level: Level::Error };

const CONSTANT: &str = "xla.gpu.GpuExecutableProto.ConstantInfoProto";

pub(super) struct Check {
    symbols: Option<Rc<BTreeSet<Vec<u8>>>>,
    opaque_binary: bool,
    hlo_constants: Rc<BTreeMap<Vec<u8>, bool>>,
}

impl Check {
    pub(super) fn new(subject: &Subject) -> Self {
        Check {
            symbols: subject.symbols.clone(),
            opaque_binary: subject.opaque_binary,
            hlo_constants: subject.hlo_constants.clone(),
        }
    }

    fn wrong(&self, constant: &ConstantInfoProto, allocated: Option<i64>) -> Option<Draft> {
        let name = constant.symbol_name.as_bytes();
        let shown = &constant.symbol_name;
        let Some(content) = &constant.content else {
            return match self.hlo_constants.get(name) {
                Some(true) => None,
                Some(false) => Some(Draft::new(format!(
                    "{shown}: neither it nor its HLO constant has a value"
                ))),
                None => {
                    Some(Draft::new(format!("{shown}: no value, and no HLO constant of its name")))
                }
            };
        };
        let size = content.data.len();
        if size == 0 && allocated != Some(0) {
            let there = self.symbols.as_ref().is_some_and(|symbols| symbols.contains(name));
            // Since 0.10.2 loaders prefer the HLO module's value.
            let in_hlo = self.hlo_constants.get(name) == Some(&true);
            return (!there && !in_hlo && !self.opaque_binary).then(|| {
                Draft::new(format!(
                    "{shown}: empty, and the module's device code has no such global"
                ))
            });
        }
        let allocated = u64::try_from(allocated?).ok()?;
        let text = || {
            Draft::new(format!("{shown}: {size} bytes for an allocation of {allocated}"))
                .bytes(size)
        };
        match (size as u64).cmp(&allocated) {
            std::cmp::Ordering::Greater => Some(text()),
            std::cmp::Ordering::Less => Some(text().level(Level::Warning)),
            std::cmp::Ordering::Equal => None,
        }
    }
}

impl Rule for Check {
    fn enter(&mut self, at: &mut At<'_>, message: &MessageDescriptor, bytes: &Rope) {
        if message.full_name() != CONSTANT {
            return;
        }
        let Ok(constant) = ConstantInfoProto::decode(bytes.reader()) else { return };
        let index = usize::try_from(constant.allocation_index).ok();
        let allocation = index.and_then(|index| at.allocations()?.list.get(index));
        if let Some(draft) = self.wrong(&constant, allocation.map(|allocation| allocation.size)) {
            at.report(&RULE, draft);
        }
    }
}
