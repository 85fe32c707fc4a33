//! Reductions and `map`.

use super::case::{Case, case, check};

#[test]
fn table() {
    check(&cases());
}

/// Value and index of the largest; the first of equals.
const ARGMAX: &str = "v f32[] parameter 0
    i s32[] parameter 1
    w f32[] parameter 2
    j s32[] parameter 3
    more pred[] compare.GE v w
    value f32[] select more v w
    index s32[] select more i j
    r (f32[],s32[]) tuple value index";

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("reduce.0(s32[4] 1 2 3 4, s32[] 10) = s32[] 20").combines("add", "s32"),
        case("reduce.1(s32[2,3] 1 2 3 4 5 6, s32[] 0) = s32[2] 6 15").combines("add", "s32"),
        case("reduce.0(s32[2,3] 1 2 3 4 5 6, s32[] 0) = s32[3] 5 7 9").combines("add", "s32"),
        case("reduce.0,1(s32[2,3] 1 2 3 4 5 6, s32[] 0) = s32[] 21").combines("add", "s32"),
        case("reduce.1,0(s32[2,3] 1 2 3 4 5 6, s32[] 0) = s32[] 21").combines("add", "s32"),
        case("reduce.0,2(s32[2,2,2] 1 2 3 4 5 6 7 8, s32[] 0) = s32[2] 14 22").combines("add", "s32"),
        case("reduce(s32[2] 1 2, s32[] 5) = s32[2] 6 7").combines("add", "s32"),
        case("reduce.0(s32[0], s32[] 5) = s32[] 5").combines("add", "s32"),
        case("reduce.1(s32[2,0], s32[] 5) = s32[2] 5 5").combines("add", "s32"),
        case("reduce.1(s32[0,3], s32[] 5) = s32[0]").combines("add", "s32"),
        case("reduce.0(s8[3] 100 100 0, s8[] 0) = s8[] -56").combines("add", "s8"),
        case("reduce.0(f32[3] 1 nan 3, f32[] -inf) = f32[] NaN").combines("maximum", "f32"),
        case("reduce.0(f32[3] 1 2 3, f32[] -inf) = f32[] 3").combines("maximum", "f32"),
        case("reduce.0(pred[3] 1 0 1, pred[] 1) = pred[] 0").combines("and", "pred"),
        case("reduce.0(c64[2] 1:2 3:4, c64[] 1) = c64[] -5:10").combines("multiply", "c64"),
        case("reduce.0(s32[3] 1 2 3, s32[] 10) = s32[] 14").combines("subtract", "s32"),
        case("reduce.0(s32[3] 1 2 3, s32[] 10) = s32[] -8")
            .calls("swapped", "a s32[] parameter 0\n b s32[] parameter 1\n r s32[] subtract b a"),
        case("reduce.0(f64[3] 1 2 3, f64[] 10) = f64[] -8")
            .calls("swapped", "b f64[] parameter 1\n a f64[] parameter 0\n r f64[] subtract b a"),
        // 40 elements: in halves down to runs of 16.
        case("reduce.0(f32[40] ..0.1, f32[] 0) = f32[] 4").near(1e-6).combines("add", "f32"),
        // Accumulates as wide as the computation says.
        case("reduce.0(bf16[3] 256 1 1, f32[] 0) = f32[] 258").combines("add", "f32"),
        case("reduce.0(bf16[3] 256 1 1, bf16[] 0) = bf16[] 256").combines("add", "bf16"),
        case("reduce.0(f32[4] 1 5 5 2, s32[4] 0 1 2 3, f32[] -inf, s32[] 0) = f32[] 5 & s32[] 1").calls("argmax", ARGMAX),
        case("reduce.1(f32[2,2] 1 5 7 2, s32[2,2] 0 1 0 1, f32[] -inf, s32[] 0) = f32[2] 5 7 & s32[2] 1 0")
            .calls("argmax", ARGMAX),
        // A computation that calls another one, and one on other than scalars.
        case("reduce.0(s32[3] 1 2 3, s32[] 0) = s32[] 6")
            .calls("outer", "a s32[] parameter 0\n b s32[] parameter 1\n r s32[] call a b @inner")
            .has("inner", "a s32[] parameter 0\n b s32[] parameter 1\n r s32[] add a b"),
        case("reduce.0(f32[2] 3 4, f32[] 0) = f32[] 5").calls(
            "norm",
            "a f32[] parameter 0\n b f32[] parameter 1\n c c64[] complex a b\n r f32[] abs c",
        ),
        case("reduce.0(s32[3] 1 2 3, s32[] 0) = s32[] 6").calls(
            "reshaping",
            "a s32[] parameter 0\n b s32[] parameter 1\n x s32[1] reshape a\n y s32[1] reshape b\n s s32[1] add x y\n r s32[] reshape s",
        ),
        case("reduce.1(s32[3] 1 2 3, s32[] 0) = s32[] 6").combines("add", "s32").fails("dimensions is 1, expected below 1"),
        case("reduce.0,0(s32[3] 1 2 3, s32[] 0) = s32[] 6")
            .combines("add", "s32")
            .fails("dimensions is [0, 0], expected no dimension twice"),
        case("reduce.0(s32[3] 1 2 3, s32[] 0) = s32[3] 1 2 3")
            .combines("add", "s32")
            .fails("result is s32[3]{0}, expected dimensions []"),
        case("reduce.0(s32[3] 1 2 3, s32[2] 0 0) = s32[] 6").combines("add", "s32").fails("initial value is s32[2]{0}"),
        case("reduce.0(s32[3] 1 2 3) = s32[] 6").combines("add", "s32").fails("operands is 1, expected an even number"),
        case("reduce.0(s32[1] 1, s32[2] 1 2, s32[] 0, s32[] 0) = s32[] 0 & s32[] 0")
            .combines("add", "s32")
            .fails("operand is s32[2]{0}, expected s32[1]{0}"),
        case("reduce.0(s32[3] 1 2 3, s32[] 0) = s32[] 6")
            .combines("add", "f32")
            .fails("computation \"add_f32\": parameter 0 is f32[]{}, expected s32[]{}"),
        case("reduce.0(s32[3] 1 2 3, s32[] 0) = s32[] 6")
            .calls("one", "a s32[] parameter 0\n r s32[] copy a")
            .fails("computation \"one\": parameters is 1, expected 2"),
        case("reduce.0(s32[3] 1 2 3, s32[] 0) = s32[] 6")
            .combines("compare.LT", "s32")
            .fails("result is pred[]{}, expected s32[]{}"),
        case("map(s32[3] 1 2 3, s32[3] 4 5 6) = s32[3] 4 10 18").combines("multiply", "s32"),
        case("map(s32[2,0], s32[2,0]) = s32[2,0]").combines("multiply", "s32"),
        case("map(f32[2] 1.5 -1) = s32[2] 1 -1").calls("cut", "x f32[] parameter 0\n r s32[] convert x"),
        case("map(s32[3] 1 2 3, s32[2] 4 5) = s32[3] 4 10 18")
            .combines("multiply", "s32")
            .fails("operand is s32[2]{0}, expected s32[3]{0}"),
    ]
}
