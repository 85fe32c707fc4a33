//! Slices, at places that are fixed and at places that are computed.

use super::moving::{gather, scatter};
use super::{Family, Op};
use crate::array::{Array, strides};
use crate::program::{Invalid, Result};

pub(super) const FAMILY: Family = Family {
    opcodes: &["slice", "dynamic-slice", "dynamic-update-slice"],
    evaluate: |op| {
        Ok(match op.instruction.opcode.as_str() {
            "slice" => slice(op)?,
            "dynamic-slice" => dynamic_slice(op)?,
            _ => dynamic_update_slice(op)?,
        }
        .into())
    },
    passes: false,
};

fn slice(op: &Op<'_, '_>) -> Result<Array> {
    op.arity(1)?;
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
        let count = if inside {
            let rest = range.1 - range.0;
            rest / range.2 + i64::from(rest % range.2 != 0)
        } else {
            -1
        };
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
        [array] if array.dims.len() == 1 && array.len() == dims.len() => array.index_at(d),
        _ if indices.len() != dims.len() => {
            Err(Invalid::value("indices", indices.len(), dims.len().to_string()))
        }
        _ => match indices[d].dims.is_empty() {
            true => indices[d].index_at(0),
            false => Err(Invalid::value(format!("index {d}"), indices[d].shape(), "a scalar")),
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
    let sizes = &op.instruction.proto.dynamic_slice_sizes;
    if !sizes.is_empty() && !sizes.iter().copied().eq(shape.dims.iter().map(|d| *d as i64)) {
        return Err(Invalid::value(
            "dynamic_slice_sizes",
            format!("{sizes:?}"),
            format!("the sizes of {shape}"),
        ));
    }
    let start = starts(op, 1, &x.dims, &shape.dims)?;
    let own = strides(&x.dims);
    let base: usize = start.iter().zip(&own).map(|(i, s)| i * s).sum();
    gather(x, &shape.dims, |odometer| base + odometer.offset(&own))
}

fn dynamic_update_slice(op: &mut Op<'_, '_>) -> Result<Array> {
    let (x, update) = (op.array(0)?, op.array(1)?);
    if x.ty != update.ty {
        return Err(Invalid::value(
            "operand 1",
            update.shape(),
            format!("elements of {}", x.shape()),
        ));
    }
    let start = starts(op, 2, &x.dims, &update.dims)?;
    let own = strides(&x.dims);
    let base: usize = start.iter().zip(&own).map(|(i, s)| i * s).sum();
    let mut out = op.own(0)?;
    scatter(op.array(1)?, &mut out, |odometer| Some(base + odometer.offset(&own)))?;
    Ok(out)
}
