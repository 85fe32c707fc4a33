//! The parts that bytes are counted for.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use super::cover::PartId;
use crate::artifact::reflect::sha256;
use crate::artifact::rope::Rope;

/// Payloads below this size are not compared with one another.
const WORTH_COMPARING: usize = 64;

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartKind {
    /// Metadata of the IFRT envelope.
    Envelope,
    /// Fields of the outer message that are no options.
    OuterMessage,
    /// Options of the compilation.
    CompileOptions,
    /// Debug options, of the compilation or of the HLO module.
    DebugOptions,
    /// The HLO module apart from its computations.
    HloModule,
    /// Instructions, without the literals of constants.
    HloComputations,
    /// Values of constants in the HLO module.
    HloLiteral,
    /// The HLO module's configuration apart from debug options.
    HloConfig,
    /// Buffer assignment.
    BufferAssignment,
    /// Allocations, and the text that describes them.
    Allocations,
    /// Constants beside the HLO module.
    Constant,
    /// Device code of the whole module.
    ModuleCode,
    /// Code of one kernel.
    Kernel,
    /// PTX of the module or of a kernel.
    Ptx,
    /// A compiled cuDNN graph.
    CudnnGraph,
    /// Thunks, without the kernels in them.
    Thunks,
    /// Fields of the executable that are nothing of the above.
    OtherFields,
    /// Fields that the contract does not have.
    UnknownFields,
    /// Headers, hashes, manifests and padding of containers.
    Container,
    /// A text golden, which has no parts.
    Text,
}

/// One part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// Which one, where there are several: a kernel's symbol, a container. Empty otherwise.
    pub name: String,
    /// Bytes of the file that stand for it.
    pub stored: usize,
    /// Bytes of it, decompressed; 0 for a container.
    pub unpacked: usize,
}

/// The same payload, stored more than once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Duplicate {
    /// Bytes of one copy, decompressed.
    pub size: usize,
    /// SHA-256 of it.
    pub sha256: String,
    /// Where the copies are: kind and name.
    pub places: Vec<String>,
}

/// The parts found so far.
#[derive(Default)]
pub(super) struct Parts {
    parts: Vec<Part>,
    ids: HashMap<(PartKind, String), PartId>,
    payloads: BTreeMap<(usize, String), Vec<String>>,
}

impl Parts {
    pub(super) fn id(&mut self, kind: PartKind, name: &str) -> PartId {
        let key = (kind, name.to_owned());
        if let Some(id) = self.ids.get(&key) {
            return *id;
        }
        let id = self.parts.len();
        self.parts.push(Part { kind, name: key.1.clone(), stored: 0, unpacked: 0 });
        self.ids.insert(key, id);
        id
    }

    pub(super) fn unpacked(&mut self, part: PartId, bytes: usize) {
        if let Some(part) = self.parts.get_mut(part) {
            part.unpacked += bytes;
        }
    }

    pub(super) fn stored(&mut self, part: PartId, bytes: usize) {
        if let Some(part) = self.parts.get_mut(part) {
            part.stored += bytes;
        }
    }

    /// Notes a payload, to find those that are stored twice.
    pub(super) fn payload(&mut self, place: &str, payload: &Rope) {
        if payload.len() >= WORTH_COMPARING {
            let hash = sha256(payload.pieces());
            self.payloads.entry((payload.len(), hash)).or_default().push(place.to_owned());
        }
    }

    /// The parts, largest first, and the duplicates, those that waste most first.
    pub(super) fn finish(mut self) -> (Vec<Part>, Vec<Duplicate>) {
        self.parts.retain(|part| part.stored > 0 || part.unpacked > 0);
        self.parts.sort_by(|a, b| {
            let key = |part: &Part| (part.stored, part.unpacked);
            key(b).cmp(&key(a)).then_with(|| (a.kind, &a.name).cmp(&(b.kind, &b.name)))
        });
        let mut duplicates: Vec<Duplicate> = self
            .payloads
            .into_iter()
            .filter(|(_, places)| places.len() > 1)
            .map(|((size, sha256), places)| Duplicate { size, sha256, places })
            .collect();
        duplicates.sort_by_key(|d| std::cmp::Reverse(d.size.saturating_mul(d.places.len() - 1)));
        (self.parts, duplicates)
    }
}
