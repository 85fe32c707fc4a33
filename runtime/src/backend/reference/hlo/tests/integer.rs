//! Arithmetic and bits of integers and predicates.

use super::case::{Case, case, check};

#[test]
fn table() {
    check(&cases());
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        // Results wrap at the width of the type.
        case("add(s8[3] 127 -128 5, s8[3] 1 -1 -7) = s8[3] -128 127 -2"),
        case("add(u8[2] 255 1, u8[2] 1 2) = u8[2] 0 3"),
        case("add(s4[2] 7 -8, s4[2] 1 -1) = s4[2] -8 7"),
        case("add(u4[1] 15, u4[1] 1) = u4[1] 0"),
        case("add(s2[2] 1 -2, s2[2] 1 -1) = s2[2] -2 1"),
        case("add(u2[1] 3, u2[1] 2) = u2[1] 1"),
        case("add(u16[1] 65535, u16[1] 2) = u16[1] 1"),
        case("add(s32[1] 2147483647, s32[1] 1) = s32[1] -2147483648"),
        case("add(s64[1] 9223372036854775807, s64[1] 1) = s64[1] -9223372036854775808"),
        case("add(u64[1] 18446744073709551615, u64[1] 2) = u64[1] 1"),
        case("add(s32[] 1, s32[] 2) = s32[] 3"),
        case("add(s32[0], s32[0]) = s32[0]"),
        case("add(s32[2,0,3], s32[2,0,3]) = s32[2,0,3]"),
        case("subtract(u8[2] 0 5, u8[2] 1 3) = u8[2] 255 2"),
        case("subtract(s16[1] -32768, s16[1] 1) = s16[1] 32767"),
        case("multiply(s8[2] 100 -3, s8[2] 3 4) = s8[2] 44 -12"),
        case("multiply(s32[1] 65536, s32[1] 65536) = s32[1] 0"),
        case("multiply(u16[1] 65535, u16[1] 65535) = u16[1] 1"),
        case("multiply(s64[1] -9223372036854775808, s64[1] -1) = s64[1] -9223372036854775808"),
        case("mulhi(s8[3] 100 -1 -128, s8[3] 3 1 -128) = s8[3] 1 -1 64"),
        case("mulhi(u32[1] 4294967295, u32[1] 4294967295) = u32[1] 4294967294"),
        case(
            "mulhi(s64[1] -9223372036854775808, s64[1] -9223372036854775808) = s64[1] 4611686018427387904",
        ),
        case(
            "mulhi(u64[1] 18446744073709551615, u64[1] 18446744073709551615) = u64[1] 18446744073709551614",
        ),
        // By zero: all ones, and the dividend. The smallest by -1 is itself, without remainder.
        case("divide(s32[5] 7 -7 7 -7 0, s32[5] 2 2 -2 0 0) = s32[5] 3 -3 -3 -1 -1"),
        case("divide(s32[1] -2147483648, s32[1] -1) = s32[1] -2147483648"),
        case("divide(s64[1] -9223372036854775808, s64[1] -1) = s64[1] -9223372036854775808"),
        case("divide(s8[1] -128, s8[1] -1) = s8[1] -128"),
        case("divide(s4[2] -8 7, s4[2] -1 0) = s4[2] -8 -1"),
        case("divide(u8[3] 5 0 200, u8[3] 0 0 7) = u8[3] 255 255 28"),
        case("divide(u64[1] 1, u64[1] 0) = u64[1] 18446744073709551615"),
        case("divide(u4[1] 1, u4[1] 0) = u4[1] 15"),
        case("remainder(s32[5] 7 -7 7 -7 7, s32[5] 2 2 -2 -2 0) = s32[5] 1 -1 1 -1 7"),
        case("remainder(s32[1] -2147483648, s32[1] -1) = s32[1] 0"),
        case("remainder(s64[1] -9223372036854775808, s64[1] -1) = s64[1] 0"),
        case("remainder(u8[2] 200 9, u8[2] 7 0) = u8[2] 4 9"),
        case("maximum(s8[2] -128 3, s8[2] 127 2) = s8[2] 127 3"),
        case("maximum(u64[1] 18446744073709551615, u64[1] 1) = u64[1] 18446744073709551615"),
        case("minimum(s8[2] -128 3, s8[2] 127 2) = s8[2] -128 2"),
        case("minimum(u32[1] 4294967295, u32[1] 1) = u32[1] 1"),
        // Negative exponents give the reciprocal, cut to an integer.
        case(
            "power(s32[6] 2 0 -3 7 10 -2, s32[6] 10 0 3 0 1 31) = s32[6] 1024 1 -27 1 10 -2147483648",
        ),
        case("power(s32[5] 2 1 -1 -1 0, s32[5] -1 -5 -3 -2 -1) = s32[5] 0 1 -1 1 0"),
        case("power(u32[1] 3, u32[1] 40) = u32[1] 689956897"),
        case("power(u64[1] 3, u64[1] 40) = u64[1] 12157665459056928801"),
        case("power(s8[2] 2 2, s8[2] 7 8) = s8[2] -128 0"),
        case("abs(s32[3] -5 5 -2147483648) = s32[3] 5 5 -2147483648"),
        case("abs(s8[2] -128 -1) = s8[2] -128 1"),
        case("abs(u8[1] 200) = u8[1] 200"),
        case("negate(s8[3] 1 -128 0) = s8[3] -1 -128 0"),
        case("negate(u8[2] 1 0) = u8[2] 255 0"),
        case("sign(s32[3] -5 0 7) = s32[3] -1 0 1"),
        case("sign(u16[2] 0 9) = u16[2] 0 1"),
        case("not(u4[2] 5 0) = u4[2] 10 15"),
        case("not(s4[2] 5 -8) = s4[2] -6 7"),
        case("not(s64[1] 0) = s64[1] -1"),
        case("and(u8[1] 204, u8[1] 170) = u8[1] 136"),
        case("and(s8[1] -1, s8[1] 15) = s8[1] 15"),
        case("or(u8[1] 204, u8[1] 170) = u8[1] 238"),
        case("xor(u8[1] 204, u8[1] 170) = u8[1] 102"),
        case("xor(s8[1] -1, s8[1] 15) = s8[1] -16"),
        // A shift by the width or more, also by a negative number, leaves nothing but the sign.
        case("shift-left(s8[5] 1 1 1 1 65, s8[5] 6 7 8 -1 1) = s8[5] 64 -128 0 0 -126"),
        case("shift-left(u4[2] 1 1, u4[2] 3 4) = u4[2] 8 0"),
        case("shift-left(s64[2] 1 1, s64[2] 63 64) = s64[2] -9223372036854775808 0"),
        case("shift-right-logical(s8[5] -128 -1 -1 -1 64, s8[5] 7 1 8 -1 2) = s8[5] 1 127 0 0 16"),
        case("shift-right-logical(u64[2] 18446744073709551615 5, u64[2] 63 64) = u64[2] 1 0"),
        case("shift-right-logical(s4[1] -8, s4[1] 3) = s4[1] 1"),
        case(
            "shift-right-arithmetic(s8[6] -128 -128 -128 64 64 5, s8[6] 7 8 -1 3 8 1) = s8[6] -1 -1 -1 8 0 2",
        ),
        case("shift-right-arithmetic(u8[2] 128 64, u8[2] 1 1) = u8[2] 192 32"),
        case("popcnt(s8[3] -1 0 5) = s8[3] 8 0 2"),
        case("popcnt(s4[1] -1) = s4[1] 4"),
        case("popcnt(u64[1] 18446744073709551615) = u64[1] 64"),
        case("count-leading-zeros(u8[3] 0 1 255) = u8[3] 8 7 0"),
        case("count-leading-zeros(s32[3] 0 1 -1) = s32[3] 32 31 0"),
        case("count-leading-zeros(s4[2] 0 3) = s4[2] 4 2"),
        case("count-leading-zeros(u64[1] 0) = u64[1] 64"),
        // Predicates are numbers of one bit that do not wrap: true + true is true.
        case("add(pred[4] 0 0 1 1, pred[4] 0 1 0 1) = pred[4] 0 1 1 1"),
        case("multiply(pred[4] 0 0 1 1, pred[4] 0 1 0 1) = pred[4] 0 0 0 1"),
        case("maximum(pred[4] 0 0 1 1, pred[4] 0 1 0 1) = pred[4] 0 1 1 1"),
        case("minimum(pred[4] 0 0 1 1, pred[4] 0 1 0 1) = pred[4] 0 0 0 1"),
        case("and(pred[4] 0 0 1 1, pred[4] 0 1 0 1) = pred[4] 0 0 0 1"),
        case("or(pred[4] 0 0 1 1, pred[4] 0 1 0 1) = pred[4] 0 1 1 1"),
        case("xor(pred[4] 0 0 1 1, pred[4] 0 1 0 1) = pred[4] 0 1 1 0"),
        case("not(pred[2] 0 1) = pred[2] 1 0"),
        // What does not go together.
        case("divide(pred[1] 1, pred[1] 1) = pred[1] 1").fails("not supported: divide of PRED"),
        case("popcnt(f32[1] 1) = f32[1] 1").fails("not supported: popcnt of F32"),
        case("add(s32[1] 1, s16[1] 1) = s32[1] 2")
            .fails("operand 1 is s16[1]{0}, expected s32[1]{0}"),
        case("add(s32[1] 1, s32[2] 1 1) = s32[1] 2")
            .fails("operand 1 is s32[2]{0}, expected s32[1]{0}"),
        case("add(s32[1] 1) = s32[1] 2").fails("add \"op\" in \"main\": operands is 1, expected 2"),
        case("negate(s32[1] 1, s32[1] 1) = s32[1] 2").fails("operands is 2, expected 1"),
        case("negate(s32[1] 1) = s32[2] 2 2").fails("result is s32[1]{0}, expected s32[2]{0}"),
        case("negate(token) = s32[1] 1").fails("operand 0 is no array"),
    ]
}
