//! Slices, at places that are fixed and at places that are computed.

use super::moving::{gather, scatter};
use super::{Op, Value};
use crate::array::{Array, strides};
use crate::program::{Invalid, Result};

pub(super) fn evaluate(op: &Op<'_, '_>) -> Option<Result<Value>> {
    Some(
        match op.instruction.opcode.as_str() {
            "slice" => slice(op),
            "dynamic-slice" => dynamic_slice(op),
            "dynamic-update-slice" => dynamic_update_slice(op),
            _ => return None,
        }
        .map(Value::from),
    )
}

fn slice(op: &Op<'_, '_>) -> Result<Array> {
    let (x, shape) = (op.array(0)?, op.shape()?);
    let limits = &op.instruction.proto.slice_dimensions;
    if limits.len() != x.dims.len() || shape.dims.len() != x.dims.len() {
        return Err(Invalid::value("slice_dimensions", limits.len(), x.dims.len().to_string()));
    }
    let own = strides(&x.dims);
    let (mut start, mut steps) = (0, Vec::with_capacity(limits.len()));
    for (d, limit) in limits.iter().enumerate() {
        let size = x.dims[d];
        let range = (limit.start, limit.limit, limit.stride);
        let inside = 0 <= range.0 && range.0 <= range.1 && range.1 <= size as i64 && range.2 > 0;
        let count = if inside { (range.1 - range.0 + range.2 - 1) / range.2 } else { -1 };
        if count != shape.dims[d] as i64 {
            let value = format!("{}:{}:{}", range.0, range.1, range.2);
            let bound = format!("{} elements inside 0..{size}", shape.dims[d]);
            return Err(Invalid::value(format!("slice_dimensions[{d}]"), value, bound));
        }
        start += range.0 as usize * own[d];
        // Not used where there is one element, so it may be as large as it likes.
        steps.push(if shape.dims[d] > 1 { range.2 as usize * own[d] } else { 0 });
    }
    gather(x, &shape.dims, |odometer| start + odometer.offset(&steps))
}

/// Where a slice of `size` starts: moved so that it lies inside, as XLA does.
fn starts(op: &Op<'_, '_>, first: usize, dims: &[usize], size: &[usize]) -> Result<Vec<usize>> {
    if size.len() != dims.len() {
        return Err(Invalid::value("dimensions of the slice", size.len(), dims.len().to_string()));
    }
    let indices = op.arrays()?.split_off(first.min(op.operands.len()));
    let index = |d: usize| match indices[..] {
        // One array with all indices, as older programs have it.
        [array] if array.dims.len() == 1 => array.index_at(d),
        _ => match indices.get(d) {
            Some(array) => array.index_at(0),
            None => Err(Invalid::value("indices", indices.len(), dims.len().to_string())),
        },
    };
    (0..dims.len())
        .map(|d| {
            let Some(last) = dims[d].checked_sub(size[d]) else {
                let bound = format!("at most {}", dims[d]);
                return Err(Invalid::value(
                    format!("size of the slice in dimension {d}"),
                    size[d],
                    bound,
                ));
            };
            Ok(index(d)?.clamp(0, last as i64) as usize)
        })
        .collect()
}

fn dynamic_slice(op: &Op<'_, '_>) -> Result<Array> {
    let (x, shape) = (op.array(0)?, op.shape()?);
    let start = starts(op, 1, &x.dims, &shape.dims)?;
    let own = strides(&x.dims);
    let base: usize = start.iter().zip(&own).map(|(i, s)| i * s).sum();
    gather(x, &shape.dims, |odometer| base + odometer.offset(&own))
}

fn dynamic_update_slice(op: &Op<'_, '_>) -> Result<Array> {
    let (x, update) = (op.array(0)?, op.array(1)?);
    let start = starts(op, 2, &x.dims, &update.dims)?;
    let own = strides(&x.dims);
    let base: usize = start.iter().zip(&own).map(|(i, s)| i * s).sum();
    let mut out = x.clone();
    scatter(update, &mut out, |odometer| Some(base + odometer.offset(&own)))?;
    Ok(out)
}
