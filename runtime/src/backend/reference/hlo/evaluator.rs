//! Goes through a computation and keeps count of work and memory.

use std::cell::Cell;
use std::sync::Arc;

use super::{Op, Value, family};
use crate::array::{Array, element_bytes};
use crate::backend::budget::Budget;
use crate::backend::collective::Peers;
use crate::program::hlo::{Computation, Instruction, Module};
use crate::program::shape::Shape;
use crate::program::{At as _, Invalid, Limits, Result};

/// Steps that entering a computation counts as, and each instruction in it beside the elements that it makes: about the
/// time that they take.
const CALL: u64 = 16;
const INSTRUCTION: u64 = 4;

/// Evaluates computations of one module on one device.
pub(crate) struct Evaluator<'m> {
    pub(crate) module: &'m Module,
    pub(crate) limits: &'m Limits,
    /// What the device may still do.
    budget: Budget,
    /// Bytes of the arrays alive. What an operation needs while it runs is not counted: some words for
    /// each element of its operands and result.
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
        let budget = Budget::new(limits, 1);
        Evaluator { module, limits, budget, alive: Cell::new(0), device, peers }
    }

    /// Counts together with the rest of what the device does.
    pub(crate) fn within(mut self, budget: &Budget) -> Self {
        self.budget = budget.clone();
        self
    }

    /// The result of a computation.
    pub(crate) fn computation(
        &self,
        computation: &Computation,
        arguments: Vec<Value>,
    ) -> Result<Value> {
        if arguments.len() != computation.parameters.len() {
            let bound = computation.parameters.len().to_string();
            return Err(Invalid::value("arguments", arguments.len(), bound)
                .at(format!("computation {:?}", computation.name)));
        }
        self.steps(CALL + INSTRUCTION.saturating_mul(computation.instructions.len() as u64))?;
        let mut arguments: Vec<Option<Value>> = arguments.into_iter().map(Some).collect();
        let mut uses = computation.uses.clone();
        let mut values: Vec<Option<Value>> = vec![None; computation.instructions.len()];
        for (at, instruction) in computation.instructions.iter().enumerate() {
            if instruction.opcode == "parameter" {
                let value = parameter(instruction, &mut arguments)
                    .at(|| place(computation, instruction))?;
                values[at] = Some(value);
            }
            if uses[at] == 0 {
                // Nothing reads it, and nothing here has side effects.
                values[at].take().into_iter().for_each(|unread| self.release(unread));
            } else if values[at].is_none() {
                let mut operands = Vec::with_capacity(instruction.operands.len());
                for operand in &instruction.operands {
                    uses[*operand] -= 1;
                    let value = &mut values[*operand];
                    let value = if uses[*operand] == 0 { value.take() } else { value.clone() };
                    operands.push(value.ok_or_else(|| Invalid::missing("operand"))?);
                }
                values[at] = Some(self.instruction(computation, instruction, operands)?);
            }
        }
        let root = values[computation.root].take();
        values.into_iter().flatten().for_each(|value| self.release(value));
        root.ok_or_else(|| Invalid::missing("root"))
    }

    /// The result of an instruction.
    pub(crate) fn instruction(
        &self,
        computation: &Computation,
        instruction: &Instruction,
        operands: Vec<Value>,
    ) -> Result<Value> {
        let evaluate = || {
            let family = family(&instruction.opcode)?;
            if !family.passes {
                self.charge(&instruction.shape)?;
            }
            self.work(&instruction.shape, family.passes)?;
            let mut op = Op { evaluator: self, computation, instruction, operands };
            let value = (family.evaluate)(&mut op)?;
            op.operands.into_iter().for_each(|operand| self.release(operand));
            value.check_shape(&instruction.shape)?;
            Ok(value)
        };
        evaluate().at(|| place(computation, instruction))
    }

    /// Counts the elements of a result, unless they were `made` before, and its arrays.
    fn work(&self, shape: &Shape, made: bool) -> Result<()> {
        let leaves = shape.leaves();
        let elements =
            leaves.iter().map(|leaf| leaf.elements() as u64).fold(0, u64::saturating_add);
        let elements = if made { 0 } else { elements };
        self.steps(elements.saturating_add(leaves.len() as u64 + 1))
    }

    /// Counts the memory that an array or several take.
    pub(crate) fn charge(&self, shape: &Shape) -> Result<()> {
        let bytes = shape.leaves().iter().try_fold(0_u64, |sum, leaf| {
            let own = (leaf.elements() as u64).saturating_mul(element_bytes(leaf.ty)?);
            Ok(sum.saturating_add(own))
        })?;
        let alive = self.alive.get().saturating_add(bytes);
        self.budget.room(alive)?;
        self.alive.set(alive);
        Ok(())
    }

    /// Counts an array that was made beside the instructions; it has to be small.
    pub(super) fn count(&self, array: &Array) {
        let bytes = element_bytes(array.ty).map_or(0, |bytes| bytes * array.len() as u64);
        self.alive.set(self.alive.get().saturating_add(bytes));
    }

    /// Takes an array out of the count.
    pub(super) fn forget(&self, array: &Array) {
        let bytes = element_bytes(array.ty).map_or(0, |bytes| bytes * array.len() as u64);
        self.alive.set(self.alive.get().saturating_sub(bytes));
    }

    /// Lets go of a value; what nothing else holds goes out of the count.
    pub(super) fn release(&self, value: Value) {
        match value {
            Value::Array(array) => {
                if let Some(array) = Arc::into_inner(array) {
                    self.forget(&array);
                }
            }
            Value::Tuple(values) => {
                Arc::into_inner(values).into_iter().flatten().for_each(|value| self.release(value));
            }
            Value::Token => {}
        }
    }

    /// Counts work.
    pub(crate) fn steps(&self, count: u64) -> Result<()> {
        self.budget.steps(count)
    }

    /// Bytes of the arrays alive.
    #[cfg(test)]
    pub(super) fn alive(&self) -> u64 {
        self.alive.get()
    }
}

fn place(computation: &Computation, instruction: &Instruction) -> String {
    format!("{} {:?} in {:?}", instruction.opcode, instruction.name, computation.name)
}

fn parameter(instruction: &Instruction, arguments: &mut [Option<Value>]) -> Result<Value> {
    let (number, count) = (instruction.proto.parameter_number, arguments.len());
    let found = usize::try_from(number).ok().and_then(|at| arguments.get_mut(at)?.take());
    let value = found
        .ok_or_else(|| Invalid::value("parameter_number", number, format!("below {count}")))?;
    value.check_shape(&instruction.shape)?;
    Ok(value)
}
