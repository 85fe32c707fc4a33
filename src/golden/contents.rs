//! What is inside an artifact, in the words that constructs are named by.

use std::collections::BTreeSet;

use aotgate_runtime::artifact::inspect::{Inspection, Thunk};
use aotgate_runtime::artifact::{Artifact, Container};
use prost::bytes::Bytes;

use crate::error::Error;
use crate::triage::policy;
use crate::view;

/// Kinds of steps, opcodes and custom calls that an artifact has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    /// Names of the containers, outermost first; `empty` for an artifact without a byte.
    pub containers: Vec<&'static str>,
    /// Kinds of thunks, nested ones included; `None` for text that needs its own time's schema.
    pub thunk_kinds: Option<BTreeSet<String>>,
    /// Opcodes of the HLO module.
    pub opcodes: BTreeSet<String>,
    /// Targets of custom calls.
    pub custom_calls: BTreeSet<String>,
}

impl Contents {
    /// Looks into an artifact.
    ///
    /// # Errors
    /// What is no artifact.
    pub fn of(bytes: Bytes) -> Result<Contents, aotgate_runtime::Error> {
        if bytes.is_empty() {
            return Ok(Contents { containers: vec!["empty"], ..Contents::default() });
        }
        let artifact = match Artifact::read(bytes.clone()) {
            Ok(artifact) => artifact,
            // Text. Where the built-in contract does not read it, its own time's schema might.
            Err(error) if error.is_unsupported() => match text(bytes) {
                Ok(artifact) => artifact,
                Err(_) => {
                    return Ok(Contents {
                        containers: vec![Container::Text.name()],
                        ..Contents::default()
                    });
                }
            },
            Err(error) => return Err(error),
        };
        let inspection = Inspection::new(&artifact)?;
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

/// A text golden, read with the built-in contract.
fn text(bytes: Bytes) -> Result<Artifact, Error> {
    view::open(bytes, &view::canonical_contract(&policy::built_in()?.contract)?)
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
