//! An executable, checked once and then only walked.
//!
//! Everything that comes out of an artifact is validated here: indices, slices against allocations,
//! counts, shapes against slice sizes, pairs of asynchronous steps, nesting. What runs a program relies
//! on it.

pub(crate) mod buffers;
pub(crate) mod hlo;
mod invalid;
mod limits;
mod reads;
pub(crate) mod shape;
pub mod thunk;

pub use buffers::{Allocation, ShapedSlice, Slice};
pub use hlo::Module;
pub(crate) use invalid::{At, Fault, Invalid, Result};
pub use limits::Limits;
pub use reads::Reads;
pub use shape::{ArrayShape, Shape};

use crate::error::Error;
use crate::proto::xla::gpu::GpuExecutableProto;
use crate::proto::xla::gpu::gpu_executable_proto::{ConstantInfoProto, OutputInfoMapEntry};
use crate::proto::xla::{BufferAllocationProto, ProgramShapeProto};
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
        Program::checked(executable, limits).map_err(Error::from)
    }

    fn checked(executable: GpuExecutableProto, limits: &Limits) -> Result<Program> {
        let mut reads = Reads::default();
        reads.fields(
            "xla.gpu.GpuExecutableProto",
            &[
                "hlo_module_with_config",
                "module_name",
                "program_shape",
                "buffer_allocations",
                "output_info_map",
                "constants",
                "thunks",
            ],
        );
        let allocations = executable.buffer_allocations.map(|list| list.values).unwrap_or_default();
        let allocations = read_allocations(&allocations, &mut reads, limits)?;
        let with_config = executable.hlo_module_with_config.unwrap_or_default();
        reads.fields("xla.HloModuleProtoWithConfig", &["hlo_module", "config"]);
        reads.fields("xla.HloModuleConfigProto", &["replica_count", "num_partitions"]);
        let config = with_config.config.unwrap_or_default();
        let count = |what: &str, value: i64| match value {
            // Unset in artifacts that have none.
            0 => Ok(1),
            1.. if value <= limits.devices as i64 => Ok(value as usize),
            _ => Err(Invalid::value(what, value, format!("1 to {}", limits.devices))),
        };
        let replicas = count("replica_count", config.replica_count)?;
        let partitions = count("num_partitions", config.num_partitions)?;
        if replicas * partitions > limits.devices {
            let (devices, limit) = (replicas * partitions, limits.devices);
            return Err(Invalid::limit("devices", devices as u64, limit as u64, "devices"));
        }
        let proto = with_config.hlo_module.unwrap_or_default();
        hlo::record(&mut reads);
        let module = Module::new(proto).at(|| "HLO module".to_owned())?;
        let shape = executable.program_shape.unwrap_or_default();
        reads.fields("xla.ProgramShapeProto", &["parameters", "result"]);
        let parameters = parameters(&shape, &allocations)?;
        let outputs = outputs(&shape, &executable.output_info_map, &allocations, &mut reads)?;
        let constants = constants(&executable.constants, &allocations, &module, &mut reads)?;
        let steps = thunk::entry(&executable.thunks, &allocations, limits, &mut reads)?;
        Ok(Program {
            name: executable.module_name,
            allocations,
            steps,
            parameters,
            outputs,
            replicas,
            partitions,
            module,
            reads,
            constants,
        })
    }

    /// How many devices it runs on.
    pub fn devices(&self) -> usize {
        self.replicas * self.partitions
    }
}

fn read_allocations(
    protos: &[BufferAllocationProto],
    reads: &mut Reads,
    limits: &Limits,
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
    buffers::allocations(protos, limits.memory)
}

/// The shapes of the parameters; each allocation that is one has to hold it.
fn parameters(shape: &ProgramShapeProto, allocations: &[Allocation]) -> Result<Vec<Shape>> {
    let shapes: Vec<Shape> = shape
        .parameters
        .iter()
        .enumerate()
        .map(|(at, shape)| Shape::new(shape).at(|| format!("parameter {at}")))
        .collect::<Result<_>>()?;
    for (at, allocation) in allocations.iter().enumerate() {
        let Some((number, index)) = &allocation.parameter else { continue };
        let place = || format!("allocation {at}");
        let parameter = shapes.get(*number).ok_or_else(|| {
            Invalid::value("parameter_number", number, format!("below {}", shapes.len()))
        });
        let mut leaf = parameter.at(place)?;
        for i in index {
            leaf = match leaf {
                Shape::Tuple(shapes) => shapes.get(*i),
                _ => None,
            }
            .ok_or_else(|| {
                Invalid::value("parameter_shape_index", i, "an element of the parameter")
            })
            .at(place)?;
        }
        if let Shape::Array(shape) = leaf
            && shape.bytes() > allocation.size
        {
            let bound = format!("at least {} for {shape}", shape.bytes());
            return Err(Invalid::value("size", allocation.size, bound)).at(place);
        }
    }
    Ok(shapes)
}

