//! Broadcasts, transposes, concatenation, padding.

use super::case::{Case, case, check};
use crate::proto::xla::PaddingConfig;
use crate::proto::xla::padding_config::PaddingConfigDimension;

#[test]
fn table() {
    check(&cases());
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        case("broadcast(s32[] 7) = s32[2,2] 7 7 7 7"),
        case("broadcast.0(s32[2] 1 2) = s32[2,3] 1 1 1 2 2 2"),
        case("broadcast.1(s32[2] 1 2) = s32[3,2] 1 2 1 2 1 2"),
        case("broadcast.0,2(s32[2,2] 1 2 3 4) = s32[2,2,2] 1 2 1 2 3 4 3 4"),
        case("broadcast.1,0(s32[2,3] 1 2 3 4 5 6) = s32[3,2] 1 4 2 5 3 6"),
        case("broadcast.0(f32[1] -0) = f32[1,2] -0 -0"),
        case("broadcast.0(s4[2] -8 7) = s4[2,2] -8 -8 7 7"),
        case("broadcast.0(s32[2] 1 2) = s32[2,0]"),
        case("broadcast.0(s32[0]) = s32[0,4]"),
        case("broadcast(c64[] 1:2) = c64[2] 1:2 1:2"),
        case("broadcast.0(s32[2] 1 2) = s32[3] 1 2 3")
            .fails("operand 0 is s32[2]{0}, expected dimensions [0] of s32[3]{0}"),
        case("broadcast.0(s32[1] 1) = s32[3] 1 1 1").fails("operand 0 is s32[1]{0}"),
        case("broadcast(s32[2] 1 2) = s32[2] 1 2").fails("dimensions is 0, expected 1"),
        case("broadcast.0,0(s32[2,2] ..1) = s32[2] 1 1")
            .fails("dimensions is [0, 0], expected no dimension twice"),
        case("broadcast.5(s32[2] 1 2) = s32[2] 1 2").fails("dimensions is 5, expected below 1"),
        case("broadcast(s32[] 1) = f32[2] 1 1")
            .fails("operand 0 is s32[]{}, expected elements of f32[2]{0}"),
        case("reshape(s32[2,3] 1 2 3 4 5 6) = s32[3,2] 1 2 3 4 5 6"),
        case("reshape(s32[1,1] 5) = s32[] 5"),
        case("reshape(s32[] 5) = s32[1,1,1] 5"),
        case("reshape(f32[0,5]) = f32[3,0]"),
        case("reshape(s32[2] 1 2) = s32[3] 1 2 3").fails("elements is 2, expected 3"),
        case("transpose.1,0(s32[2,3] 1 2 3 4 5 6) = s32[3,2] 1 4 2 5 3 6"),
        case("transpose.2,0,1(s32[2,1,3] 1 2 3 4 5 6) = s32[3,2,1] 1 4 2 5 3 6"),
        case("transpose(s32[] 5) = s32[] 5"),
        case("transpose.1,0(s32[0,3]) = s32[3,0]"),
        case("transpose.0,1(u8[1,2] 1 2) = u8[1,2] 1 2"),
        case("transpose.0,0(s32[2,3] ..1) = s32[2,2] 1 1 1 1")
            .fails("permutation is [0, 0], expected each of 0..2 once"),
        case("transpose.0(s32[2,3] ..1) = s32[2] 1 1")
            .fails("permutation is [0], expected 2 entries"),
        case("reverse.0(s32[3] 1 2 3) = s32[3] 3 2 1"),
        case("reverse.1(s32[2,2] 1 2 3 4) = s32[2,2] 2 1 4 3"),
        case("reverse.0,1(s32[2,2] 1 2 3 4) = s32[2,2] 4 3 2 1"),
        case("reverse(s32[2] 1 2) = s32[2] 1 2"),
        case("reverse.0(s32[0]) = s32[0]"),
        case("reverse.1(s32[2] 1 2) = s32[2] 1 2").fails("dimensions is 1, expected below 1"),
        case("concatenate.0(s32[2] 1 2, s32[1] 3, s32[0]) = s32[3] 1 2 3"),
        case("concatenate.1(s32[2,1] 1 2, s32[2,2] 3 4 5 6) = s32[2,3] 1 3 4 2 5 6"),
        case("concatenate.0(bf16[1] 1) = bf16[1] 1"),
        case("concatenate.0(s32[1] 1, s32[1] 2) = s32[3] 1 2 3")
            .fails("dimension 0 of the result is s32[3]{0}, expected 2, as the operands have"),
        case("concatenate.0(s32[2] 1 2, s32[2] 1 2) = s32[3] 1 2 3")
            .fails("operand is s32[2]{0}, expected a part of s32[3]{0}"),
        case("concatenate.0(s32[1] 1, s8[1] 2) = s32[2] 1 2").fails("operand is s8[1]{0}"),
        case("concatenate.0(s32[1,2] 1 1, s32[1] 2) = s32[2,2] ..1").fails("operand is s32[1]{0}"),
    ];
    cases.extend(padding());
    cases
}

