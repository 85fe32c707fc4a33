//! Slices and updates, fixed and computed.

use super::case::{Case, case, check};
use crate::proto::xla::hlo_instruction_proto::SliceDimensions;

#[test]
fn table() {
    check(&cases());
}

/// Start, limit and stride of each dimension.
fn slice(text: &str, dimensions: &[(i64, i64, i64)]) -> Case {
    let dimensions: Vec<SliceDimensions> = dimensions
        .iter()
        .map(|(start, limit, stride)| SliceDimensions {
            start: *start,
            limit: *limit,
            stride: *stride,
        })
        .collect();
    case(text).with(move |p| p.slice_dimensions.clone_from(&dimensions))
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        slice("slice(s32[5] 0 1 2 3 4) = s32[2] 1 2", &[(1, 3, 1)]),
        slice("slice(s32[5] 0 1 2 3 4) = s32[2] 1 4", &[(1, 5, 3)]),
        slice("slice(s32[5] 0 1 2 3 4) = s32[3] 0 2 4", &[(0, 5, 2)]),
        slice("slice(s32[5] 0 1 2 3 4) = s32[0]", &[(5, 5, 1)]),
        slice("slice(s32[5] 0 1 2 3 4) = s32[1] 4", &[(4, 5, i64::MAX)]),
        slice("slice(s32[2,3] 0 1 2 3 4 5) = s32[2,2] 0 2 3 5", &[(0, 2, 1), (0, 3, 2)]),
        slice("slice(f32[] 5) = f32[] 5", &[]),
        slice("slice(s32[5] 0 1 2 3 4) = s32[2] 1 2", &[(1, 6, 1)])
            .fails("slice_dimensions[0] is 1:6:1, expected 2 elements inside 0..5"),
        slice("slice(s32[5] 0 1 2 3 4) = s32[2] 1 2", &[(1, 4, 1)]).fails("slice_dimensions[0] is 1:4:1"),
        slice("slice(s32[5] 0 1 2 3 4) = s32[2] 1 2", &[(3, 1, 1)]).fails("slice_dimensions[0] is 3:1:1"),
        slice("slice(s32[5] 0 1 2 3 4) = s32[2] 1 2", &[(-1, 1, 1)]).fails("slice_dimensions[0] is -1:1:1"),
        slice("slice(s32[5] 0 1 2 3 4) = s32[2] 1 2", &[(0, 2, 0)]).fails("slice_dimensions[0] is 0:2:0"),
        slice("slice(s32[5] 0 1 2 3 4) = s32[2] 1 2", &[]).fails("slice_dimensions is 0, expected 1"),
        // Starts are moved so that the slice lies inside.
        case("dynamic-slice(s32[5] 0 1 2 3 4, s32[] 1) = s32[2] 1 2"),
        case("dynamic-slice(s32[5] 0 1 2 3 4, s32[] 4) = s32[2] 3 4"),
        case("dynamic-slice(s32[5] 0 1 2 3 4, s32[] -7) = s32[2] 0 1"),
        case("dynamic-slice(s32[5] 0 1 2 3 4, s64[] -9223372036854775808) = s32[2] 0 1"),
        case("dynamic-slice(s32[5] 0 1 2 3 4, u32[] 4294967295) = s32[2] 3 4"),
        case("dynamic-slice(s32[5] 0 1 2 3 4, u64[] 18446744073709551615) = s32[2] 3 4"),
        case("dynamic-slice(s32[5] 0 1 2 3 4, u8[] 255) = s32[5] 0 1 2 3 4"),
        case("dynamic-slice(s32[2,3] 0 1 2 3 4 5, s32[] 1, s32[] 1) = s32[1,2] 4 5"),
        case("dynamic-slice(s32[2,3] 0 1 2 3 4 5, s32[2] 9 0) = s32[1,2] 3 4"),
        case("dynamic-slice(s32[3] 0 1 2, s32[] 9) = s32[0]"),
        case("dynamic-slice(s32[] 5) = s32[] 5"),
        case("dynamic-slice(s32[2] 1 2, s32[] 0) = s32[3] 1 2 3")
            .fails("size of the slice in dimension 0 is 3, expected at most 2"),
        case("dynamic-slice(s32[2] 1 2, f32[] 0) = s32[1] 1").fails("index is f32[]{}, expected an integer at 0"),
        case("dynamic-slice(s32[2] 1 2, s32[3] 0 0 0) = s32[1] 1").fails("index 0 is s32[3]{0}, expected a scalar"),
        case("dynamic-slice(s32[2] 1 2, s32[] 0, s32[] 0) = s32[1] 1").fails("indices is 2, expected 1"),
        case("dynamic-slice(s32[2] 1 2) = s32[1] 1").fails("indices is 0, expected 1"),
        case("dynamic-slice(s32[2] 1 2, s32[] 0) = s32[1,1] 1").fails("dimensions of the slice is 2, expected 1"),
        case("dynamic-slice(s32[2] 1 2, s32[] 0) = s32[1] 1")
            .with(|p| p.dynamic_slice_sizes = vec![2])
            .fails("dynamic_slice_sizes is [2], expected the sizes of s32[1]{0}"),
        case("dynamic-update-slice(s32[4] 0 0 0 0, s32[2] 1 2, s32[] 1) = s32[4] 0 1 2 0"),
        case("dynamic-update-slice(s32[4] 0 0 0 0, s32[2] 1 2, s32[] 9) = s32[4] 0 0 1 2"),
        case("dynamic-update-slice(s32[4] 0 0 0 0, s32[2] 1 2, s32[] -9) = s32[4] 1 2 0 0"),
        case("dynamic-update-slice(s32[4] 0 0 0 0, s32[2] 1 2, u64[] 18446744073709551615) = s32[4] 0 0 1 2"),
        case("dynamic-update-slice(s32[2,2] 0 0 0 0, s32[1,1] 7, s32[] 0, s32[] 1) = s32[2,2] 0 7 0 0"),
        case("dynamic-update-slice(s32[2] 1 2, s32[0], s32[] 1) = s32[2] 1 2"),
        case("dynamic-update-slice(f32[] 1, f32[] 2) = f32[] 2"),
        case("dynamic-update-slice(s32[2] 0 0, s32[3] 1 2 3, s32[] 0) = s32[2] 0 0")
            .fails("size of the slice in dimension 0 is 3, expected at most 2"),
        case("dynamic-update-slice(s32[2] 0 0, s8[1] 1, s32[] 0) = s32[2] 0 0")
            .fails("operand 1 is s8[1]{0}, expected elements of s32[2]{0}"),
        // The operand is read again, so it must not be updated in place.
        case("call(s32[2] 1 2, s32[1] 9) = s32[2] 9 2 & s32[2] 1 2").calls(
            "inner",
            "x s32[2] parameter 0\n u s32[1] parameter 1\n i s32[] constant 0\n y s32[2] dynamic-update-slice x u i\n r (s32[2],s32[2]) tuple y x",
        ),
    ]
}
