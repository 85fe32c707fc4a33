//! An artifact as a person looks at it: one tree, for reading and as JSON.

pub(super) mod cubin;
mod options;
mod program;
mod shape;
mod thunks;

use std::collections::BTreeMap;

use serde::Serialize;

pub use self::options::OptionValue;
pub use self::program::{Alias, Hlo, Output, Program};
pub(crate) use self::shape::shape_text;
use super::reflect::{reflect, sha256};
use super::{Artifact, EXECUTABLE, Layer, OPTIONS, envelope, outer};
use crate::deep::on_deep_stack;
use crate::error::Error;
use crate::proto::stream_executor::gpu_compute_capability_proto::ComputeCapability;
use crate::proto::xla::gpu::GpuExecutableProto;

/// What is in an artifact. Serializes as `aotgate.inspect/1`.
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
    /// Versions of the platform's libraries that the executable states: what of, and which.
    pub libraries: Vec<(String, String)>,
    /// What it takes and gives, where it is stated.
    pub program: Option<Program>,
    /// Where each leaf of the result is found.
    pub outputs: Vec<Output>,
    /// The HLO module, where there is one.
    pub hlo: Option<Hlo>,
    /// Debug options of the HLO module that no known release has by default.
    pub debug_options: Vec<OptionValue>,
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
    /// Replicas that were asked for.
    pub replicas: i64,
    /// Partitions that were asked for.
    pub partitions: i64,
    /// Debug options that no known release has by default.
    pub debug_options: Vec<OptionValue>,
    /// Debug options that were set by name.
    pub overrides: Vec<OptionValue>,
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
    /// SHA-256 of them.
    pub sha256: Option<String>,
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
    /// SHA-256 of the code; `None` where the artifact has none.
    pub sha256: Option<String>,
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

impl KernelForm {
    /// What it is called in reports.
    pub fn name(self) -> &'static str {
        match self {
            KernelForm::Cubin => "cubin",
            KernelForm::Ptx => "PTX",
            KernelForm::InProcess => "in-process",
            KernelForm::None => "no code",
        }
    }
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
        let mut options = None;
        if let Some(outer) = artifact.outer() {
            let message = reflect(outer::MESSAGE, outer.message(), artifact.decoded)?;
            thunks::count_unknown(&message, &mut unknown);
            options = Some(Options::of(outer, artifact.decoded)?);
        }
        let mut found = Vec::new();
        thunks::thunks_in(&dynamic, "", &mut found);
        let mut custom_calls = BTreeMap::new();
        count_calls(&found, &mut custom_calls);
        Ok(Inspection {
            schema: "aotgate.inspect/1",
            layers: artifact.layers().to_vec(),
            options,
            module: message.module_name.clone(),
            target: target(&message),
            libraries: message
                .executable_abi_version
                .as_ref()
                .map(envelope::library_versions)
                .unwrap_or_default(),
            program: program::program(&message),
            outputs: program::outputs(&message),
            hlo: program::hlo(&message),
            debug_options: options::unusual(&dynamic, &MODULE_DEBUG_OPTIONS),
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

/// Where the HLO module has its debug options.
const MODULE_DEBUG_OPTIONS: [&str; 3] = ["hlo_module_with_config", "config", "debug_options"];

impl Options {
    fn of(outer: &outer::Outer, limit: u64) -> Result<Options, Error> {
        let options = reflect(OPTIONS, &outer.compile_options().clone().into(), limit)?;
        let build = super::reflect::inner(&options, &["executable_build_options"]);
        let number = |name: &str| {
            build.as_ref().and_then(|build| build.get_field_by_name(name)?.as_i64()).unwrap_or(0)
        };
        Ok(Options {
            size: outer.compile_options().len(),
            client: outer.client_name().to_owned(),
            replicas: number("num_replicas"),
            partitions: number("num_partitions"),
            debug_options: options::unusual(
                &options,
                &["executable_build_options", "debug_options"],
            ),
            overrides: options::overrides(&options),
        })
    }
}

fn target(message: &GpuExecutableProto) -> Option<String> {
    Some(match message.gpu_compute_capability.as_ref()?.compute_capability.as_ref()? {
        ComputeCapability::CudaComputeCapability(cuda) => format!("{}.{}", cuda.major, cuda.minor),
        ComputeCapability::RocmComputeCapability(_) => "ROCm".to_owned(),
        ComputeCapability::OneapiComputeCapability(_) => "oneAPI".to_owned(),
    })
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
            sha256: constant
                .content
                .as_ref()
                .map(|content| sha256(std::slice::from_ref(&content.data))),
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
