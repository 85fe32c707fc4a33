//! Tuples, and what only passes values on.

use super::{Family, Op, Value};
use crate::array::Array;
use crate::program::shape::Shape;
use crate::program::{Invalid, Result};

pub(super) const FAMILY: Family = Family {
    opcodes: &[
        "tuple",
        "get-tuple-element",
        "copy",
        "copy-start",
        "copy-done",
        "opt-barrier",
        "domain",
        "add-dependency",
        "after-all",
    ],
    evaluate: |op| match op.instruction.opcode.as_str() {
        "tuple" => Ok(std::mem::take(&mut op.operands).into_iter().collect()),
        "get-tuple-element" => element(op),
        "copy-start" => copy_start(op),
        "copy-done" => tuple_element(op.value(0)?, 0),
        "after-all" => Ok(Value::Token),
        // The order is the scheduler's; a layout is no part of a value.
        _ => op.take(0),
    },
    passes: true,
};

fn element(op: &Op<'_, '_>) -> Result<Value> {
    op.arity(1)?;
    tuple_element(op.value(0)?, op.instruction.proto.tuple_index)
}

fn tuple_element(value: &Value, index: i64) -> Result<Value> {
    match value {
        Value::Tuple(values) => {
            usize::try_from(index).ok().and_then(|at| values.get(at)).cloned().ok_or_else(|| {
                Invalid::value("tuple_index", index, format!("below {}", values.len()))
            })
        }
        _ => Err(Invalid::value("operand 0", "no tuple", "a tuple")),
    }
}

/// The destination, the source, and a context that nothing reads.
fn copy_start(op: &mut Op<'_, '_>) -> Result<Value> {
    let value = op.take(0)?;
    let context = match &op.instruction.shape {
        Shape::Tuple(shapes) => match shapes.get(2) {
            Some(shape @ Shape::Array(array)) => {
                op.evaluator.charge(shape)?;
                Array::zeros(array.ty, &array.dims)?
            }
            _ => return Err(Invalid::unsupported("copy-start without a context")),
        },
        _ => return Err(Invalid::value("shape", "no tuple", "a tuple")),
    };
    Ok([value.clone(), value, context.into()].into_iter().collect())
}
