//! What the program takes and gives, and its HLO module in figures.

use std::collections::BTreeMap;

use serde::Serialize;

use super::shape_text;
use crate::proto::xla::gpu::GpuExecutableProto;

/// What a program takes and gives, as HLO writes shapes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Program {
    /// Parameters in order.
    pub parameters: Vec<String>,
    /// The result.
    pub result: Option<String>,
}

/// Where one leaf of the result is found after a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Output {
    /// Position of the leaf in the result shape; empty for the whole.
    pub index: Vec<i64>,
    /// Allocation that holds it.
    pub allocation: i64,
    /// It is an input handed back unchanged.
    pub passthrough: bool,
    /// Parameter whose buffer it reuses.
    pub alias: Option<Alias>,
}

/// A parameter's buffer that a result reuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Alias {
    /// The parameter.
    pub parameter: i64,
    /// Position in the parameter; empty for the whole.
    pub index: Vec<i64>,
    /// The caller has to donate the buffer.
    pub must: bool,
}

/// The HLO module in figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hlo {
    /// Name of the entry computation.
    pub entry: String,
    /// Number of computations.
    pub computations: usize,
    /// Number of instructions in all of them.
    pub instructions: usize,
    /// It has a schedule, as a compiled program does.
    pub scheduled: bool,
    /// Replicas it runs on.
    pub replicas: i64,
    /// Partitions it runs on.
    pub partitions: i64,
    /// How often each opcode occurs.
    pub opcodes: BTreeMap<String, usize>,
}

pub(super) fn program(message: &GpuExecutableProto) -> Option<Program> {
    let program = message.program_shape.as_ref()?;
    Some(Program {
        parameters: program.parameters.iter().map(shape_text).collect(),
        result: program.result.as_ref().map(shape_text),
    })
}

pub(super) fn outputs(message: &GpuExecutableProto) -> Vec<Output> {
    let mut outputs: Vec<Output> = message
        .output_info_map
        .iter()
        .map(|entry| {
            let index = entry.shape_index.as_ref().map(|index| index.indexes.clone());
            let info = entry.output_info.clone().unwrap_or_default();
            Output {
                index: index.unwrap_or_default(),
                allocation: info.allocation_index,
                passthrough: info.passthrough,
                alias: info.alias_config.map(|alias| Alias {
                    parameter: alias.parameter_number,
                    must: alias.kind() == crate::proto::xla::Kind::MustAlias,
                    index: alias.parameter_shape_index,
                }),
            }
        })
        .collect();
    outputs.sort_by(|a, b| a.index.cmp(&b.index));
    outputs
}

pub(super) fn hlo(message: &GpuExecutableProto) -> Option<Hlo> {
    let with_config = message.hlo_module_with_config.as_ref()?;
    let module = with_config.hlo_module.as_ref()?;
    let mut opcodes = BTreeMap::new();
    let mut instructions = 0;
    for instruction in module.computations.iter().flat_map(|computation| &computation.instructions)
    {
        instructions += 1;
        *opcodes.entry(instruction.opcode.clone()).or_default() += 1;
    }
    let config = with_config.config.as_ref();
    Some(Hlo {
        entry: module.entry_computation_name.clone(),
        computations: module.computations.len(),
        instructions,
        scheduled: module.schedule.is_some(),
        replicas: config.map_or(0, |config| config.replica_count).max(1),
        partitions: config.map_or(0, |config| config.num_partitions).max(1),
        opcodes,
    })
}
