//! Householder reflections `1 - factor * v * adjoint(v)`, where `v` has a one on the diagonal and zeros above it.

use num_complex::Complex64;

/// Replaces a matrix by `r` on and above the diagonal and the vectors below it, one for each factor. Diagonal
/// elements of `r` have the sign opposite to what was there, unless there is nothing to reflect.
pub(super) fn reduce(a: &mut [Complex64], columns: usize, factors: &mut [Complex64]) {
    for (k, factor) in factors.iter_mut().enumerate() {
        let below: f64 = a.chunks(columns).skip(k + 1).map(|row| row[k].norm_sqr()).sum();
        let alpha = a[k * columns + k];
        if below == 0.0 && alpha.im == 0.0 {
            *factor = Complex64::ZERO;
            continue;
        }
        let beta = -(alpha.norm_sqr() + below).sqrt().copysign(alpha.re);
        *factor = Complex64::new((beta - alpha.re) / beta, -alpha.im / beta);
        for row in a.chunks_mut(columns).skip(k + 1) {
            row[k] /= alpha - beta;
        }
        let v = vector(a, columns, k);
        a[k * columns + k] = beta.into();
        // The adjoint of all reflections makes the matrix triangular.
        reflect(&mut a[k * columns..], columns, &v, factor.conj(), k + 1);
    }
}

/// Replaces the vectors by the first columns of the product of their reflections.
pub(super) fn expand(a: &mut [Complex64], columns: usize, factors: &[Complex64]) {
    let vectors: Vec<_> = (0..factors.len()).map(|k| vector(a, columns, k)).collect();
    a.fill(Complex64::ZERO);
    for k in 0..columns {
        a[k * columns + k] = Complex64::ONE;
    }
    for (k, (v, factor)) in vectors.iter().zip(factors).enumerate().rev() {
        reflect(&mut a[k * columns..], columns, v, *factor, 0);
    }
}

/// The vector of a column, from the diagonal on.
fn vector(a: &[Complex64], columns: usize, k: usize) -> Vec<Complex64> {
    let below = a.chunks(columns).skip(k + 1).map(|row| row[k]);
    std::iter::once(Complex64::ONE).chain(below).collect()
}

/// Reflects the columns from `first` on.
fn reflect(a: &mut [Complex64], columns: usize, v: &[Complex64], factor: Complex64, first: usize) {
    let mut products = vec![Complex64::ZERO; columns];
    for (row, v) in a.chunks(columns).zip(v) {
        for (product, x) in products.iter_mut().zip(row).skip(first) {
            *product += v.conj() * x;
        }
    }
    for (row, v) in a.chunks_mut(columns).zip(v) {
        for (x, product) in row.iter_mut().zip(&products).skip(first) {
            *x -= v * factor * product;
        }
    }
}
