//! A thunk names a graph or computation that the artifact does not have.
//!
//! ## What it flags
//!
//! A cuDNN thunk whose fingerprint is no key of `dnn_compiled_graphs`, and a custom call whose
//! `called_computation` is not in the HLO module.
//!
//! ## Why it matters
//!
//! The loader cannot find what the thunk runs.
//!
//! ## What to do
//!
//! Serialize the graphs of all thunks with the executable, and the HLO module with all its computations.

use std::collections::BTreeSet;
use std::rc::Rc;

use prost_reflect::FieldDescriptor;

use super::finding::{Draft, Level};
use super::rule::{At, Rule, RuleInfo};
use super::subject::Subject;
use crate::artifact::rope::Rope;

pub(super) static RULE: RuleInfo = RuleInfo { id: "name-dangling", level: Level::Error };

const FINGERPRINT: &str = "xla.gpu.CudnnThunkProto.fingerprint";
const CALLED: &str = "xla.gpu.CustomCallThunkProto.called_computation";

pub(super) struct Check {
    graphs: Rc<BTreeSet<Vec<u8>>>,
    computations: Rc<BTreeSet<Vec<u8>>>,
}

impl Check {
    pub(super) fn new(subject: &Subject) -> Self {
        let (graphs, computations) = (subject.graphs.clone(), subject.computations.clone());
        Check { graphs, computations }
    }
}

impl Rule for Check {
    fn content(&mut self, at: &mut At<'_>, field: &FieldDescriptor, bytes: &Rope) {
        let (names, what) = match field.full_name() {
            FINGERPRINT => (&self.graphs, "no compiled graph has the fingerprint"),
            CALLED => (&self.computations, "the HLO module has no computation"),
            _ => return,
        };
        let name = bytes.to_bytes();
        if !names.contains(name.as_ref()) {
            at.report(&RULE, Draft::new(format!("{what} {:?}", String::from_utf8_lossy(&name))));
        }
    }
}
