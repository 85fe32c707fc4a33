//! Linear algebra, plainly: dense matrices, row by row, in twice the width of their numbers.

mod factor;
mod householder;
mod jacobi;
mod tridiagonal;

use num_complex::Complex64;

use super::wide::{narrow, wide};
use super::{Reference, Resolve};
use crate::array::{Array, Data};
use crate::program::thunk::{Linear, Routine};
use crate::program::{Result, ShapedSlice};

/// What is said of vectors that are not computed.
const VECTORS: &str = "eigenvectors and singular vectors, whose signs each library chooses";

pub(super) fn run(device: &mut Reference<'_>, p: &Linear, resolve: Resolve<'_>) -> Result<()> {
    if p.routine == Routine::Permutation {
        return permutation(device, p, resolve);
    }
    let mut operands = Vec::with_capacity(p.operands.len());
    for operand in &p.operands {
        device.budget.room((operand.shape.elements() as u64).saturating_mul(16))?;
        operands.push(wide(&device.load(resolve(&operand.slice), &operand.shape)?.data)?);
    }
    let (rows, columns) = (p.rows, p.columns);
    let (size, least) = (rows * columns, rows.min(columns));
    let each = (size as u64).saturating_mul(least as u64);
    let store = |device: &mut Reference<'_>, at: usize, values| -> Result<()> {
        let ShapedSlice { slice, shape } = &p.results[at];
        device.store(resolve(slice), shape, &narrow(values, shape)?)
    };
    let mut a = match p.routine {
        Routine::Tridiagonal => operands.pop(),
        _ => Some(operands.swap_remove(0)),
    }
    .unwrap_or_default();
    match p.routine {
        Routine::Permutation => {}
        Routine::Cholesky { lower } => {
            device.budget.steps(each.saturating_mul(p.batches as u64))?;
            let of = |batch: usize| factor::cholesky(&mut a[batch * size..][..size], rows, lower);
            let info = (0..p.batches).map(of).collect();
            store(device, 0, a)?;
            integers(device, &p.results[1], info, resolve)?;
        }
        Routine::Lu => {
            device.budget.steps(each.saturating_mul(p.batches as u64))?;
            let mut pivots = Vec::with_capacity(p.batches * least);
            let of = |batch: usize| {
                factor::lu(&mut a[batch * size..][..size], rows, columns, &mut pivots)
            };
            let info = (0..p.batches).map(of).collect();
            store(device, 0, a)?;
            integers(device, &p.results[1], pivots, resolve)?;
            integers(device, &p.results[2], info, resolve)?;
        }
        Routine::Qr => {
            device.budget.steps(each.saturating_mul(p.batches as u64).saturating_mul(2))?;
            let mut factors = vec![Complex64::ZERO; p.batches * least];
            for batch in 0..p.batches {
                let factors = &mut factors[batch * least..][..least];
                householder::reduce(&mut a[batch * size..][..size], columns, factors);
            }
            store(device, 0, a)?;
            store(device, 1, factors)?;
        }
        Routine::Q { factors: count } => {
            device.budget.steps(each.saturating_mul(p.batches as u64).saturating_mul(2))?;
            for batch in 0..p.batches {
                let factors = &operands[0][batch * count..][..count];
                householder::expand(&mut a[batch * size..][..size], columns, factors);
            }
            store(device, 0, a)?;
        }
        Routine::Eigenvalues { lower } => {
            let mut values = Vec::with_capacity(p.batches * rows);
            for batch in 0..p.batches {
                let a = &mut a[batch * size..][..size];
                values.extend(jacobi::eigenvalues(a, rows, lower, &device.budget)?);
            }
            device.undetermined.add(resolve(&p.results[0].slice), VECTORS);
            store(device, 1, values)?;
            integers(device, &p.results[2], vec![0; p.batches], resolve)?;
        }
        Routine::SingularValues => {
            let mut values = Vec::with_capacity(p.batches * least);
            for batch in 0..p.batches {
                let a = &a[batch * size..][..size];
                values.extend(jacobi::singular_values(a, rows, columns, &device.budget)?);
            }
            for vectors in [0, 2, 3] {
                device.undetermined.add(resolve(&p.results[vectors].slice), VECTORS);
            }
            store(device, 1, values)?;
            integers(device, &p.results[4], vec![0; p.batches], resolve)?;
        }
        Routine::Tridiagonal => {
            device.budget.steps(a.len() as u64)?;
            for batch in 0..p.batches {
                let diagonal = |at: usize| operands[at][batch * rows..][..rows].to_vec();
                let system = [diagonal(0), diagonal(1), diagonal(2)];
                tridiagonal::solve(system, &mut a[batch * size..][..size], columns);
            }
            store(device, 0, a)?;
        }
    }
    Ok(())
}

/// Exchanges elements of the identity in order; a place that does not exist is passed over.
fn permutation(device: &mut Reference<'_>, p: &Linear, resolve: Resolve<'_>) -> Result<()> {
    let pivots = device.load(resolve(&p.operands[0].slice), &p.operands[0].shape)?;
    let mut out = Vec::with_capacity(p.batches * p.columns);
    device.budget.steps(p.results[0].shape.elements() as u64)?;
    for batch in 0..p.batches {
        let first = out.len();
        out.extend(0..p.columns as i64);
        for at in 0..p.rows {
            let other = usize::try_from(pivots.index_at(batch * p.rows + at)?);
            if let Some(other) = other.ok().filter(|other| *other < p.columns) {
                out.swap(first + at, first + other);
            }
        }
    }
    integers(device, &p.results[0], out, resolve)
}

fn integers(
    device: &mut Reference<'_>,
    to: &ShapedSlice,
    values: Vec<i64>,
    resolve: Resolve<'_>,
) -> Result<()> {
    let (ty, dims) = (to.shape.ty, to.shape.dims.clone());
    device.store(resolve(&to.slice), &to.shape, &Array { ty, dims, data: Data::Int(values) })
}
