//! Goes through the thunks of a program on one device.

use std::cell::Cell;

use super::collective::Member;
use super::{Device, Place};
use crate::program::thunk::{Step, Thunk};
use crate::program::{At as _, Invalid, Limits, Result, Slice};
use crate::proto::xla::PrimitiveType;

/// One device's way through a program.
pub(crate) struct Walker<'a, D> {
    pub(crate) device: D,
    pub(crate) member: Member<'a>,
    pub(crate) limits: &'a Limits,
    /// Iterations of the loops around, outermost first.
    iterations: Vec<u64>,
    executed: Cell<u64>,
}

/// What the allocations are that slices refer to.
type Table = [Place];

impl<'a, D: Device> Walker<'a, D> {
    pub(crate) fn new(device: D, member: Member<'a>, limits: &'a Limits) -> Self {
        Walker { device, member, limits, iterations: Vec::new(), executed: Cell::new(0) }
    }

    /// Runs steps in order.
    pub(crate) fn steps(&mut self, steps: &[Step], table: &Table) -> Result<()> {
        for step in steps {
            let executed = self.executed.get() + 1;
            self.executed.set(executed);
            if executed > self.limits.steps {
                return Err(Invalid::limit(
                    "thunks executed",
                    executed,
                    self.limits.steps,
                    "steps",
                ));
            }
            self.step(step, table)
                .at(|| format!("{} {:?} (id {})", step.kind, step.annotation, step.id))?;
        }
        Ok(())
    }

    fn step(&mut self, step: &Step, table: &Table) -> Result<()> {
        let resolve = |slice: &Slice| {
            let whole = table[slice.allocation];
            Place { offset: whole.offset + slice.offset, size: slice.size, ..whole }
        };
        match &step.thunk {
            Thunk::Sequential(steps) | Thunk::AsyncStart { steps, .. } => self.steps(steps, table),
            // What was started has finished already.
            Thunk::AsyncDone { .. } => Ok(()),
            Thunk::Copy { from, to, size } => self.device.copy(resolve(from), resolve(to), *size),
            Thunk::OffsetCopy { from, to, size, offsets, by_iteration } => {
                let at =
                    if *by_iteration { self.iterations.last().copied().unwrap_or(0) } else { 0 };
                let found = usize::try_from(at).ok().and_then(|at| offsets.get(at));
                let (source, target) = found.ok_or_else(|| {
                    Invalid::value("iteration", at, format!("below {}", offsets.len()))
                })?;
                let (from, to) = (resolve(from), resolve(to));
                let from = Place { offset: from.offset + source, size: from.size - source, ..from };
                let to = Place { offset: to.offset + target, size: to.size - target, ..to };
                self.device.copy(from, to, *size)
            }
            Thunk::Fill { to, word } => self.device.fill(resolve(to), *word),
            Thunk::ReplicaId(to) => {
                self.device.write(resolve(to), &(self.member.replica as u32).to_le_bytes())
            }
            Thunk::PartitionId(to) => {
                self.device.write(resolve(to), &(self.member.partition as u32).to_le_bytes())
            }
            Thunk::While { condition, test, body, trip_count } => {
                let condition = resolve(condition);
                self.repeat(condition, test, body, *trip_count, table)
            }
            Thunk::Conditional { index, branches } => {
                let bytes = self.device.read(resolve(&index.slice))?;
                let last = branches.len() - 1;
                let at = match (index.shape.ty, bytes.first_chunk()) {
                    (PrimitiveType::Pred, _) => usize::from(bytes.first() == Some(&0)),
                    (_, Some(word)) => {
                        // An index out of range takes the last branch.
                        usize::try_from(i32::from_le_bytes(*word))
                            .ok()
                            .filter(|at| *at <= last)
                            .unwrap_or(last)
                    }
                    _ => return Err(Invalid::value("branch_index_buffer.size", bytes.len(), "4")),
                };
                self.steps(&branches[at], table)
            }
            Thunk::DynamicSlice(slice) => {
                let parts: Vec<Place> = slice
                    .parts
                    .iter()
                    .map(|part| {
                        let whole = resolve(&part.buffer);
                        let start = part.start(&self.iterations);
                        Place { offset: whole.offset + start, size: part.size, ..whole }
                    })
                    .collect();
                self.steps(&slice.steps, &parts)
            }
            Thunk::Kernel(kernel) => {
                for at in &kernel.zeroed {
                    self.device.fill(resolve(&kernel.arguments[*at].slice), 0)?;
                }
                self.device.kernel(step, kernel, &resolve)
            }
            Thunk::Collective(collective) => {
                self.member.run(step, collective, &mut self.device, &resolve)
            }
            Thunk::Matmul(matmul) => match &matmul.unsupported {
                Some(what) => Err(Invalid::unsupported(what.clone())),
                None => self.device.matmul(matmul, &resolve),
            },
            Thunk::Fft(fft) => self.device.fft(fft, &resolve),
            Thunk::TriangularSolve(solve) => self.device.triangular_solve(solve, &resolve),
            Thunk::CustomCall(call) => self.device.custom_call(step, call, &resolve),
            Thunk::Unsupported(what) => Err(Invalid::unsupported(what.clone())),
        }
    }

    fn repeat(
        &mut self,
        condition: Place,
        test: &[Step],
        body: &[Step],
        trip_count: Option<u64>,
        table: &Table,
    ) -> Result<()> {
        self.iterations.push(0);
        let result = (|| {
            for iteration in 0.. {
                let go_on = match trip_count {
                    Some(count) => iteration < count,
                    None => {
                        self.steps(test, table)?;
                        self.device.read(condition)?.first().is_some_and(|byte| *byte != 0)
                    }
                };
                if !go_on {
                    break;
                }
                if iteration >= self.limits.iterations {
                    let limit = self.limits.iterations;
                    return Err(Invalid::limit("iterations", iteration + 1, limit, "iterations"));
                }
                if let Some(last) = self.iterations.last_mut() {
                    *last = iteration;
                }
                self.steps(body, table)?;
            }
            Ok(())
        })();
        self.iterations.pop();
        result
    }
}
