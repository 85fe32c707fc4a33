//! Goes through the thunks of a program on one device.

use super::budget::Budget;
use super::collective::Member;
use super::{Device, Place};
use crate::program::thunk::{Collective, Step, Thunk};
use crate::program::{At as _, Invalid, Limits, Result, Slice};
use crate::proto::xla::PrimitiveType;

/// One device's way through a program.
pub(crate) struct Walker<'a, D> {
    pub(crate) device: D,
    pub(crate) member: Member<'a>,
    pub(crate) limits: &'a Limits,
    /// Iterations of the loops around, outermost first.
    iterations: Vec<u64>,
    budget: Budget,
}

/// What the allocations are that slices refer to.
type Table = [Place];

impl<'a, D: Device> Walker<'a, D> {
    /// `budget` is the one that `device` counts by.
    pub(crate) fn new(device: D, member: Member<'a>, limits: &'a Limits, budget: Budget) -> Self {
        Walker { device, member, limits, iterations: Vec::new(), budget }
    }

    /// Runs steps in order.
    pub(crate) fn steps(&mut self, steps: &[Step], table: &Table) -> Result<()> {
        for step in steps {
            let place = || format!("{} {:?} (id {})", step.kind, step.annotation, step.id);
            self.budget.steps(1).and_then(|()| self.step(step, table)).at(place)?;
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
            Thunk::Copy { from, to, size } => {
                self.budget.moves(*size)?;
                self.device.copy(resolve(from), resolve(to), *size)
            }
            Thunk::OffsetCopy { from, to, size, offsets, by_iteration } => {
                let at =
                    if *by_iteration { self.iterations.last().copied().unwrap_or(0) } else { 0 };
                let found = usize::try_from(at).ok().and_then(|at| offsets.get(at));
                let (source, target) = found.ok_or_else(|| {
                    Invalid::value("iteration", at, format!("below {}", offsets.len()))
                })?;
                self.budget.moves(*size)?;
                let (from, to) = (resolve(from), resolve(to));
                let from = Place { offset: from.offset + source, size: from.size - source, ..from };
                let to = Place { offset: to.offset + target, size: to.size - target, ..to };
                self.device.copy(from, to, *size)
            }
            Thunk::Fill { to, word } => {
                self.budget.moves(to.size)?;
                self.device.fill(resolve(to), *word)
            }
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
                let bytes = self
                    .device
                    .read(Place { size: index.shape.bytes(), ..resolve(&index.slice) })?;
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
                    let to = &kernel.arguments[*at].slice;
                    self.budget.moves(to.size)?;
                    self.device.fill(resolve(to), 0)?;
                }
                self.device.kernel(step, kernel, &resolve)
            }
            Thunk::Collective(collective) => {
                self.exchanged(collective)?;
                self.member.run(step, collective, &mut self.device, &resolve)
            }
            Thunk::Matmul(matmul) => match &matmul.unsupported {
                Some(what) => Err(Invalid::unsupported(what.clone())),
                None => self.device.matmul(matmul, &resolve),
            },
            Thunk::Fft(fft) => self.device.fft(fft, &resolve),
            Thunk::TriangularSolve(solve) => self.device.triangular_solve(solve, &resolve),
            Thunk::Convolution(convolution) => self.device.convolution(convolution, &resolve),
            Thunk::CustomCall(call) => self.device.custom_call(step, call, &resolve),
            Thunk::Unsupported(what) => Err(Invalid::unsupported(what.clone())),
        }
    }

    /// Counts what the devices of a collective send to each other: each holds what all of them brought.
    fn exchanged(&self, collective: &Collective) -> Result<()> {
        let devices = (self.member.replicas * self.member.partitions) as u64;
        for buffer in &collective.buffers {
            self.budget.steps((buffer.count as u64).saturating_mul(devices))?;
            self.budget.room(buffer.from.shape.held().saturating_mul(devices + 1))?;
        }
        Ok(())
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
                self.budget.steps(1)?;
                // The condition of a round knows its number, too.
                if let Some(last) = self.iterations.last_mut() {
                    *last = iteration;
                }
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
                self.steps(body, table)?;
            }
            Ok(())
        })();
        self.iterations.pop();
        result
    }
}
