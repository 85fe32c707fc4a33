//! Eigenvalues and singular values by Jacobi's rotations, which are slow and accurate.

use num_complex::Complex64;

use crate::backend::budget::Budget;
use crate::program::Result;

/// More sweeps than any matrix needs; ten are many.
const SWEEPS: usize = 40;

/// Eigenvalues of the Hermitian matrix that one triangle of `a` has, in rising order; NaN where an element is not
/// finite. Destroys `a`.
pub(super) fn eigenvalues(
    a: &mut [Complex64],
    n: usize,
    lower: bool,
    budget: &Budget,
) -> Result<Vec<Complex64>> {
    for i in 0..n {
        a[i * n + i].im = 0.0;
        for j in 0..i {
            let (below, above) = (i * n + j, j * n + i);
            match lower {
                true => a[above] = a[below].conj(),
                false => a[below] = a[above].conj(),
            }
        }
    }
    if a.iter().any(|x| !x.is_finite()) {
        return Ok(vec![f64::NAN.into(); n]);
    }
    let norm = a.iter().map(Complex64::norm_sqr).sum::<f64>().sqrt();
    for _ in 0..SWEEPS {
        let mut rotated = false;
        for p in 0..n {
            budget.steps((n - p) as u64 * n as u64)?;
            for q in p + 1..n {
                let (own, other, product) = (a[p * n + p].re, a[q * n + q].re, a[p * n + q]);
                // What is left adds less than a rounding of the largest eigenvalue.
                let Some(rotation) = Rotation::new(own, other, product, norm * 1e-18) else {
                    continue;
                };
                rotated = true;
                for k in 0..n {
                    let (x, y) = rotation.turn(a[k * n + p], a[k * n + q]);
                    (a[k * n + p], a[k * n + q]) = (x, y);
                    (a[p * n + k], a[q * n + k]) = (x.conj(), y.conj());
                }
                let shift = rotation.tangent * product.norm();
                (a[p * n + p], a[q * n + q]) = ((own - shift).into(), (other + shift).into());
                (a[p * n + q], a[q * n + p]) = (Complex64::ZERO, Complex64::ZERO);
            }
        }
        if !rotated {
            break;
        }
    }
    let mut values: Vec<f64> = (0..n).map(|i| a[i * n + i].re).collect();
    values.sort_by(f64::total_cmp);
    Ok(values.into_iter().map(Complex64::from).collect())
}

/// Singular values in falling order; NaN where an element is not finite.
pub(super) fn singular_values(
    a: &[Complex64],
    rows: usize,
    columns: usize,
    budget: &Budget,
) -> Result<Vec<Complex64>> {
    let least = rows.min(columns);
    if a.iter().any(|x| !x.is_finite()) {
        return Ok(vec![f64::NAN.into(); least]);
    }
    // Vectors of the shorter side, as the adjoint has the same values.
    let length = rows.max(columns);
    let element = |vector: usize, at: usize| match columns <= rows {
        true => a[at * columns + vector],
        false => a[vector * columns + at].conj(),
    };
    let mut vectors: Vec<Vec<Complex64>> =
        (0..least).map(|vector| (0..length).map(|at| element(vector, at)).collect()).collect();
    let square = |x: &[Complex64]| x.iter().map(Complex64::norm_sqr).sum::<f64>();
    // A product of vectors is off by its roundings.
    let rounding = f64::EPSILON * (length as f64).sqrt();
    for _ in 0..SWEEPS {
        let mut rotated = false;
        for p in 0..least {
            budget.steps((least - p) as u64 * length as u64 * 2)?;
            for q in p + 1..least {
                let (head, tail) = vectors.split_at_mut(q);
                let (one, two) = (&mut head[p], &mut tail[0]);
                let product: Complex64 = one.iter().zip(&*two).map(|(x, y)| x.conj() * y).sum();
                let (own, other) = (square(one), square(two));
                let small = rounding * own.sqrt() * other.sqrt();
                let Some(rotation) = Rotation::new(own, other, product, small) else { continue };
                rotated = true;
                for (x, y) in one.iter_mut().zip(two) {
                    (*x, *y) = rotation.turn(*x, *y);
                }
            }
        }
        if !rotated {
            break;
        }
    }
    let mut values: Vec<f64> = vectors.iter().map(|x| square(x).sqrt()).collect();
    values.sort_by(|x, y| y.total_cmp(x));
    Ok(values.into_iter().map(Complex64::from).collect())
}

/// A rotation of two vectors.
struct Rotation {
    tangent: f64,
    cosine: f64,
    /// Sine times the phase of the product.
    sine: Complex64,
}

impl Rotation {
    /// What makes vectors orthogonal that have squares `own` and `other` and a product; `None` where it is as
    /// `small` as nothing.
    fn new(own: f64, other: f64, product: Complex64, small: f64) -> Option<Rotation> {
        let size = product.norm();
        if size.is_nan() || size <= small {
            return None;
        }
        let ratio = (other - own) / (2.0 * size);
        let tangent = 1.0_f64.copysign(ratio) / (ratio.abs() + ratio.hypot(1.0));
        let cosine = 1.0 / tangent.hypot(1.0);
        Some(Rotation { tangent, cosine, sine: tangent * cosine * (product / size) })
    }

    fn turn(&self, x: Complex64, y: Complex64) -> (Complex64, Complex64) {
        (x * self.cosine - y * self.sine.conj(), x * self.sine + y * self.cosine)
    }
}
