//! Which fields of a module are read.

use std::collections::BTreeSet;

use super::{Computation, Instruction, Module};
use crate::program::Reads;
use crate::proto::xla::HloModuleProto;

const INSTRUCTION: &str = "xla.HloInstructionProto";

/// Notes what [`Module::new`] reads.
pub(super) fn record_module(proto: &HloModuleProto, reads: &mut Reads) {
    reads.fields("xla.HloModuleProto", &["computations"]);
    if proto.computations.is_empty() {
        return;
    }
    reads.fields("xla.HloComputationProto", &["instructions", "id", "root_id"]);
    reads.fields(
        INSTRUCTION,
        &["opcode", "shape", "id", "operand_ids", "called_computation_ids", "parameter_number"],
    );
}

/// Notes what evaluating an instruction reads: its own attributes, and those of the computations that it
/// calls. `seen` are the computations that need no second look.
pub(crate) fn record_evaluated(
    module: &Module,
    (computation, instruction): (&Computation, &Instruction),
    seen: &mut BTreeSet<usize>,
    reads: &mut Reads,
) {
    record_instruction(instruction, reads);
    for operand in &instruction.operands {
        computation.instructions[*operand].shape.record(reads);
    }
    let mut open = instruction.calls.clone();
    while let Some(called) = open.pop() {
        if !seen.insert(called) {
            continue;
        }
        for instruction in &module.computations[called].instructions {
            record_instruction(instruction, reads);
            open.extend(&instruction.calls);
        }
    }
}

/// Notes what evaluating one instruction reads.
pub(crate) fn record_instruction(instruction: &Instruction, reads: &mut Reads) {
    instruction.shape.record(reads);
    for (message, fields) in attributes(&instruction.opcode) {
        reads.fields(message, fields);
    }
    if let Some(literal) = &instruction.proto.literal
        && instruction.opcode == "constant"
    {
        if let Some(Ok(shape)) = literal.shape.as_ref().map(crate::program::Shape::new) {
            shape.record(reads);
        }
        if let Ok(shape) = instruction.shape.array() {
            reads.fields("xla.LiteralProto", &["shape", crate::array::literal_field(shape.ty)]);
        }
    }
}

/// Notes what a convolution reads of its window.
pub(crate) fn record_window(reads: &mut Reads) {
    for (message, fields) in CONVOLVED {
        if !matches!(*message, INSTRUCTION | "xla.PrecisionConfig") {
            reads.fields(message, fields);
        }
    }
}

type Fields = &'static [&'static str];

/// A window that reduces.
const WINDOW: &[(&str, Fields)] = &[
    (INSTRUCTION, &["window"]),
    ("xla.Window", &["dimensions"]),
    ("xla.WindowDimension", &["size", "stride", "padding_low", "window_dilation", "base_dilation"]),
];

/// A window that convolves.
const CONVOLVED: &[(&str, Fields)] = &[
    (
        INSTRUCTION,
        &[
            "window",
            "convolution_dimension_numbers",
            "feature_group_count",
            "batch_group_count",
            "precision_config",
        ],
    ),
    ("xla.Window", &["dimensions"]),
    (
        "xla.WindowDimension",
        &["size", "stride", "padding_low", "window_dilation", "base_dilation", "window_reversal"],
    ),
    (
        "xla.ConvolutionDimensionNumbers",
        &[
            "kernel_input_feature_dimension",
            "kernel_output_feature_dimension",
            "kernel_spatial_dimensions",
            "input_batch_dimension",
            "input_feature_dimension",
            "output_batch_dimension",
            "output_feature_dimension",
            "input_spatial_dimensions",
            "output_spatial_dimensions",
        ],
    ),
    ("xla.PrecisionConfig", &["operand_precision", "algorithm"]),
];

/// The attributes that an operation has in the evaluator, as message and fields.
fn attributes(opcode: &str) -> &'static [(&'static str, Fields)] {
    const DIMENSIONS: &[(&str, Fields)] = &[(INSTRUCTION, &["dimensions"])];
    match opcode {
        "constant" => &[(INSTRUCTION, &["literal"])],
        "get-tuple-element" => &[(INSTRUCTION, &["tuple_index"])],
        "broadcast" | "transpose" | "reverse" | "iota" | "concatenate" | "reduce" | "sort"
        | "get-dimension-size" => DIMENSIONS,
        "compare" => {
            &[(INSTRUCTION, &["comparison_direction", "comparison_type", "comparison_order"])]
        }
        "reduce-precision" => &[(INSTRUCTION, &["exponent_bits", "mantissa_bits"])],
        "slice" => &[
            (INSTRUCTION, &["slice_dimensions"]),
            ("xla.HloInstructionProto.SliceDimensions", &["start", "limit", "stride"]),
        ],
        "pad" => &[
            (INSTRUCTION, &["padding_config"]),
            ("xla.PaddingConfig", &["dimensions"]),
            ("xla.PaddingConfig.PaddingConfigDimension", &["edge_padding_low", "interior_padding"]),
        ],
        "dot" => &[
            (INSTRUCTION, &["dot_dimension_numbers", "precision_config"]),
            (
                "xla.DotDimensionNumbers",
                &[
                    "lhs_contracting_dimensions",
                    "rhs_contracting_dimensions",
                    "lhs_batch_dimensions",
                    "rhs_batch_dimensions",
                ],
            ),
            ("xla.PrecisionConfig", &["operand_precision", "algorithm"]),
        ],
        "reduce-window" | "select-and-scatter" => WINDOW,
        "gather" => &[
            (INSTRUCTION, &["gather_dimension_numbers", "gather_slice_sizes"]),
            (
                "xla.GatherDimensionNumbers",
                &[
                    "offset_dims",
                    "collapsed_slice_dims",
                    "start_index_map",
                    "index_vector_dim",
                    "operand_batching_dims",
                    "start_indices_batching_dims",
                ],
            ),
        ],
        "scatter" => &[
            (INSTRUCTION, &["scatter_dimension_numbers"]),
            (
                "xla.ScatterDimensionNumbers",
                &[
                    "update_window_dims",
                    "inserted_window_dims",
                    "scatter_dims_to_operand_dims",
                    "index_vector_dim",
                    "input_batching_dims",
                    "scatter_indices_batching_dims",
                ],
            ),
        ],
        "convolution" => CONVOLVED,
        "topk" => &[(INSTRUCTION, &["largest"])],
        "fft" => &[(INSTRUCTION, &["fft_type", "fft_length"])],
        "custom-call" => &[(INSTRUCTION, &["custom_call_target"])],
        _ => &[],
    }
}
