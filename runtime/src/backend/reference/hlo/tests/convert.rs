//! Conversions by value and by bits.

use super::case::{Case, case, check};

#[test]
fn table() {
    check(&cases());
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = integers();
    cases.extend(floats());
    cases.extend(bits());
    cases.extend(precision());
    cases
}

fn integers() -> Vec<Case> {
    vec![
        // Floats are cut towards zero and kept in range; NaN is 0.
        case("convert(f32[7] 1.9 -1.9 300 -300 nan inf -inf) = s8[7] 1 -1 127 -128 0 127 -128"),
        case("convert(f32[5] -1 255.9 256 nan inf) = u8[5] 0 255 255 0 255"),
        case("convert(f32[4] 100 -100 7.9 nan) = s4[4] 7 -8 7 0"),
        case("convert(f32[3] 20 -1 3.5) = u4[3] 15 0 3"),
        case("convert(f32[2] 5 -5) = s2[2] 1 -2"),
        case("convert(f32[3] 3e9 -3e9 2147483648) = s32[3] 2147483647 -2147483648 2147483647"),
        case("convert(f32[2] 5e9 -0) = u32[2] 4294967295 0"),
        case("convert(f32[2] 1e19 -1e19) = s64[2] 9223372036854775807 -9223372036854775808"),
        case("convert(f64[3] 2e19 -1 nan) = u64[3] 18446744073709551615 0 0"),
        case("convert(bf16[2] 3.5 nan) = s16[2] 3 0"),
        case("convert(f8e5m2[2] inf -inf) = s32[2] 2147483647 -2147483648"),
        case("convert(c64[2] 3.7:9 -1:0) = s32[2] 3 -1"),
        // Integers wrap.
        case("convert(s32[3] 300 -1 128) = s8[3] 44 -1 -128"),
        case("convert(s32[2] -1 256) = u8[2] 255 0"),
        case("convert(u8[2] 200 100) = s8[2] -56 100"),
        case("convert(s32[3] 20 -9 7) = s4[3] 4 7 7"),
        case("convert(s8[2] -1 17) = u4[2] 15 1"),
        case("convert(u64[1] 18446744073709551615) = s64[1] -1"),
        case("convert(s64[1] -1) = u64[1] 18446744073709551615"),
        case("convert(s4[2] -8 7) = s32[2] -8 7"),
        case("convert(u4[1] 15) = s8[1] 15"),
        // Anything but zero is true.
        case("convert(f32[5] 0.1 -0 0 nan inf) = pred[5] 1 0 0 1 1"),
        case("convert(s32[3] 256 0 -1) = pred[3] 1 0 1"),
        case("convert(c64[2] 0:1 0) = pred[2] 1 0"),
        case("convert(pred[2] 1 0) = s32[2] 1 0"),
        case("convert(pred[2] 1 0) = u4[2] 1 0"),
        case("convert(pred[2] 1 0) = pred[2] 1 0"),
        case("convert(s32[] 5) = s8[] 5"),
        case("convert(f32[0,3]) = s8[0,3]"),
        case("convert(f32[2] 1 2) = s32[1] 1")
            .fails("result is s32[1]{0}, expected dimensions [2]"),
    ]
}

fn floats() -> Vec<Case> {
    vec![
        case("convert(s32[2] 16777217 -16777219) = f32[2] 16777216 -16777220"),
        case("convert(u64[1] 18446744073709551615) = f32[1] 18446744073709552000"),
        // Rounded once: as a double first it would be a tie, and even.
        case("convert(s64[1] 4611686293305294849) = f32[1] 4611686568183201792"),
        case("convert(s32[2] 65519 65520) = f16[2] 65504 inf"),
        case("convert(s32[2] 257 259) = bf16[2] 256 260"),
        case("convert(pred[2] 1 0) = f32[2] 1 0"),
        case("convert(s64[1] 9007199254740993) = f64[1] 9007199254740992"),
        case("convert(f64[4] 1e39 -1e39 1e-46 nan) = f32[4] inf -inf 0 NaN"),
        case("convert(f64[2] 1.00048828125 1.000488281251) = f16[2] 1 1.0009766"),
        case("convert(f32[3] 65519 65520 1e-8) = f16[3] 65504 inf 0"),
        case("convert(f32[4] 1.00390625 1.01171875 3.4e38 nan) = bf16[4] 1 1.015625 inf NaN"),
        case("convert(f32[5] 448 464 465 -500 nan) = f8e4m3fn[5] 448 448 NaN NaN NaN"),
        case("convert(f32[4] 57344 61439 61440 -inf) = f8e5m2[4] 57344 57344 inf -inf"),
        case("convert(f32[2] 240 -0) = f8e4m3fnuz[2] 240 0"),
        case("convert(f32[6] 2.5 5 7 -0.25 0.75 -100) = f4e2m1fn[6] 2 4 6 -0 1 -6"),
        case("convert(f16[3] inf -0 0.000000059604645) = f32[3] inf -0 0.000000059604645"),
        case("convert(bf16[1] 1.5) = f16[1] 1.5"),
        case("convert(f32[1] 1.5) = f64[1] 1.5"),
        case("convert(f8e4m3fn[2] 448 nan) = bf16[2] 448 NaN"),
        case("convert(c64[2] 1:2 3:nan) = f32[2] 1 3"),
        case("convert(f32[1] 1.5) = c64[1] 1.5:0"),
        case("convert(s32[1] 7) = c128[1] 7:0"),
        case("convert(c128[1] 1e39:1) = c64[1] inf:1"),
        case("convert(c64[1] 1:2) = c128[1] 1:2"),
    ]
}

