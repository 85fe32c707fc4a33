//! An artifact as a person looks at it: one tree, for reading and as JSON.

mod cubin;
mod text;
mod thunks;

use std::collections::BTreeMap;

use prost_reflect::DynamicMessage;
use serde::Serialize;

use super::{Artifact, EXECUTABLE, Layer, footprint, outer};
use crate::deep::on_deep_stack;
use crate::error::{Error, ErrorKind};
use crate::proto::stream_executor::gpu_compute_capability_proto::ComputeCapability;
use crate::proto::xla::gpu::GpuExecutableProto;

/// What is in an artifact. Serializes as `aotgate.inspect/1`; `Display` draws the tree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// Always `aotgate.inspect/1`.
    pub schema: &'static str,
    /// The containers, outermost first.
    pub layers: Vec<Layer>,
    /// The layer with the compile options, where there is one.
    pub options: Option<Options>,
    /// Name of the module.
    pub module: String,
    /// GPU generation that the code is for, e.g. `9.0`.
    pub target: Option<String>,
    /// The HLO module, where there is one.
    pub hlo: Option<Hlo>,
    /// Bytes of the module's own device code.
    pub binary: DeviceCode,
    /// Compiled cuDNN graphs: fingerprint and bytes.
    pub graphs: BTreeMap<String, usize>,
    /// Memory that the thunks work on.
    pub allocations: Vec<Allocation>,
    /// Constants.
    pub constants: Vec<Constant>,
    /// The entry sequence.
    pub thunks: Vec<Thunk>,
    /// How often each custom call target is called.
    pub custom_calls: BTreeMap<String, usize>,
    /// Fields that the contract does not have.
    pub unknown_fields: Vec<UnknownField>,
}

/// What the layer with the compile options says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Options {
    /// Bytes of the serialized options.
    pub size: usize,
    /// Client that compiled the artifact; empty where it is not recorded.
    pub client: String,
}

/// The HLO module in figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hlo {
    /// Number of computations.
    pub computations: usize,
    /// How often each opcode occurs.
    pub opcodes: BTreeMap<String, usize>,
}

/// Device code of a whole module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceCode {
    /// Bytes.
    pub size: usize,
    /// What it was compiled for, e.g. `sm_90`.
    pub architecture: Option<String>,
    /// Bytes of the PTX it was made from.
    pub asm_size: usize,
}

/// One allocation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Allocation {
    /// Its number.
    pub index: i64,
    /// Bytes.
    pub size: i64,
    /// Parameter that it is.
    pub parameter: Option<i64>,
    /// `parameter`, `constant`, `output`, `thread-local` or `temp`; several joined by commas.
    pub role: String,
}

/// One constant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Constant {
    /// The global's name.
    pub symbol: String,
    /// Bytes; `None` where the HLO module has them.
    pub size: Option<usize>,
    /// Allocation that it fills; -1 for none.
    pub allocation: i64,
}

/// One thunk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Thunk {
    /// Field of the enclosing message that it is in.
    pub role: String,
    /// Its kind as the contract names it; `unknown N` with the field's number where it has none.
    pub kind: String,
    /// Its number; 0 for none.
    pub id: i64,
    /// The HLO instruction it was compiled from.
    pub annotation: String,
    /// Custom call target, or symbol of a kernel in the module's own code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The kernel that it carries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Kernel>,
    /// It carries execution state, which may be code for the host.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub host_code: bool,
    /// Thunks inside it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub thunks: Vec<Thunk>,
}

/// One kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kernel {
    /// Its symbol.
    pub name: String,
    /// What it is stored as.
    pub form: KernelForm,
    /// What it was compiled for, e.g. `sm_90`.
    pub architecture: Option<String>,
    /// Bytes of code.
    pub size: usize,
}

/// What a kernel is stored as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelForm {
    /// Machine code.
    Cubin,
    /// PTX text.
    Ptx,
    /// Linked into the runtime, found by name.
    InProcess,
    /// Nothing that the contract knows.
    None,
}

/// A field that the contract does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnknownField {
    /// Full name of the message.
    pub message: String,
    /// Number of the field.
    pub number: u32,
    /// How often it occurs.
    pub count: usize,
}

impl Inspection {
    /// Looks into an artifact.
    pub fn new(artifact: &Artifact) -> Result<Inspection, Error> {
        on_deep_stack(|| Inspection::build(artifact))
    }

