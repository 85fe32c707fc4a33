//! Convolutions.

use super::case::{Case, case, check};
use crate::proto::xla::{ConvolutionDimensionNumbers, Window, WindowDimension};

#[test]
fn table() {
    check(&cases());
}

/// Batch, feature and spatial dimensions in this order; of the kernel output and input features first.
fn numbers(spatial: i64) -> ConvolutionDimensionNumbers {
    let spatial: Vec<i64> = (2..2 + spatial).collect();
    ConvolutionDimensionNumbers {
        input_batch_dimension: 0,
        input_feature_dimension: 1,
        input_spatial_dimensions: spatial.clone(),
        kernel_output_feature_dimension: 0,
        kernel_input_feature_dimension: 1,
        kernel_spatial_dimensions: spatial.clone(),
        output_batch_dimension: 0,
        output_feature_dimension: 1,
        output_spatial_dimensions: spatial,
    }
}

fn plain(size: i64) -> WindowDimension {
    WindowDimension {
        size,
        stride: 1,
        window_dilation: 1,
        base_dilation: 1,
        ..WindowDimension::default()
    }
}

fn convolution(text: &str, window: &[WindowDimension], groups: [i64; 2]) -> Case {
    general(text, window, groups, numbers(window.len() as i64))
}

fn general(
    text: &str,
    window: &[WindowDimension],
    groups: [i64; 2],
    numbers: ConvolutionDimensionNumbers,
) -> Case {
    let window = Window { dimensions: window.to_vec() };
    case(text).with(move |p| {
        p.window = Some(window.clone());
        p.convolution_dimension_numbers = Some(numbers.clone());
        [p.feature_group_count, p.batch_group_count] = groups;
    })
}

