//! Calls, loops and branches inside a computation.

use super::{Family, Op, Value};
use crate::array::Data;
use crate::program::{Invalid, Result};

pub(super) const FAMILY: Family = Family {
    opcodes: &["call", "fusion", "while", "conditional"],
    evaluate: |op| match op.instruction.opcode.as_str() {
        "while" => repeat(op),
        "conditional" => branch(op),
        _ => {
            let callee = op.callee(0)?;
            op.evaluator.computation(callee, std::mem::take(&mut op.operands))
        }
    },
    passes: true,
};

/// Called computations are the body, then the condition, as serialized.
fn repeat(op: &mut Op<'_, '_>) -> Result<Value> {
    op.arity(1)?;
    let (body, condition) = (op.callee(0)?, op.callee(1)?);
    let mut value = op.take(0)?;
    let limit = op.evaluator.limits.iterations;
    for round in 0.. {
        let answer = op.evaluator.computation(condition, vec![value.clone()])?;
        let go_on = match &answer {
            Value::Array(array) => array.truth()?,
            _ => return Err(Invalid::value("condition", "no array", "pred[]")),
        };
        op.evaluator.release(answer);
        if !go_on {
            break;
        }
        if round >= limit {
            return Err(Invalid::limit("iterations", round + 1, limit, "iterations"));
        }
        value = op.evaluator.computation(body, vec![value])?;
    }
    Ok(value)
}

/// A predicate takes the first branch when true; an index out of range takes the last.
fn branch(op: &mut Op<'_, '_>) -> Result<Value> {
    let selector = op.array(0)?;
    let branches = op.instruction.calls.len();
    if !selector.dims.is_empty() {
        return Err(Invalid::value("operand 0", selector.shape(), "a scalar"));
    }
    if branches == 0 || op.operands.len() != branches + 1 {
        let bound = format!("an index and one for each of {branches} branches");
        return Err(Invalid::value("operands", op.operands.len(), bound));
    }
    let at = match &selector.data {
        Data::Pred(_) if branches == 2 => usize::from(!selector.truth()?),
        Data::Pred(_) => return Err(Invalid::value("branches", branches, "2 for a predicate")),
        _ => {
            let index = selector.index_at(0)?;
            usize::try_from(index).ok().filter(|i| *i < branches).unwrap_or(branches - 1)
        }
    };
    let argument = op.take(at + 1)?;
    op.evaluator.computation(op.callee(at)?, vec![argument])
}