/// Low, high and interior padding of each dimension.
fn pad(text: &str, padding: &[(i64, i64, i64)]) -> Case {
    let dimensions = padding.iter().map(|(low, high, inside)| PaddingConfigDimension {
        edge_padding_low: *low,
        edge_padding_high: *high,
        interior_padding: *inside,
    });
    let config = PaddingConfig { dimensions: dimensions.collect() };
    case(text).with(move |p| p.padding_config = Some(config.clone()))
}

fn padding() -> Vec<Case> {
    vec![
        pad("pad(s32[3] 1 2 3, s32[] 0) = s32[8] 0 1 0 2 0 3 0 0", &[(1, 2, 1)]),
        pad("pad(s32[3] 1 2 3, s32[] 9) = s32[2] 2 3", &[(-1, 0, 0)]),
        pad("pad(s32[3] 1 2 3, s32[] 0) = s32[4] 0 2 0 3", &[(-1, 0, 1)]),
        pad("pad(s32[3] 1 2 3, s32[] 0) = s32[3] 0 2 0", &[(-1, -1, 1)]),
        pad("pad(s32[3] 1 2 3, s32[] 0) = s32[0]", &[(-1, -2, 0)]),
        pad("pad(s32[3] 1 2 3, s32[] 0) = s32[2] 0 0", &[(-4, 3, 0)]),
        pad("pad(s32[0], s32[] 9) = s32[2] 9 9", &[(1, 1, 3)]),
        pad("pad(s32[2,1] 1 2, s32[] 0) = s32[3,2] 1 0 0 0 2 0", &[(0, 0, 1), (0, 1, 0)]),
        pad("pad(f32[1] 1, f32[] -0) = f32[2] -0 1", &[(1, 0, 0)]),
        pad("pad(s32[] 5, s32[] 0) = s32[] 5", &[]),
        pad("pad(s32[3] 1 2 3, s32[] 0) = s32[4] 1 2 3 0", &[(1, 1, 0)])
            .fails("result is s32[4]{0}, expected dimensions [5]"),
        pad("pad(s32[3] 1 2 3, s32[] 0) = s32[3] 1 2 3", &[(0, 0, -1)])
            .fails("padding_config.dimensions[0]"),
        pad("pad(s32[1] 1, s32[] 0) = s32[0]", &[(-1, -1, 0)])
            .fails("padding_config.dimensions[0]"),
        pad("pad(s32[3] 1 2 3, s32[] 0) = s32[3] 1 2 3", &[(0, 0, i64::MAX)])
            .fails("padding_config.dimensions[0]"),
        pad("pad(s32[3] 1 2 3, s32[] 0) = s32[3] 1 2 3", &[(i64::MAX, i64::MAX, 0)])
            .fails("padding_config.dimensions[0]"),
        pad("pad(s32[3] 1 2 3, s32[] 0) = s32[3] 1 2 3", &[])
            .fails("padding_config.dimensions is 0, expected 1"),
        pad("pad(s32[3] 1 2 3, s8[] 0) = s32[3] 1 2 3", &[(0, 0, 0)])
            .fails("operand 1 is s8[]{}, expected s32[]{}"),
        case("pad(s32[1] 1, s32[] 0) = s32[1] 1").fails("padding_config is not set"),
    ]
}
