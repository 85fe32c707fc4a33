//! Small programs to start from.

use std::time::Duration;

use aotgate_runtime::backend::{DeviceInputs, HostArray, run};
use aotgate_runtime::program::{Limits, Program};
use aotgate_runtime::proto::xla::buffer_assignment::BufferAllocationSliceProto;
use aotgate_runtime::proto::xla::gpu::gpu_executable_proto::{
    OutputInfoMapEntry, OutputInfoProto, RepeatedBufferAllocations,
};
use aotgate_runtime::proto::xla::gpu::thunk_proto::Impl;
use aotgate_runtime::proto::xla::gpu::{
    CopyThunkProto, GpuExecutableProto, KernelThunkProto, ThunkInfoProto, ThunkProto,
    ThunkSequenceProto, WhileThunkProto,
};
use aotgate_runtime::proto::xla::{
    BufferAllocationProto, HloComputationProto, HloInstructionProto, HloModuleConfigProto,
    HloModuleProto, HloModuleProtoWithConfig, PrimitiveType, ProgramShapeProto, ShapeIndexProto,
    ShapeProto, ShapedSliceProto,
};

/// Bounds that no program of a test needs, so that one which runs away is stopped soon.
pub(crate) fn tight() -> Limits {
    Limits {
        memory: 64 << 20,
        steps: 20_000_000,
        iterations: 10_000,
        devices: 4,
        thunks: 10_000,
        rendezvous: Duration::from_millis(200),
        time: Duration::from_secs(5),
    }
}

/// Why a program is refused, or fails when it runs.
pub(crate) fn refused(executable: GpuExecutableProto) -> String {
    refused_within(executable, &tight())
}

pub(crate) fn refused_within(executable: GpuExecutableProto, limits: &Limits) -> String {
    match attempt(executable, limits) {
        Err(error) => error,
        Ok(_) => "it ran".to_owned(),
    }
}

/// Checks and runs a program on inputs that are made up.
pub(crate) fn attempt(
    executable: GpuExecutableProto,
    limits: &Limits,
) -> Result<(Program, Vec<Vec<Vec<u8>>>), String> {
    let program = Program::new(executable, limits).map_err(|error| error.to_string())?;
    let inputs: Vec<DeviceInputs> = (0..program.devices()).map(|_| inputs(&program)).collect();
    let run = run(&program, &inputs, limits).map_err(|error| error.to_string())?;
    let bytes = run.outputs.iter().map(|outputs| outputs.iter().map(HostArray::bytes).collect());
    let bytes = bytes.collect();
    Ok((program, bytes))
}

/// Arrays for the parameters: small numbers, the same on every run.
pub(crate) fn inputs(program: &Program) -> DeviceInputs {
    let shapes = program.parameters.iter().flat_map(|parameter| parameter.leaves());
    shapes
        .map(|shape| {
            let row_major = aotgate_runtime::program::ArrayShape::row_major(shape.ty, &shape.dims);
            let mut bytes = vec![0; row_major.bytes()];
            let element = row_major.element_bits / 8;
            for (at, out) in bytes.chunks_mut(element).enumerate() {
                let number = (at * 7 % 11) as f64 / 4.0 - 0.5;
                match shape.ty {
                    PrimitiveType::Pred => out[0] = u8::from(at % 3 == 0),
                    PrimitiveType::F64 => out.copy_from_slice(&number.to_le_bytes()),
                    PrimitiveType::F32 => out.copy_from_slice(&(number as f32).to_le_bytes()),
                    PrimitiveType::C64 => out[..4].copy_from_slice(&(number as f32).to_le_bytes()),
                    // Its upper half, which is a number too.
                    PrimitiveType::Bf16 => out.copy_from_slice(&(number as f32).to_le_bytes()[2..]),
                    _ => out[0] = (at * 7 % 11) as u8,
                }
            }
            HostArray::new(shape, &bytes).expect("the bytes that the shape takes")
        })
        .collect()
}

pub(crate) fn f32s(dims: &[i64]) -> ShapeProto {
    array(PrimitiveType::F32, dims)
}

pub(crate) fn array(ty: PrimitiveType, dims: &[i64]) -> ShapeProto {
    ShapeProto { element_type: ty as i32, dimensions: dims.to_vec(), ..Default::default() }
}

pub(crate) fn slice(allocation: i64, offset: i64, size: i64) -> BufferAllocationSliceProto {
    BufferAllocationSliceProto {
        offset,
        size,
        buffer_allocation_index: allocation,
        element_type: 0,
    }
}

/// `count` floats at the beginning of an allocation.
pub(crate) fn floats(allocation: i64, count: i64) -> ShapedSliceProto {
    shaped(slice(allocation, 0, 4 * count), f32s(&[count]))
}

