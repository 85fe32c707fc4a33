//! CUB's radix sort.

use super::keys::{keys, sorted};
use super::{Reference, Resolve};
use crate::array::Array;
use crate::program::thunk::{CustomCall, Sort};
use crate::program::{Invalid, Result};

/// Sorts the keys, and the values along with them. Memory decides what lies next to what, not dimensions.
pub(super) fn run(
    device: &mut Reference<'_>,
    sort: &Sort,
    call: &CustomCall,
    resolve: Resolve<'_>,
) -> Result<()> {
    let mut arrays: Vec<Array> = Vec::with_capacity(call.operands.len());
    for operand in call.operands.iter().flatten() {
        let shape = crate::program::ArrayShape::row_major(operand.shape.ty, &operand.shape.dims);
        arrays.push(device.load(resolve(&operand.slice), &shape)?);
    }
    let keys = keys(arrays.first().ok_or_else(|| Invalid::missing("operands[0]"))?)?;
    let levels = u64::from(usize::BITS - keys.len().leading_zeros());
    device.budget.steps((keys.len() as u64).saturating_mul(levels))?;
    let mut order = Vec::with_capacity(keys.len());
    let length = keys.len() / sort.batches.max(1);
    for (batch, keys) in keys.chunks(length.max(1)).enumerate() {
        order.extend(sorted(keys, sort.descending).into_iter().map(|at| batch * length + at));
    }
    for (array, result) in arrays.iter().zip(call.results.iter().flatten()) {
        let out = array.take(array.dims.clone(), &order)?;
        device.store(resolve(&result.slice), &out.shape(), &out)?;
    }
    Ok(())
}
