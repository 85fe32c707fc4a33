//! Gather and scatter.

use super::case::{Case, case, check};
use crate::proto::xla::{GatherDimensionNumbers, ScatterDimensionNumbers};

#[test]
fn table() {
    check(&cases());
}

fn gather(text: &str, numbers: GatherDimensionNumbers, sizes: &[i64]) -> Case {
    let sizes = sizes.to_vec();
    case(text).with(move |p| {
        p.gather_dimension_numbers = Some(numbers.clone());
        p.gather_slice_sizes.clone_from(&sizes);
    })
}

/// Takes whole rows: indices of one component each.
fn rows() -> GatherDimensionNumbers {
    GatherDimensionNumbers {
        offset_dims: vec![1],
        collapsed_slice_dims: vec![0],
        start_index_map: vec![0],
        index_vector_dim: 1,
        ..GatherDimensionNumbers::default()
    }
}

pub(super) fn cases() -> Vec<Case> {
    let x = "s32[3,2] 1 2 3 4 5 6";
    // Every component of an index, and nothing but the index.
    let points = GatherDimensionNumbers {
        collapsed_slice_dims: vec![0, 1],
        start_index_map: vec![0, 1],
        index_vector_dim: 1,
        ..GatherDimensionNumbers::default()
    };
    let windows = GatherDimensionNumbers {
        offset_dims: vec![0, 1],
        start_index_map: vec![1],
        index_vector_dim: 1,
        ..GatherDimensionNumbers::default()
    };
    // Row i of the operand with index i.
    let batched = GatherDimensionNumbers {
        collapsed_slice_dims: vec![1],
        start_index_map: vec![1],
        index_vector_dim: 1,
        operand_batching_dims: vec![0],
        start_indices_batching_dims: vec![0],
        ..GatherDimensionNumbers::default()
    };
    let mut cases = vec![
        gather(&format!("gather({x}, s32[2,1] 2 0) = s32[2,2] 5 6 1 2"), rows(), &[1, 2]),
        gather(&format!("gather({x}, s32[2] 2 0) = s32[2,2] 5 6 1 2"), rows(), &[1, 2]),
        // Moved so that the slice lies inside.
        gather(&format!("gather({x}, s32[2] -7 9) = s32[2,2] 1 2 5 6"), rows(), &[1, 2]),
        gather(&format!("gather({x}, u32[1] 4294967295) = s32[1,2] 5 6"), rows(), &[1, 2]),
        gather(
            &format!("gather({x}, u64[1] 18446744073709551615) = s32[1,2] 5 6"),
            rows(),
            &[1, 2],
        ),
        gather(
            &format!("gather({x}, s64[1] -9223372036854775808) = s32[1,2] 1 2"),
            rows(),
            &[1, 2],
        ),
        gather(&format!("gather({x}, s32[0]) = s32[0,2]"), rows(), &[1, 2]),
        gather(&format!("gather({x}, s32[2,2] 0 1 2 0) = s32[2] 2 5"), points.clone(), &[1, 1]),
        gather(
            &format!("gather({x}, s32[2,2] 0 2 1 0) = s32[2] 2 5"),
            GatherDimensionNumbers { index_vector_dim: 0, ..points.clone() },
            &[1, 1],
        ),
        gather(
            &format!("gather({x}, s32[2,2] 1 0 0 2) = s32[2] 2 5"),
            GatherDimensionNumbers { start_index_map: vec![1, 0], ..points.clone() },
            &[1, 1],
        ),
        gather(&format!("gather({x}, s32[2] 0 1) = s32[2,1,2] 1 2 3 4"), windows.clone(), &[2, 1]),
        gather(&format!("gather({x}, s32[3] 1 0 1) = s32[3] 2 3 6"), batched.clone(), &[1, 1]),
        gather(
            "gather(f32[2] nan -0, s32[1] 1) = f32[1,1] -0",
            GatherDimensionNumbers { offset_dims: vec![1], collapsed_slice_dims: vec![], ..rows() },
            &[1],
        ),
        gather(&format!("gather({x}, s32[1] 0) = s32[1,2] 1 2"), rows(), &[1])
            .fails("gather_slice_sizes is 1, expected 2"),
        gather(&format!("gather({x}, s32[1] 0) = s32[1,3] 1 2 3"), rows(), &[1, 3])
            .fails("gather_slice_sizes is 3, expected at most 2"),
        gather(&format!("gather({x}, s32[1] 0) = s32[1,1] 1"), rows(), &[1, 2])
            .fails("gather_dimension_numbers"),
        gather(
            &format!("gather({x}, s32[1] 0) = s32[1,2] 1 2"),
            GatherDimensionNumbers { index_vector_dim: 5, ..rows() },
            &[1, 2],
        )
        .fails("index_vector_dim is 5, expected at most 1"),
        gather(
            &format!("gather({x}, s32[1] 0) = s32[1,2] 1 2"),
            GatherDimensionNumbers { start_index_map: vec![7], ..rows() },
            &[1, 2],
        )
        .fails("start_index_map is 7, expected below 2"),
        gather(&format!("gather({x}, f32[1] 0) = s32[1,2] 1 2"), rows(), &[1, 2])
            .fails("index is f32[1]{0}, expected an integer"),
        gather(&format!("gather({x}, s32[4] 1 0 1 0) = s32[4] 2 3 6 1"), batched, &[1, 1])
            .fails("gather_dimension_numbers"),
        case("gather(s32[1] 1, s32[1] 0) = s32[1] 1").fails("gather_dimension_numbers is not set"),
    ];
    cases.extend(scatters());
    cases
}

