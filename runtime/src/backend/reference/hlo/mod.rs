//! Evaluates HLO: what a kernel was compiled from, computed plainly.
//!
//! Semantics are those of XLA's operation-semantics document. One file per family of operations; this one
//! finds the family and keeps count.

mod bits;
mod collective;
mod compare;
mod control;
mod convert;
mod dot;
mod elementwise;
mod fourier;
mod indexed;
mod moving;
mod reduce;
mod scalar;
mod slicing;
mod sort;
mod structure;
mod window;

use std::cell::Cell;
use std::sync::Arc;

use crate::array::Array;
use crate::backend::collective::Peers;
use crate::program::hlo::{Computation, Instruction, Module};
use crate::program::shape::Shape;
use crate::program::{At as _, Invalid, Limits, Result};

pub(crate) use collective::reduce_arrays;
pub(crate) use dot::tf32;
pub(crate) use scalar::Scalar;

/// A value while it is computed.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    Array(Arc<Array>),
    Tuple(Vec<Value>),
    Token,
}

/// A family of operations: `None` for those of other families.
type Family = fn(&Op<'_, '_>) -> Option<Result<Value>>;

/// Evaluates computations of one module on one device.
pub(crate) struct Evaluator<'m> {
    pub(crate) module: &'m Module,
    pub(crate) limits: &'m Limits,
    /// Elements computed so far.
    steps: Cell<u64>,
    /// Bytes that the values alive take, about.
    alive: Cell<u64>,
    /// Which replica and partition this is.
    pub(crate) device: DeviceIds,
    /// The devices that a kernel talks to.
    pub(crate) peers: Option<&'m dyn Peers>,
}

/// Which device of the program this is.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DeviceIds {
    pub(crate) replica: u32,
    pub(crate) partition: u32,
}

impl<'m> Evaluator<'m> {
    pub(crate) fn new(
        module: &'m Module,
        limits: &'m Limits,
        device: DeviceIds,
        peers: Option<&'m dyn Peers>,
    ) -> Self {
        Evaluator { module, limits, steps: Cell::new(0), alive: Cell::new(0), device, peers }
    }

    /// The result of a computation.
    pub(crate) fn computation(
        &self,
        computation: &Computation,
        arguments: &[Value],
    ) -> Result<Value> {
        if arguments.len() != computation.parameters.len() {
            let bound = computation.parameters.len().to_string();
            return Err(Invalid::value("arguments", arguments.len(), bound)
                .at(format!("computation {:?}", computation.name)));
        }
        let mut uses = vec![0_u32; computation.instructions.len()];
        for operand in computation.instructions.iter().flat_map(|i| &i.operands) {
            uses[*operand] += 1;
        }
        uses[computation.root] += 1;
        let mut values: Vec<Option<Value>> = vec![None; computation.instructions.len()];
        let before = self.alive.get();
        for (at, instruction) in computation.instructions.iter().enumerate() {
            if uses[at] == 0 && instruction.opcode != "parameter" {
                continue; // nothing reads it, and nothing here has side effects
            }
            let operands = instruction
                .operands
                .iter()
                .map(|o| values[*o].clone().ok_or_else(|| Invalid::missing("operand")))
                .collect::<Result<Vec<Value>>>()?;
            let place = || {
                format!("{} {:?} in {:?}", instruction.opcode, instruction.name, computation.name)
            };
            let value =
                self.instruction(computation, instruction, &operands, arguments).at(place)?;
            check_shape(&value, &instruction.shape).at(place)?;
            drop(operands);
            for operand in &instruction.operands {
                uses[*operand] -= 1;
                if uses[*operand] == 0 {
                    let size = values[*operand].take().map_or(0, |v| size(&v));
                    self.alive.set(self.alive.get().saturating_sub(size));
                }
            }
            values[at] = Some(value);
        }
        self.alive.set(before);
        values
            .get_mut(computation.root)
            .and_then(Option::take)
            .ok_or_else(|| Invalid::missing("root"))
    }

    /// The result of an instruction.
    pub(crate) fn instruction(
        &self,
        computation: &Computation,
        instruction: &Instruction,
        operands: &[Value],
        arguments: &[Value],
    ) -> Result<Value> {
        self.charge(&instruction.shape)?;
        let op = Op { evaluator: self, computation, instruction, operands };
        if instruction.opcode == "parameter" {
            return structure::parameter(&op, arguments);
        }
        let families: [Family; 14] = [
            structure::evaluate,
            elementwise::evaluate,
            compare::evaluate,
            convert::evaluate,
            moving::evaluate,
            slicing::evaluate,
            reduce::evaluate,
            dot::evaluate,
            control::evaluate,
            collective::evaluate,
            sort::evaluate,
            window::evaluate,
            indexed::evaluate,
            fourier::evaluate,
        ];
        families
            .iter()
            .find_map(|family| family(&op))
            .unwrap_or_else(|| Err(Invalid::unsupported(format!("opcode {}", instruction.opcode))))
    }

