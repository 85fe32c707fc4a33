//! Reductions along dimensions.

use super::elementwise::Binary;
use super::scalar::{Combiner, Scalar, Typed};
use super::{Family, Op, Value};
use crate::array::{Array, Data, Odometer, offsets, round, strides, width, wrap_int, wrap_uint};
use crate::program::{Invalid, Result};
use crate::proto::xla::PrimitiveType;

pub(super) const FAMILY: Family = Family {
    opcodes: &["reduce", "map"],
    evaluate: |op| match op.instruction.opcode.as_str() {
        "reduce" => reduce(op),
        _ => map(op),
    },
    passes: false,
};

/// The operands of a reduction: as many initial values as arrays, all arrays of one shape.
pub(super) struct Operands<'o> {
    pub(super) inputs: Vec<&'o Array>,
    pub(super) init: Vec<Scalar>,
    pub(super) types: Vec<PrimitiveType>,
}

impl<'o> Operands<'o> {
    pub(super) fn of(op: &'o Op<'_, '_>) -> Result<Self> {
        let mut inputs = op.arrays()?;
        let inits = inputs.split_off(inputs.len() / 2);
        let Some(first) = inputs.first().filter(|_| inputs.len() == inits.len()) else {
            return Err(Invalid::value("operands", op.operands.len(), "an even number"));
        };
        if let Some(other) = inputs.iter().find(|x| x.dims != first.dims) {
            return Err(Invalid::value("operand", other.shape(), first.shape().to_string()));
        }
        let init = inits.iter().map(|x| only(x)).collect::<Result<_>>()?;
        let types = inputs.iter().map(|x| x.ty).collect();
        Ok(Operands { inputs, init, types })
    }
}

/// Reduces any number of arrays together. XLA leaves the order open; halves are combined, so that the
/// error of a long sum stays as small as that of a GPU's tree.
fn reduce(op: &Op<'_, '_>) -> Result<Value> {
    let Operands { inputs, init, types } = Operands::of(op)?;
    let first = inputs[0];
    let reduced = op.dims("dimensions", &op.instruction.proto.dimensions, first.dims.len())?;
    let kept: Vec<usize> = (0..first.dims.len()).filter(|d| !reduced.contains(d)).collect();
    let pick = |dims: &[usize], of: &[usize]| dims.iter().map(|d| of[*d]).collect::<Vec<_>>();
    let own = strides(&first.dims);
    let (out_dims, in_dims) = (pick(&kept, &first.dims), pick(&reduced, &first.dims));
    let (out_strides, in_strides) = (pick(&kept, &own), pick(&reduced, &own));
    let results = op.results(inputs.len(), &out_dims)?;
    let mut outputs: Vec<Array> =
        results.iter().map(|shape| Array::zeros(shape.ty, &out_dims)).collect::<Result<_>>()?;
    let combiner = Combiner::new(op.evaluator, op.callee(0)?, &[&types, &types], &outputs)?;
    let mut odometer = Odometer::new(&out_dims);
    if first.len() == 0 {
        // Nothing to combine, however long the empty dimensions are.
        for (output, value) in outputs.iter_mut().zip(init) {
            *output = Array::filled(output.ty, &out_dims, value);
        }
        return Ok(several(outputs));
    }
    op.evaluator.steps(first.len() as u64)?;
    let along = offsets(&in_dims, &in_strides);
    if let ([x], [init], Some(operation)) = (&inputs[..], &init[..], combiner.binary()) {
        let bases = offsets(&out_dims, &out_strides);
        if let Some(data) = quick(&x.data, *init, operation, &bases, &along) {
            outputs[0].data = data;
            return Ok(several(outputs));
        }
    }
    let mut tree = Tree { combiner: &combiner, types: &types, arguments: vec![], out: vec![] };
    for at in 0..outputs[0].len() {
        let base = odometer.offset(&out_strides);
        let get = |i: usize, values: &mut Vec<Scalar>| {
            for x in &inputs {
                values.extend(x.get(base + along[i]));
            }
        };
        let part = tree.total(&get, 0..along.len())?;
        for (output, value) in outputs.iter_mut().zip(tree.combine(&init, &part)?) {
            output.set(at, value)?;
        }
        odometer.advance();
    }
    Ok(several(outputs))
}

/// The same for one array and one operation, in the same order.
fn quick(
    x: &Data,
    init: Scalar,
    (f, ty, swapped): (Binary, PrimitiveType, bool),
    bases: &[usize],
    along: &[usize],
) -> Option<Data> {
    fn all<T: Copy>(
        (v, init, swapped): (&[T], T, bool),
        (bases, along): (&[usize], &[usize]),
        f: impl Fn(T, T) -> T,
    ) -> Vec<T> {
        let f = |a, b| if swapped { f(b, a) } else { f(a, b) };
        bases
            .iter()
            .map(|base| f(init, tree(&|i| v[base + along[i]], &f, 0, along.len())))
            .collect()
    }
    fn tree<T: Copy>(
        get: &impl Fn(usize) -> T,
        f: &impl Fn(T, T) -> T,
        start: usize,
        end: usize,
    ) -> T {
        if end - start > Tree::RUN {
            let middle = start + (end - start) / 2;
            return f(tree(get, f, start, middle), tree(get, f, middle, end));
        }
        (start + 1..end).fold(get(start), |total, at| f(total, get(at)))
    }
    let (width, places) = (width(ty), (bases, along));
    Some(match (f, x, init) {
        (Binary::F32(f), Data::F32(v), Scalar::F32(init)) => {
            Data::F32(all((v, init, swapped), places, |a, b| round(ty, f(a, b, width))))
        }
        (Binary::F64(f), Data::F64(v), Scalar::F64(init)) => {
            Data::F64(all((v, init, swapped), places, |a, b| f(a, b, width)))
        }
        (Binary::Int(f), Data::Int(v), Scalar::Int(init)) => {
            Data::Int(all((v, init, swapped), places, |a, b| wrap_int(ty, f(a, b, width))))
        }
        (Binary::Uint(f), Data::Uint(v), Scalar::Uint(init)) => {
            Data::Uint(all((v, init, swapped), places, |a, b| wrap_uint(ty, f(a, b, width))))
        }
        _ => return None,
    })
}

/// Combines many values pairwise.
struct Tree<'c, 'e, 'm> {
    combiner: &'c Combiner<'e, 'm>,
    types: &'c [PrimitiveType],
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
        _ => arrays.into_iter().map(Value::from).collect(),
    }
}

/// Calls a computation for each element.
fn map(op: &Op<'_, '_>) -> Result<Value> {
    let arrays = op.arrays()?;
    let Some(first) = arrays.first() else { return Err(Invalid::missing("operand 0")) };
    if let Some(other) = arrays.iter().find(|x| x.dims != first.dims) {
        return Err(Invalid::value("operand", other.shape(), first.shape().to_string()));
    }
    let shape = op.results(1, &first.dims)?[0];
    let types: Vec<PrimitiveType> = arrays.iter().map(|x| x.ty).collect();
    let mut out = [Array::zeros(shape.ty, &shape.dims)?];
    let combiner = Combiner::new(op.evaluator, op.callee(0)?, &[&types], &out)?;
    let (mut arguments, mut result) = (Vec::new(), Vec::new());
    for at in 0..first.len() {
        arguments.clear();
        for x in &arrays {
            arguments.push((x.ty, x.get(at).ok_or_else(|| Invalid::missing("element"))?));
        }
        combiner.call(&arguments, &mut result)?;
        out[0].set(at, *result.first().ok_or_else(|| Invalid::missing("result"))?)?;
    }
    Ok(several(out.into()))
}
