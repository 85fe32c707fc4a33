//! Parameters, constants, tuples, calls.

use super::{Op, Value};
use crate::array::literal;
use crate::program::{Invalid, Result};

pub(super) fn parameter(op: &Op<'_, '_>, arguments: &[Value]) -> Result<Value> {
    let number = op.instruction.proto.parameter_number;
    let found = usize::try_from(number).ok().and_then(|at| arguments.get(at));
    found.cloned().ok_or_else(|| {
        Invalid::value("parameter_number", number, format!("below {}", arguments.len()))
    })
}

pub(super) fn evaluate(op: &Op<'_, '_>) -> Option<Result<Value>> {
    Some(match op.instruction.opcode.as_str() {
        "constant" => constant(op),
        "tuple" => Ok(Value::Tuple(op.operands.to_vec())),
        "get-tuple-element" => element(op),
        // The scheduler's order is given; these only pass values on.
        "optimization-barrier" | "domain" | "add-dependency" => first(op),
        "after-all" => Ok(Value::Token),
        "call" | "fusion" => {
            op.callee(0).and_then(|callee| op.evaluator.computation(callee, op.operands))
        }
        "replica-id" => id(op, op.evaluator.device.replica),
        "partition-id" => id(op, op.evaluator.device.partition),
        _ => return None,
    })
}

fn constant(op: &Op<'_, '_>) -> Result<Value> {
    let proto = op.instruction.proto.literal.as_ref().ok_or_else(|| Invalid::missing("literal"))?;
    literal(proto, op.shape()?).map(Value::from)
}

fn element(op: &Op<'_, '_>) -> Result<Value> {
    let index = op.instruction.proto.tuple_index;
    match op.operands.first() {
        Some(Value::Tuple(values)) => {
            usize::try_from(index).ok().and_then(|at| values.get(at)).cloned().ok_or_else(|| {
                Invalid::value("tuple_index", index, format!("below {}", values.len()))
            })
        }
        _ => Err(Invalid::value("operand 0", "no tuple", "a tuple")),
    }
}

fn first(op: &Op<'_, '_>) -> Result<Value> {
    op.operands.first().cloned().ok_or_else(|| Invalid::missing("operand 0"))
}

fn id(op: &Op<'_, '_>, id: u32) -> Result<Value> {
    let mut array = crate::array::Array::zero(op.shape()?.ty)?;
    if let crate::array::Data::Uint(values) = &mut array.data {
        values.fill(u64::from(id));
    }
    Ok(array.into())
}
