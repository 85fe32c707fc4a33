//! Runs programs on the CPU, plainly: every kernel is evaluated as the HLO instruction it was compiled from,
//! on the thunk's own buffers, so that buffer assignment, order, offsets and aliasing are what is tested.

mod convolution;
mod custom_call;
mod fft;
mod hlo;
mod keys;
mod linear;
mod matmul;
mod radix_sort;
mod solve;
mod undetermined;
mod wide;

use super::budget::Budget;
use super::collective::{Member, Peers};
use super::{Device, Place, Resolve};
use crate::array::{Array, decode, encode};
use crate::program::hlo::{Computation, Instruction};
use crate::program::shape::{ArrayShape, Shape};
use crate::program::thunk::{
    Collective, Convolution, CustomCall, Fft, Kernel, KernelArgument, Matmul, Step, TriangularSolve,
};
use crate::program::{At as _, Invalid, Limits, Program, Result};
use hlo::{DeviceIds, Evaluator, Value};

pub(crate) use hlo::reduce_arrays;
use undetermined::Undetermined;

/// One virtual device.
pub(crate) struct Reference<'p> {
    program: &'p Program,
    limits: &'p Limits,
    budget: Budget,
    ids: DeviceIds,
    memory: Vec<Vec<u8>>,
    undetermined: Undetermined,
}

impl<'p> Reference<'p> {
    pub(crate) fn new(
        program: &'p Program,
        limits: &'p Limits,
        budget: Budget,
        member: &Member<'_>,
    ) -> Self {
        let ids = DeviceIds { replica: member.replica as u32, partition: member.partition as u32 };
        // Zeroed by the system, so that large scratch buffers cost nothing until they are used.
        let memory = program.allocations.iter().map(|a| vec![0; a.size]).collect();
        let undetermined = Undetermined::default();
        Reference { program, limits, budget, ids, memory, undetermined }
    }

    /// The bytes of a place, to be used.
    fn bytes(&self, place: Place) -> Result<&[u8]> {
        self.undetermined.check(place)?;
        Ok(self.bytes_before(place))
    }

    /// The bytes of a place that is written next.
    fn bytes_before(&self, place: Place) -> &[u8] {
        &self.memory[place.allocation][place.offset..][..place.size]
    }

    /// The bytes of a place, to be written.
    fn bytes_mut(&mut self, place: Place) -> &mut [u8] {
        self.undetermined.written(place);
        &mut self.memory[place.allocation][place.offset..][..place.size]
    }

    /// The array at a place.
    fn load(&self, place: Place, shape: &ArrayShape) -> Result<Array> {
        self.counted(shape)?;
        decode(self.bytes(place)?, shape)
    }

    /// The array at a place that is written next, not all of it perhaps.
    fn load_before(&self, place: Place, shape: &ArrayShape) -> Result<Array> {
        self.counted(shape)?;
        decode(self.bytes_before(place), shape)
    }

    /// Counts an array that is read from memory.
    fn counted(&self, shape: &ArrayShape) -> Result<()> {
        self.budget.room(shape.held())?;
        self.budget.steps(shape.elements() as u64)
    }

    /// Stores an array at a place.
    fn store(&mut self, place: Place, shape: &ArrayShape, array: &Array) -> Result<()> {
        encode(array, shape, self.bytes_mut(place))
    }

    /// The instruction that a thunk was compiled from.
    fn instruction(&self, step: &Step, symbol: &str) -> Result<(&'p Computation, &'p Instruction)> {
        let module = &self.program.module;
        let found = match module.instruction(&step.annotation)? {
            None => module.instruction(symbol)?,
            found => found,
        };
        found.ok_or_else(|| {
            let names = format!("{:?} and {symbol:?}", step.annotation);
            Invalid::value(
                "profile_annotation and kernel name",
                names,
                "the name of an HLO instruction",
            )
        })
    }

    /// Evaluates an instruction on buffers: its operands' arrays, then those of its result.
    fn evaluate(
        &mut self,
        (computation, instruction): (&'p Computation, &'p Instruction),
        inputs: &[Place],
        outputs: &[Place],
        peers: Option<&dyn Peers>,
    ) -> Result<()> {
        let mut places = inputs.iter();
        let evaluator =
            Evaluator::new(&self.program.module, self.limits, self.ids, peers).within(&self.budget);
        let operands = instruction
            .operands
            .iter()
            .map(|at| {
                let shape = &computation.instructions[*at].shape;
                evaluator.charge(shape)?;
                self.operand(shape, &mut places)
            })
            .collect::<Result<Vec<Value>>>()?;
        let result = evaluator.instruction(computation, instruction, operands)?;
        let (shapes, values) = (instruction.shape.leaves(), result.leaves());
        if values.len() != shapes.len() || outputs.len() != shapes.len() {
            return Err(Invalid::value(
                "arrays of the result",
                values.len(),
                shapes.len().to_string(),
            ));
        }
        for ((place, shape), value) in outputs.iter().zip(shapes).zip(values) {
            self.store(*place, shape, value)?;
        }
        Ok(())
    }

    fn operand(&self, shape: &Shape, places: &mut std::slice::Iter<'_, Place>) -> Result<Value> {
        Ok(match shape {
            Shape::Array(shape) => {
                let place = places.next().ok_or_else(|| Invalid::missing("argument"))?;
                self.load(*place, shape)?.into()
            }
            Shape::Tuple(shapes) => {
                shapes.iter().map(|shape| self.operand(shape, places)).collect::<Result<_>>()?
            }
            Shape::Token => Value::Token,
        })
    }
}

