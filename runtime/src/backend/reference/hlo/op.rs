//! An instruction about to be evaluated.

use std::sync::Arc;

use super::{Evaluator, Value};
use crate::array::Array;
use crate::program::hlo::{Computation, Instruction};
use crate::program::shape::{ArrayShape, Shape};
use crate::program::{Invalid, Result};

/// An instruction with its operands.
pub(crate) struct Op<'e, 'm> {
    pub(crate) evaluator: &'e Evaluator<'m>,
    pub(super) computation: &'e Computation,
    pub(crate) instruction: &'e Instruction,
    pub(crate) operands: Vec<Value>,
}

impl<'e, 'm> Op<'e, 'm> {
    /// An operand.
    pub(crate) fn value(&self, at: usize) -> Result<&Value> {
        let found = self.operands.get(at);
        found.ok_or_else(|| {
            Invalid::value("operands", self.operands.len(), format!("more than {at}"))
        })
    }

    /// An operand that is an array.
    pub(crate) fn array(&self, at: usize) -> Result<&Array> {
        match self.value(at)? {
            Value::Array(array) => Ok(array),
            _ => Err(Invalid::value(format!("operand {at}"), "no array", "an array")),
        }
    }

    /// All operands as arrays.
    pub(crate) fn arrays(&self) -> Result<Vec<&Array>> {
        (0..self.operands.len()).map(|at| self.array(at)).collect()
    }

    /// Takes an operand for the result: its own memory where nothing else needs it, else a copy.
    pub(crate) fn own(&mut self, at: usize) -> Result<Array> {
        self.array(at)?;
        match self.operands.get_mut(at).map(|value| std::mem::replace(value, Value::Token)) {
            Some(Value::Array(array)) => Ok(match Arc::try_unwrap(array) {
                Ok(array) => {
                    self.evaluator.forget(&array);
                    array
                }
                Err(shared) => (*shared).clone(),
            }),
            _ => Err(Invalid::missing("operand")),
        }
    }

    /// Takes an operand to pass it on.
    pub(crate) fn take(&mut self, at: usize) -> Result<Value> {
        self.value(at)?;
        let taken = self.operands.get_mut(at).map(|value| std::mem::replace(value, Value::Token));
        taken.ok_or_else(|| Invalid::missing("operand"))
    }

    /// There have to be this many operands.
    pub(crate) fn arity(&self, count: usize) -> Result<()> {
        if self.operands.len() != count {
            return Err(Invalid::value("operands", self.operands.len(), count.to_string()));
        }
        Ok(())
    }

    /// The shape of an operand, with its layout.
    pub(crate) fn operand_shape(&self, at: usize) -> Result<&'e ArrayShape> {
        let operand =
            self.instruction.operands.get(at).and_then(|o| self.computation.instructions.get(*o));
        operand.ok_or_else(|| Invalid::missing("operand"))?.shape.array()
    }

    /// The shape of the result, as an array.
    pub(crate) fn shape(&self) -> Result<&'e ArrayShape> {
        self.instruction.shape.array()
    }

    /// The shapes of the result's arrays; there have to be `count` of them, each of `dims`.
    ///
    /// Memory was counted by them, so they are looked at before anything is allocated.
    pub(crate) fn results(&self, count: usize, dims: &[usize]) -> Result<Vec<&'e ArrayShape>> {
        let shapes = match &self.instruction.shape {
            Shape::Tuple(_) if count == 1 => {
                return Err(Invalid::value("result", "a tuple", "an array"));
            }
            shape => shape.leaves(),
        };
        if shapes.len() != count {
            return Err(Invalid::value("arrays of the result", shapes.len(), count.to_string()));
        }
        match shapes.iter().find(|shape| shape.dims != dims) {
            Some(other) => Err(Invalid::value("result", other, format!("dimensions {dims:?}"))),
            None => Ok(shapes),
        }
    }

    /// A called computation.
    pub(crate) fn callee(&self, at: usize) -> Result<&'m Computation> {
        self.instruction.callee(self.evaluator.module, at)
    }

    /// Dimension numbers of an operand or result, each below its rank and none twice.
    pub(crate) fn dims(&self, what: &str, values: &[i64], rank: usize) -> Result<Vec<usize>> {
        let mut seen = vec![false; rank];
        values
            .iter()
            .map(|d| {
                let at = usize::try_from(*d).ok().filter(|d| *d < rank);
                let at = at.ok_or_else(|| Invalid::value(what, d, format!("below {rank}")))?;
                if std::mem::replace(&mut seen[at], true) {
                    return Err(Invalid::value(what, format!("{values:?}"), "no dimension twice"));
                }
                Ok(at)
            })
            .collect()
    }

    /// The only dimension that `dimensions` names.
    pub(crate) fn dimension(&self, rank: usize) -> Result<usize> {
        let dimensions = &self.instruction.proto.dimensions;
        match self.dims("dimensions", dimensions, rank)?[..] {
            [dimension] => Ok(dimension),
            _ => Err(Invalid::value("dimensions", format!("{dimensions:?}"), "1 dimension")),
        }
    }
}