pub(super) fn cases() -> Vec<Case> {
    let x = "f32[1,1,4] 1 2 3 4";
    let k = "f32[1,1,2] 10 1";
    let one = |result: &str, window: WindowDimension| {
        convolution(&format!("convolution({x}, {k}) = {result}"), &[window], [1, 1])
    };
    // Features last in all arrays, output features last in the kernel.
    let last = ConvolutionDimensionNumbers {
        input_feature_dimension: 2,
        input_spatial_dimensions: vec![1],
        kernel_output_feature_dimension: 2,
        kernel_input_feature_dimension: 1,
        kernel_spatial_dimensions: vec![0],
        output_feature_dimension: 2,
        output_spatial_dimensions: vec![1],
        ..numbers(1)
    };
    let twice = ConvolutionDimensionNumbers { input_feature_dimension: 0, ..numbers(1) };
    vec![
        one("f32[1,1,3] 12 23 34", plain(2)),
        one("f32[1,1,2] 12 34", WindowDimension { stride: 2, ..plain(2) }),
        one(
            "f32[1,1,5] 1 12 23 34 40",
            WindowDimension { padding_low: 1, padding_high: 1, ..plain(2) },
        ),
        one("f32[1,1,2] 23 34", WindowDimension { padding_low: -1, ..plain(2) }),
        one("f32[1,1,2] 13 24", WindowDimension { window_dilation: 2, ..plain(2) }),
        one("f32[1,1,6] 10 2 20 3 30 4", WindowDimension { base_dilation: 2, ..plain(2) }),
        one("f32[1,1,3] 21 32 43", WindowDimension { window_reversal: true, ..plain(2) }),
        // Two input features, two output features.
        convolution(
            "convolution(f32[1,2,2] 1 2 3 4, f32[2,2,1] 1 10 100 1000) = f32[1,2,2] 31 42 3100 4200",
            &[plain(1)],
            [1, 1],
        ),
        convolution(
            "convolution(f32[2,1,2] 1 2 3 4, f32[1,1,2] 1 1) = f32[2,1,1] 3 7",
            &[plain(2)],
            [1, 1],
        ),
        // Each feature for itself, with two outputs each.
        convolution(
            "convolution(f32[1,2,1] 3 5, f32[4,1,1] 1 10 100 1000) = f32[1,4,1] 3 30 500 5000",
            &[plain(1)],
            [2, 1],
        ),
        // Each half of the batch with its own kernel.
        convolution(
            "convolution(f32[2,1,1] 3 5, f32[2,1,1] 1 10) = f32[1,2,1] 3 50",
            &[plain(1)],
            [1, 2],
        ),
        general(
            "convolution(f32[1,2,2] 1 3 2 4, f32[1,2,2] 1 100 10 1000) = f32[1,2,2] 31 3100 42 4200",
            &[plain(1)],
            [1, 1],
            last,
        ),
        convolution(
            "convolution(f32[1,1,2,2] 1 2 3 4, f32[1,1,2,2] 1 10 100 1000) = f32[1,1,1,1] 4321",
            &[plain(2), plain(2)],
            [1, 1],
        ),
        convolution(
            "convolution(f32[2,3] 1 2 3 4 5 6, f32[1,3] 1 1 1) = f32[2,1] 6 15",
            &[],
            [1, 1],
        ),
        convolution(
            "convolution(s8[1,1,2] 100 100, s8[1,1,2] 2 2) = s32[1,1,1] 400",
            &[plain(2)],
            [1, 1],
        ),
        convolution(
            "convolution(bf16[1,1,2] 256 1, bf16[1,1,2] 1 1) = bf16[1,1,1] 256",
            &[plain(2)],
            [1, 1],
        ),
        convolution(
            "convolution(f64[1,1,1] 0.1, f64[1,1,1] 3) = f64[1,1,1] 0.30000000000000004",
            &[plain(1)],
            [1, 1],
        ),
        convolution("convolution(f32[0,1,2], f32[1,1,2] 1 1) = f32[0,1,1]", &[plain(2)], [1, 1]),
        convolution("convolution(f32[1,0,2], f32[1,0,2]) = f32[1,1,1] 0", &[plain(2)], [0, 0]),
        one("f32[1,1,4] 1 2 3 4", plain(2))
            .fails("spatial sizes of the output is [4], expected [3]"),
        one("f32[1,1,2] 1 2", plain(3)).fails("window sizes is [3], expected [2]"),
        one("f32[1,1,3] 1 2 3", WindowDimension { stride: 0, ..plain(2) })
            .fails("window.dimensions[0]"),
        one("f32[1,2,3] ..1", plain(2)).fails("output features of the kernel is 1, expected 2"),
        one("f32[2,1,3] ..1", plain(2)).fails("batch of the output times groups is 2, expected 1"),
        convolution(
            "convolution(f32[1,2,4] ..1, f32[1,1,2] 1 1) = f32[1,1,3] ..1",
            &[plain(2)],
            [1, 1],
        )
        .fails("input features of the kernel times groups is 1, expected 2"),
        convolution(
            "convolution(f32[1,2,4] ..1, f32[1,1,2] 1 1) = f32[1,1,3] ..1",
            &[plain(2)],
            [2, 1],
        )
        .fails("output features is 1, expected a multiple of 2 groups"),
        convolution(
            "convolution(f32[1,1,2] 1 1, f32[1,1,2] 1 1) = f32[1,1,1] 2",
            &[plain(2)],
            [-1, 1],
        )
        .fails("feature_group_count is -1, expected 0 or more"),
        convolution(
            "convolution(f32[1,1,2] 1 1, f32[1,1,2] 1 1) = f32[1,1,1] 2",
            &[plain(2)],
            [i64::MAX, 1],
        )
        .fails("input features of the kernel times groups"),
        general(
            "convolution(f32[1,1,2] 1 1, f32[1,1,2] 1 1) = f32[1,1,1] 2",
            &[plain(2)],
            [1, 1],
            twice,
        )
        .fails("input dimensions is [0, 0, 2], expected each of 0..3 once"),
        convolution("convolution(c64[1,1,1] 1, c64[1,1,1] 1) = c64[1,1,1] 1", &[plain(1)], [1, 1])
            .fails("convolution of complex numbers"),
        case("convolution(f32[1,1,1] 1, f32[1,1,1] 1) = f32[1,1,1] 1")
            .fails("convolution_dimension_numbers is not set"),
    ]
}