    /// Counts the elements of a result, and the memory it takes, against the limits.
    fn charge(&self, shape: &Shape) -> Result<()> {
        let elements: u64 = shape.leaves().iter().map(|leaf| leaf.elements() as u64).sum();
        self.steps(elements + 1)?;
        // What an element takes in its domain's type, 16 bytes at most.
        let alive = self.alive.get().saturating_add(elements.saturating_mul(8));
        if alive > self.limits.memory {
            return Err(Invalid::limit("memory for values", alive, self.limits.memory, "memory"));
        }
        self.alive.set(alive);
        Ok(())
    }

    /// Counts work.
    pub(crate) fn steps(&self, count: u64) -> Result<()> {
        let steps = self.steps.get().saturating_add(count);
        self.steps.set(steps);
        if steps > self.limits.steps {
            return Err(Invalid::limit("steps", steps, self.limits.steps, "steps"));
        }
        Ok(())
    }
}

/// An instruction with its operands.
pub(crate) struct Op<'e, 'm> {
    pub(crate) evaluator: &'e Evaluator<'m>,
    computation: &'e Computation,
    pub(crate) instruction: &'e Instruction,
    pub(crate) operands: &'e [Value],
}

impl<'e, 'm> Op<'e, 'm> {
    /// An operand that is an array.
    pub(crate) fn array(&self, at: usize) -> Result<&'e Array> {
        match self.operands.get(at) {
            Some(Value::Array(array)) => Ok(array),
            Some(_) => Err(Invalid::value(format!("operand {at}"), "no array", "an array")),
            None => Err(Invalid::value("operands", self.operands.len(), format!("more than {at}"))),
        }
    }

    /// All operands as arrays.
    pub(crate) fn arrays(&self) -> Result<Vec<&'e Array>> {
        (0..self.operands.len()).map(|at| self.array(at)).collect()
    }

    /// The shape of an operand, with its layout.
    pub(crate) fn operand_shape(&self, at: usize) -> Result<&'e crate::program::shape::ArrayShape> {
        let operand =
            self.instruction.operands.get(at).and_then(|o| self.computation.instructions.get(*o));
        operand.ok_or_else(|| Invalid::missing("operand"))?.shape.array()
    }

    /// The shape of the result, as an array.
    pub(crate) fn shape(&self) -> Result<&'e crate::program::shape::ArrayShape> {
        self.instruction.shape.array()
    }

    /// A called computation.
    pub(crate) fn callee(&self, at: usize) -> Result<&'m Computation> {
        self.instruction.callee(self.evaluator.module, at)
    }

    /// Dimension numbers of an operand or result, each below its rank.
    pub(crate) fn dims(&self, what: &str, values: &[i64], rank: usize) -> Result<Vec<usize>> {
        values
            .iter()
            .map(|d| {
                usize::try_from(*d)
                    .ok()
                    .filter(|d| *d < rank)
                    .ok_or_else(|| Invalid::value(what, d, format!("below {rank}")))
            })
            .collect()
    }
}

impl From<Array> for Value {
    fn from(array: Array) -> Self {
        Value::Array(Arc::new(array))
    }
}

impl Value {
    /// The arrays inside, in depth-first order.
    pub(crate) fn leaves(&self) -> Vec<&Array> {
        match self {
            Value::Array(array) => vec![array],
            Value::Tuple(values) => values.iter().flat_map(Value::leaves).collect(),
            Value::Token => Vec::new(),
        }
    }
}

/// An operation must yield what its instruction says.
fn check_shape(value: &Value, shape: &Shape) -> Result<()> {
    match (value, shape) {
        (Value::Array(array), Shape::Array(shape))
            if array.ty == shape.ty
                && array.dims == shape.dims
                && array.len() == shape.elements() =>
        {
            Ok(())
        }
        (Value::Tuple(values), Shape::Tuple(shapes)) if values.len() == shapes.len() => {
            values.iter().zip(shapes).try_for_each(|(value, shape)| check_shape(value, shape))
        }
        (Value::Token, Shape::Token) => Ok(()),
        (Value::Array(array), Shape::Array(shape)) => {
            Err(Invalid::value("result", array.shape(), shape.to_string()))
        }
        _ => Err(Invalid::value("result", "of another structure", "what the shape says")),
    }
}

fn size(value: &Value) -> u64 {
    value.leaves().iter().map(|array| array.len() as u64 * 8).sum()
}
