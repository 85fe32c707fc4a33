//! Fourier transforms over the minor dimensions.

use num_complex::Complex64;
use rustfft::FftPlanner;

use super::wide::{narrow, wide};
use crate::array::{Array, strides};
use crate::program::shape::ArrayShape;
use crate::program::{Invalid, Result};
use crate::proto::xla::FftType;

/// Transforms the last `lengths.len()` dimensions. Inverse transforms are scaled by one over the number of
/// points.
pub(super) fn transform(
    kind: FftType,
    lengths: &[usize],
    input: &Array,
    output: &ArrayShape,
) -> Result<Array> {
    let rank = input.dims.len();
    let first =
        rank.checked_sub(lengths.len()).filter(|_| !lengths.is_empty()).ok_or_else(|| {
            Invalid::value("fft_length", lengths.len(), format!("1 to {rank} dimensions"))
        })?;
    let floats = |ty| crate::array::is_float(ty);
    if floats(input.ty) != (kind == FftType::Rfft) || floats(output.ty) != (kind == FftType::Irfft)
    {
        let bound = format!("types of {}", kind.as_str_name());
        return Err(Invalid::value(
            "operand and result",
            format!("{} and {output}", input.shape()),
            bound,
        ));
    }
    let mut values = wide(&input.data)?;
    let mut dims = input.dims.clone();
    let last = rank.saturating_sub(1);
    let inverse = matches!(kind, FftType::Ifft | FftType::Irfft);
    // The sizes that the operand has to have, and those that come out.
    let mut expected: Vec<usize> = lengths.to_vec();
    if kind == FftType::Irfft
        && let Some(half) = expected.last_mut()
    {
        *half = *half / 2 + 1;
    }
    if dims[first..] != expected[..] {
        return Err(Invalid::value(
            "operand",
            input.shape(),
            format!("minor dimensions {expected:?}"),
        ));
    }
    let points: usize = lengths.iter().product();
    for at in first..last {
        along(&mut values, &dims, at, inverse);
    }
    match kind {
        FftType::Fft | FftType::Ifft => along(&mut values, &dims, last, inverse),
        FftType::Rfft => {
            along(&mut values, &dims, last, false);
            let half = dims[last] / 2 + 1;
            let rows = values.chunks(dims[last].max(1));
            values = rows.flat_map(|row| row[..half.min(row.len())].to_vec()).collect();
            dims[last] = half;
        }
        FftType::Irfft => {
            let (half, full) = (dims[last], lengths[lengths.len() - 1]);
            let mut rows = Vec::with_capacity(values.len() / half.max(1) * full);
            for row in values.chunks(half.max(1)) {
                for at in 0..full {
                    // The other half is the conjugate, mirrored; the ends are real.
                    let value = if at < half { row[at] } else { row[full - at].conj() };
                    let real = at == 0 || 2 * at == full;
                    rows.push(if real { Complex64::from(value.re) } else { value });
                }
            }
            values = rows;
            dims[last] = full;
            along(&mut values, &dims, last, true);
        }
    }
    if inverse {
        for value in &mut values {
            *value /= points as f64;
        }
    }
    if dims != output.dims {
        return Err(Invalid::value("result", format!("{dims:?}"), output.to_string()));
    }
    narrow(values, output)
}

/// Transforms along one dimension.
fn along(values: &mut [Complex64], dims: &[usize], at: usize, inverse: bool) {
    let (length, stride) = (dims[at], strides(dims)[at]);
    if length < 2 || values.is_empty() {
        return;
    }
    let mut planner = FftPlanner::new();
    let plan =
        if inverse { planner.plan_fft_inverse(length) } else { planner.plan_fft_forward(length) };
    let mut line = vec![Complex64::ZERO; length];
    for start in 0..values.len() {
        // Each line once, from its first element.
        if start / stride % length != 0 {
            continue;
        }
        for (i, value) in line.iter_mut().enumerate() {
            *value = values[start + i * stride];
        }
        plan.process(&mut line);
        for (i, value) in line.iter().enumerate() {
            values[start + i * stride] = *value;
        }
    }
}
