//! Linear algebra of cuSOLVER and cuSPARSE. Matrices are written column by column, as they lie in memory.

use aotgate_runtime::program::Limits;
use aotgate_runtime::proto::xla::ffi::AttributesMapProto;
use aotgate_runtime::proto::xla::ffi::scalar_proto::Value as Scalar;
use aotgate_runtime::proto::xla::gpu::thunk_proto::Impl;
use aotgate_runtime::proto::xla::gpu::{CustomCallThunkProto, GpuExecutableProto};
use aotgate_runtime::proto::xla::{BufferAllocationProto, PrimitiveType, ShapeProto};

use crate::program::{bytes, evaluate, f32s, floats, nullable, parameter, program, scalar};
use crate::small;

/// A call, and the result of it that the program gives.
struct Call {
    thunk: CustomCallThunkProto,
    operands: Vec<ShapeProto>,
    results: Vec<ShapeProto>,
    limits: Limits,
}

fn call(
    target: &str,
    attributes: &[(&str, Scalar)],
    operands: &[ShapeProto],
    results: &[ShapeProto],
) -> Call {
    let attrs = attributes.iter().map(|(name, value)| (name.to_string(), scalar(*value)));
    let place = |at, shape| nullable(parameter(at), shape);
    let thunk = CustomCallThunkProto {
        target_name: target.to_owned(),
        operands: operands.iter().enumerate().map(|(at, shape)| place(at, shape)).collect(),
        // Allocations behind those of the parameters.
        results: results
            .iter()
            .enumerate()
            .map(|(at, shape)| place(operands.len() + at, shape))
            .collect(),
        attributes: Some(AttributesMapProto { attrs: attrs.collect() }),
        ..Default::default()
    };
    Call { thunk, operands: operands.to_vec(), results: results.to_vec(), limits: small::tight() }
}

impl Call {
    fn executable(&self, shown: usize) -> GpuExecutableProto {
        let mut thunk = self.thunk.clone();
        if let Some(result) = thunk.results.get_mut(shown) {
            *result = nullable(1, &self.results[shown]);
        }
        let thunk = small::thunk("custom-call.1", 1, Impl::CustomCallThunk(thunk));
        let mut executable = program(thunk, &self.operands, self.results[shown].clone());
        let values = &mut executable.buffer_allocations.as_mut().unwrap().values;
        for _ in &self.results {
            let index = values.len() as i64;
            values.push(BufferAllocationProto { index, size: 256, ..Default::default() });
        }
        executable
    }

    /// The bytes of one result.
    fn bytes(&self, shown: usize, inputs: &[Vec<u8>]) -> Result<Vec<u8>, String> {
        evaluate(self.executable(shown), inputs, &self.limits)
    }

    fn floats(&self, shown: usize, inputs: &[&[f32]]) -> Vec<f32> {
        let inputs: Vec<_> = inputs.iter().map(|input| bytes(input)).collect();
        floats(&self.bytes(shown, &inputs).unwrap())
    }

    fn integers(&self, shown: usize, inputs: &[&[f32]]) -> Vec<i32> {
        let inputs: Vec<_> = inputs.iter().map(|input| bytes(input)).collect();
        integers(&self.bytes(shown, &inputs).unwrap())
    }
}

