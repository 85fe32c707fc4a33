//! Whether a program computes with floats at all.

use crate::array::{Domain, domain};
use crate::program::Program;
use crate::program::hlo::{Instruction, Module};
use crate::program::shape::ArrayShape;
use crate::program::thunk::{Collective, CollectiveKind, Step, Thunk};

/// Operations that leave floats as they are, or do with them what the computations that they call do. `compare`
/// and `is-finite` make no floats.
const MOVES: [&str; 49] = [
    "add-dependency",
    "after-all",
    "all-gather",
    "all-gather-done",
    "all-gather-start",
    "all-to-all",
    "async-done",
    "async-start",
    "async-update",
    "bitcast",
    "bitcast-convert",
    "broadcast",
    "call",
    "collective-broadcast",
    "collective-permute",
    "collective-permute-done",
    "collective-permute-start",
    "compare",
    "concatenate",
    "conditional",
    "constant",
    "copy",
    "copy-done",
    "copy-start",
    "dynamic-reshape",
    "dynamic-slice",
    "dynamic-update-slice",
    "fusion",
    "gather",
    "get-tuple-element",
    "iota",
    "is-finite",
    "map",
    "opt-barrier",
    "optimization-barrier",
    "pad",
    "parameter",
    "reduce",
    "reduce-window",
    "reshape",
    "reverse",
    "scatter",
    "select",
    "select-and-scatter",
    "slice",
    "sort",
    "transpose",
    "tuple",
    "while",
];

/// Whether nothing that a program runs rounds a float: it moves data and computes with integers. Such a program
/// must give the same bits everywhere.
///
/// What this cannot tell counts as computing: kernels without an HLO instruction, and library calls.
pub fn only_moves(program: &Program) -> bool {
    let mut known = Known { module: &program.module, computations: Vec::new() };
    known.computations.resize(program.module.computations.len(), None);
    known.steps(&program.steps)
}

struct Known<'p> {
    module: &'p Module,
    /// Per computation, once it was looked at.
    computations: Vec<Option<bool>>,
}

impl Known<'_> {
    fn steps(&mut self, steps: &[Step]) -> bool {
        steps.iter().all(|step| self.step(step))
    }

    fn step(&mut self, step: &Step) -> bool {
        match &step.thunk {
            Thunk::Sequential(steps) | Thunk::AsyncStart { steps, .. } => self.steps(steps),
            Thunk::Copy { .. }
            | Thunk::OffsetCopy { .. }
            | Thunk::Fill { .. }
            | Thunk::AsyncDone { .. }
            | Thunk::ReplicaId(_)
            | Thunk::PartitionId(_) => true,
            Thunk::While { test, body, .. } => self.steps(test) && self.steps(body),
            Thunk::Conditional { branches, .. } => branches.iter().all(|steps| self.steps(steps)),
            Thunk::DynamicSlice(slice) => self.steps(&slice.steps),
            Thunk::Kernel(kernel) => self.named(&step.annotation, &kernel.name),
            Thunk::Collective(collective) => self.collective(step, collective),
            Thunk::Matmul(_)
            | Thunk::Fft(_)
            | Thunk::TriangularSolve(_)
            | Thunk::Convolution(_)
            | Thunk::CustomCall(_)
            | Thunk::Unsupported(_) => false,
        }
    }

    fn collective(&mut self, step: &Step, collective: &Collective) -> bool {
        match collective.kind {
            CollectiveKind::AllGather
            | CollectiveKind::AllToAll(_)
            | CollectiveKind::Permute(_)
            | CollectiveKind::Broadcast => true,
            CollectiveKind::AllReduce(_) | CollectiveKind::ReduceScatter(_) => {
                collective.buffers.iter().all(|buffer| !is_float(&buffer.from.shape))
            }
            CollectiveKind::Kernel => self.named(&step.annotation, ""),
        }
    }

    /// The instruction that a kernel was compiled from, found as the backend finds it.
    fn named(&mut self, annotation: &str, symbol: &str) -> bool {
        let module = self.module;
        let named = |name: &str| module.instruction(name).ok().flatten();
        let found = named(annotation).or_else(|| named(symbol));
        found.is_some_and(|(computation, instruction)| {
            self.instruction(&computation.instructions, instruction)
        })
    }

    fn instruction(&mut self, siblings: &[Instruction], instruction: &Instruction) -> bool {
        let operands = instruction.operands.iter().map(|at| &siblings[*at].shape);
        let mut leaves =
            operands.chain([&instruction.shape]).flat_map(crate::program::Shape::leaves);
        (MOVES.contains(&&*instruction.opcode) || leaves.all(|leaf| !is_float(leaf)))
            && instruction.opcode != "custom-call"
            && instruction.calls.iter().all(|at| self.computation(*at))
    }

    /// Computations do not call themselves, so this ends, and each is looked at once.
    fn computation(&mut self, at: usize) -> bool {
        if let Some(known) = self.computations[at] {
            return known;
        }
        let module = self.module;
        let instructions = &module.computations[at].instructions;
        let found = instructions.iter().all(|i| self.instruction(instructions, i));
        self.computations[at] = Some(found);
        found
    }
}

fn is_float(shape: &ArrayShape) -> bool {
    !matches!(domain(shape.ty), Ok(Domain::Pred | Domain::Int | Domain::Uint))
}
