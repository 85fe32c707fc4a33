//! What is inside an artifact, in the words that constructs are named by.

use std::collections::BTreeSet;

use aotgate_runtime::artifact::Artifact;
use aotgate_runtime::artifact::inspect::{Inspection, Thunk};

/// Kinds of steps, opcodes and custom calls that an artifact has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    /// Names of the containers, outermost first; `empty` for an artifact without a byte.
    pub containers: Vec<&'static str>,
    /// Kinds of thunks, nested ones included; `None` for an artifact without a byte.
    pub thunk_kinds: Option<BTreeSet<String>>,
    /// Opcodes of the HLO module.
    pub opcodes: BTreeSet<String>,
    /// Targets of custom calls.
    pub custom_calls: BTreeSet<String>,
}

impl Contents {
    /// What an artifact without a byte has.
    pub fn empty() -> Contents {
        Contents { containers: vec!["empty"], ..Contents::default() }
    }

    /// Looks into an artifact.
    ///
    /// # Errors
    /// An executable that is malformed.
    pub fn of(artifact: &Artifact) -> Result<Contents, aotgate_runtime::Error> {
        let inspection = Inspection::new(artifact)?;
        Ok(Contents {
            containers: artifact.layers().iter().map(|layer| layer.container.name()).collect(),
            thunk_kinds: Some(kinds(&inspection.thunks)),
            opcodes: inspection.hlo.into_iter().flat_map(|hlo| hlo.opcodes.into_keys()).collect(),
            custom_calls: inspection.custom_calls.into_keys().collect(),
        })
    }

    /// Everything that a set of goldens should cover: `thunk fft`, `opcode dot`, `custom-call x`.
    pub fn constructs(&self) -> BTreeSet<String> {
        let named = |what: &str, names: &BTreeSet<String>| -> Vec<String> {
            names.iter().map(|name| format!("{what} {name}")).collect()
        };
        let thunks = self.thunk_kinds.iter().flat_map(|kinds| named("thunk", kinds));
        thunks
            .chain(named("opcode", &self.opcodes))
            .chain(named("custom-call", &self.custom_calls))
            .collect()
    }
}

fn kinds(thunks: &[Thunk]) -> BTreeSet<String> {
    let mut kinds = BTreeSet::new();
    let mut open: Vec<&Thunk> = thunks.iter().collect();
    while let Some(thunk) = open.pop() {
        kinds.insert(thunk.kind.clone());
        open.extend(&thunk.thunks);
    }
    kinds
}
