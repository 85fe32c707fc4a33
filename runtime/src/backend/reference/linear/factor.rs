//! Triangular factors.

use num_complex::Complex64;

/// Replaces one triangle of a Hermitian matrix by its Cholesky factor; the other stays as it is. Gives 0, or the
/// first row, counted from 1, at which the matrix is not positive definite; what was done until then stays.
pub(super) fn cholesky(a: &mut [Complex64], n: usize, lower: bool) -> i64 {
    // The upper factor is the adjoint of the lower one.
    let place = |i: usize, j: usize| if lower { i * n + j } else { j * n + i };
    let turned = |x: Complex64| if lower { x } else { x.conj() };
    for j in 0..n {
        let norm: f64 = (0..j).map(|k| a[place(j, k)].norm_sqr()).sum();
        let square = a[place(j, j)].re - norm;
        if square.is_nan() || square <= 0.0 {
            return j as i64 + 1;
        }
        let root = square.sqrt();
        a[place(j, j)] = root.into();
        for i in j + 1..n {
            let product = |k| turned(a[place(i, k)]) * turned(a[place(j, k)]).conj();
            let sum: Complex64 = (0..j).map(product).sum();
            a[place(i, j)] = turned((turned(a[place(i, j)]) - sum) / root);
        }
    }
    0
}

/// Replaces a matrix by its triangular factors, that of ones on the diagonal below it, and appends which row each
/// one was exchanged with, counted from 1. Gives 0, or the first diagonal element, counted from 1, that is zero.
pub(super) fn lu(a: &mut [Complex64], rows: usize, columns: usize, pivots: &mut Vec<i64>) -> i64 {
    // What LAPACK takes for the size of a complex number.
    let size = |x: Complex64| x.re.abs() + x.im.abs();
    let mut info = 0;
    for k in 0..rows.min(columns) {
        let mut pivot = k;
        for row in k + 1..rows {
            if size(a[row * columns + k]) > size(a[pivot * columns + k]) {
                pivot = row;
            }
        }
        pivots.push(pivot as i64 + 1);
        if a[pivot * columns + k] == Complex64::ZERO {
            if info == 0 {
                info = k as i64 + 1;
            }
            continue;
        }
        if pivot != k {
            for column in 0..columns {
                a.swap(k * columns + column, pivot * columns + column);
            }
        }
        let (top, below) = a.split_at_mut((k + 1) * columns);
        let top = &top[k * columns..];
        for row in below.chunks_mut(columns) {
            let factor = row[k] / top[k];
            row[k] = factor;
            for column in k + 1..columns {
                row[column] -= factor * top[column];
            }
        }
    }
    info
}