/// Where the arrays of the result are.
fn outputs(
    shape: &ProgramShapeProto,
    entries: &[OutputInfoMapEntry],
    allocations: &[Allocation],
    reads: &mut Reads,
) -> Result<Vec<Output>> {
    reads.fields("xla.gpu.GpuExecutableProto.OutputInfoMapEntry", &["shape_index", "output_info"]);
    reads.fields("xla.gpu.GpuExecutableProto.OutputInfoProto", &["allocation_index"]);
    reads.fields("xla.ShapeIndexProto", &["indexes"]);
    let result =
        Shape::new(shape.result.as_ref().ok_or_else(|| Invalid::missing("program_shape.result"))?)?;
    let mut out = Vec::new();
    collect(&result, &mut Vec::new(), &mut |index, shape| {
        let place = || format!("output {index:?}");
        let entry = entries
            .iter()
            .find(|entry| entry.shape_index.as_ref().map_or(&[][..], |i| &i.indexes) == index);
        let info = entry.and_then(|entry| entry.output_info.as_ref());
        let info = info.ok_or_else(|| Invalid::missing("output_info_map")).at(place)?;
        let bound = || format!("below {}", allocations.len());
        let allocation =
            usize::try_from(info.allocation_index).ok().filter(|a| *a < allocations.len());
        let allocation = allocation
            .ok_or_else(|| Invalid::value("allocation_index", info.allocation_index, bound()))
            .at(place)?;
        let size = allocations[allocation].size;
        if shape.bytes() > size {
            let bound = format!("at most the {size} bytes of allocation {allocation}");
            return Err(Invalid::value(format!("size of {shape}"), shape.bytes(), bound)).at(place);
        }
        out.push(Output { allocation, shape: shape.clone() });
        Ok(())
    })?;
    Ok(out)
}

/// Visits the arrays of a shape with their index.
fn collect(
    shape: &Shape,
    index: &mut Vec<i64>,
    visit: &mut dyn FnMut(&[i64], &ArrayShape) -> Result<()>,
) -> Result<()> {
    match shape {
        Shape::Array(array) => visit(index, array),
        Shape::Tuple(shapes) => {
            for (at, shape) in shapes.iter().enumerate() {
                index.push(at as i64);
                collect(shape, index, visit)?;
                index.pop();
            }
            Ok(())
        }
        Shape::Token => Ok(()),
    }
}

/// What the constant allocations hold. Since jaxlib 0.11 the content is only in the HLO module, under the
/// name that the global's symbol is made from.
fn constants(
    protos: &[ConstantInfoProto],
    allocations: &[Allocation],
    module: &Module,
    reads: &mut Reads,
) -> Result<Vec<Constant>> {
    reads.fields(
        "xla.gpu.GpuExecutableProto.ConstantInfoProto",
        &["symbol_name", "content", "allocation_index"],
    );
    reads.fields("xla.gpu.DenseDataIntermediateProto", &["data"]);
    let mut out = Vec::with_capacity(protos.len());
    for proto in protos {
        let place = || format!("constant {:?}", proto.symbol_name);
        if proto.allocation_index == -1 {
            continue; // nothing but a symbol of the module's own code
        }
        let bound = || format!("-1, or below {}", allocations.len());
        let allocation =
            usize::try_from(proto.allocation_index).ok().filter(|a| *a < allocations.len());
        let allocation = allocation
            .ok_or_else(|| Invalid::value("allocation_index", proto.allocation_index, bound()))
            .at(place)?;
        let size = allocations[allocation].size;
        let stored = proto.content.as_ref().map(|content| content.data.clone());
        let bytes = match stored.filter(|bytes| !bytes.is_empty()) {
            Some(bytes) => bytes,
            None => from_module(&proto.symbol_name, module).at(place)?,
        };
        if bytes.len() > size {
            let bound = format!("at most the {size} of allocation {allocation}");
            return Err(Invalid::value("bytes", bytes.len(), bound)).at(place);
        }
        out.push(Constant { allocation, bytes });
    }
    Ok(out)
}

fn from_module(symbol: &str, module: &Module) -> Result<prost::bytes::Bytes> {
    let name = symbol.strip_prefix("buffer_for_").unwrap_or(symbol);
    let (_, instruction) = module.instruction(name).ok_or_else(|| {
        Invalid::value(
            "symbol_name",
            format!("{symbol:?}"),
            "the name of a constant in the HLO module",
        )
    })?;
    let literal = instruction.proto.literal.as_ref().ok_or_else(|| Invalid::missing("literal"))?;
    let shape = instruction.shape.array()?;
    let array = crate::array::literal(literal, shape)?;
    let mut bytes = vec![0; shape.bytes()];
    crate::array::encode(&array, shape, &mut bytes)?;
    Ok(bytes.into())
}
