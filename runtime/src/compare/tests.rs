use super::*;
use crate::program::ArrayShape;
use crate::proto::xla::PrimitiveType as P;

fn array(ty: P, bytes: &[u8]) -> HostArray {
    let size = ArrayShape::row_major(ty, &[1]).bytes();
    HostArray::new(&ArrayShape::row_major(ty, &[bytes.len() / size]), bytes).unwrap()
}

fn f32s(values: &[f32]) -> HostArray {
    array(P::F32, &values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())
}

fn c64s(values: &[f32]) -> HostArray {
    array(P::C64, &values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())
}

fn within(relative: f64, scaled: f64, absolute: f64) -> Rule {
    Rule::Within(Tolerance { relative, scaled, absolute })
}

/// Expected, actual, rule: (different, beyond).
#[test]
fn numbers_zeros_nans_and_infinities() {
    const NAN: f32 = f32::NAN;
    const INF: f32 = f32::INFINITY;
    let other_nan = f32::from_bits(NAN.to_bits() ^ 1);
    let loose = within(1e-3, 0.0, 0.0);
    #[allow(clippy::type_complexity, reason = "a table is read by its columns")]
    let table: [(&[f32], &[f32], Rule, (usize, usize)); 20] = [
        (&[1.0, 2.0], &[1.0, 2.0], Rule::Exact, (0, 0)),
        (&[1.0, 2.0], &[1.0, 2.0000002], Rule::Exact, (1, 1)),
        (&[0.0], &[-0.0], Rule::Exact, (1, 1)),
        (&[0.0], &[-0.0], loose, (0, 0)),
        (&[NAN], &[NAN], Rule::Exact, (0, 0)),
        (&[NAN], &[other_nan], Rule::Exact, (1, 1)),
        (&[NAN], &[other_nan], loose, (0, 0)),
        (&[NAN], &[1.0], loose, (1, 1)),
        (&[1.0], &[NAN], loose, (1, 1)),
        (&[INF], &[INF], loose, (0, 0)),
        (&[INF], &[-INF], loose, (1, 1)),
        (&[INF], &[f32::MAX], loose, (1, 1)),
        (&[f32::MAX], &[INF], loose, (1, 1)),
        (&[INF, 1.0], &[INF, 1.001], loose, (1, 1)),
        (&[1000.0], &[1000.5], loose, (1, 0)),
        (&[1000.0], &[1002.0], loose, (1, 1)),
        // What cancels may be off by a share of the largest, and an infinite one is not that.
        (&[1000.0, 1e-3], &[1000.0, 1.5e-3], within(1e-6, 1e-6, 0.0), (1, 0)),
        (&[1.0, 1e-3], &[1.0, 1.5e-3], within(1e-6, 1e-6, 0.0), (1, 1)),
        (&[INF, 1e-3], &[INF, 1.5e-3], within(1e-6, 1e-6, 0.0), (1, 1)),
        (&[0.0], &[0.5], within(0.0, 0.0, 0.5), (1, 0)),
    ];
    for (expected, actual, rule, counts) in table {
        let found = compare(&f32s(expected), &f32s(actual), rule).unwrap();
        assert_eq!((found.different, found.beyond), counts, "{expected:?} {actual:?} {rule:?}");
        assert_eq!(found.is_equal(), counts.1 == 0);
        assert_eq!(found.worst.is_some(), counts.0 != 0);
    }
}

#[test]
fn complex_numbers_by_their_modulus() {
    let rule = within(1e-2, 0.0, 0.0);
    // 0.05 is little beside a modulus of 10, and much beside one of 1.
    for (expected, actual, beyond) in [
        ([10.0, 0.0], [10.0, 0.05], 0),
        ([1.0, 0.0], [1.0, 0.05], 1),
        ([f32::NAN, 1.0], [f32::NAN, 1.005], 0),
        ([f32::NAN, 1.0], [1.0, f32::NAN], 1),
        ([f32::INFINITY, 1.0], [f32::INFINITY, 1.05], 1),
    ] {
        let found = compare(&c64s(&expected), &c64s(&actual), rule).unwrap();
        assert_eq!(found.beyond, beyond, "{expected:?} {actual:?}");
    }
}