pub(crate) fn shaped(slice: BufferAllocationSliceProto, shape: ShapeProto) -> ShapedSliceProto {
    ShapedSliceProto { slice: Some(slice), shape: Some(shape) }
}

pub(crate) fn thunk(annotation: &str, id: i64, thunk: Impl) -> ThunkProto {
    let info = ThunkInfoProto {
        profile_annotation: annotation.into(),
        thunk_id: id,
        ..Default::default()
    };
    ThunkProto { thunk_info: Some(info), r#impl: Some(thunk) }
}

pub(crate) fn sequence(thunks: Vec<ThunkProto>) -> Option<ThunkSequenceProto> {
    Some(ThunkSequenceProto { thunks })
}

pub(crate) fn copy(from: ShapedSliceProto, to: ShapedSliceProto, bytes: i64) -> ThunkProto {
    let copy =
        CopyThunkProto { source_buffer: Some(from), destination_buffer: Some(to), mem_size: bytes };
    thunk("copy.1", 1, Impl::CopyThunk(copy))
}

/// A loop whose condition is byte 0 of allocation 2.
pub(crate) fn repeat(trip_count: Option<i64>, body: Vec<ThunkProto>) -> ThunkProto {
    let repeat = WhileThunkProto {
        condition_result_buffer_index: Some(slice(2, 0, 1)),
        condition_thunk_sequence: sequence(vec![]),
        body_thunk_sequence: sequence(body),
        trip_count,
    };
    thunk("while.1", 2, Impl::WhileThunk(repeat))
}

/// `out = in + in` on eight floats. Allocation 0 is the parameter, 1 the result, 2 is 64 bytes of scratch.
pub(crate) fn program() -> GpuExecutableProto {
    let sizes = [32, 32, 64];
    let mut values: Vec<BufferAllocationProto> = sizes
        .iter()
        .enumerate()
        .map(|(index, size)| BufferAllocationProto {
            index: index as i64,
            size: *size,
            ..Default::default()
        })
        .collect();
    values[0].is_entry_computation_parameter = true;
    let info = OutputInfoProto { allocation_index: 1, ..Default::default() };
    GpuExecutableProto {
        module_name: "small".into(),
        hlo_module_with_config: Some(HloModuleProtoWithConfig {
            hlo_module: Some(module()),
            config: Some(HloModuleConfigProto::default()),
        }),
        program_shape: Some(ProgramShapeProto {
            parameters: vec![f32s(&[8])],
            result: Some(f32s(&[8])),
            ..Default::default()
        }),
        buffer_allocations: Some(RepeatedBufferAllocations { values }),
        output_info_map: vec![OutputInfoMapEntry {
            shape_index: Some(ShapeIndexProto::default()),
            output_info: Some(info),
        }],
        thunks: vec![kernel()],
        ..Default::default()
    }
}

/// The thunk of [`program`].
pub(crate) fn kernel() -> ThunkProto {
    let kernel = KernelThunkProto {
        args: vec![slice(0, 0, 32), slice(1, 0, 32)],
        written: vec![false, true],
        kernel_name: "add_2".into(),
        args_shape: vec![f32s(&[8]), f32s(&[8])],
        ..Default::default()
    };
    // A kernel gets an operand once.
    thunk("add.2", 1, Impl::KernelThunk(kernel))
}

pub(crate) fn instruction(
    id: i64,
    opcode: &str,
    shape: ShapeProto,
    operands: &[i64],
) -> HloInstructionProto {
    HloInstructionProto {
        name: format!("{opcode}.{id}"),
        opcode: opcode.into(),
        shape: Some(shape),
        id,
        operand_ids: operands.to_vec(),
        ..Default::default()
    }
}

pub(crate) fn computation(
    id: i64,
    root_id: i64,
    instructions: Vec<HloInstructionProto>,
) -> HloComputationProto {
    HloComputationProto {
        name: format!("computation.{id}"),
        id,
        root_id,
        instructions,
        ..Default::default()
    }
}

fn module() -> HloModuleProto {
    let mut fusion = instruction(2, "fusion", f32s(&[8]), &[1]);
    fusion.name = "add.2".into();
    fusion.called_computation_ids = vec![2];
    let inner = vec![
        instruction(11, "parameter", f32s(&[8]), &[]),
        instruction(12, "add", f32s(&[8]), &[11, 11]),
    ];
    let entry = vec![instruction(1, "parameter", f32s(&[8]), &[]), fusion];
    HloModuleProto {
        computations: vec![computation(2, 12, inner), computation(1, 2, entry)],
        ..Default::default()
    }
}
