//! What rules need to know of the executable before they walk it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use prost::Message as _;

use super::elf::Elf;
use super::hlo::{self, Module};
use crate::artifact::rope::Rope;
use crate::artifact::wire::{Fields, Wire};
use crate::error::Error;
use crate::proto::stream_executor::GpuComputeCapabilityProto;
use crate::proto::stream_executor::gpu_compute_capability_proto::ComputeCapability;

// Fields of the executable.
const HLO_MODULE_WITH_CONFIG: u32 = 1;
const ASM_TEXT: u32 = 3;
const BINARY: u32 = 4;
const DNN_COMPILED_GRAPHS: u32 = 5;
const GPU_COMPUTE_CAPABILITY: u32 = 6;
/// The module in its wrapper, and the key in a map's entry.
const FIRST: u32 = 1;

/// The executable's own parts that others refer to.
pub(super) struct Subject {
    /// Symbols of the module's device code; `None` where there is none.
    pub(super) symbols: Option<Rc<BTreeSet<Vec<u8>>>>,
    /// Kernels of the module's PTX; `None` where there is none.
    pub(super) entries: Option<Rc<BTreeSet<Vec<u8>>>>,
    /// The module's device code is there, but no ELF file whose symbols can be read.
    pub(super) opaque_binary: bool,
    pub(super) graphs: Rc<BTreeSet<Vec<u8>>>,
    /// CUDA compute capability, major and minor.
    pub(super) cuda: Option<(i32, i32)>,
    /// The executable says that it is for CUDA, or does not say.
    pub(super) is_cuda: bool,
    pub(super) has_hlo: bool,
    pub(super) computations: Rc<BTreeSet<Vec<u8>>>,
    /// Constants of the HLO module by the name of their global: whether their value is there.
    pub(super) hlo_constants: Rc<BTreeMap<Vec<u8>, bool>>,
}

impl Subject {
    pub(super) fn new(executable: &Rope) -> Result<Self, Error> {
        let mut binary = Rope::default();
        let mut subject = Subject {
            symbols: None,
            entries: None,
            opaque_binary: false,
            graphs: Rc::default(),
            cuda: None,
            is_cuda: true,
            has_hlo: false,
            computations: Rc::default(),
            hlo_constants: Rc::default(),
        };
        let mut graphs = BTreeSet::new();
        let mut module = Rope::default();
        let mut fields = Fields::new(executable);
        let layer = crate::artifact::EXECUTABLE;
        while let Some(field) = fields.next_field().map_err(|error| error.in_layer(layer))? {
            if field.wire != Wire::Length {
                continue;
            }
            let value = || executable.slice(field.value.clone()).unwrap_or_default();
            match field.number {
                HLO_MODULE_WITH_CONFIG => module = first(&value())?.unwrap_or_default(),
                ASM_TEXT => subject.entries = entries(&value()).map(Rc::new),
                BINARY => binary = value(),
                DNN_COMPILED_GRAPHS => {
                    graphs.insert(first(&value())?.unwrap_or_default().to_bytes().to_vec());
                }
                GPU_COMPUTE_CAPABILITY => subject.target(&value()),
                _ => {}
            }
        }
        subject.graphs = Rc::new(graphs);
        subject.has_hlo = !module.is_empty();
        let module = Module::read(&module).map_err(|error| error.in_layer(hlo::MODULE))?;
        subject.computations = Rc::new(module.names());
        subject.hlo_constants = Rc::new(module.constants());
        if !binary.is_empty() {
            let bytes = binary.to_bytes();
            let symbols = Elf::read(&bytes).and_then(|elf| elf.symbols());
            subject.opaque_binary = symbols.is_none();
            subject.symbols = symbols.map(Rc::new);
        }
        Ok(subject)
    }

    fn target(&mut self, bytes: &Rope) {
        let capability = GpuComputeCapabilityProto::decode(bytes.reader()).unwrap_or_default();
        match capability.compute_capability {
            Some(ComputeCapability::CudaComputeCapability(cuda)) => {
                self.cuda = Some((cuda.major, cuda.minor));
            }
            Some(_) => self.is_cuda = false,
            None => {}
        }
    }
}

/// Names of the kernels that PTX defines; `None` where there is no text.
pub(super) fn entries(ptx: &Rope) -> Option<BTreeSet<Vec<u8>>> {
    if ptx.is_empty() {
        return None;
    }
    let text = ptx.to_bytes();
    let is_separator = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'(' | b'{' | b'}');
    let mut words = text.split(is_separator).filter(|word| !word.is_empty());
    let mut names = BTreeSet::new();
    while let Some(word) = words.next() {
        if word == b".entry" {
            names.extend(words.next().map(<[u8]>::to_vec));
        }
    }
    Some(names)
}

/// The last value of field 1.
fn first(bytes: &Rope) -> Result<Option<Rope>, Error> {
    let mut found = None;
    let mut fields = Fields::new(bytes);
    let layer = crate::artifact::EXECUTABLE;
    while let Some(field) = fields.next_field().map_err(|error| error.in_layer(layer))? {
        if field.number == FIRST && field.wire == Wire::Length {
            found = bytes.slice(field.value);
        }
    }
    Ok(found)
}
