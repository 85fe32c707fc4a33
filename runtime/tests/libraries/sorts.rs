//! CUB's radix sorts.

use std::collections::BTreeMap;

use aotgate_runtime::proto::xla::ffi::AttributesMapProto;
use aotgate_runtime::proto::xla::ffi::scalar_proto::Value as ScalarValue;
use aotgate_runtime::proto::xla::gpu::CustomCallThunkProto;
use aotgate_runtime::proto::xla::gpu::thunk_proto::Impl;
use aotgate_runtime::proto::xla::{NullableShapedSliceProto, PrimitiveType, ShapeProto};

use crate::program::{evaluate_floats, f32s, nullable, parameter, program, scalar};
use crate::small;

/// Sorts parameter 0, with parameter 1 along with it where there are two.
fn sort(
    target: &str,
    shapes: &[ShapeProto],
    descending: bool,
    batches: i64,
) -> (CustomCallThunkProto, Vec<ShapeProto>) {
    let scratch = small::array(PrimitiveType::U8, &[16]);
    // The values are what comes out, where there are any; the keys go to scratch then.
    let count = shapes.len();
    let outputs = if count == 1 { vec![1] } else { vec![2, 1] };
    let mut results: Vec<_> =
        outputs.iter().zip(shapes).map(|(at, shape)| nullable(*at, shape)).collect();
    results.push(NullableShapedSliceProto {
        shaped_slice: Some(small::shaped(small::slice(2, 48, 16), scratch)),
    });
    let attributes = BTreeMap::from([
        ("descending".to_owned(), scalar(ScalarValue::B(descending))),
        ("batch_size".to_owned(), scalar(ScalarValue::I64(batches))),
    ]);
    let call = CustomCallThunkProto {
        target_name: target.to_owned(),
        operands: shapes
            .iter()
            .enumerate()
            .map(|(at, shape)| nullable(parameter(at), shape))
            .collect(),
        results,
        attributes: Some(AttributesMapProto { attrs: attributes }),
        ..Default::default()
    };
    (call, shapes.to_vec())
}

fn sorted(
    (call, shapes): (CustomCallThunkProto, Vec<ShapeProto>),
    inputs: &[&[f32]],
) -> Result<Vec<f32>, String> {
    let thunk = small::thunk("custom-call.1", 1, Impl::CustomCallThunk(call));
    let result = shapes.last().unwrap().clone();
    evaluate_floats(program(thunk, &shapes, result), inputs)
}

#[test]
fn cub_sorts_keys() {
    const KEYS: &str = "xla.gpu.ext.cub_sort_keys";
    let keys = [f32s(&[6])];
    let input: &[f32] = &[3.0, -1.0, f32::NAN, 0.5, f32::NEG_INFINITY, 2.0];
    let up = sorted(sort(KEYS, &keys, false, 1), &[input]).unwrap();
    assert_eq!(up[..5], [f32::NEG_INFINITY, -1.0, 0.5, 2.0, 3.0]);
    assert!(up[5].is_nan());
    let down = sorted(sort(KEYS, &keys, true, 0), &[input]).unwrap();
    assert_eq!(down[1..], [3.0, 2.0, 0.5, -1.0, f32::NEG_INFINITY]);
    let rows = sorted(sort(KEYS, &[f32s(&[2, 3])], false, 2), &[&[3.0, 1.0, 2.0, 0.0, -1.0, 5.0]])
        .unwrap();
    assert_eq!(rows, [1.0, 2.0, 3.0, -1.0, 0.0, 5.0]);
}

#[test]
fn cub_sorts_pairs_and_keeps_the_order_of_equal_keys() {
    const PAIRS: &str = "xla.gpu.ext.cub_sort_pairs";
    let shapes = [f32s(&[6]), f32s(&[6])];
    let keys: &[f32] = &[2.0, 1.0, 0.0, 1.0, -0.0, 2.0];
    let values: &[f32] = &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    let up = sorted(sort(PAIRS, &shapes, false, 1), &[keys, values]).unwrap();
    assert_eq!(up, [2.0, 4.0, 1.0, 3.0, 0.0, 5.0]);
    let down = sorted(sort(PAIRS, &shapes, true, 1), &[keys, values]).unwrap();
    assert_eq!(down, [0.0, 5.0, 1.0, 3.0, 2.0, 4.0]);
}

#[test]
fn a_sort_that_contradicts_itself_is_named() {
    const KEYS: &str = "xla.gpu.ext.cub_sort_keys";
    let call = |change: fn(&mut CustomCallThunkProto)| {
        let (mut call, shapes) = sort(KEYS, &[f32s(&[6])], false, 1);
        change(&mut call);
        sorted((call, shapes), &[&[0.0; 6]]).unwrap_err()
    };
    let missing = call(|c| c.attributes.as_mut().unwrap().attrs.clear());
    assert!(missing.contains("attributes.descending is not set"), "{missing}");
    let wrong = call(|c| {
        c.attributes
            .as_mut()
            .unwrap()
            .attrs
            .insert("descending".into(), scalar(ScalarValue::I64(1)));
    });
    assert!(wrong.contains("attributes.descending is I64(1), expected a bool"), "{wrong}");
    let batches = call(|c| {
        c.attributes
            .as_mut()
            .unwrap()
            .attrs
            .insert("batch_size".into(), scalar(ScalarValue::I64(4)));
    });
    assert!(
        batches.contains("attributes.batch_size is 4, expected a divisor of 6 elements"),
        "{batches}"
    );
    let results = call(|c| c.results.truncate(1));
    assert!(results.contains("results is 1, expected 2"), "{results}");
    let absent = call(|c| c.operands[0].shaped_slice = None);
    assert!(absent.contains("operands[0] is not set"), "{absent}");
    let shape = call(|c| c.results[0].shaped_slice.as_mut().unwrap().shape = Some(f32s(&[5])));
    assert!(shape.contains("results[0].shape is f32[5]{0}, expected f32[6]{0}"), "{shape}");
}
