//! Sorting along one dimension, by any comparison.

use super::scalar::{Combiner, Scalar, Typed};
use super::{Family, Op, Value};
use crate::array::{Array, Odometer, strides};
use crate::program::{Invalid, Result};
use crate::proto::xla::PrimitiveType;

pub(super) const FAMILY: Family =
    Family { opcodes: &["sort"], evaluate: |op| sort(op), passes: false };

/// Sorts all operands by the comparison of their elements at two places. Always stable: where that is not
/// asked for, any order of equal elements is right.
fn sort(op: &Op<'_, '_>) -> Result<Value> {
    let arrays = op.arrays()?;
    let Some(first) = arrays.first() else { return Err(Invalid::missing("operand 0")) };
    if let Some(other) = arrays.iter().find(|x| x.dims != first.dims) {
        return Err(Invalid::value("operand", other.shape(), first.shape().to_string()));
    }
    let dimension = op.dimension(first.dims.len())?;
    let pairs: Vec<PrimitiveType> = arrays.iter().flat_map(|x| [x.ty, x.ty]).collect();
    let answer = [Array::zero(PrimitiveType::Pred)?];
    let comparator = Comparator {
        combiner: Combiner::new(op.evaluator, op.callee(0)?, &[&pairs], &answer)?,
        arrays: &arrays,
        arguments: Vec::new(),
        out: Vec::new(),
    };
    op.results(arrays.len(), &first.dims)?;
    let order = order(comparator, &first.dims, dimension)?;
    let sorted: Vec<Array> =
        arrays.iter().map(|x| x.take(x.dims.clone(), &order)).collect::<Result<_>>()?;
    Ok(super::reduce::several(sorted))
}

/// For each element of the result, which element of the operands it is.
fn order(
    mut comparator: Comparator<'_, '_, '_>,
    dims: &[usize],
    dimension: usize,
) -> Result<Vec<usize>> {
    let own = strides(dims);
    let (length, step) = (dims[dimension], own[dimension]);
    let mut order: Vec<usize> = (0..dims.iter().product()).collect();
    let mut outer = dims.to_vec();
    outer[dimension] = outer[dimension].min(1);
    let mut odometer = Odometer::new(&outer);
    let mut spare = Vec::new();
    while odometer.valid() {
        let base = odometer.offset(&own);
        let mut line: Vec<usize> = (0..length).map(|i| base + i * step).collect();
        comparator.merge_sort(&mut line, &mut spare)?;
        for (i, from) in line.into_iter().enumerate() {
            order[base + i * step] = from;
        }
        odometer.advance();
    }
    Ok(order)
}

struct Comparator<'c, 'e, 'm> {
    combiner: Combiner<'e, 'm>,
    arrays: &'c [&'c Array],
    arguments: Vec<Typed>,
    out: Vec<Scalar>,
}

impl Comparator<'_, '_, '_> {
    /// Whether the element at `a` has to come before that at `b`.
    fn before(&mut self, a: usize, b: usize) -> Result<bool> {
        self.arguments.clear();
        for x in self.arrays {
            let (Some(left), Some(right)) = (x.get(a), x.get(b)) else {
                return Err(Invalid::value("element", a.max(b), format!("below {}", x.len())));
            };
            self.arguments.push((x.ty, left));
            self.arguments.push((x.ty, right));
        }
        self.combiner.decide(&self.arguments, &mut self.out)
    }

    /// Bottom-up, because a comparison may fail, and need not be an order at all.
    fn merge_sort(&mut self, line: &mut Vec<usize>, spare: &mut Vec<usize>) -> Result<()> {
        let mut run = 1;
        while run < line.len() {
            spare.clear();
            for start in (0..line.len()).step_by(2 * run) {
                let middle = (start + run).min(line.len());
                let end = (start + 2 * run).min(line.len());
                let (mut left, mut right) = (start, middle);
                while left < middle && right < end {
                    if self.before(line[right], line[left])? {
                        spare.push(line[right]);
                        right += 1;
                    } else {
                        spare.push(line[left]);
                        left += 1;
                    }
                }
                spare.extend_from_slice(&line[left..middle]);
                spare.extend_from_slice(&line[right..end]);
            }
            std::mem::swap(line, spare);
            run *= 2;
        }
        Ok(())
    }
}
