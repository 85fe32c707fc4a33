//! Collectives inside a kernel.

use super::scalar::Combiner;
use super::{Family, Op, Value, elementwise};
use crate::array::Array;
use crate::program::{Invalid, Result};

pub(super) const FAMILY: Family =
    Family { opcodes: &["all-reduce"], evaluate: |op| all_reduce(op), passes: false };

/// Reduces each operand over the devices of the group that the thunk names.
fn all_reduce(op: &Op<'_, '_>) -> Result<Value> {
    let peers = op.evaluator.peers.ok_or_else(|| {
        Invalid::unsupported("a collective in a kernel that is not launched for a group of devices")
    })?;
    let mut outputs = Vec::with_capacity(op.operands.len());
    for array in op.arrays()? {
        let result = [Array::zero(array.ty)?];
        let combiner = Combiner::new(op.evaluator, op.callee(0)?, &[&[array.ty; 2]], &result)?;
        let shared = peers.share(array)?;
        let mut shared = shared.into_iter();
        let mut total = shared.next().ok_or_else(|| Invalid::missing("devices"))?;
        let mut out = Vec::new();
        for other in shared {
            for at in 0..total.len() {
                let (Some(a), Some(b)) = (total.get(at), other.get(at)) else {
                    return Err(Invalid::value("element", at, format!("below {}", total.len())));
                };
                combiner.call(&[(total.ty, a), (total.ty, b)], &mut out)?;
                total.set(at, *out.first().ok_or_else(|| Invalid::missing("result"))?)?;
            }
        }
        outputs.push(total);
    }
    Ok(super::reduce::several(outputs))
}

/// Combines arrays of one shape, element by element and in order.
pub(crate) fn reduce_arrays(opcode: &str, arrays: &[Array]) -> Result<Array> {
    let (first, rest) = arrays.split_first().ok_or_else(|| Invalid::missing("devices"))?;
    rest.iter().try_fold(first.clone(), |total, array| elementwise::binary(opcode, &total, array))
}
