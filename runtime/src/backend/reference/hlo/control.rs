//! Loops and branches inside a computation.

use super::{Op, Value};
use crate::program::{Invalid, Result};

pub(super) fn evaluate(op: &Op<'_, '_>) -> Option<Result<Value>> {
    Some(match op.instruction.opcode.as_str() {
        "while" => repeat(op),
        "conditional" => branch(op),
        _ => return None,
    })
}

/// Called computations are the body, then the condition, as serialized.
fn repeat(op: &Op<'_, '_>) -> Result<Value> {
    let (body, condition) = (op.callee(0)?, op.callee(1)?);
    let mut value = op.operands.first().cloned().ok_or_else(|| Invalid::missing("operand 0"))?;
    let limit = op.evaluator.limits.iterations;
    for round in 0.. {
        let go_on = match op.evaluator.computation(condition, std::slice::from_ref(&value))? {
            Value::Array(array) => array.truth()?,
            _ => return Err(Invalid::value("condition", "no array", "pred[]")),
        };
        if !go_on {
            break;
        }
        if round >= limit {
            return Err(Invalid::limit("iterations", round + 1, limit, "iterations"));
        }
        value = op.evaluator.computation(body, &[value])?;
    }
    Ok(value)
}

/// A predicate takes the first branch when true; an index out of range takes the last.
fn branch(op: &Op<'_, '_>) -> Result<Value> {
    let selector = op.array(0)?;
    let branches = op.instruction.calls.len();
    let at = match &selector.data {
        crate::array::Data::Pred(_) => usize::from(!selector.truth()?),
        _ => {
            let index = selector.index_at(0)?;
            usize::try_from(index)
                .ok()
                .filter(|i| *i < branches)
                .unwrap_or(branches.saturating_sub(1))
        }
    };
    let argument = op.operands.get(at + 1).ok_or_else(|| {
        Invalid::value("operands", op.operands.len(), format!("more than {}", at + 1))
    })?;
    op.evaluator.computation(op.callee(at)?, std::slice::from_ref(argument))
}
