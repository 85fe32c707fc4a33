//! Sorting.

use super::case::{Case, case, check};

#[test]
fn table() {
    check(&cases());
}

/// Keys of one type by a comparison, and values that move along.
fn pairs(key: &str, direction: &str, value: &str) -> String {
    format!(
        "a {key}[] parameter 0\n b {key}[] parameter 1\n c {value}[] parameter 2\n d {value}[] parameter 3\n r pred[] compare.{direction} a b"
    )
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("sort.0(s32[5] 3 1 4 1 5) = s32[5] 1 1 3 4 5").combines("compare.LT", "s32"),
        case("sort.0(f32[4] 3 -1 inf 0) = f32[4] inf 3 0 -1").combines("compare.GT", "f32"),
        case("sort.0(u8[3] 200 1 100) = u8[3] 1 100 200").combines("compare.LT", "u8"),
        case("sort.0(pred[3] 1 0 1) = pred[3] 0 1 1").combines("compare.LT", "pred"),
        case("sort.1(s32[2,3] 3 1 2 6 5 4) = s32[2,3] 1 2 3 4 5 6").combines("compare.LT", "s32"),
        case("sort.0(s32[3,2] 3 1 2 6 5 4) = s32[3,2] 2 1 3 4 5 6").combines("compare.LT", "s32"),
        // Equal keys keep their order, and values follow their keys.
        case("sort.0(s32[5] 2 1 2 1 0, f32[5] 0 1 2 3 4) = s32[5] 0 1 1 2 2 & f32[5] 4 1 3 0 2")
            .calls("by_key", &pairs("s32", "LT", "f32"))
            .with(|p| (p.is_stable, p.dimensions) = (true, vec![0])),
        case("sort.1(s32[2,2] 2 1 3 4, u8[2,2] 1 2 3 4) = s32[2,2] 2 1 4 3 & u8[2,2] 1 2 4 3")
            .calls("by_key", &pairs("s32", "GT", "u8")),
        case("sort.0(s32[0]) = s32[0]").combines("compare.LT", "s32"),
        case("sort.0(s32[1] 7) = s32[1] 7").combines("compare.LT", "s32"),
        case("sort.0(s32[2,0]) = s32[2,0]").combines("compare.LT", "s32"),
        // What is no order ends, too.
        case("sort.0(s32[5] 3 1 4 1 5) = s32[5] 5 1 4 1 3")
            .calls("always", "a s32[] parameter 0\n b s32[] parameter 1\n r pred[] constant 1"),
        // A comparison by the second operand.
        case("sort.0(s32[3] 1 2 3, s32[3] 9 8 7) = s32[3] 3 2 1 & s32[3] 7 8 9").calls(
            "by_value",
            "a s32[] parameter 0\n b s32[] parameter 1\n c s32[] parameter 2\n d s32[] parameter 3\n r pred[] compare.LT c d",
        ),
        case("sort.1(s32[2] 1 2) = s32[2] 1 2").combines("compare.LT", "s32").fails("dimensions is 1, expected below 1"),
        case("sort(s32[2] 1 2) = s32[2] 1 2").combines("compare.LT", "s32").fails("dimensions is [], expected 1 dimension"),
        case("sort.0(s32[2] 1 2, s32[3] 1 2 3) = s32[2] 1 2 & s32[3] 1 2 3")
            .combines("compare.LT", "s32")
            .fails("operand is s32[3]{0}, expected s32[2]{0}"),
        case("sort.0(s32[2] 1 2) = s32[2] 1 2").combines("add", "s32").fails("result is s32[]{}, expected pred[]{}"),
        case("sort.0(s32[2] 1 2) = s32[2] 1 2").combines("compare.LT", "f32").fails("parameter 0 is f32[]{}, expected s32[]{}"),
        case("custom-call(f32[3] 1 2 3) = f32[2] 3 2 & s32[2] 2 1").with(|p| p.custom_call_target = "__gpu$TopK".to_owned()),
        case("custom-call(f32[2,3] 1 nan -inf 5 5 0) = f32[2,2] NaN 1 5 5 & s32[2,2] 1 0 0 1")
            .with(|p| p.custom_call_target = "__gpu$TopK".to_owned()),
        case("custom-call(f32[3] 1 2 3) = f32[3] 1 2 3")
            .with(|p| p.custom_call_target = "mine".to_owned())
            .fails("not supported: custom call \"mine\""),
        case("topk(s8[4] 3 -1 3 0) = s8[2] 3 3 & s32[2] 0 2").with(|p| p.largest = true),
        case("topk(s8[4] 3 -1 3 0) = s8[2] -1 0 & s32[2] 1 3"),
        case("topk(u64[2,0]) = u64[2,0] & s32[2,0]"),
        case("topk(s8[2] 3 1) = s8[3] 3 1 0 & s32[3] 0 1 2").fails("values is s8[3]{0}, expected at most the 2 elements of s8[2]{0}"),
        case("topk(s8[2] 3 1) = s8[1] 3 & s32[2] 0 1").fails("result is s32[2]{0}, expected dimensions [1]"),
        case("topk(s8[] 3) = s8[] 3 & s32[] 0").fails("an array with dimensions"),
        case("topk(c64[1] 3) = c64[1] 3 & s32[1] 0").fails("numbers that have an order"),
        case("sort.0() = s32[2] 1 2").combines("compare.LT", "f32").fails("operand 0 is not set"),
    ]
}
