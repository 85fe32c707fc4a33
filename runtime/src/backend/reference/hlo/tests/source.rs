//! Constants, counting, and where the program runs.

use super::super::Value;
use super::case::{Case, case, check};
use super::text;

#[test]
fn table() {
    check(&cases());
}

/// A constant that reads as what it gives.
fn constant(array: &str) -> Case {
    let literal = match text::value(array) {
        Value::Array(array) => text::literal(&array),
        _ => panic!("no array"),
    };
    case(&format!("constant() = {array}")).with(move |p| p.literal = Some(literal.clone()))
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        constant("pred[2] 1 0"),
        constant("s32[2,2] 1 -2 3 4"),
        constant("u32[] 4294967295"),
        constant("s64[1] -9223372036854775808"),
        constant("u64[1] 18446744073709551615"),
        constant("f32[3] -0 inf 0.1"),
        constant("f64[1] 0.1"),
        constant("c64[2] 1:2 3:4"),
        constant("c128[1] 1:2"),
        constant("s8[2] -128 127"),
        constant("u16[1] 65535"),
        constant("f16[2] 1.5 inf"),
        constant("bf16[2] 1.5 -0"),
        constant("s4[3] -8 7 0"),
        constant("u4[3] 15 1 0"),
        constant("f8e5m2[2] 1.5 inf"),
        constant("f8e4m3fn[2] 448 NaN"),
        constant("f4e2m1fn[2] 6 -0.5"),
        constant("f32[0]"),
        case("constant() = f32[1] 1").fails("literal is not set"),
        case("constant() = f32[2] 1 1")
            .with(|p| {
                p.literal =
                    Some(crate::proto::xla::LiteralProto { f32s: vec![1.0], ..Default::default() })
            })
            .fails("bytes of the literal is 4, expected 8 for f32[2]{0}"),
        case("iota.0() = s32[3] 0 1 2"),
        case("iota.0() = s32[2,3] 0 0 0 1 1 1"),
        case("iota.1() = u8[2,3] 0 1 2 0 1 2"),
        case("iota.0() = f32[3] 0 1 2"),
        case("iota.0() = bf16[3] 0 1 2"),
        case("iota.0() = f64[2] 0 1"),
        case("iota.0() = c64[2] 0:0 1:0"),
        case("iota.0() = s4[10] 0 1 2 3 4 5 6 7 -8 -7"),
        case("iota.0() = u2[5] 0 1 2 3 0"),
        case("iota.0() = s64[0]"),
        case("iota.0() = s32[] 0").fails("dimensions is 0, expected below 0"),
        case("iota.1() = s32[3] 0 1 2").fails("dimensions is 1, expected below 1"),
        case("iota() = s32[3] 0 1 2").fails("dimensions is [], expected 1 dimension"),
        case("iota.-1() = s32[3] 0 1 2").fails("dimensions is -1, expected below 1"),
        case("replica-id() = u32[] 2"),
        case("partition-id() = u32[] 1"),
        case("replica-id() = f32[] 2").fails("expected an integer"),
        case("get-dimension-size.1(f32[2,3] ..0) = s32[] 3"),
        case("get-dimension-size.2(f32[2,3] ..0) = s32[] 3")
            .fails("dimensions is 2, expected below 2"),
    ]
}
