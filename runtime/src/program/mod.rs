//! An executable, checked once and then only walked.
//!
//! Everything that comes out of an artifact is validated here: indices, slices against allocations,
//! counts, shapes against slice sizes, pairs of asynchronous steps, nesting. What runs a program relies
//! on it.

pub(crate) mod buffers;
mod constants;
mod enumeration;
pub(crate) mod hlo;
mod interface;
mod invalid;
mod limits;
mod reads;
pub(crate) mod shape;
pub mod thunk;
mod warning;

pub use buffers::{Allocation, ShapedSlice, Slice};
pub(crate) use enumeration::known;
pub use hlo::Module;
pub(crate) use invalid::{At, Fault, Invalid, Result};
pub use limits::Limits;
pub use reads::Reads;
pub use shape::{ArrayShape, Shape};
pub use warning::Warning;

use crate::deep::on_deep_stack;
use crate::error::Error;
use crate::proto::xla::gpu::GpuExecutableProto;
use crate::proto::xla::{BufferAllocationProto, HloModuleConfigProto};
use thunk::Step;

/// A program that can be run.
#[derive(Debug)]
pub struct Program {
    /// Name of the module.
    pub name: String,
    /// Memory that the thunks work on.
    pub allocations: Vec<Allocation>,
    /// The entry sequence.
    pub steps: Vec<Step>,
    /// Shapes of the parameters.
    pub parameters: Vec<Shape>,
    /// The results' arrays in depth-first order.
    pub outputs: Vec<Output>,
    /// How many replicas and partitions the program is for.
    pub replicas: usize,
    /// See `replicas`.
    pub partitions: usize,
    /// What kernels were compiled from.
    pub module: Module,
    /// The schema constructs that were read on the way here.
    pub reads: Reads,
    /// What is wrong with it and does not keep it from running, as with XLA's own loader.
    pub warnings: Vec<Warning>,
    /// Allocation and content of each constant.
    pub(crate) constants: Vec<Constant>,
}

/// An array of the result.
#[derive(Debug, Clone)]
pub struct Output {
    /// Allocation that holds it, at its beginning.
    pub allocation: usize,
    /// What it is.
    pub shape: ArrayShape,
}

/// A constant.
#[derive(Debug)]
pub(crate) struct Constant {
    pub(crate) allocation: usize,
    pub(crate) bytes: prost::bytes::Bytes,
}

impl Program {
    /// Checks an executable.
    ///
    /// # Errors
    /// What is outside its bounds, with thunk, field, value and bound; what exceeds `limits`.
    pub fn new(executable: GpuExecutableProto, limits: &Limits) -> Result<Program, Error> {
        on_deep_stack(move || Program::checked(executable, limits).map_err(Error::from))
    }

    fn checked(executable: GpuExecutableProto, limits: &Limits) -> Result<Program> {
        let (mut reads, mut warnings) = (Reads::default(), Vec::new());
        reads.fields(
            "xla.gpu.GpuExecutableProto",
            &[
                "hlo_module_with_config",
                "program_shape",
                "buffer_allocations",
                "output_info_map",
                "constants",
                "thunks",
            ],
        );
        let with_config = executable.hlo_module_with_config.unwrap_or_default();
        reads.fields("xla.HloModuleProtoWithConfig", &["hlo_module", "config"]);
        let devices = devices(&with_config.config.unwrap_or_default(), limits, &mut reads)?;
        let allocations = executable.buffer_allocations.map(|list| list.values).unwrap_or_default();
        let allocations =
            read_allocations(&allocations, &mut reads, limits.memory_of(devices.count()))?;
        let module = Module::new(with_config.hlo_module.unwrap_or_default(), &mut reads)
            .at(|| "HLO module".to_owned())?;
        let shape = executable.program_shape.unwrap_or_default();
        let parameters = interface::parameters(&shape, &allocations, &mut reads)?;
        let outputs = interface::outputs(
            &shape,
            &executable.output_info_map,
            &allocations,
            &mut reads,
            &mut warnings,
        )?;
        let inputs = parameters.iter().flat_map(Shape::leaves).map(ArrayShape::held);
        fits("bytes of the parameters as they are computed with", inputs, devices, limits)?;
        let results = outputs.iter().map(|output| output.shape.held());
        fits("bytes of the results as they are computed with", results, devices, limits)?;
        let (constants, unfilled) =
            constants::constants(&executable.constants, &allocations, &module, &mut reads)?;
        let program = thunk::Around {
            allocations: &allocations,
            unfilled: &unfilled,
            devices,
            module: &module,
            limits,
        };
        let steps = thunk::entry(&executable.thunks, program, &mut reads, &mut warnings)?;
        Ok(Program {
            name: executable.module_name,
            allocations,
            steps,
            parameters,
            outputs,
            replicas: devices.replicas,
            partitions: devices.partitions,
            module,
            reads,
            warnings,
            constants,
        })
    }

    /// Bytes of the allocations of all devices.
    pub fn memory(&self) -> u64 {
        let one: u64 = self.allocations.iter().map(|a| a.size as u64).sum();
        one.saturating_mul(self.devices() as u64)
    }

    /// How many devices it runs on.
    pub fn devices(&self) -> usize {
        self.replicas * self.partitions
    }
}

/// How many devices a program is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Devices {
    pub(crate) replicas: usize,
    pub(crate) partitions: usize,
}

impl Devices {
    pub(crate) fn count(self) -> usize {
        self.replicas * self.partitions
    }
}

fn devices(config: &HloModuleConfigProto, limits: &Limits, reads: &mut Reads) -> Result<Devices> {
    reads.fields("xla.HloModuleConfigProto", &["replica_count", "num_partitions"]);
    let count = |what: &str, value: i64| match value {
        // Unset in artifacts that have none.
        0 => Ok(1),
        1.. => Ok(usize::try_from(value).unwrap_or(usize::MAX)),
        _ => Err(Invalid::value(what, value, "0 or more")),
    };
    let replicas = count("replica_count", config.replica_count)?;
    let partitions = count("num_partitions", config.num_partitions)?;
    let devices = replicas.saturating_mul(partitions);
    if devices > limits.devices {
        return Err(Invalid::limit("devices", devices as u64, limits.devices as u64, "devices"));
    }
    Ok(Devices { replicas, partitions })
}

fn read_allocations(
    protos: &[BufferAllocationProto],
    reads: &mut Reads,
    memory: u64,
) -> Result<Vec<Allocation>> {
    reads.fields("xla.gpu.GpuExecutableProto.RepeatedBufferAllocations", &["values"]);
    reads.fields(
        "xla.BufferAllocationProto",
        &[
            "index",
            "size",
            "is_entry_computation_parameter",
            "parameter_number",
            "parameter_shape_index",
            "is_constant",
        ],
    );
    buffers::allocations(protos, memory)
}

/// Arrays of one device must fit into its share of the memory, as a program may name one allocation often.
fn fits(
    what: &str,
    bytes: impl Iterator<Item = u64>,
    devices: Devices,
    limits: &Limits,
) -> Result<()> {
    let (total, limit) = (bytes.fold(0, u64::saturating_add), limits.memory_of(devices.count()));
    if total > limit { Err(Invalid::limit(what, total, limit, "memory")) } else { Ok(()) }
}