/// Arguments of a kernel have to be the operands of the instruction, then the arrays of its result.
fn check_arguments(
    arguments: &[KernelArgument],
    computation: &Computation,
    instruction: &Instruction,
) -> Result<usize> {
    let operands: Vec<&ArrayShape> = instruction
        .operands
        .iter()
        .flat_map(|at| computation.instructions[*at].shape.leaves())
        .collect();
    let results = instruction.shape.leaves();
    if arguments.len() != operands.len() + results.len() {
        let bound = format!(
            "{} operands and {} results of {:?}",
            operands.len(),
            results.len(),
            instruction.name
        );
        return Err(Invalid::value("args", arguments.len(), bound));
    }
    for (at, (argument, shape)) in arguments.iter().zip(operands.iter().chain(&results)).enumerate()
    {
        let place = || format!("args[{at}]");
        if let Some(own) = &argument.shape
            && (own.ty != shape.ty
                || own.dims != shape.dims
                || own.minor_to_major != shape.minor_to_major)
        {
            return Err(Invalid::value(
                "shape",
                own,
                format!("{shape}, as in {:?}", instruction.name),
            ))
            .at(place);
        }
        crate::program::buffers::shape_fits(&argument.slice, shape).at(place)?;
        if at >= operands.len() && !argument.written {
            return Err(Invalid::value("written", false, "true for a result")).at(place);
        }
    }
    Ok(operands.len())
}

impl Device for Reference<'_> {
    fn copy(&mut self, from: Place, to: Place, size: usize) -> Result<()> {
        let (from, to) = (Place { size, ..from }, Place { size, ..to });
        if from.allocation == to.allocation {
            self.undetermined.check(from)?;
            self.undetermined.written(to);
            let from = from.offset..from.offset + size;
            self.memory[to.allocation].copy_within(from, to.offset);
        } else {
            let bytes = self.bytes(from)?.to_vec();
            self.bytes_mut(to).copy_from_slice(&bytes);
        }
        Ok(())
    }

    fn fill(&mut self, to: Place, word: u32) -> Result<()> {
        let word = word.to_le_bytes();
        for (at, byte) in self.bytes_mut(to).iter_mut().enumerate() {
            *byte = word[at % 4];
        }
        Ok(())
    }

    fn read(&mut self, from: Place) -> Result<Vec<u8>> {
        Ok(self.bytes(from)?.to_vec())
    }

    fn write(&mut self, to: Place, bytes: &[u8]) -> Result<()> {
        if bytes.len() > to.size {
            return Err(Invalid::value("bytes", bytes.len(), format!("at most {}", to.size)));
        }
        self.bytes_mut(Place { size: bytes.len(), ..to }).copy_from_slice(bytes);
        Ok(())
    }

    fn kernel(&mut self, step: &Step, kernel: &Kernel, resolve: Resolve<'_>) -> Result<()> {
        let (computation, instruction) = self.instruction(step, &kernel.name)?;
        if let Some(what) = opaque(instruction) {
            return Err(Invalid::unsupported(what));
        }
        let operands = check_arguments(&kernel.arguments, computation, instruction)?;
        let places: Vec<Place> = kernel.arguments.iter().map(|a| resolve(&a.slice)).collect();
        let (inputs, outputs) = places.split_at(operands);
        self.evaluate((computation, instruction), inputs, outputs, None)
    }

    fn collective_kernel(
        &mut self,
        step: &Step,
        collective: &Collective,
        peers: &dyn Peers,
        resolve: Resolve<'_>,
    ) -> Result<()> {
        let (computation, instruction) = self.instruction(step, "")?;
        let inputs: Vec<Place> =
            collective.buffers.iter().map(|b| resolve(&b.from.slice)).collect();
        let outputs: Vec<Place> = collective.buffers.iter().map(|b| resolve(&b.to.slice)).collect();
        self.evaluate((computation, instruction), &inputs, &outputs, Some(peers))
    }

    fn matmul(&mut self, matmul: &Matmul, resolve: Resolve<'_>) -> Result<()> {
        matmul::run(self, matmul, resolve)
    }

    fn fft(&mut self, fft: &Fft, resolve: Resolve<'_>) -> Result<()> {
        let input = self.load(resolve(&fft.input.0), &fft.input.1)?;
        let output = fft::transform(fft.kind, &fft.lengths, &input, &fft.output.1)?;
        self.store(resolve(&fft.output.0), &fft.output.1, &output)
    }

    fn triangular_solve(&mut self, solve: &TriangularSolve, resolve: Resolve<'_>) -> Result<()> {
        let a = self.load(resolve(&solve.a.slice), &solve.a.shape)?;
        let b = self.load(resolve(&solve.b.slice), &solve.b.shape)?;
        let height = a.dims.last().map_or(0, |n| *n as u64);
        self.budget.steps((b.len() as u64).saturating_mul(height))?;
        let x = solve::triangular(solve, &a, &b)?;
        self.store(resolve(&solve.b.slice), &solve.b.shape, &x)
    }

    fn convolution(&mut self, convolution: &Convolution, resolve: Resolve<'_>) -> Result<()> {
        convolution::run(self, convolution, resolve)
    }

    fn custom_call(&mut self, step: &Step, call: &CustomCall, resolve: Resolve<'_>) -> Result<()> {
        custom_call::run(self, step, call, resolve)
    }
}

/// What an instruction calls that has no meaning in HLO.
fn opaque(instruction: &Instruction) -> Option<String> {
    let known = hlo::CUSTOM_CALLS.contains(&instruction.proto.custom_call_target.as_str());
    (instruction.opcode == "custom-call" && !known)
        .then(|| format!("kernel of custom call {:?}", instruction.proto.custom_call_target))
}
