//! Matrix products.

use super::case::{Case, case, check};
use crate::proto::xla::precision_config::{Algorithm, Precision};
use crate::proto::xla::{DotDimensionNumbers, PrecisionConfig};

#[test]
fn table() {
    check(&cases());
}

/// Contracting dimensions of both sides, then batch dimensions of both.
fn dot(text: &str, numbers: [&[i64]; 4]) -> Case {
    let [lhs, rhs, lhs_batch, rhs_batch] = numbers.map(<[i64]>::to_vec);
    let numbers = DotDimensionNumbers {
        lhs_contracting_dimensions: lhs,
        rhs_contracting_dimensions: rhs,
        lhs_batch_dimensions: lhs_batch,
        rhs_batch_dimensions: rhs_batch,
    };
    case(text).with(move |p| p.dot_dimension_numbers = Some(numbers.clone()))
}

fn precise(text: &str, precision: Precision, algorithm: Algorithm) -> Case {
    let numbers = DotDimensionNumbers {
        lhs_contracting_dimensions: vec![0],
        rhs_contracting_dimensions: vec![0],
        ..DotDimensionNumbers::default()
    };
    let config = PrecisionConfig {
        operand_precision: vec![precision.into(); 2],
        algorithm: algorithm.into(),
    };
    case(text).with(move |p| {
        p.dot_dimension_numbers = Some(numbers.clone());
        p.precision_config = Some(config.clone());
    })
}

