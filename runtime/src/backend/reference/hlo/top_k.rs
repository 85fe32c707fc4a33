//! The largest or smallest elements and where they were; also the one custom call that a kernel is for.

use super::{Family, Op, Value};
use crate::array::{Array, Data};
use crate::backend::reference::keys::{keys, sorted};
use crate::program::{Invalid, Result};

/// Custom calls with a meaning.
pub(crate) const CUSTOM_CALLS: &[&str] = &["__gpu$TopK"];

pub(super) const FAMILY: Family = Family {
    opcodes: &["topk", "custom-call"],
    evaluate: |op| {
        let proto = &op.instruction.proto;
        let target = proto.custom_call_target.as_str();
        match op.instruction.opcode.as_str() {
            "topk" => top_k(op, proto.largest),
            _ if CUSTOM_CALLS.contains(&target) => top_k(op, true),
            _ => Err(Invalid::unsupported(format!("custom call {target:?}"))),
        }
    },
    passes: false,
};

/// Values and indices along the minor dimension, in order; of equal ones the first.
fn top_k(op: &Op<'_, '_>, largest: bool) -> Result<Value> {
    op.arity(1)?;
    let x = op.array(0)?;
    let shapes = op.instruction.shape.leaves();
    let ([values, indices], Some((length, outer))) = (&shapes[..], x.dims.split_last()) else {
        return Err(Invalid::value(
            "operand 0",
            x.shape(),
            "an array with dimensions, to values and indices",
        ));
    };
    let k = values.dims.last().copied().unwrap_or(0);
    let dims = [outer, &[k]].concat();
    op.results(2, &dims)?;
    if values.ty != x.ty || k > *length {
        let bound = format!("at most the {length} elements of {}", x.shape());
        return Err(Invalid::value("values", values, bound));
    }
    let levels = u64::from(usize::BITS - length.leading_zeros());
    op.evaluator.steps((x.len() as u64).saturating_mul(levels))?;
    let (mut order, mut places) = (Vec::new(), Vec::new());
    for (row, keys) in keys(x)?.chunks((*length).max(1)).enumerate() {
        for at in sorted(keys, largest).into_iter().take(k) {
            order.push(row * length + at);
            places.push(at as i64);
        }
    }
    let places = Array {
        ty: crate::proto::xla::PrimitiveType::S64,
        dims: dims.clone(),
        data: Data::Int(places),
    };
    let places = super::convert::convert(&places, indices.ty)?;
    Ok([x.take(dims, &order)?.into(), places.into()].into_iter().collect())
}