    fn build(artifact: &Artifact) -> Result<Inspection, Error> {
        let message = artifact.decode()?;
        let dynamic = reflect(EXECUTABLE, artifact.executable(), artifact.decoded)?;
        let mut unknown = BTreeMap::new();
        thunks::count_unknown(&dynamic, &mut unknown);
        if let Some(outer) = artifact.outer() {
            let options = reflect(outer::MESSAGE, outer.message(), artifact.decoded)?;
            thunks::count_unknown(&options, &mut unknown);
        }
        let mut found = Vec::new();
        thunks::thunks_in(&dynamic, "", &mut found);
        let mut custom_calls = BTreeMap::new();
        count_calls(&found, &mut custom_calls);
        Ok(Inspection {
            schema: "aotgate.inspect/1",
            layers: artifact.layers().to_vec(),
            options: artifact.outer().map(|outer| Options {
                size: outer.compile_options().len(),
                client: outer.client_name().to_owned(),
            }),
            module: message.module_name.clone(),
            target: target(&message),
            hlo: hlo(&message),
            binary: DeviceCode {
                size: message.binary.len(),
                architecture: cubin::architecture(&message.binary),
                asm_size: message.asm_text.len(),
            },
            graphs: message
                .dnn_compiled_graphs
                .iter()
                .map(|(fingerprint, graph)| (fingerprint.clone(), graph.len()))
                .collect(),
            allocations: allocations(&message),
            constants: constants(&message),
            thunks: found,
            custom_calls,
            unknown_fields: unknown
                .into_iter()
                .map(|((message, number), count)| UnknownField { message, number, count })
                .collect(),
        })
    }
}

fn reflect(name: &'static str, bytes: &super::Rope, limit: u64) -> Result<DynamicMessage, Error> {
    footprint::check(bytes, name, footprint::Form::Dynamic, limit)?;
    DynamicMessage::decode(footprint::descriptor(name)?, bytes.reader())
        .map_err(|error| ErrorKind::Decode { message: name, error }.into())
}

fn target(message: &GpuExecutableProto) -> Option<String> {
    Some(match message.gpu_compute_capability.as_ref()?.compute_capability.as_ref()? {
        ComputeCapability::CudaComputeCapability(cuda) => format!("{}.{}", cuda.major, cuda.minor),
        ComputeCapability::RocmComputeCapability(_) => "ROCm".to_owned(),
        ComputeCapability::OneapiComputeCapability(_) => "oneAPI".to_owned(),
    })
}

fn hlo(message: &GpuExecutableProto) -> Option<Hlo> {
    let module = message.hlo_module_with_config.as_ref()?.hlo_module.as_ref()?;
    let mut opcodes = BTreeMap::new();
    for instruction in module.computations.iter().flat_map(|computation| &computation.instructions)
    {
        *opcodes.entry(instruction.opcode.clone()).or_default() += 1;
    }
    Some(Hlo { computations: module.computations.len(), opcodes })
}

fn allocations(message: &GpuExecutableProto) -> Vec<Allocation> {
    let allocations = message.buffer_allocations.as_ref().map(|list| list.values.as_slice());
    let view = |allocation: &crate::proto::xla::BufferAllocationProto| {
        let roles = [
            (allocation.is_entry_computation_parameter, "parameter"),
            (allocation.is_constant, "constant"),
            (allocation.maybe_live_out, "output"),
            (allocation.is_thread_local, "thread-local"),
        ];
        let roles: Vec<&str> = roles.iter().filter(|role| role.0).map(|role| role.1).collect();
        Allocation {
            index: allocation.index,
            size: allocation.size,
            parameter: allocation
                .is_entry_computation_parameter
                .then_some(allocation.parameter_number),
            role: if roles.is_empty() { "temp".to_owned() } else { roles.join(", ") },
        }
    };
    allocations.unwrap_or_default().iter().map(view).collect()
}

fn constants(message: &GpuExecutableProto) -> Vec<Constant> {
    let view =
        |constant: &crate::proto::xla::gpu::gpu_executable_proto::ConstantInfoProto| Constant {
            symbol: constant.symbol_name.clone(),
            size: constant.content.as_ref().map(|content| content.data.len()),
            allocation: constant.allocation_index,
        };
    message.constants.iter().map(view).collect()
}

fn count_calls(thunks: &[Thunk], count: &mut BTreeMap<String, usize>) {
    for thunk in thunks {
        if let (Some(target), "custom_call") = (&thunk.detail, thunk.kind.as_str()) {
            *count.entry(target.clone()).or_default() += 1;
        }
        count_calls(&thunk.thunks, count);
    }
}
