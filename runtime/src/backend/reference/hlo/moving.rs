//! Moving elements: nothing is computed, so every element comes out bit for bit.

use super::{Family, Op};
use crate::array::{Array, Odometer, strides};
use crate::program::shape::{ArrayShape, permutation};
use crate::program::{Invalid, Result};
use crate::proto::xla::padding_config::PaddingConfigDimension;

pub(super) const FAMILY: Family = Family {
    opcodes: &["broadcast", "reshape", "bitcast", "transpose", "reverse", "concatenate", "pad"],
    evaluate: |op| {
        Ok(match op.instruction.opcode.as_str() {
            "broadcast" => broadcast(op)?,
            "reshape" => op.own(0)?.reshaped(&op.shape()?.dims)?,
            "bitcast" => bitcast(op)?,
            "transpose" => transpose(op)?,
            "reverse" => reverse(op)?,
            "concatenate" => concatenate(op)?,
            _ => pad(op)?,
        }
        .into())
    },
    passes: false,
};

/// Dimension `i` of the operand becomes dimension `dimensions[i]`; the others are new.
fn broadcast(op: &Op<'_, '_>) -> Result<Array> {
    let (x, shape) = (op.array(0)?, op.shape()?);
    let dimensions = op.dims("dimensions", &op.instruction.proto.dimensions, shape.dims.len())?;
    if dimensions.len() != x.dims.len() {
        return Err(Invalid::value("dimensions", dimensions.len(), x.dims.len().to_string()));
    }
    if x.ty != shape.ty {
        return Err(Invalid::value("operand 0", x.shape(), format!("elements of {shape}")));
    }
    if let (true, Some(value)) = (x.dims.is_empty(), x.get(0)) {
        return Ok(Array::filled(x.ty, &shape.dims, value));
    }
    let own = strides(&x.dims);
    let mut from = vec![0; shape.dims.len()];
    for (at, dim) in dimensions.iter().enumerate() {
        if x.dims[at] != shape.dims[*dim] {
            return Err(Invalid::value(
                "operand 0",
                x.shape(),
                format!("dimensions {dimensions:?} of {shape}"),
            ));
        }
        from[*dim] = own[at];
    }
    gather(x, &shape.dims, |odometer| odometer.offset(&from))
}

/// A new shape and layout for the same memory.
fn bitcast(op: &mut Op<'_, '_>) -> Result<Array> {
    let (from, shape) = (op.operand_shape(0)?, op.shape()?);
    if from.bytes() != shape.bytes() {
        let bound = format!("the {} bytes of {from}", from.bytes());
        return Err(Invalid::value("bytes of the result", shape.bytes(), bound));
    }
    let row_major =
        |shape: &ArrayShape| shape.minor_to_major.iter().rev().copied().eq(0..shape.dims.len());
    if from.ty == shape.ty && row_major(from) && row_major(shape) {
        return op.own(0)?.reshaped(&shape.dims);
    }
    let mut bytes = vec![0; from.bytes()];
    crate::array::encode(op.array(0)?, from, &mut bytes)?;
    crate::array::decode(&bytes, shape)
}

/// Dimension `i` of the result is dimension `dimensions[i]` of the operand.
fn transpose(op: &Op<'_, '_>) -> Result<Array> {
    let x = op.array(0)?;
    let order = permutation(&op.instruction.proto.dimensions, x.dims.len())?;
    transposed(x, &order)
}

/// The operand with its dimensions in the order given.
pub(super) fn transposed(x: &Array, order: &[usize]) -> Result<Array> {
    let own = strides(&x.dims);
    let dims: Vec<usize> = order.iter().map(|d| x.dims[*d]).collect();
    let from: Vec<usize> = order.iter().map(|d| own[*d]).collect();
    gather(x, &dims, |odometer| odometer.offset(&from))
}

fn reverse(op: &Op<'_, '_>) -> Result<Array> {
    let x = op.array(0)?;
    let reversed = op.dims("dimensions", &op.instruction.proto.dimensions, x.dims.len())?;
    let own = strides(&x.dims);
    gather(x, &x.dims, |odometer| {
        let at = |d: usize, i: usize| if reversed.contains(&d) { x.dims[d] - 1 - i } else { i };
        odometer.index.iter().enumerate().map(|(d, i)| at(d, *i) * own[d]).sum()
    })
}

