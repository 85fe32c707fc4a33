//! Functions of libraries on the reference backend: sorts, convolutions and their gradients, top-k.

#[allow(dead_code, reason = "what other tests start from")]
#[path = "hostile_programs/small.rs"]
mod small;

use std::collections::BTreeMap;

use aotgate_runtime::backend::{HostArray, run};
use aotgate_runtime::program::{ArrayShape, Program};
use aotgate_runtime::proto::stream_executor::dnn::algorithm_proto::MathType;
use aotgate_runtime::proto::stream_executor::dnn::{
    ActivationMode, AlgorithmProto, ConvolutionKind,
};
use aotgate_runtime::proto::xla::ffi::attribute_proto::Value as AttributeValue;
use aotgate_runtime::proto::xla::ffi::scalar_proto::Value as ScalarValue;
use aotgate_runtime::proto::xla::ffi::{AttributeProto, AttributesMapProto, ScalarProto};
use aotgate_runtime::proto::xla::gpu::cudnn_conv_backend_config::FilterAndBiasReorderingOneof;
use aotgate_runtime::proto::xla::gpu::thunk_proto::Impl;
use aotgate_runtime::proto::xla::gpu::{
    ConvolutionThunkProto, CudnnConvBackendConfig, CustomCallThunkProto, CustomKernelProto,
    CustomKernelThunkProto, GpuConvDescriptorProto, GpuExecutableProto, ThunkProto,
};
use aotgate_runtime::proto::xla::precision_config::Precision;
use aotgate_runtime::proto::xla::{
    BufferAllocationProto, ConvolutionDimensionNumbers, NullableShapedSliceProto, PrecisionConfig,
    PrimitiveType, ShapeProto, ShapedSliceProto, Window, WindowDimension,
};

/// Small programs have 64 bytes for each array; allocation 1 is the result, 0 and from 3 on parameters.
const BYTES: i64 = 64;

