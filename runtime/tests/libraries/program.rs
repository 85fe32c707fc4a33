//! Programs of one thunk.

use aotgate_runtime::backend::{HostArray, run};
use aotgate_runtime::program::{ArrayShape, Limits, Program};
use aotgate_runtime::proto::xla::ffi::attribute_proto::Value as AttributeValue;
use aotgate_runtime::proto::xla::ffi::scalar_proto::Value as ScalarValue;
use aotgate_runtime::proto::xla::ffi::{AttributeProto, ScalarProto};
use aotgate_runtime::proto::xla::gpu::{GpuExecutableProto, ThunkProto};
use aotgate_runtime::proto::xla::{
    BufferAllocationProto, NullableShapedSliceProto, ShapeProto, ShapedSliceProto,
};

use crate::small;

/// Small programs have so many bytes for each array; allocation 1 is the result, 2 scratch, 0 and from 3 on are
/// parameters.
const BYTES: i64 = 256;

/// A program of one thunk that gets arrays and leaves its result in allocation 1.
pub(crate) fn program(
    thunk: ThunkProto,
    parameters: &[ShapeProto],
    result: ShapeProto,
) -> GpuExecutableProto {
    let mut executable = small::program();
    let values = &mut executable.buffer_allocations.as_mut().unwrap().values;
    values.iter_mut().for_each(|allocation| allocation.size = BYTES);
    for number in 1..parameters.len() as i64 {
        values.push(BufferAllocationProto {
            index: values.len() as i64,
            size: BYTES,
            is_entry_computation_parameter: true,
            parameter_number: number,
            ..Default::default()
        });
    }
    let shape = executable.program_shape.as_mut().unwrap();
    shape.parameters = parameters.to_vec();
    shape.result = Some(result);
    executable.thunks = vec![thunk];
    executable
}

/// The allocation of a parameter.
pub(crate) fn parameter(number: usize) -> i64 {
    if number == 0 { 0 } else { number as i64 + 2 }
}

pub(crate) fn place(allocation: i64, shape: &ShapeProto) -> ShapedSliceProto {
    let row_major = ArrayShape::row_major(shape.element_type(), &dims(shape));
    small::shaped(small::slice(allocation, 0, row_major.bytes() as i64), shape.clone())
}

pub(crate) fn dims(shape: &ShapeProto) -> Vec<usize> {
    shape.dimensions.iter().map(|d| *d as usize).collect()
}

/// The bytes of the result, for the bytes of each parameter.
pub(crate) fn evaluate(
    executable: GpuExecutableProto,
    inputs: &[Vec<u8>],
    limits: &Limits,
) -> Result<Vec<u8>, String> {
    let program = Program::new(executable, limits).map_err(|error| error.to_string())?;
    let shapes = program.parameters.iter().flat_map(|shape| shape.leaves());
    let arrays = shapes.zip(inputs).map(|(shape, input)| HostArray::new(shape, input).unwrap());
    let run = run(&program, &[arrays.collect()], limits).map_err(|error| error.to_string())?;
    Ok(run.outputs[0][0].bytes().to_vec())
}

pub(crate) fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// The same of floats alone.
pub(crate) fn evaluate_floats(
    executable: GpuExecutableProto,
    inputs: &[&[f32]],
) -> Result<Vec<f32>, String> {
    let inputs: Vec<_> = inputs.iter().map(|input| bytes(input)).collect();
    evaluate(executable, &inputs, &small::tight()).map(|bytes| floats(&bytes))
}

pub(crate) fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

pub(crate) fn f32s(dims: &[i64]) -> ShapeProto {
    small::f32s(dims)
}

/// A scalar attribute of a registered function.
pub(crate) fn scalar(value: ScalarValue) -> AttributeProto {
    AttributeProto { value: Some(AttributeValue::Scalar(ScalarProto { value: Some(value) })) }
}

/// An operand or result of a registered function.
pub(crate) fn nullable(allocation: i64, shape: &ShapeProto) -> NullableShapedSliceProto {
    NullableShapedSliceProto { shaped_slice: Some(place(allocation, shape)) }
}