pub(super) fn cases() -> Vec<Case> {
    let plain: [&[i64]; 4] = [&[1], &[0], &[], &[]];
    vec![
        dot("dot(s32[2,2] 1 2 3 4, s32[2,2] 5 6 7 8) = s32[2,2] 19 22 43 50", plain),
        dot("dot(f32[2,2] 1 2 3 4, f32[2,2] 5 6 7 8) = f32[2,2] 19 22 43 50", plain),
        dot("dot(f32[2,3] 1 2 3 4 5 6, f32[3] 1 1 1) = f32[2] 6 15", plain),
        dot(
            "dot(s32[2,2] 1 2 3 4, s32[2,2] 5 6 7 8) = s32[2,2] 26 30 38 44",
            [&[0], &[0], &[], &[]],
        ),
        dot(
            "dot(s32[2,2] 1 2 3 4, s32[2,2] 5 6 7 8) = s32[2,2] 17 23 39 53",
            [&[1], &[1], &[], &[]],
        ),
        dot("dot(f32[3] 1 2 3, f32[3] 4 5 6) = f32[] 32", [&[0], &[0], &[], &[]]),
        dot("dot(f32[2] 1 2, f32[3] 4 5 6) = f32[2,3] 4 5 6 8 10 12", [&[], &[], &[], &[]]),
        dot("dot(f32[] 3, f32[] 4) = f32[] 12", [&[], &[], &[], &[]]),
        // Batch dimensions come first in the result.
        dot(
            "dot(s32[2,1,2] 1 2 3 4, s32[2,2,1] 5 6 7 8) = s32[2,1,1] 17 53",
            [&[2], &[1], &[0], &[0]],
        ),
        dot("dot(s32[2,2] 1 2 3 4, s32[2,2] 5 6 7 8) = s32[2] 19 50", [&[1], &[0], &[0], &[1]]),
        dot("dot(s32[2] 1 2, s32[2] 3 4) = s32[2] 3 8", [&[], &[], &[0], &[0]]),
        // Several contracted dimensions go together in the order named.
        dot("dot(s32[2,2] 1 2 3 4, s32[2,2] 5 6 7 8) = s32[] 70", [&[0, 1], &[0, 1], &[], &[]]),
        dot("dot(s32[2,2] 1 2 3 4, s32[2,2] 5 6 7 8) = s32[] 69", [&[0, 1], &[1, 0], &[], &[]]),
        dot("dot(f32[2,0], f32[0,2]) = f32[2,2] 0 0 0 0", plain),
        dot("dot(f32[0,2], f32[2,3] ..1) = f32[0,3]", plain),
        // The result says how wide the sum is.
        dot("dot(s8[1,2] 100 100, s8[2,1] 2 2) = s32[1,1] 400", plain),
        dot("dot(s8[1,2] 100 100, s8[2,1] 2 2) = s8[1,1] -112", plain),
        dot("dot(u8[1,2] 200 1, s8[2,1] -1 -1) = s32[1,1] -201", plain),
        dot("dot(u8[1,1] 200, u8[1,1] 2) = u8[1,1] 144", plain),
        dot("dot(bf16[1,2] 256 1, bf16[2,1] 1 1) = f32[1,1] 257", plain),
        dot("dot(bf16[1,2] 256 1, bf16[2,1] 1 1) = bf16[1,1] 256", plain),
        dot("dot(f8e4m3fn[1,2] 448 448, f8e5m2[2,1] 1 1) = f32[1,1] 896", plain),
        dot("dot(f16[1,2] 60000 60000, f16[2,1] 1 1) = f16[1,1] inf", plain),
        dot("dot(f64[1,2] 0.1 0.2, f64[2,1] 1 1) = f64[1,1] 0.30000000000000004", plain),
        dot("dot(c64[1,2] 1:2 3:4, c64[2,1] 1:2 3:4) = c64[1,1] -10:28", plain),
        dot("dot(c128[1,1] 1:2, c128[1,1] 3:4) = c128[1,1] -5:10", plain),
        dot("dot(pred[2,2] 1 0 0 0, pred[2,2] 0 1 1 1) = pred[2,2] 0 1 0 0", plain),
        dot("dot(f32[1,2] inf 1, f32[2,1] 0 1) = f32[1,1] NaN", plain),
        // TF32 has ten bits of mantissa: 1 + 2^-11 is a tie, away from zero.
        precise(
            "dot(f32[1] 1.0002441, f32[1] 1) = f32[] 1",
            Precision::Default,
            Algorithm::AlgUnset,
        ),
        precise(
            "dot(f32[1] 1.0004883, f32[1] 1) = f32[] 1.0009766",
            Precision::Default,
            Algorithm::AlgUnset,
        ),
        precise(
            "dot(f32[1] 1.0002441, f32[1] 1) = f32[] 1.0002441",
            Precision::Highest,
            Algorithm::AlgUnset,
        ),
        precise(
            "dot(f32[1] 1.0002441, f32[1] 1) = f32[] 1.0002441",
            Precision::Default,
            Algorithm::AlgDotF32F32F32,
        ),
        precise(
            "dot(f32[1] 1.0002441, f32[1] 1) = f32[] 1",
            Precision::Highest,
            Algorithm::AlgDotTf32Tf32F32,
        ),
        dot("dot(f32[2,2] ..1, f32[3,2] ..1) = f32[2,2] ..1", plain)
            .fails("batch and contracting sizes of rhs is [] and [3], expected [] and [2]"),
        dot("dot(f32[2,2] ..1, f32[2,2] ..1) = f32[2,3] ..1", plain)
            .fails("result is f32[2,3]{1,0}, expected dimensions [2, 2]"),
        dot("dot(f32[2,2] ..1, f32[2,2] ..1) = f32[2,2] ..1", [&[2], &[0], &[], &[]])
            .fails("lhs_contracting_dimensions is 2, expected below 2"),
        dot("dot(f32[2,2] ..1, f32[2,2] ..1) = f32[2] ..1", [&[0], &[0], &[0], &[0]])
            .fails("lhs_batch_dimensions is [0], expected none that are contracted"),
        dot("dot(f32[2,2] ..1, f32[2,2] ..1) = f32[] ..1", [&[0, 0], &[0, 1], &[], &[]])
            .fails("lhs_contracting_dimensions is [0, 0], expected no dimension twice"),
        case("dot(f32[1] 1, f32[1] 1) = f32[1] 1").fails("dot_dimension_numbers is not set"),
    ]
}
