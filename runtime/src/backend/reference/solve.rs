//! Triangular systems.

use num_complex::Complex64;

use super::wide::{narrow, wide};
use crate::array::Array;
use crate::program::thunk::TriangularSolve;
use crate::program::{Invalid, Result};
use crate::proto::xla::triangular_solve_options::Transpose;

/// Solves for `x` in `op(a) * x = b` or `x * op(a) = b`, for each matrix of the batch.
pub(super) fn triangular(solve: &TriangularSolve, a: &Array, b: &Array) -> Result<Array> {
    let rank = a.dims.len();
    let fits = rank >= 2 && b.dims.len() == rank && a.dims[..rank - 2] == b.dims[..rank - 2];
    let n = if fits { a.dims[rank - 1] } else { 0 };
    let (rows, columns) = if fits { (b.dims[rank - 2], b.dims[rank - 1]) } else { (0, 0) };
    let side = if solve.left_side { rows } else { columns };
    if !fits || a.dims[rank - 2] != n || side != n {
        return Err(Invalid::value("b", b.shape(), format!("a right-hand side for {}", a.shape())));
    }
    let (matrix, mut x) = (wide(&a.data)?, wide(&b.data)?);
    let batches: usize = a.dims[..rank - 2].iter().product();
    let transposed =
        solve.transpose != Transpose::NoTranspose && solve.transpose != Transpose::Invalid;
    let conjugate = solve.transpose == Transpose::Adjoint;
    for batch in 0..batches {
        let a = &matrix[batch * n * n..][..n * n];
        // x * op(a) = b is op(a)ᵀ * xᵀ = bᵀ.
        let flip = transposed == solve.left_side;
        let at = |i: usize, j: usize| {
            let value = if flip { a[j * n + i] } else { a[i * n + j] };
            if conjugate { value.conj() } else { value }
        };
        let lower = solve.lower != flip;
        let other = if solve.left_side { columns } else { rows };
        let x = &mut x[batch * rows * columns..][..rows * columns];
        for line in 0..other {
            let place =
                |i: usize| if solve.left_side { i * columns + line } else { line * columns + i };
            for step in 0..n {
                let i = if lower { step } else { n - 1 - step };
                let known: Box<dyn Iterator<Item = usize>> =
                    if lower { Box::new(0..i) } else { Box::new(i + 1..n) };
                let sum: Complex64 = known.map(|j| at(i, j) * x[place(j)]).sum();
                let rest = x[place(i)] - sum;
                x[place(i)] = if solve.unit_diagonal { rest } else { rest / at(i, i) };
            }
        }
    }
    narrow(x, &b.shape())
}