/// A program of one thunk that gets arrays and leaves its result in allocation 1.
fn program(thunk: ThunkProto, parameters: &[ShapeProto], result: ShapeProto) -> GpuExecutableProto {
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
fn parameter(number: usize) -> i64 {
    if number == 0 { 0 } else { number as i64 + 2 }
}

fn place(allocation: i64, shape: &ShapeProto) -> ShapedSliceProto {
    let row_major = ArrayShape::row_major(shape.element_type(), &dims(shape));
    small::shaped(small::slice(allocation, 0, row_major.bytes() as i64), shape.clone())
}

fn dims(shape: &ShapeProto) -> Vec<usize> {
    shape.dimensions.iter().map(|d| *d as usize).collect()
}

fn evaluate(executable: GpuExecutableProto, inputs: &[&[f32]]) -> Result<Vec<u8>, String> {
    let limits = small::tight();
    let program = Program::new(executable, &limits).map_err(|error| error.to_string())?;
    let shapes = program.parameters.iter().flat_map(|shape| shape.leaves());
    let arrays = shapes.zip(inputs).map(|(shape, input)| {
        let bytes: Vec<u8> = input.iter().flat_map(|x| x.to_le_bytes()).collect();
        HostArray::new(shape, &bytes).unwrap()
    });
    let run = run(&program, &[arrays.collect()], &limits).map_err(|error| error.to_string())?;
    Ok(run.outputs[0][0].bytes().to_vec())
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

fn f32s(dims: &[i64]) -> ShapeProto {
    small::f32s(dims)
}

// Sorts.

fn scalar(value: ScalarValue) -> AttributeProto {
    AttributeProto { value: Some(AttributeValue::Scalar(ScalarProto { value: Some(value) })) }
}

/// Sorts parameter 0, with parameter 1 along with it where there are two.
fn sort(
    target: &str,
    shapes: &[ShapeProto],
    descending: bool,
    batches: i64,
) -> (CustomCallThunkProto, Vec<ShapeProto>) {
    let slice = |allocation, shape: &ShapeProto| NullableShapedSliceProto {
        shaped_slice: Some(place(allocation, shape)),
    };
    let scratch = small::array(PrimitiveType::U8, &[16]);
    // The values are what comes out, where there are any; the keys go to scratch then.
    let count = shapes.len();
    let outputs = if count == 1 { vec![1] } else { vec![2, 1] };
    let mut results: Vec<_> =
        outputs.iter().zip(shapes).map(|(at, shape)| slice(*at, shape)).collect();
    results.push(NullableShapedSliceProto {
        shaped_slice: Some(small::shaped(small::slice(2, 48, 16), scratch)),
    });
    let attributes = BTreeMap::from([
        ("descending".to_owned(), scalar(ScalarValue::B(descending))),
        ("batch_size".to_owned(), scalar(ScalarValue::I64(batches))),
    ]);
    let call = CustomCallThunkProto {
        target_name: target.to_owned(),
        operands: shapes
            .iter()
            .enumerate()
            .map(|(at, shape)| slice(parameter(at), shape))
            .collect(),
        results,
        attributes: Some(AttributesMapProto { attrs: attributes }),
        ..Default::default()
    };
    (call, shapes.to_vec())
}

fn sorted(
    (call, shapes): (CustomCallThunkProto, Vec<ShapeProto>),
    inputs: &[&[f32]],
) -> Result<Vec<f32>, String> {
    let thunk = small::thunk("custom-call.1", 1, Impl::CustomCallThunk(call));
    let result = shapes.last().unwrap().clone();
    evaluate(program(thunk, &shapes, result), inputs).map(|bytes| floats(&bytes))
}

#[test]
fn cub_sorts_keys() {
    const KEYS: &str = "xla.gpu.ext.cub_sort_keys";
    let keys = [f32s(&[6])];
    let input: &[f32] = &[3.0, -1.0, f32::NAN, 0.5, f32::NEG_INFINITY, 2.0];
    let up = sorted(sort(KEYS, &keys, false, 1), &[input]).unwrap();
    assert_eq!(up[..5], [f32::NEG_INFINITY, -1.0, 0.5, 2.0, 3.0]);
    assert!(up[5].is_nan());
    let down = sorted(sort(KEYS, &keys, true, 0), &[input]).unwrap();
    assert_eq!(down[1..], [3.0, 2.0, 0.5, -1.0, f32::NEG_INFINITY]);
    let rows = sorted(sort(KEYS, &[f32s(&[2, 3])], false, 2), &[&[3.0, 1.0, 2.0, 0.0, -1.0, 5.0]])
        .unwrap();
    assert_eq!(rows, [1.0, 2.0, 3.0, -1.0, 0.0, 5.0]);
}

#[test]
fn cub_sorts_pairs_and_keeps_the_order_of_equal_keys() {
    const PAIRS: &str = "xla.gpu.ext.cub_sort_pairs";
    let shapes = [f32s(&[6]), f32s(&[6])];
    let keys: &[f32] = &[2.0, 1.0, 0.0, 1.0, -0.0, 2.0];
    let values: &[f32] = &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    let up = sorted(sort(PAIRS, &shapes, false, 1), &[keys, values]).unwrap();
    assert_eq!(up, [2.0, 4.0, 1.0, 3.0, 0.0, 5.0]);
    let down = sorted(sort(PAIRS, &shapes, true, 1), &[keys, values]).unwrap();
    assert_eq!(down, [0.0, 5.0, 1.0, 3.0, 2.0, 4.0]);
}

#[test]
fn a_sort_that_contradicts_itself_is_named() {
    const KEYS: &str = "xla.gpu.ext.cub_sort_keys";
    let call = |change: fn(&mut CustomCallThunkProto)| {
        let (mut call, shapes) = sort(KEYS, &[f32s(&[6])], false, 1);
        change(&mut call);
        sorted((call, shapes), &[&[0.0; 6]]).unwrap_err()
    };
    let missing = call(|c| c.attributes.as_mut().unwrap().attrs.clear());
    assert!(missing.contains("attributes.descending is not set"), "{missing}");
    let wrong = call(|c| {
        c.attributes
            .as_mut()
            .unwrap()
            .attrs
            .insert("descending".into(), scalar(ScalarValue::I64(1)));
    });
    assert!(wrong.contains("attributes.descending is I64(1), expected a bool"), "{wrong}");
    let batches = call(|c| {
        c.attributes
            .as_mut()
            .unwrap()
            .attrs
            .insert("batch_size".into(), scalar(ScalarValue::I64(4)));
    });
    assert!(
        batches.contains("attributes.batch_size is 4, expected a divisor of 6 elements"),
        "{batches}"
    );
    let results = call(|c| c.results.truncate(1));
    assert!(results.contains("results is 1, expected 2"), "{results}");
    let absent = call(|c| c.operands[0].shaped_slice = None);
    assert!(absent.contains("operands[0] is not set"), "{absent}");
    let shape = call(|c| c.results[0].shaped_slice.as_mut().unwrap().shape = Some(f32s(&[5])));
    assert!(shape.contains("results[0].shape is f32[5]{0}, expected f32[6]{0}"), "{shape}");
}

// Convolutions.

/// One spatial dimension: a forward convolution of `[1,1,4]` with `[1,1,2]`.
fn convolution(
    kind: ConvolutionKind,
    operands: &[ShapeProto],
    result: &ShapeProto,
) -> ConvolutionThunkProto {
    let dimension = WindowDimension {
        size: 2,
        stride: 1,
        window_dilation: 1,
        base_dilation: 1,
        ..Default::default()
    };
    ConvolutionThunkProto {
        conv_descriptor: Some(GpuConvDescriptorProto {
            kind: kind.into(),
            backend_config: Some(CudnnConvBackendConfig {
                conv_result_scale: 1.0,
                ..Default::default()
            }),
            window: Some(Window { dimensions: vec![dimension] }),
            dnums: Some(ConvolutionDimensionNumbers {
                input_batch_dimension: 0,
                input_feature_dimension: 1,
                input_spatial_dimensions: vec![2],
                kernel_output_feature_dimension: 0,
                kernel_input_feature_dimension: 1,
                kernel_spatial_dimensions: vec![2],
                output_batch_dimension: 0,
                output_feature_dimension: 1,
                output_spatial_dimensions: vec![2],
            }),
            feature_group_count: 1,
            operand0_shape: Some(operands[0].clone()),
            operand1_shape: Some(operands[1].clone()),
            result_shape: Some(result.clone()),
            ..Default::default()
        }),
        operand_buffers: operands
            .iter()
            .enumerate()
            .map(|(at, shape)| place(parameter(at), shape))
            .collect(),
        result_buffers: vec![place(1, result)],
        scratch_buffer: None,
    }
}

fn convolved(
    kind: ConvolutionKind,
    operands: &[(&[i64], &[f32])],
    result: &[i64],
    change: fn(&mut ConvolutionThunkProto),
) -> Result<Vec<f32>, String> {
    let shapes: Vec<ShapeProto> = operands.iter().map(|(dims, _)| f32s(dims)).collect();
    let result = f32s(result);
    let mut thunk = convolution(kind, &shapes, &result);
    change(&mut thunk);
    let thunk = small::thunk("cudnn-conv.1", 1, Impl::ConvolutionThunk(thunk));
    let inputs: Vec<&[f32]> = operands.iter().map(|(_, values)| *values).collect();
    evaluate(program(thunk, &shapes, result), &inputs).map(|bytes| floats(&bytes))
}

const X: (&[i64], &[f32]) = (&[1, 1, 4], &[1.0, 2.0, 3.0, 4.0]);
const K: (&[i64], &[f32]) = (&[1, 1, 2], &[10.0, 1.0]);
/// A gradient of the output.
const G: (&[i64], &[f32]) = (&[1, 1, 3], &[1.0, 0.0, 100.0]);

#[test]
fn convolutions_and_their_gradients() {
    let plain =
        |kind, operands: &[_], result: &[i64]| convolved(kind, operands, result, |_| ()).unwrap();
    assert_eq!(plain(ConvolutionKind::Forward, &[X, K], &[1, 1, 3]), [12.0, 23.0, 34.0]);
    // out[i] = 10 x[i] + x[i + 1]
    assert_eq!(plain(ConvolutionKind::BackwardData, &[G, K], X.0), [10.0, 1.0, 1000.0, 100.0]);
    assert_eq!(plain(ConvolutionKind::BackwardFilter, &[X, G], K.0), [301.0, 402.0]);
}

#[test]
fn what_is_fused_with_a_convolution() {
    let bias: (&[i64], &[f32]) = (&[1], &[-20.0]);
    let side: (&[i64], &[f32]) = (&[1, 1, 3], &[1.0, 2.0, -50.0]);
    let relu = |thunk: &mut ConvolutionThunkProto| {
        let config = thunk.conv_descriptor.as_mut().unwrap().backend_config.as_mut().unwrap();
        config.activation_mode = ActivationMode::KRelu.into();
        config.conv_result_scale = 2.0;
    };
    let sided = |thunk: &mut ConvolutionThunkProto| {
        let config = thunk.conv_descriptor.as_mut().unwrap().backend_config.as_mut().unwrap();
        config.activation_mode = ActivationMode::KRelu.into();
        (config.conv_result_scale, config.side_input_scale) = (2.0, 0.5);
    };
    let kind = ConvolutionKind::ForwardBiasActivation;
    assert_eq!(convolved(kind, &[X, K, bias], &[1, 1, 3], relu).unwrap(), [4.0, 26.0, 48.0]);
    assert_eq!(convolved(kind, &[X, K, bias, side], &[1, 1, 3], sided).unwrap(), [4.5, 27.0, 23.0]);
}

/// The shapes of buffers are of the instructions that made them; only the descriptor's count.
#[test]
fn the_descriptor_says_what_the_buffers_hold() {
    let depthwise = |thunk: &mut ConvolutionThunkProto| {
        thunk.operand_buffers[1] = place(parameter(1), &f32s(&[4]));
        thunk.result_buffers[0] = place(1, &f32s(&[6]));
        thunk.conv_descriptor.as_mut().unwrap().feature_group_count = 2;
    };
    let x: (&[i64], &[f32]) = (&[1, 2, 4], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    let filter: (&[i64], &[f32]) = (&[2, 1, 2], &[10.0, 1.0, 0.0, -1.0]);
    let found = convolved(ConvolutionKind::Forward, &[x, filter], &[1, 2, 3], depthwise).unwrap();
    assert_eq!(found, [12.0, 23.0, 34.0, -6.0, -7.0, -8.0]);
}

/// 2049 has 12 bits, of which TF32 keeps 11.
#[test]
fn engines_with_settings_round_operands_to_tf32() {
    let (x, k): ((&[i64], &[f32]), (&[i64], &[f32])) =
        ((&[1, 1, 2], &[2049.0, 1.0]), (&[1, 1, 2], &[1.0, 0.5]));
    let sum = |change| convolved(ConvolutionKind::Forward, &[x, k], &[1, 1, 1], change).unwrap();
    fn config(thunk: &mut ConvolutionThunkProto) -> &mut AlgorithmProto {
        let config = thunk.conv_descriptor.as_mut().unwrap().backend_config.as_mut().unwrap();
        config.algorithm.get_or_insert_default()
    }
    assert_eq!(sum(|_| ()), [2049.5]);
    assert_eq!(sum(|thunk| config(thunk).algo_id = 5), [2049.5]);
    assert_eq!(sum(|thunk| config(thunk).tuning_knobs = [(2, 8)].into()), [2050.5]);
    assert_eq!(sum(|thunk| config(thunk).set_math_type(MathType::TensorOpMath)), [2050.5]);
}

/// Where the most precision was asked for, there are no tensor cores.
#[test]
fn a_precise_convolution_does_not_round() {
    let (x, k) = (f32s(&[1, 1, 2]), f32s(&[1, 1, 2]));
    let result = f32s(&[1, 1, 1]);
    let mut thunk = convolution(ConvolutionKind::Forward, &[x.clone(), k.clone()], &result);
    let config = thunk.conv_descriptor.as_mut().unwrap().backend_config.as_mut().unwrap();
    config.algorithm.get_or_insert_default().tuning_knobs = [(2, 8)].into();
    let thunk = small::thunk("custom-call.3", 1, Impl::ConvolutionThunk(thunk));
    let mut executable = program(thunk, &[x.clone(), k.clone()], result.clone());
    let mut call = small::instruction(3, "custom-call", result, &[1, 2]);
    let mut run = |precision: Precision| {
        call.precision_config =
            Some(PrecisionConfig { operand_precision: vec![precision.into(); 2], algorithm: 0 });
        let mut second = small::instruction(2, "parameter", k.clone(), &[]);
        second.parameter_number = 1;
        let entry = vec![small::instruction(1, "parameter", x.clone(), &[]), second, call.clone()];
        let module =
            executable.hlo_module_with_config.as_mut().unwrap().hlo_module.as_mut().unwrap();
        module.computations = vec![small::computation(1, 3, entry)];
        floats(&evaluate(executable.clone(), &[&[2049.0, 1.0], &[1.0, 0.5]]).unwrap())
    };
    assert_eq!(run(Precision::Default), [2050.5]);
    assert_eq!(run(Precision::High), [2050.5]);
    assert_eq!(run(Precision::Highest), [2049.5]);
}

#[test]
fn a_convolution_that_contradicts_itself_is_named() {
    let failed = |kind, operands: &[_], result: &[i64], change| {
        convolved(kind, operands, result, change).unwrap_err()
    };
    let forward = ConvolutionKind::Forward;
    let output = failed(forward, &[X, K], &[1, 1, 4], |_| ());
    assert!(output.contains("spatial sizes of the output is [4], expected [3]"), "{output}");
    let count = failed(forward, &[X, K, K], &[1, 1, 3], |_| ());
    assert!(count.contains("operand_buffers is 3, expected 2"), "{count}");
    let invalid = failed(ConvolutionKind::Invalid, &[X, K], &[1, 1, 3], |_| ());
    assert!(invalid.contains("kind is INVALID"), "{invalid}");
    let graph = failed(ConvolutionKind::ForwardGraph, &[X, K], &[1, 1, 3], |_| ());
    assert!(graph.contains("not supported: convolution_thunk with a graph"), "{graph}");
    let bias: (&[i64], &[f32]) = (&[0], &[]);
    let bias = failed(ConvolutionKind::ForwardBiasActivation, &[X, K, bias], &[1, 1, 3], |_| ());
    assert!(bias.contains("operand_buffers[2]: size of f32[1]{0} is 4"), "{bias}");
}

#[test]
fn what_cudnn_does_not_do_is_refused() {
    fn descriptor(thunk: &mut ConvolutionThunkProto) -> &mut GpuConvDescriptorProto {
        thunk.conv_descriptor.as_mut().unwrap()
    }
    fn window(thunk: &mut ConvolutionThunkProto) -> &mut WindowDimension {
        &mut descriptor(thunk).window.as_mut().unwrap().dimensions[0]
    }
    fn config(thunk: &mut ConvolutionThunkProto) -> &mut CudnnConvBackendConfig {
        descriptor(thunk).backend_config.as_mut().unwrap()
    }
    let cases: [(fn(&mut ConvolutionThunkProto), &str); 12] = [
        (|t| descriptor(t).kind = 99, "conv_descriptor: kind is 99"),
        (|t| window(t).padding_low = 1, "padding_high is 0, expected padding_low, 1"),
        (|t| window(t).base_dilation = 2, "base_dilation is 2, expected 1"),
        (
            |t| {
                let dimensions = &mut descriptor(t).window.as_mut().unwrap().dimensions;
                dimensions.push(WindowDimension { window_reversal: true, ..dimensions[0] });
            },
            "window.dimensions[1].window_reversal is true",
        ),
        (
            |t| {
                let dimensions = &mut descriptor(t).window.as_mut().unwrap().dimensions;
                *dimensions = vec![dimensions[0]; 4];
            },
            "window.dimensions is 4, expected at most 3",
        ),
        (|t| config(t).conv_result_scale = 0.5, "conv_result_scale is 0.5, expected 1"),
        (
            |t| descriptor(t).operand0_shape = Some(f32s(&[1, 1, 40])),
            "operand_buffers[0]: size of f32[1,1,40]{2,1,0} is 160, expected at most the 16 bytes",
        ),
        (|t| descriptor(t).result_shape = None, "result_shape: shape is not set"),
        (
            |t| descriptor(t).operand1_shape = Some(small::array(PrimitiveType::F16, &[1, 1, 2])),
            "f16[1,1,2]{2,1,0} and f32[1,1,3]{2,1,0}, expected all f16",
        ),
        (|t| descriptor(t).feature_group_count = 3, "times groups is 3, expected 1"),
        (
            |t| descriptor(t).operand0_shape = Some(f32s(&[1, 1, 4, 1])),
            "not supported: convolution_thunk on vectors of features",
        ),
        (
            |t| {
                config(t).filter_and_bias_reordering_oneof =
                    Some(FilterAndBiasReorderingOneof::ReorderedInt8NchwVect(true));
            },
            "not supported: convolution_thunk on a rearranged filter",
        ),
    ];
    for (change, expected) in cases {
        let found = convolved(ConvolutionKind::Forward, &[X, K], &[1, 1, 3], change).unwrap_err();
        assert!(found.contains(expected), "{found}\nexpected {expected}");
    }
    let bias: (&[i64], &[f32]) = (&[1], &[0.0]);
    let fused = |change| {
        let kind = ConvolutionKind::ForwardBiasActivation;
        convolved(kind, &[X, K, bias], &[1, 1, 3], change).unwrap_err()
    };
    let tanh = fused(|t| config(t).activation_mode = ActivationMode::KTanh.into());
    assert!(tanh.contains("activation_mode is kTanh, expected none, ReLU"), "{tanh}");
    let side = fused(|t| config(t).side_input_scale = 2.0);
    assert!(side.contains("side_input_scale is 2, expected 0"), "{side}");
}

// Top-k.

#[test]
fn the_kernel_of_top_k_is_evaluated() {
    let (x, values, indices) = (f32s(&[4]), f32s(&[2]), small::array(PrimitiveType::S32, &[2]));
    let thunk = CustomKernelThunkProto {
        args: vec![
            place(0, &x),
            place(1, &values),
            small::shaped(small::slice(2, 0, 8), indices.clone()),
        ],
        written: vec![false, true, true],
        custom_kernel: Some(CustomKernelProto { name: "topk".into(), ..Default::default() }),
        ..Default::default()
    };
    let thunk = small::thunk("custom-call.2", 1, Impl::CustomKernelThunk(thunk));
    let mut executable = program(thunk, std::slice::from_ref(&x), values.clone());
    let result = ShapeProto {
        element_type: PrimitiveType::Tuple.into(),
        tuple_shapes: vec![values, indices],
        ..Default::default()
    };
    let mut call = small::instruction(2, "custom-call", result, &[1]);
    call.custom_call_target = "__gpu$TopK".into();
    let entry = vec![small::instruction(1, "parameter", x, &[]), call];
    let module = executable.hlo_module_with_config.as_mut().unwrap().hlo_module.as_mut().unwrap();
    module.computations = vec![small::computation(1, 2, entry)];
    let bytes = evaluate(executable, &[&[1.0, 7.0, -3.0, 9.0]]).unwrap();
    assert_eq!(floats(&bytes), [9.0, 7.0]);
}