#[test]
fn the_worst_is_the_one_that_is_off_by_most_of_what_is_admitted() {
    let shape = ArrayShape::row_major(P::F32, &[2, 3]);
    let new = |values: [f32; 6]| {
        HostArray::new(&shape, &values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())
    };
    let expected = new([1000.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    let actual = new([1000.5, 1.0, 2.0, 3.0, 4.25, 5.0]).unwrap();
    let found = compare(&expected, &actual, within(1e-2, 0.0, 0.0)).unwrap();
    assert_eq!((found.elements, found.different, found.beyond), (6, 2, 1));
    assert_eq!(found.largest, 1000.0);
    let worst = found.worst.unwrap();
    assert_eq!((worst.index, &*worst.expected, &*worst.actual), (vec![1, 1], "4.0", "4.25"));
    assert_eq!((worst.error, worst.admitted), (0.25, 0.04));
    // Another one is off by more, and admitted.
    let furthest = found.furthest.unwrap();
    assert_eq!((furthest.index, furthest.error, furthest.admitted), (vec![0, 0], 0.5, 10.0));
    // Bit for bit it is the largest.
    let found = compare(&expected, &actual, Rule::Exact).unwrap();
    assert_eq!(found.worst.unwrap().index, [0, 0]);
}

#[test]
fn integers_of_any_width() {
    let longs = |values: [i64; 2]| array(P::S64, &values.map(i64::to_le_bytes).concat());
    let found = compare(&longs([i64::MIN, 1]), &longs([i64::MAX, 1]), Rule::of(P::S64)).unwrap();
    assert_eq!((found.beyond, found.worst.unwrap().error), (1, 2_f64.powi(64)));
    let found = compare(&longs([7, 1]), &longs([8, 1]), within(0.0, 0.0, 1.0)).unwrap();
    assert!(found.is_equal());
    // Four bits each in a byte of their own; the other four do not count.
    let found = compare(&array(P::S4, &[0x0f]), &array(P::S4, &[0xff]), Rule::Exact).unwrap();
    assert_eq!(found.different, 0);
    let found = compare(&array(P::Pred, &[0, 1]), &array(P::Pred, &[1, 1]), Rule::Exact).unwrap();
    assert_eq!(found.worst.unwrap().expected, "false");
}

#[test]
fn every_type_has_a_rule() {
    for (ty, text) in [
        (P::Pred, "exact"),
        (P::S4, "exact"),
        (P::U64, "exact"),
        (P::F8e8m0fnu, "exact"),
        (P::F4e2m1fn, "5e-1 rel, 2e-6 max"),
        (P::F8e4m3fn, "1.25e-1 rel, 2e-6 max"),
        (P::F8e5m2, "2.5e-1 rel, 2e-6 max"),
        (P::Bf16, "7.8125e-3 rel, 2e-6 max"),
        (P::F16, "9.765625e-4 rel, 2e-6 max"),
        (P::F32, "1e-5 rel, 2e-6 max"),
        (P::C64, "1e-5 rel, 2e-6 max"),
        (P::F64, "1e-12 rel, 1e-13 max"),
        (P::C128, "1e-12 rel, 1e-13 max"),
    ] {
        assert_eq!(Rule::of(ty).to_string(), text, "{ty:?}");
    }
    // One unit in the last place up, as bf16: 1.0 and the next.
    let one = array(P::Bf16, &0x3f80_u16.to_le_bytes());
    let next = array(P::Bf16, &0x3f81_u16.to_le_bytes());
    let further = array(P::Bf16, &0x3f82_u16.to_le_bytes());
    assert!(compare(&one, &next, Rule::of(P::Bf16)).unwrap().is_equal());
    assert!(!compare(&one, &further, Rule::of(P::Bf16)).unwrap().is_equal());
}

#[test]
fn shapes_have_to_be_the_same() {
    let error = compare(&f32s(&[1.0]), &f32s(&[1.0, 2.0]), Rule::Exact).unwrap_err();
    assert_eq!(error.to_string(), "result is f32[2]{0}, expected f32[1]{0}");
    let nothing = compare(&f32s(&[]), &f32s(&[]), Rule::Exact).unwrap();
    assert!(nothing.is_equal() && nothing.elements == 0);
}