fn scatter(text: &str, numbers: ScatterDimensionNumbers) -> Case {
    case(text).with(move |p| p.scatter_dimension_numbers = Some(numbers.clone()))
}

/// Whole rows: indices of one component each.
fn to_rows() -> ScatterDimensionNumbers {
    ScatterDimensionNumbers {
        update_window_dims: vec![1],
        inserted_window_dims: vec![0],
        scatter_dims_to_operand_dims: vec![0],
        index_vector_dim: 1,
        ..ScatterDimensionNumbers::default()
    }
}

fn scatters() -> Vec<Case> {
    let x = "s32[3,2] 1 2 3 4 5 6";
    let points = ScatterDimensionNumbers { update_window_dims: vec![], ..to_rows() };
    let windows = ScatterDimensionNumbers {
        update_window_dims: vec![1],
        inserted_window_dims: vec![],
        ..to_rows()
    };
    let batched = ScatterDimensionNumbers {
        update_window_dims: vec![],
        inserted_window_dims: vec![1],
        scatter_dims_to_operand_dims: vec![1],
        input_batching_dims: vec![0],
        scatter_indices_batching_dims: vec![0],
        index_vector_dim: 1,
    };
    let second = "a s32[] parameter 0\n b s32[] parameter 1\n r s32[] copy b";
    let both = "a s32[] parameter 0\n b f32[] parameter 1\n c s32[] parameter 2\n d f32[] parameter 3\n s s32[] add a c\n m f32[] maximum b d\n r (s32[],f32[]) tuple s m";
    vec![
        scatter(&format!("scatter({x}, s32[2] 2 0, s32[2,2] 10 20 30 40) = s32[3,2] 31 42 3 4 15 26"), to_rows()).combines("add", "s32"),
        scatter(&format!("scatter({x}, s32[1] 1, s32[1,2] 10 20) = s32[3,2] 1 2 10 20 5 6"), to_rows()).calls("second", second),
        // One index twice: both are added.
        scatter("scatter(s32[3] 0 0 0, s32[3] 1 1 2, s32[3] 5 6 7) = s32[3] 0 11 7", points.clone()).combines("add", "s32"),
        // What does not lie inside is left out, whole windows at a time.
        scatter("scatter(s32[3] 0 0 0, s32[4] -1 3 2 -2147483648, s32[4] 5 6 7 8) = s32[3] 0 0 7", points.clone()).combines("add", "s32"),
        scatter("scatter(s32[3] 0 0 0, u64[2] 18446744073709551615 0, s32[2] 5 6) = s32[3] 6 0 0", points.clone()).combines("add", "s32"),
        scatter("scatter(s32[3] 0 0 0, s32[2] 1 2, s32[2,2] 5 6 7 8) = s32[3] 0 5 6", windows).combines("add", "s32"),
        scatter(&format!("scatter({x}, s32[3] 1 0 1, s32[3] 10 20 30) = s32[3,2] 1 12 23 4 5 36"), batched).combines("add", "s32"),
        scatter("scatter(s32[2] 1 2, f32[2] 1 2, s32[1] 1, s32[1] 10, f32[1] 0) = s32[2] 1 12 & f32[2] 1 2", points.clone()).calls("both", both),
        scatter("scatter(s32[2] 1 2, s32[0], s32[0]) = s32[2] 1 2", points.clone()).combines("add", "s32"),
        scatter("scatter(s32[0], s32[1] 0, s32[1] 5) = s32[0]", points.clone()).combines("add", "s32"),
        scatter("scatter(f16[1] 2048, s32[1] 0, f16[1] 1) = f16[1] 2048", points.clone()).combines("add", "f16"),
        // The operand is read again, so it must not be updated in place.
        case("call(s32[2] 1 2, s32[1] 1, s32[1] 9) = s32[2] 1 2").calls(
            "inner",
            "x s32[2] parameter 0\n i s32[1] parameter 1\n u s32[1] parameter 2\n n s32[2] negate x\n r s32[2] negate n",
        ),
        scatter("scatter(s32[3] 0 0 0, s32[2] 1 1, s32[3] 5 6 7) = s32[3] 0 11 7", points.clone())
            .combines("add", "s32")
            .fails("scatter_dimension_numbers"),
        scatter("scatter(s32[3] 0 0 0, s32[1] 1, s32[1] 5) = s32[2] 0 0", points.clone())
            .combines("add", "s32")
            .fails("result is s32[2]{0}, expected dimensions [3]"),
        scatter("scatter(s32[3] 0 0 0, s32[1] 1) = s32[3] 0 0 0", points.clone()).combines("add", "s32").fails("operands is 2, expected an odd number"),
        scatter("scatter(s32[3] 0 0 0, s32[1] 1, f32[1] 1) = s32[3] 0 0 0", points)
            .combines("add", "s32")
            .fails("computation \"add_s32\": parameter 1 is s32[]{}, expected f32[]{}"),
        scatter(&format!("scatter({x}, s32[1] 1, s32[1,2] 10 20) = {x}"), ScatterDimensionNumbers { inserted_window_dims: vec![2], ..to_rows() })
            .combines("add", "s32")
            .fails("inserted_window_dims is 2, expected below 2"),
    ]
}
