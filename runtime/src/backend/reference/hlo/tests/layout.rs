//! Layouts: they are part of shapes, and only `bitcast` looks at them.

use super::case::{Case, case, check};

#[test]
fn table() {
    check(&cases());
}

pub(super) fn cases() -> Vec<Case> {
    let bitcast = |text: &str, from: &str, to: &str| {
        let ops = format!("a {from} parameter 0\n r {to} bitcast a");
        case(text).calls("inner", &ops)
    };
    vec![
        case("bitcast(s32[2,3] 1 2 3 4 5 6) = s32[6] 1 2 3 4 5 6"),
        case("bitcast(s32[] 5) = s32[1] 5"),
        case("bitcast(f32[1] 1) = s32[1] 1065353216"),
        case("bitcast(f32[0,2]) = f32[0]"),
        // Columns lie together: the memory is 1 4 2 5 3 6.
        bitcast(
            "call(s32[2,3] 1 2 3 4 5 6) = s32[3,2] 1 4 2 5 3 6",
            "s32[2,3]{0,1}",
            "s32[3,2]{1,0}",
        ),
        bitcast("call(s32[2,3] 1 2 3 4 5 6) = s32[6] 1 4 2 5 3 6", "s32[2,3]{0,1}", "s32[6]{0}"),
        bitcast("call(s32[6] 1 2 3 4 5 6) = s32[2,3] 1 3 5 2 4 6", "s32[6]{0}", "s32[2,3]{0,1}"),
        bitcast(
            "call(s32[2,3] 1 2 3 4 5 6) = s32[2,3] 1 3 5 2 4 6",
            "s32[2,3]{1,0}",
            "s32[2,3]{0,1}",
        ),
        bitcast("call(u8[2,1,2] 1 2 3 4) = u8[2,2] 1 3 2 4", "u8[2,1,2]{0,1,2}", "u8[2,2]{1,0}"),
        // A copy changes the layout, not the values.
        case("call(s32[2,2] 1 2 3 4) = s32[2,2] 1 2 3 4")
            .calls("inner", "a s32[2,2]{0,1} parameter 0\n r s32[2,2]{1,0} copy a"),
        case("call(s32[2,3] 1 2 3 4 5 6) = s32[3,2] 1 4 2 5 3 6")
            .calls("inner", "a s32[2,3]{0,1} parameter 0\n r s32[3,2]{0,1} transpose.1,0 a"),
        case("bitcast(s32[2] 1 2) = s32[3] 1 2 3")
            .fails("bytes of the result is 12, expected the 8 bytes of s32[2]{0}"),
        bitcast("call(s32[2,2] 1 2 3 4) = s32[2,2] 1 2 3 4", "s32[2,2]{1,1}", "s32[2,2]{1,0}")
            .fails("permutation is [1, 1], expected each of 0..2 once"),
    ]
}
