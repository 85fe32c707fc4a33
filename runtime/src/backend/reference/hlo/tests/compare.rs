//! Comparisons, selection, clamping.

use super::case::{Case, case, check};

#[test]
fn table() {
    check(&cases());
}

pub(super) fn cases() -> Vec<Case> {
    let total = |text: &str| case(text).with(|p| p.comparison_order = "TOTALORDER".to_owned());
    #[allow(deprecated, reason = "what older compilers wrote")]
    let older = |text: &str| case(text).with(|p| p.comparison_type = "TOTALORDER".to_owned());
    vec![
        case("compare.EQ(f32[4] 1 nan -0 inf, f32[4] 1 nan 0 -inf) = pred[4] 1 0 1 0"),
        case("compare.NE(f32[4] 1 nan -0 inf, f32[4] 1 nan 0 -inf) = pred[4] 0 1 0 1"),
        case("compare.LT(f32[4] 1 nan -0 -inf, f32[4] 2 1 0 inf) = pred[4] 1 0 0 1"),
        case("compare.LE(f32[4] 1 nan -0 2, f32[4] 1 1 0 1) = pred[4] 1 0 1 0"),
        case("compare.GT(f32[4] 3 nan 0 1, f32[4] 2 1 -0 nan) = pred[4] 1 0 0 0"),
        case("compare.GE(f32[4] 3 nan 0 1, f32[4] 2 1 -0 nan) = pred[4] 1 0 1 0"),
        // -NaN < -inf < -0 < 0 < inf < NaN
        total(
            "compare.LT(f32[5] -nan -inf -0 0 inf, f32[5] -inf -0 0 inf nan) = pred[5] 1 1 1 1 1",
        ),
        older("compare.LT(f32[2] -0 nan, f32[2] 0 inf) = pred[2] 1 0"),
        total("compare.EQ(f32[3] nan -0 -nan, f32[3] nan 0 -nan) = pred[3] 1 0 1"),
        total("compare.LT(bf16[2] -nan -0, bf16[2] -inf 0) = pred[2] 1 1"),
        total("compare.GE(f16[2] nan 0, f16[2] inf -0) = pred[2] 1 1"),
        total("compare.LT(f64[1] -0, f64[1] 0) = pred[1] 1"),
        total("compare.LT(s32[1] 1, s32[1] 2) = pred[1] 1"),
        case("compare.LT(s8[2] -1 5, s8[2] 1 5) = pred[2] 1 0"),
        case("compare.LT(u8[1] 255, u8[1] 1) = pred[1] 0"),
        case("compare.GT(u64[1] 18446744073709551615, u64[1] 1) = pred[1] 1"),
        case("compare.LT(pred[4] 0 0 1 1, pred[4] 0 1 0 1) = pred[4] 0 1 0 0"),
        case("compare.EQ(c64[3] 1:2 1:2 nan, c64[3] 1:2 1:3 nan) = pred[3] 1 0 0"),
        case("compare.NE(c128[2] 1:2 nan, c128[2] 1:2 nan) = pred[2] 0 1"),
        case("compare.EQ(s32[] 1, s32[] 1) = pred[] 1"),
        case("compare.EQ(s32[0], s32[0]) = pred[0]"),
        case("compare.XX(s32[] 1, s32[] 1) = pred[] 1")
            .fails("comparison_direction is \"XX\", expected EQ, NE, GE, GT, LE or LT"),
        case("compare.EQ(s32[] 1, u32[] 1) = pred[] 1")
            .fails("operand 1 is u32[]{}, expected s32[]{}"),
        case("select(pred[3] 1 0 1, s32[3] 1 2 3, s32[3] 4 5 6) = s32[3] 1 5 3"),
        case("select(pred[] 0, f32[2] 1 2, f32[2] -0 nan) = f32[2] -0 NaN"),
        case("select(pred[1] 1, bf16[1] 1, bf16[1] 2) = bf16[1] 1"),
        case("select(pred[0], c64[0], c64[0]) = c64[0]"),
        case("select(pred[1] 1, s32[2] 1 2, s32[2] 3 4) = s32[2] 1 2")
            .fails("operand 0 is pred[1]{0}"),
        case("select(s32[] 1, s32[] 1, s32[] 2) = s32[] 1").fails("operand 0 is s32[]{}"),
        case("select(pred[] 1, s32[] 1, s8[] 2) = s32[] 1")
            .fails("operand 2 is s8[]{}, expected s32[]{}"),
        // min(max(low, x), high): the upper bound has the last word, a NaN anywhere stays.
        case("clamp(s32[] 0, s32[4] -5 0 3 9, s32[] 5) = s32[4] 0 0 3 5"),
        case("clamp(s32[] 7, s32[2] 1 9, s32[] 5) = s32[2] 5 5"),
        case("clamp(f32[3] 0 0 0, f32[3] nan -inf 2, f32[3] 1 1 1) = f32[3] NaN 0 1"),
        case("clamp(f32[] nan, f32[1] 1, f32[] 2) = f32[1] NaN"),
        case("clamp(f32[] 0, f32[2] 5 -5, f32[2] 1 2) = f32[2] 1 0"),
        case("clamp(u8[] 1, u8[2] 0 255, u8[] 200) = u8[2] 1 200"),
        case("clamp(f32[] 0, f32[0], f32[] 1) = f32[0]"),
        case("clamp(s32[2] 0 0, s32[3] 1 2 3, s32[] 5) = s32[3] 1 2 3")
            .fails("s32[3]{0}, expected s32[2]{0}"),
        case("clamp(s32[] 0, f32[1] 1, s32[] 5) = f32[1] 1").fails("expected s32[1]{0}"),
        case("is-finite(f32[5] 0 inf -inf nan 3e38) = pred[5] 1 0 0 0 1"),
        case("is-finite(f16[2] 65504 inf) = pred[2] 1 0"),
        case("is-finite(f64[1] 1e300) = pred[1] 1"),
        case("is-finite(s32[1] 1) = pred[1] 1").fails("not supported: is-finite of S32"),
    ]
}
