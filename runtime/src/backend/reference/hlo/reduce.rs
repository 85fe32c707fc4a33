//! Reductions along dimensions.

use super::scalar::{Combiner, Scalar, Typed};
use super::{Op, Value};
use crate::array::{Array, Odometer, strides};
use crate::program::{Invalid, Result};

pub(super) fn evaluate(op: &Op<'_, '_>) -> Option<Result<Value>> {
    Some(match op.instruction.opcode.as_str() {
        "reduce" => reduce(op),
        "map" => map(op),
        _ => return None,
    })
}

/// Reduces any number of arrays together. XLA leaves the order open; halves are combined, so that the
/// error of a long sum stays as small as that of a GPU's tree.
fn reduce(op: &Op<'_, '_>) -> Result<Value> {
    let arrays = op.arrays()?;
    let (inputs, inits) = arrays.split_at(arrays.len() / 2);
    let Some(first) = inputs.first().filter(|_| inputs.len() == inits.len()) else {
        return Err(Invalid::value("operands", arrays.len(), "an even number"));
    };
    if let Some(other) = inputs.iter().find(|x| x.dims != first.dims) {
        return Err(Invalid::value("operand", other.shape(), first.shape().to_string()));
    }
    let reduced = op.dims("dimensions", &op.instruction.proto.dimensions, first.dims.len())?;
    let kept: Vec<usize> = (0..first.dims.len()).filter(|d| !reduced.contains(d)).collect();
    let pick = |dims: &[usize], of: &[usize]| dims.iter().map(|d| of[*d]).collect::<Vec<_>>();
    let own = strides(&first.dims);
    let (out_dims, in_dims) = (pick(&kept, &first.dims), pick(&reduced, &first.dims));
    let (out_strides, in_strides) = (pick(&kept, &own), pick(&reduced, &own));
    let along = crate::array::offsets(&in_dims, &in_strides);
    op.evaluator.steps(first.len() as u64)?;

    let combiner = Combiner::new(op.evaluator, op.callee(0)?);
    let types: Vec<_> = inputs.iter().map(|x| x.ty).collect();
    let mut outputs: Vec<Array> =
        types.iter().map(|ty| Array::zeros(*ty, &out_dims)).collect::<Result<_>>()?;
    let init: Vec<Scalar> = inits.iter().map(|x| only(x)).collect::<Result<_>>()?;
    let mut tree = Tree { combiner: &combiner, types: &types, arguments: vec![], out: vec![] };
    let mut odometer = Odometer::new(&out_dims);
    for at in 0..outputs[0].len() {
        let base = odometer.offset(&out_strides);
        let mut total = init.clone();
        if !along.is_empty() {
            let part = tree.total(
                &|i, values: &mut Vec<Scalar>| {
                    for x in inputs {
                        values.extend(x.get(base + along[i]));
                    }
                },
                0..along.len(),
            )?;
            total = tree.combine(&total, &part)?;
        }
        for (output, value) in outputs.iter_mut().zip(total) {
            output.set(at, value)?;
        }
        odometer.advance();
    }
    Ok(several(outputs))
}

/// Combines many values pairwise.
struct Tree<'c, 'e, 'm> {
    combiner: &'c Combiner<'e, 'm>,
    types: &'c [crate::proto::xla::PrimitiveType],
    arguments: Vec<Typed>,
    out: Vec<Scalar>,
}

impl Tree<'_, '_, '_> {
    /// Runs of this many are combined one after the other.
    const RUN: usize = 16;

    fn total(
        &mut self,
        get: &dyn Fn(usize, &mut Vec<Scalar>),
        range: std::ops::Range<usize>,
    ) -> Result<Vec<Scalar>> {
        if range.len() > Self::RUN {
            let middle = range.start + range.len() / 2;
            let left = self.total(get, range.start..middle)?;
            let right = self.total(get, middle..range.end)?;
            return self.combine(&left, &right);
        }
        let (mut total, mut next) = (Vec::new(), Vec::new());
        get(range.start, &mut total);
        for at in range.start + 1..range.end {
            next.clear();
            get(at, &mut next);
            total = self.combine(&total, &next)?;
        }
        Ok(total)
    }

    fn combine(&mut self, a: &[Scalar], b: &[Scalar]) -> Result<Vec<Scalar>> {
        self.arguments.clear();
        let types = self.types.iter().chain(self.types).copied();
        self.arguments.extend(types.zip(a.iter().chain(b).copied()));
        self.combiner.call(&self.arguments, &mut self.out)?;
        Ok(self.out.clone())
    }
}

/// The only element of a scalar.
pub(super) fn only(x: &Array) -> Result<Scalar> {
    match x.get(0) {
        Some(value) if x.len() == 1 => Ok(value),
        _ => Err(Invalid::value("initial value", x.shape(), "a scalar")),
    }
}

/// One array as it is, several as a tuple.
pub(super) fn several(mut arrays: Vec<Array>) -> Value {
    match arrays.len() {
        1 => arrays.remove(0).into(),
        _ => Value::Tuple(arrays.into_iter().map(Value::from).collect()),
    }
}

/// Calls a computation for each element.
fn map(op: &Op<'_, '_>) -> Result<Value> {
    let (arrays, shape) = (op.arrays()?, op.shape()?);
    let combiner = Combiner::new(op.evaluator, op.callee(0)?);
    let mut out = Array::zeros(shape.ty, &shape.dims)?;
    let (mut arguments, mut result) = (Vec::new(), Vec::new());
    for at in 0..out.len() {
        arguments.clear();
        for x in &arrays {
            let value =
                x.get(at).ok_or_else(|| Invalid::value("operand", x.shape(), shape.to_string()))?;
            arguments.push((x.ty, value));
        }
        combiner.call(&arguments, &mut result)?;
        let value = result.first().ok_or_else(|| Invalid::missing("result"))?;
        out.set(at, *value)?;
    }
    Ok(out.into())
}