fn bits() -> Vec<Case> {
    vec![
        case("bitcast-convert(f32[2] 1 -0) = s32[2] 1065353216 -2147483648"),
        case("bitcast-convert(u32[1] 2139095040) = f32[1] inf"),
        case("bitcast-convert(f32[1] 1) = u8[1,4] 0 0 128 63"),
        case("bitcast-convert(u8[1,4] 0 0 128 63) = f32[1] 1"),
        case("bitcast-convert(u8[4] 0 0 128 63) = f32[] 1"),
        case("bitcast-convert(u8[2] 113 15) = s4[2,2] 1 7 -1 0"),
        case("bitcast-convert(s4[2,2] 1 7 -1 0) = u8[2] 113 15"),
        case("bitcast-convert(f4e2m1fn[2] 1 -6) = u8[] 242"),
        case("bitcast-convert(f64[1] 1) = s32[1,2] 0 1072693248"),
        case("bitcast-convert(u16[1] 16256) = bf16[1] 1"),
        case("bitcast-convert(s8[1] -1) = u8[1] 255"),
        case("bitcast-convert(s32[0]) = u8[0,4]"),
        // NaNs keep all their bits on the way through narrow floats.
        case("call(u16[2] 64513 32257) = u16[2] 64513 32257").calls(
            "through",
            "a u16[2] parameter 0\n f f16[2] bitcast-convert a\n r f16[2] reverse.0 f\n s f16[2] reverse.0 r\n u u16[2] bitcast-convert s",
        ),
        case("call(u8[2] 253 127) = u8[2] 253 127").calls(
            "through",
            "a u8[2] parameter 0\n f f8e5m2[2] bitcast-convert a\n r u8[2] bitcast-convert f",
        ),
        case("bitcast-convert(u8[3] 1 2 3) = u16[] 1").fails("operand 0 is u8[3]{0}, expected a minor dimension of 2"),
        case("bitcast-convert(u8[] 1) = u16[] 1").fails("a minor dimension of 2"),
        case("bitcast-convert(f32[2] 1 2) = u8[8] 0 0 0 0 0 0 0 0").fails("expected dimensions [2, 4]"),
    ]
}

fn precision() -> Vec<Case> {
    let reduce = |text: &str, exponent: i32, mantissa: i32| {
        case(text).with(move |p| (p.exponent_bits, p.mantissa_bits) = (exponent, mantissa))
    };
    vec![
        reduce(
            "reduce-precision(f32[4] 1.00048828125 65519 65520 nan) = f32[4] 1 65504 inf NaN",
            5,
            10,
        ),
        reduce(
            "reduce-precision(f32[4] 1e-8 -1e-8 0.00006103515625 0.00003) = f32[4] 0 -0 0.00006103515625 0",
            5,
            10,
        ),
        // All exponents fit: denormals stay.
        reduce(
            "reduce-precision(f32[3] 1e-40 1.00390625 -inf) = f32[3] 1e-40 1.00390625 -inf",
            8,
            23,
        ),
        reduce("reduce-precision(f32[2] 1.00390625 1.01171875) = f32[2] 1 1.015625", 8, 7),
        reduce("reduce-precision(f32[4] 1.5 2.5 3 1.25) = f32[4] 2 2 2 1", 8, 0),
        reduce("reduce-precision(f32[1] 3.4e38) = f32[1] inf", 8, 2),
        reduce(
            "reduce-precision(f16[3] 0.0000076293945 0.000000059604645 1.0009766) = f16[3] 0.0000076293945 0 1",
            5,
            7,
        ),
        reduce("reduce-precision(bf16[1] 1.0078125) = bf16[1] 1", 8, 6),
        reduce("reduce-precision(f64[2] 1.00390625 1e300) = f64[2] 1 inf", 8, 7),
        reduce("reduce-precision(f64[1] 0.1) = f64[1] 0.1", 11, 52),
        reduce("reduce-precision(f64[1] 0.1) = f64[1] 0.1", 60, 99),
        reduce("reduce-precision(f32[1] 1) = f32[1] 1", 0, 3)
            .fails("exponent_bits and mantissa_bits is 0 and 3"),
        reduce("reduce-precision(f32[1] 1) = f32[1] 1", 5, -1).fails("at least 1 and 0"),
        reduce("reduce-precision(s32[1] 1) = s32[1] 1", 5, 5)
            .fails("not supported: reduce-precision of S32"),
    ]
}
