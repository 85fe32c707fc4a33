//! Convolutions by cuDNN, and their gradients.

use aotgate_runtime::proto::stream_executor::dnn::algorithm_proto::MathType;
use aotgate_runtime::proto::stream_executor::dnn::{
    ActivationMode, AlgorithmProto, ConvolutionKind,
};
use aotgate_runtime::proto::xla::gpu::cudnn_conv_backend_config::FilterAndBiasReorderingOneof;
use aotgate_runtime::proto::xla::gpu::thunk_proto::Impl;
use aotgate_runtime::proto::xla::gpu::{
    ConvolutionThunkProto, CudnnConvBackendConfig, GpuConvDescriptorProto,
};
use aotgate_runtime::proto::xla::precision_config::Precision;
use aotgate_runtime::proto::xla::{
    ConvolutionDimensionNumbers, PrecisionConfig, PrimitiveType, ShapeProto, Window,
    WindowDimension,
};

use crate::program::{evaluate_floats, f32s, parameter, place, program};
use crate::small;

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
    evaluate_floats(program(thunk, &shapes, result), &inputs)
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
        evaluate_floats(executable.clone(), &[&[2049.0, 1.0], &[1.0, 0.5]]).unwrap()
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
