//! Reductions over windows.

use super::reduce::{Operands, only, several};
use super::scalar::{Combiner, Scalar, Typed};
use super::{Family, Op, Value};
use crate::array::{Array, Odometer, strides};
use crate::program::shape::ArrayShape;
use crate::program::{Invalid, Result};
use crate::proto::xla::{PrimitiveType, WindowDimension};

pub(super) const FAMILY: Family = Family {
    opcodes: &["reduce-window", "select-and-scatter"],
    evaluate: |op| match op.instruction.opcode.as_str() {
        "reduce-window" => reduce_window(op),
        _ => select_and_scatter(op),
    },
    passes: false,
};

/// A window over `dims` and the sizes of what comes out, checked. `window_reversal` is a convolution's.
fn window<'o>(op: &'o Op<'_, '_>, dims: &[usize]) -> Result<(&'o [WindowDimension], Vec<usize>)> {
    let dimensions = op.instruction.proto.window.as_ref().map_or(&[][..], |w| &w.dimensions);
    Ok((dimensions, windowed(dimensions, dims)?))
}

/// The sizes of what comes out of a window over `dims`.
pub(super) fn windowed(dimensions: &[WindowDimension], dims: &[usize]) -> Result<Vec<usize>> {
    if dimensions.len() != dims.len() {
        return Err(Invalid::value("window.dimensions", dimensions.len(), dims.len().to_string()));
    }
    let places = dimensions.iter().zip(dims).enumerate().map(|(at, (d, size))| {
        places(d, *size).ok_or_else(|| {
            let bound = "size, stride and dilations of at least 1, none of them too large";
            Invalid::value(format!("window.dimensions[{at}]"), format!("{d:?}"), bound)
        })
    });
    places.collect()
}

/// At how many places a window fits; `None` where the window is none.
fn places(d: &WindowDimension, size: usize) -> Option<usize> {
    let spread = |count: i64, dilation: i64| match count {
        _ if dilation < 1 => None,
        0 => Some(0),
        count => count.checked_sub(1)?.checked_mul(dilation)?.checked_add(1),
    };
    let base = spread(i64::try_from(size).ok()?, d.base_dilation)?;
    let padded = base.checked_add(d.padding_low)?.checked_add(d.padding_high)?;
    let window = (d.size >= 1).then_some(spread(d.size, d.window_dilation)?)?;
    let stride = (d.stride >= 1).then_some(d.stride)?;
    let fits = padded.checked_sub(window).is_some_and(|rest| rest >= 0);
    usize::try_from(if fits { (padded - window) / stride + 1 } else { 0 }).ok()
}

/// The number of points of a window.
pub(super) fn points(size: &[usize]) -> u64 {
    size.iter().fold(1_u64, |points, n| points.saturating_mul(*n as u64))
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
    let Operands { inputs, init, types } = Operands::of(op)?;
    let first = inputs[0];
    let (window, out_dims) = window(op, &first.dims)?;
    let results = op.results(inputs.len(), &out_dims)?;
    let size = sizes(window);
    op.evaluator.steps(points(&size).saturating_mul(results[0].elements() as u64))?;
    let mut outputs: Vec<Array> =
        results.iter().map(|shape| Array::zeros(shape.ty, &out_dims)).collect::<Result<_>>()?;
    let combiner = Combiner::new(op.evaluator, op.callee(0)?, &[&types, &types], &outputs)?;
    let own = strides(&first.dims);
    let mut out = Odometer::new(&out_dims);
    let (mut arguments, mut total): (Vec<Typed>, Vec<Scalar>) = (vec![], vec![]);
    for at in 0..outputs[0].len() {
        total.clone_from(&init);
        let mut point = Odometer::new(&size);
        while point.valid() {
            if let Some(index) = under(window, &first.dims, &out.index, &point.index) {
                let place: usize = index.iter().zip(&own).map(|(i, s)| i * s).sum();
                arguments.clear();
                arguments.extend(inputs.iter().map(|x| x.ty).zip(total.iter().copied()));
                for x in &inputs {
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
    op.arity(3)?;
    let (x, source, init) = (op.array(0)?, op.array(1)?, only(op.array(2)?)?);
    let (window, places) = window(op, &x.dims)?;
    if source.dims != places || source.ty != x.ty {
        let bound = ArrayShape::row_major(x.ty, &places).to_string();
        return Err(Invalid::value("operand 1", source.shape(), bound));
    }
    op.results(1, &x.dims)?;
    let pair = [x.ty; 2];
    let answer = [Array::zero(PrimitiveType::Pred)?];
    let select = Combiner::new(op.evaluator, op.callee(0)?, &[&pair], &answer)?;
    let result = [Array::zero(x.ty)?];
    let combine = Combiner::new(op.evaluator, op.callee(1)?, &[&pair], &result)?;
    let (size, own) = (sizes(window), strides(&x.dims));
    op.evaluator.steps(points(&size).saturating_mul(source.len() as u64))?;
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
