//! Moving elements: nothing is computed, so every element comes out bit for bit.

use super::convert::reinterpret;
use super::{Op, Value};
use crate::array::{Array, Data, Domain, Odometer, domain, strides, wrap_int, wrap_uint};
use crate::program::shape::permutation;
use crate::program::{Invalid, Result};

pub(super) fn evaluate(op: &Op<'_, '_>) -> Option<Result<Value>> {
    Some(
        match op.instruction.opcode.as_str() {
            "copy" | "copy-start" => return Some(copy(op)),
            "broadcast" => broadcast(op),
            "reshape" => op.shape().and_then(|shape| op.array(0)?.reshaped(&shape.dims)),
            "bitcast" => bitcast(op),
            "transpose" => transpose(op),
            "reverse" => reverse(op),
            "iota" => iota(op),
            "concatenate" => concatenate(op),
            "pad" => pad(op),
            _ => return None,
        }
        .map(Value::from),
    )
}

fn copy(op: &Op<'_, '_>) -> Result<Value> {
    let value = op.operands.first().cloned().ok_or_else(|| Invalid::missing("operand 0"))?;
    if op.instruction.opcode == "copy" {
        return Ok(value);
    }
    // The destination, the source, and a context that nothing reads.
    let context = match &op.instruction.shape {
        crate::program::shape::Shape::Tuple(shapes) => match shapes.get(2) {
            Some(crate::program::shape::Shape::Array(shape)) => {
                Array::zeros(shape.ty, &shape.dims)?
            }
            _ => return Err(Invalid::unsupported("copy-start without a context")),
        },
        _ => return Err(Invalid::value("shape", "no tuple", "a tuple")),
    };
    Ok(Value::Tuple(vec![value.clone(), value, context.into()]))
}

/// Dimension `i` of the operand becomes dimension `dimensions[i]`; the others are new.
fn broadcast(op: &Op<'_, '_>) -> Result<Array> {
    let (x, shape) = (op.array(0)?, op.shape()?);
    let dimensions = op.dims("dimensions", &op.instruction.proto.dimensions, shape.dims.len())?;
    if dimensions.len() != x.dims.len() {
        return Err(Invalid::value("dimensions", dimensions.len(), x.dims.len().to_string()));
    }
    if let (true, Some(value)) = (x.dims.is_empty(), x.get(0)) {
        return Ok(Array::filled(x.ty, &shape.dims, value));
    }
    let own = strides(&x.dims);
    let mut from = vec![0; shape.dims.len()];
    for (at, dim) in dimensions.iter().enumerate() {
        if x.dims[at] != shape.dims[*dim] && x.dims[at] != 1 {
            return Err(Invalid::value("operand 0", x.shape(), format!("dimensions of {shape}")));
        }
        if x.dims[at] != 1 {
            from[*dim] += own[at];
        }
    }
    gather(x, &shape.dims, |odometer| odometer.offset(&from))
}

/// A new shape and layout for the same memory.
fn bitcast(op: &Op<'_, '_>) -> Result<Array> {
    let (x, shape) = (op.array(0)?, op.shape()?);
    let from = op.operand_shape(0)?;
    if from.ty != shape.ty {
        // The bits stay; only row-major operands and results keep their meaning then.
        return reinterpret(x, shape);
    }
    let row_major = |shape: &crate::program::shape::ArrayShape| {
        shape.minor_to_major.iter().rev().copied().eq(0..shape.dims.len())
    };
    if row_major(from) && row_major(shape) {
        return x.reshaped(&shape.dims);
    }
    let mut bytes = vec![0; from.bytes()];
    crate::array::encode(x, from, &mut bytes)?;
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

/// The index along one dimension.
fn iota(op: &Op<'_, '_>) -> Result<Array> {
    let shape = op.shape()?;
    let dimension = op.dims("dimensions", &op.instruction.proto.dimensions, shape.dims.len())?;
    let [dimension] = dimension[..] else {
        return Err(Invalid::value("dimensions", dimension.len(), "1"));
    };
    let mut numbers = Vec::with_capacity(shape.elements());
    let mut odometer = Odometer::new(&shape.dims);
    while odometer.valid() {
        numbers.push(odometer.index[dimension]);
        odometer.advance();
    }
    let data = match domain(shape.ty)? {
        Domain::Int => Data::Int(numbers.iter().map(|n| wrap_int(shape.ty, *n as i64)).collect()),
        Domain::Uint => {
            Data::Uint(numbers.iter().map(|n| wrap_uint(shape.ty, *n as u64)).collect())
        }
        _ => {
            let numbers = Data::Int(numbers.iter().map(|n| *n as i64).collect());
            let ty = crate::proto::xla::PrimitiveType::S64;
            let numbers = Array { ty, dims: shape.dims.clone(), data: numbers };
            return super::convert::convert(&numbers, shape.ty);
        }
    };
    Ok(Array { ty: shape.ty, dims: shape.dims.clone(), data })
}

fn concatenate(op: &Op<'_, '_>) -> Result<Array> {
    let (parts, shape) = (op.arrays()?, op.shape()?);
    let dimension = op.dims("dimensions", &op.instruction.proto.dimensions, shape.dims.len())?;
    let [dimension] = dimension[..] else {
        return Err(Invalid::value("dimensions", dimension.len(), "1"));
    };
    let mut out = Array::zeros(shape.ty, &shape.dims)?;
    let to = strides(&shape.dims);
    let mut start = 0;
    for part in parts {
        let fits = part.dims.len() == shape.dims.len()
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
    Ok(out)
}

/// Puts padding around and between the elements; negative padding cuts them off.
fn pad(op: &Op<'_, '_>) -> Result<Array> {
    let (x, padding, shape) = (op.array(0)?, op.array(1)?, op.shape()?);
    let config = op.instruction.proto.padding_config.as_ref();
    let config = config.ok_or_else(|| Invalid::missing("padding_config"))?;
    if config.dimensions.len() != x.dims.len() || shape.dims.len() != x.dims.len() {
        let bound = x.dims.len().to_string();
        return Err(Invalid::value("padding_config.dimensions", config.dimensions.len(), bound));
    }
    let value = padding.get(0).ok_or_else(|| Invalid::missing("padding value"))?;
    let mut out = Array::filled(shape.ty, &shape.dims, value);
    let to = strides(&shape.dims);
    scatter(x, &mut out, |odometer| {
        let mut at = 0;
        for (d, i) in odometer.index.iter().enumerate() {
            let dim = &config.dimensions[d];
            let step = dim.interior_padding.checked_add(1)?.checked_mul(*i as i64)?;
            let place = usize::try_from(dim.edge_padding_low.checked_add(step)?).ok()?;
            if place >= shape.dims[d] {
                return None;
            }
            at += place * to[d];
        }
        Some(at)
    })?;
    Ok(out)
}

/// An array of `dims` whose elements come from the offsets that `from` gives.
pub(super) fn gather(
    x: &Array,
    dims: &[usize],
    from: impl Fn(&Odometer<'_>) -> usize,
) -> Result<Array> {
    let mut order = Vec::with_capacity(dims.iter().product());
    let mut odometer = Odometer::new(dims);
    while odometer.valid() {
        order.push(from(&odometer));
        odometer.advance();
    }
    x.take(dims.to_vec(), &order)
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