fn integers(bytes: &[u8]) -> Vec<i32> {
    bytes.chunks(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect()
}

fn s32s(dims: &[i64]) -> ShapeProto {
    small::array(PrimitiveType::S32, dims)
}

fn c64s(dims: &[i64]) -> ShapeProto {
    small::array(PrimitiveType::C64, dims)
}

fn near(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    let close = |(x, y): (&f32, &f32)| (x - y).abs() <= 1e-6 * y.abs().max(1.0);
    assert!(found.iter().zip(expected).all(close), "{found:?}\nexpected {expected:?}");
}

fn cholesky(lower: bool, shape: ShapeProto, info: &[i64]) -> Call {
    let attributes = [("lower", Scalar::B(lower))];
    let results = [shape, s32s(info)];
    call("cusolver_potrf_ffi", &attributes, &results[..1], &results)
}

#[test]
fn cholesky_factors() {
    // The other triangle is neither read nor written.
    let lower = cholesky(true, f32s(&[2, 2]), &[]);
    assert_eq!(lower.floats(0, &[&[4.0, 2.0, 99.0, 5.0]]), [2.0, 1.0, 99.0, 2.0]);
    assert_eq!(lower.integers(1, &[&[4.0, 2.0, 99.0, 5.0]]), [0]);
    let upper = cholesky(false, f32s(&[2, 2]), &[]);
    assert_eq!(upper.floats(0, &[&[4.0, 99.0, 2.0, 5.0]]), [2.0, 99.0, 1.0, 2.0]);
    let several = cholesky(true, f32s(&[2, 1, 1]), &[2]);
    assert_eq!(several.floats(0, &[&[9.0, 16.0]]), [3.0, 4.0]);
    assert_eq!(several.integers(1, &[&[9.0, -16.0]]), [0, 1]);
}

#[test]
fn a_matrix_that_is_not_positive_definite_is_told_by_info() {
    let call = cholesky(true, f32s(&[3, 3]), &[]);
    let matrix: &[f32] = &[1.0, 2.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    assert_eq!(call.integers(1, &[matrix]), [2]);
    let nan: &[f32] = &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, f32::NAN];
    assert_eq!(call.integers(1, &[nan]), [3]);
}

#[test]
fn cholesky_factors_of_complex_numbers() {
    // [4, 2i; -2i, 5] is [2, 0; -i, 2] times its adjoint.
    let (matrix, zero) = ([4.0, 0.0, 0.0, -2.0, 0.0, 2.0, 5.0, 0.0], 0.0);
    let lower = cholesky(true, c64s(&[2, 2]), &[]).floats(0, &[&matrix]);
    assert_eq!(lower, [2.0, zero, zero, -1.0, zero, 2.0, 2.0, zero]);
    let upper = cholesky(false, c64s(&[2, 2]), &[]).floats(0, &[&matrix]);
    assert_eq!(upper, [2.0, zero, zero, -2.0, zero, 1.0, 2.0, zero]);
}

fn lu(dims: &[i64], pivots: &[i64], info: &[i64]) -> Call {
    let results = [f32s(dims), s32s(pivots), s32s(info)];
    call("cusolver_getrf_ffi", &[], &[f32s(dims)], &results)
}

#[test]
fn triangular_factors_and_their_pivots() {
    // [1, 2; 3, 4] with its rows exchanged is [1, 0; 1/3, 1] times [3, 4; 0, 2/3].
    let (call, matrix) = (lu(&[2, 2], &[2], &[]), [1.0, 3.0, 2.0, 4.0]);
    near(&call.floats(0, &[&matrix]), &[3.0, 1.0 / 3.0, 4.0, 2.0 / 3.0]);
    assert_eq!(call.integers(1, &[&matrix]), [2, 2]);
    assert_eq!(call.integers(2, &[&matrix]), [0]);
    // More rows than columns, and the other way round.
    let (tall, matrix) = (lu(&[3, 1], &[1], &[]), [1.0, 2.0, -4.0]);
    assert_eq!(tall.floats(0, &[&matrix]), [-4.0, -0.5, -0.25]);
    assert_eq!(tall.integers(1, &[&matrix]), [3]);
    let wide = lu(&[1, 3], &[1], &[]);
    assert_eq!(wide.floats(0, &[&[1.0, 2.0, 3.0]]), [1.0, 2.0, 3.0]);
    // Of two matrices the second is singular.
    let several = lu(&[2, 2, 2], &[2, 2], &[2]);
    let matrices = [2.0, 0.0, 0.0, 2.0, 0.0, 0.0, 1.0, 1.0];
    assert_eq!(several.integers(2, &[&matrices]), [0, 1]);
    assert_eq!(several.integers(1, &[&matrices]), [1, 2, 1, 2]);
}

#[test]
fn pivots_make_a_permutation() {
    let make = |dims: &[i64], to: &[i64], pivots: &[i32]| {
        let call = call("cu_lu_pivots_to_permutation", &[], &[s32s(dims)], &[s32s(to)]);
        let bytes: Vec<u8> = pivots.iter().flat_map(|x| x.to_le_bytes()).collect();
        call.bytes(0, &[bytes]).map(|bytes| integers(&bytes))
    };
    assert_eq!(make(&[3], &[4], &[1, 2, 2]).unwrap(), [1, 2, 0, 3]);
    assert_eq!(make(&[2, 1], &[2, 2], &[1, 0]).unwrap(), [1, 0, 0, 1]);
    // As on the GPU, what is no row is passed over.
    assert_eq!(make(&[3], &[3], &[-1, 3, 0]).unwrap(), [2, 1, 0]);
    let short = make(&[3], &[2], &[0; 3]).unwrap_err();
    assert!(short.contains("at most as many pivots as results[0] has elements"), "{short}");
}

#[test]
fn householder_vectors_and_what_they_make() {
    let reduced = |dims: &[i64], least: i64| {
        call("cusolver_geqrf_ffi", &[], &[f32s(dims)], &[f32s(dims), f32s(&[least])])
    };
    // Diagonal elements get the other sign; the last row has nothing below it to reflect.
    let matrix = [3.0, 4.0, 1.0, 2.0];
    near(&reduced(&[2, 2], 2).floats(0, &[&matrix]), &[-5.0, 0.5, -2.2, 0.4]);
    near(&reduced(&[2, 2], 2).floats(1, &[&matrix]), &[1.6, 0.0]);
    near(&reduced(&[2, 1], 1).floats(0, &[&[-3.0, 4.0]]), &[5.0, -0.5]);
    assert_eq!(reduced(&[2, 1], 1).floats(1, &[&[3.0, 0.0]]), [0.0]);
    near(&reduced(&[1, 2], 1).floats(0, &[&[3.0, 4.0]]), &[3.0, 4.0]);
    let expanded = |dims: &[i64], factors: i64| {
        call("cusolver_orgqr_ffi", &[], &[f32s(dims), f32s(&[factors])], &[f32s(dims)])
    };
    let vectors = [-5.0, 0.5, -2.2, 0.4];
    let q = expanded(&[2, 2], 2).floats(0, &[&vectors, &[1.6, 0.0]]);
    near(&q, &[-0.6, -0.8, -0.8, 0.6]);
    // Fewer vectors than columns.
    near(&expanded(&[2, 2], 1).floats(0, &[&vectors, &[1.6]]), &q);
    near(&expanded(&[2, 1], 1).floats(0, &[&[-5.0, 0.5], &[1.6]]), &[-0.6, -0.8]);
}

/// `q * r` is the matrix again.
#[test]
fn householder_vectors_of_complex_numbers() {
    let matrix = [1.0, 2.0, 0.5, -1.0, -3.0, 0.25, 2.0, 0.0, 1.0, 1.0, 0.0, -2.0];
    let shape = c64s(&[3, 2]);
    let both = [shape.clone(), c64s(&[2])];
    let reduced = call("cusolver_geqrf_ffi", &[], &both[..1], &both);
    let (r, factors) = (reduced.floats(0, &[&matrix]), reduced.floats(1, &[&matrix]));
    // Real diagonals.
    assert_eq!((r[1], r[9]), (0.0, 0.0));
    let expanded = call("cusolver_orgqr_ffi", &[], &both, &[shape]);
    let q = expanded.floats(0, &[&r, &factors]);
    let first: Vec<f32> = q[..6].iter().map(|x| x * r[0]).collect();
    near(&first, &matrix[..6]);
    let pairs = q[..6].chunks(2).zip(q[6..].chunks(2));
    let second = pairs.flat_map(|(one, two)| {
        let (re, im) = (one[0] * r[6] - one[1] * r[7], one[0] * r[7] + one[1] * r[6]);
        [re + two[0] * r[8], im + two[1] * r[8]]
    });
    near(&second.collect::<Vec<_>>(), &matrix[6..]);
}

fn eigen(shape: ShapeProto, n: i64, lower: bool) -> Call {
    let attributes = [("algorithm", Scalar::U8(0)), ("lower", Scalar::B(lower))];
    let results = [shape, f32s(&[n]), s32s(&[])];
    call("cusolver_syevd_ffi", &attributes, &results[..1], &results)
}

#[test]
fn eigenvalues_rise() {
    let lower = eigen(f32s(&[2, 2]), 2, true);
    near(&lower.floats(1, &[&[2.0, 1.0, 99.0, 2.0]]), &[1.0, 3.0]);
    assert_eq!(lower.integers(2, &[&[2.0, 1.0, 99.0, 2.0]]), [0]);
    let upper = eigen(f32s(&[2, 2]), 2, false);
    near(&upper.floats(1, &[&[2.0, 99.0, 1.0, 2.0]]), &[1.0, 3.0]);
    let complex = eigen(c64s(&[2, 2]), 2, true);
    near(&complex.floats(1, &[&[2.0, 0.0, 0.0, -1.0, 0.0, 1.0, 2.0, 0.0]]), &[1.0, 3.0]);
    // Second differences: 2 - 2 cos(k pi / 9).
    let mut matrix = [0.0; 64];
    for i in 0..8 {
        matrix[i * 9] = 2.0;
        if i > 0 {
            (matrix[i * 8 + i - 1], matrix[(i - 1) * 8 + i]) = (-1.0, -1.0);
        }
    }
    let expected: Vec<f32> = (1..=8)
        .map(|k| (2.0 - 2.0 * (f64::from(k) * std::f64::consts::PI / 9.0).cos()) as f32)
        .collect();
    near(&eigen(f32s(&[8, 8]), 8, true).floats(1, &[&matrix]), &expected);
    let nan = lower.floats(1, &[&[f32::NAN, 1.0, 1.0, 2.0]]);
    assert!(nan.iter().all(|x| x.is_nan()), "{nan:?}");
}

#[test]
fn singular_values_fall() {
    let values = |dims: &[i64; 2], full: bool, matrix: &[f32]| {
        let least = dims[0].min(dims[1]);
        let side = |n| f32s(&[n, if full { n } else { least }]);
        let results = [f32s(dims), f32s(&[least]), side(dims[0]), side(dims[1]), s32s(&[])];
        let attributes = [("compute_uv", Scalar::B(false)), ("full_matrices", Scalar::B(full))];
        let call = call("cusolver_gesvdj_ffi", &attributes, &[f32s(dims)], &results);
        assert_eq!(call.integers(4, &[matrix]), [0]);
        for vectors in [0, 2, 3] {
            let why = call.bytes(vectors, &[bytes(matrix)]).unwrap_err();
            assert!(why.contains("not supported: eigenvectors and singular vectors"), "{why}");
        }
        call.floats(1, &[matrix])
    };
    near(&values(&[2, 2], false, &[3.0, 4.0, 0.0, 0.0]), &[5.0, 0.0]);
    near(&values(&[2, 2], false, &[1.0, 0.0, 0.0, -2.0]), &[2.0, 1.0]);
    near(&values(&[1, 2], true, &[3.0, 4.0]), &[5.0]);
    near(&values(&[3, 2], true, &[1.0, 1.0, 0.0, 0.0, 1.0, 1.0]), &[3.0_f32.sqrt(), 1.0]);
}

/// Their signs are free, so what a program makes of them cannot be held against what one library chose.
#[test]
fn eigenvectors_are_not_read() {
    let call = eigen(f32s(&[2, 2]), 2, true);
    let why = call.bytes(0, &[bytes(&[2.0, 1.0, 1.0, 2.0])]).unwrap_err();
    assert!(why.contains("not supported: eigenvectors and singular vectors, whose signs"), "{why}");
    // Until something else lies there.
    let mut executable = call.executable(0);
    let over = small::copy(small::floats(0, 4), small::floats(1, 4), 16);
    executable.thunks.push(over);
    let inputs = [bytes(&[2.0, 1.0, 1.0, 2.0])];
    let found = evaluate(executable, &inputs, &small::tight()).unwrap();
    assert_eq!(floats(&found), [2.0, 1.0, 1.0, 2.0]);
}

#[test]
fn tridiagonal_systems() {
    let (diagonal, b) = (f32s(&[4]), f32s(&[4, 2]));
    let operands = [diagonal.clone(), diagonal.clone(), diagonal, b.clone()];
    let call = call("cusparse_gtsv2_ffi", &[], &operands, &[b]);
    // The first row is smaller than the one below it, and so is what is left of the second; ends do not count.
    let (lower, middle, upper) =
        ([99.0, 3.0, 6.0, 1.0], [1.0, 4.0, 7.0, 2.0], [2.0, 5.0, 1.0, 99.0]);
    let times = |x: [f32; 4]| {
        let at = |i: usize| {
            let below = if i > 0 { lower[i] * x[i - 1] } else { 0.0 };
            let above = if i < 3 { upper[i] * x[i + 1] } else { 0.0 };
            below + middle[i] * x[i] + above
        };
        [at(0), at(1), at(2), at(3)]
    };
    let (one, two) = ([1.0, 1.0, 1.0, 1.0], [1.0, -2.0, 3.0, -4.0]);
    let b = [times(one), times(two)].concat();
    near(&call.floats(0, &[&lower, &middle, &upper, &b]), &[one, two].concat());
}

#[test]
fn work_is_counted() {
    let matrix = vec![bytes(&[0.0; 64])];
    let shape = f32s(&[8, 8]);
    let both = [shape.clone(), f32s(&[8])];
    let calls = [
        cholesky(true, shape.clone(), &[]),
        lu(&[8, 8], &[8], &[]),
        call("cusolver_geqrf_ffi", &[], &both[..1], &both),
        eigen(shape, 8, true),
    ];
    for mut call in calls {
        // Enough for the 64 elements of operand and result, not for their products.
        call.limits.steps = 250;
        let why = call.bytes(0, &matrix).unwrap_err();
        assert!(why.contains("steps: ") && why.contains("over the limit of 250"), "{why}");
    }
}

#[test]
fn a_call_that_contradicts_itself_is_named() {
    let square = || cholesky(true, f32s(&[2, 2]), &[]);
    let refused = |call: Call, change: fn(&mut CustomCallThunkProto), expected: &str| {
        let Call { mut thunk, operands, results, limits } = call;
        change(&mut thunk);
        let call = Call { thunk, operands, results, limits };
        // What is not shown lies behind the parameters; zeros everywhere.
        let inputs: Vec<Vec<u8>> = call
            .operands
            .iter()
            .map(|shape| {
                let width = if shape.element_type() == PrimitiveType::F64 { 8 } else { 4 };
                vec![0; shape.dimensions.iter().product::<i64>() as usize * width]
            })
            .collect();
        let found = match call.bytes(0, &inputs) {
            Err(error) => error,
            Ok(_) => "it ran".to_owned(),
        };
        assert!(found.contains(expected), "{found}\nexpected {expected}");
    };
    fn attributes(call: &mut CustomCallThunkProto) -> &mut AttributesMapProto {
        call.attributes.as_mut().unwrap()
    }
    refused(
        square(),
        |c| attributes(c).attrs.clear(),
        "attributes.lower is not set, expected a value",
    );
    refused(
        square(),
        |c| {
            attributes(c).attrs.insert("lower".into(), scalar(Scalar::U8(1)));
        },
        "attributes.lower is U8(1), expected a bool",
    );
    refused(
        square(),
        |c| {
            attributes(c).attrs.insert("upper".into(), scalar(Scalar::B(true)));
        },
        "attributes is \"upper\", expected lower",
    );
    refused(square(), |c| c.operands.push(c.operands[0].clone()), "operands is 2, expected 1");
    refused(square(), |c| c.results.truncate(1), "results is 1, expected 2");
    refused(square(), |c| c.operands[0].shaped_slice = None, "operands[0] is not set");
    refused(square(), |c| c.results[1].shaped_slice = None, "results[1] is not set");
    refused(
        cholesky(true, f32s(&[2, 3]), &[]),
        |_| (),
        "operands[0].shape is f32[2,3]{1,0}, expected square matrices",
    );
    refused(cholesky(true, f32s(&[2]), &[]), |_| (), "expected two dimensions or more");
    refused(
        cholesky(true, s32s(&[2, 2]), &[]),
        |_| (),
        "operands[0].shape is s32[2,2]{1,0}, expected elements of f32, f64, c64, c128",
    );
    refused(
        cholesky(true, f32s(&[2, 2]), &[2]),
        |_| (),
        "results[1].shape is s32[2]{0}, expected s32[]{}, in any layout",
    );
    refused(
        lu(&[2, 2], &[3], &[]),
        |_| (),
        "results[1].shape is s32[3]{0}, expected s32[2]{0}, in any layout",
    );
    refused(
        eigen(f32s(&[2, 2]), 2, true),
        |c| {
            attributes(c).attrs.insert("algorithm".into(), scalar(Scalar::I64(0)));
        },
        "attributes.algorithm is another type, expected a u8",
    );
    let complex = eigen(c64s(&[2, 2]), 2, true);
    refused(
        complex,
        |c| c.results[1] = nullable(1, &c64s(&[2])),
        "results[1].shape is c64[2]{0}, expected f32[2]{0}, in any layout",
    );
    refused(
        call("cusolver_orgqr_ffi", &[], &[f32s(&[2, 1]), f32s(&[2])], &[f32s(&[2, 1])]),
        |_| (),
        "as many columns as operands[1] has elements",
    );
    refused(
        call("cusolver_orgqr_ffi", &[], &[f32s(&[1, 2]), f32s(&[1])], &[f32s(&[1, 2])]),
        |_| (),
        "operands[0].shape is f32[1,2]{1,0}",
    );
    let (vector, b) = (f32s(&[2]), f32s(&[2, 1]));
    let operands = [vector.clone(), vector.clone(), vector, b.clone()];
    refused(
        call("cusparse_gtsv2_ffi", &[], &operands, &[b]),
        |_| (),
        "operands[3].shape is f32[2,1]{1,0}, expected 3 rows or more",
    );
    refused(
        call("cusolver_sytrd_ffi", &[], &[f32s(&[2, 2])], &[f32s(&[2, 2])]),
        |_| (),
        "not supported: custom call \"cusolver_sytrd_ffi\"",
    );
}

#[test]
fn empty_matrices_and_batches() {
    for dims in [[0, 2, 2], [2, 0, 0], [0, 0, 0]] {
        assert_eq!(cholesky(true, f32s(&dims), &dims[..1]).floats(0, &[&[]]), [0.0; 0]);
        let least = dims[2];
        assert_eq!(lu(&dims, &[dims[0], least], &dims[..1]).integers(1, &[&[]]), [0; 0]);
        let both = [f32s(&dims), f32s(&[dims[0], least])];
        let reduced = call("cusolver_geqrf_ffi", &[], &both[..1], &both);
        assert_eq!(reduced.floats(0, &[&[]]), [0.0; 0]);
        let expanded = call("cusolver_orgqr_ffi", &[], &both, &both[..1]);
        assert_eq!(expanded.floats(0, &[&[], &[]]), [0.0; 0]);
        assert_eq!(
            lu(&dims, &[dims[0], least], &dims[..1]).integers(2, &[&[]]),
            vec![0; dims[0] as usize]
        );
    }
    for dims in [[0, 3], [3, 0]] {
        let both = [f32s(&dims), f32s(&[0])];
        let reduced = call("cusolver_geqrf_ffi", &[], &both[..1], &both);
        assert_eq!(reduced.floats(1, &[&[]]), [0.0; 0]);
    }
}