fn concatenate(op: &Op<'_, '_>) -> Result<Array> {
    let (parts, shape) = (op.arrays()?, op.shape()?);
    let dimension = op.dimension(shape.dims.len())?;
    let mut out = Array::zeros(shape.ty, &shape.dims)?;
    let to = strides(&shape.dims);
    let mut start = 0;
    for part in parts {
        let fits = part.ty == shape.ty
            && part.dims.len() == shape.dims.len()
            && part.dims.iter().zip(&shape.dims).enumerate().all(|(d, (have, want))| {
                if d == dimension { start + have <= *want } else { have == want }
            });
        if !fits {
            return Err(Invalid::value("operand", part.shape(), format!("a part of {shape}")));
        }
        let base = start * to[dimension];
        scatter(part, &mut out, |odometer| Some(base + odometer.offset(&to)))?;
        start += part.dims[dimension];
    }
    if start != shape.dims[dimension] {
        let bound = format!("{start}, as the operands have");
        return Err(Invalid::value(format!("dimension {dimension} of the result"), shape, bound));
    }
    Ok(out)
}

/// Puts padding around and between the elements; negative padding cuts them off.
fn pad(op: &Op<'_, '_>) -> Result<Array> {
    op.arity(2)?;
    let (x, padding) = (op.array(0)?, op.array(1)?);
    let config = op.instruction.proto.padding_config.as_ref();
    let config = config.ok_or_else(|| Invalid::missing("padding_config"))?;
    if config.dimensions.len() != x.dims.len() {
        let bound = x.dims.len().to_string();
        return Err(Invalid::value("padding_config.dimensions", config.dimensions.len(), bound));
    }
    if padding.ty != x.ty || !padding.dims.is_empty() {
        let bound = ArrayShape::row_major(x.ty, &[]).to_string();
        return Err(Invalid::value("operand 1", padding.shape(), bound));
    }
    let dims = config.dimensions.iter().zip(&x.dims).enumerate().map(|(d, (padding, size))| {
        padded(padding, *size).ok_or_else(|| {
            let what = format!("padding_config.dimensions[{d}]");
            let bound = format!("padding of {size} elements to 0 or more, 0 or more between them");
            Invalid::value(what, format!("{padding:?}"), bound)
        })
    });
    let dims = dims.collect::<Result<Vec<usize>>>()?;
    op.results(1, &dims)?;
    let value = padding.get(0).ok_or_else(|| Invalid::missing("padding value"))?;
    let mut out = Array::filled(x.ty, &dims, value);
    let to = strides(&dims);
    scatter(x, &mut out, |odometer| {
        let mut at = 0;
        for (d, i) in odometer.index.iter().enumerate() {
            let dim = &config.dimensions[d];
            let step = dim.interior_padding.checked_add(1)?.checked_mul(*i as i64)?;
            let place = usize::try_from(dim.edge_padding_low.checked_add(step)?).ok()?;
            if place >= dims[d] {
                return None;
            }
            at += place * to[d];
        }
        Some(at)
    })?;
    Ok(out)
}

/// Elements of a padded dimension; `None` where that is no size.
fn padded(padding: &PaddingConfigDimension, size: usize) -> Option<usize> {
    let gaps = i64::try_from(size.saturating_sub(1)).ok()?;
    let inner = padding.interior_padding;
    let inner = (inner >= 0).then_some(inner)?.checked_mul(gaps)?.checked_add(size as i64)?;
    usize::try_from(
        inner.checked_add(padding.edge_padding_low)?.checked_add(padding.edge_padding_high)?,
    )
    .ok()
}

/// An array of `dims` whose elements come from the offsets that `from` gives.
pub(super) fn gather(
    x: &Array,
    dims: &[usize],
    from: impl Fn(&Odometer<'_>) -> usize,
) -> Result<Array> {
    let mut odometer = Odometer::new(dims);
    x.pick(dims.to_vec(), || {
        let at = from(&odometer);
        odometer.advance();
        Ok(at)
    })
}

/// Puts the elements of `x` where `to` says, or nowhere.
pub(super) fn scatter(
    x: &Array,
    out: &mut Array,
    to: impl Fn(&Odometer<'_>) -> Option<usize>,
) -> Result<()> {
    let mut odometer = Odometer::new(&x.dims);
    for at in 0..x.len() {
        if let (Some(place), Some(value)) = (to(&odometer), x.get(at)) {
            out.set(place, value)?;
        }
        odometer.advance();
    }
    Ok(())
}
