//! Reductions over windows.

use super::reduce::{only, several};
use super::scalar::{Combiner, Scalar, Typed};
use super::{Op, Value};
use crate::array::{Array, Odometer, strides};
use crate::program::{Invalid, Result};
use crate::proto::xla::WindowDimension;

pub(super) fn evaluate(op: &Op<'_, '_>) -> Option<Result<Value>> {
    Some(match op.instruction.opcode.as_str() {
        "reduce-window" => reduce_window(op),
        "select-and-scatter" => select_and_scatter(op),
        _ => return None,
    })
}

/// The window's dimensions, checked.
fn window<'o>(op: &'o Op<'_, '_>, rank: usize) -> Result<&'o [WindowDimension]> {
    let dimensions = op.instruction.proto.window.as_ref().map_or(&[][..], |w| &w.dimensions);
    if dimensions.len() != rank {
        return Err(Invalid::value("window.dimensions", dimensions.len(), rank.to_string()));
    }
    for d in dimensions {
        let positive = [d.size, d.stride, d.window_dilation, d.base_dilation];
        if positive.iter().any(|n| *n < 1) {
            let bound = "size, stride and dilations of at least 1";
            return Err(Invalid::value("window.dimensions", format!("{d:?}"), bound));
        }
    }
    Ok(dimensions)
}

/// The element of the operand under a window's point; `None` in the padding and between dilated elements.
pub(super) fn under(
    window: &[WindowDimension],
    dims: &[usize],
    output: &[usize],
    point: &[usize],
) -> Option<Vec<usize>> {
    let mut index = Vec::with_capacity(dims.len());
    for (d, w) in window.iter().enumerate() {
        let start = (output[d] as i64).checked_mul(w.stride)?.checked_sub(w.padding_low)?;
        let offset = (point[d] as i64).checked_mul(w.window_dilation)?;
        let place = start.checked_add(offset)?;
        if place < 0 || place % w.base_dilation != 0 {
            return None;
        }
        let at = usize::try_from(place / w.base_dilation).ok()?;
        if at >= dims[d] {
            return None;
        }
        index.push(at);
    }
    Some(index)
}

/// Sizes of the window as counts.
pub(super) fn sizes(window: &[WindowDimension]) -> Vec<usize> {
    window.iter().map(|d| usize::try_from(d.size).unwrap_or(0)).collect()
}

fn reduce_window(op: &Op<'_, '_>) -> Result<Value> {
    let arrays = op.arrays()?;
    let (inputs, inits) = arrays.split_at(arrays.len() / 2);
    let Some(first) = inputs.first().filter(|_| inputs.len() == inits.len()) else {
        return Err(Invalid::value("operands", arrays.len(), "an even number"));
    };
    if let Some(other) = inputs.iter().find(|x| x.dims != first.dims) {
        return Err(Invalid::value("operand", other.shape(), first.shape().to_string()));
    }
    let window = window(op, first.dims.len())?;
    let shapes = op.instruction.shape.leaves();
    let out_dims = &shapes.first().ok_or_else(|| Invalid::missing("shape"))?.dims;
    if out_dims.len() != first.dims.len() || shapes.len() != inputs.len() {
        return Err(Invalid::value(
            "result",
            format!("{out_dims:?}"),
            format!("{} dimensions", first.dims.len()),
        ));
    }
    let size = sizes(window);
    let points: u64 = size.iter().map(|n| *n as u64).product();
    op.evaluator.steps(points.saturating_mul(out_dims.iter().map(|n| *n as u64).product()))?;
    let combiner = Combiner::new(op.evaluator, op.callee(0)?);
    let init: Vec<Scalar> = inits.iter().map(|x| only(x)).collect::<Result<_>>()?;
    let mut outputs: Vec<Array> =
        inputs.iter().map(|x| Array::zeros(x.ty, out_dims)).collect::<Result<_>>()?;
    let own = strides(&first.dims);
    let mut out = Odometer::new(out_dims);
    let (mut arguments, mut total): (Vec<Typed>, Vec<Scalar>) = (vec![], vec![]);
    for at in 0..outputs[0].len() {
        total.clone_from(&init);
        let mut point = Odometer::new(&size);
        while point.valid() {
            if let Some(index) = under(window, &first.dims, &out.index, &point.index) {
                let place: usize = index.iter().zip(&own).map(|(i, s)| i * s).sum();
                arguments.clear();
                arguments.extend(inputs.iter().map(|x| x.ty).zip(total.iter().copied()));
                for x in inputs {
                    let value = x.get(place).ok_or_else(|| Invalid::missing("element"))?;
                    arguments.push((x.ty, value));
                }
                combiner.call(&arguments, &mut total)?;
            }
            point.advance();
        }
        for (output, value) in outputs.iter_mut().zip(&total) {
            output.set(at, *value)?;
        }
        out.advance();
    }
    Ok(several(outputs))
}

/// Adds each source element to the operand element that its window selects.
fn select_and_scatter(op: &Op<'_, '_>) -> Result<Value> {
    let (x, source, init) = (op.array(0)?, op.array(1)?, only(op.array(2)?)?);
    let window = window(op, x.dims.len())?;
    if source.dims.len() != x.dims.len() {
        return Err(Invalid::value(
            "operand 1",
            source.shape(),
            format!("{} dimensions", x.dims.len()),
        ));
    }
    let select = Combiner::new(op.evaluator, op.callee(0)?);
    let combine = Combiner::new(op.evaluator, op.callee(1)?);
    let (size, own) = (sizes(window), strides(&x.dims));
    let points: u64 = size.iter().map(|n| *n as u64).product();
    op.evaluator.steps(points.saturating_mul(source.len() as u64))?;
    let mut output = Array::filled(x.ty, &x.dims, init);
    let mut out = Vec::new();
    let mut odometer = Odometer::new(&source.dims);
    for at in 0..source.len() {
        let mut chosen: Option<(usize, Scalar)> = None;
        let mut point = Odometer::new(&size);
        while point.valid() {
            if let Some(index) = under(window, &x.dims, &odometer.index, &point.index) {
                let place: usize = index.iter().zip(&own).map(|(i, s)| i * s).sum();
                let value = x.get(place).ok_or_else(|| Invalid::missing("element"))?;
                let keep = match chosen {
                    Some((_, best)) => select.decide(&[(x.ty, best), (x.ty, value)], &mut out)?,
                    None => false,
                };
                if !keep {
                    chosen = Some((place, value));
                }
            }
            point.advance();
        }
        if let (Some((place, _)), Some(value)) = (chosen, source.get(at)) {
            let before = output.get(place).ok_or_else(|| Invalid::missing("element"))?;
            combine.call(&[(x.ty, before), (x.ty, value)], &mut out)?;
            output.set(place, *out.first().ok_or_else(|| Invalid::missing("result"))?)?;
        }
        odometer.advance();
    }
    Ok(output.into())
}
