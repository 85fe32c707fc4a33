//! Steps on parts of buffers, at offsets that depend on loops.

use super::{Reader, Step, Thunk};
use crate::program::buffers::{below, size};
use crate::program::{Allocation, At as _, Invalid, Result, Slice};
use crate::proto::xla::BufferAllocationProto;
use crate::proto::xla::buffer_assignment::BufferAllocationSliceProto;
use crate::proto::xla::gpu::dynamic_slice_config::Offsets;
use crate::proto::xla::gpu::{DynamicSliceConfig, DynamicSliceFusionThunkProto};

/// Steps whose buffers are parts of others.
#[derive(Debug)]
pub struct DynamicSlice {
    /// What the allocations of `steps` are, in order.
    pub parts: Vec<Part>,
    /// The steps.
    pub steps: Vec<Step>,
}

/// A part of a buffer.
#[derive(Debug)]
pub struct Part {
    /// The whole.
    pub buffer: Slice,
    /// Bytes of the part; those of the whole where it has no offset.
    pub size: usize,
    /// Where it lies; cut so that the part lies inside.
    pub offset: Option<SliceOffset>,
}

/// An offset in bytes.
#[derive(Debug)]
pub enum SliceOffset {
    /// `start + iteration * stride`.
    Linear {
        /// Which loop's iteration; 0 is the innermost. None: iteration 0.
        loop_index: Option<usize>,
        /// In the first iteration.
        start: i64,
        /// Added in each.
        stride: i64,
    },
    /// An offset per iteration.
    Table {
        /// Which loop's iteration; 0 is the innermost. None: iteration 0.
        loop_index: Option<usize>,
        /// The offsets.
        offsets: Vec<i64>,
    },
}

impl Reader<'_> {
    pub(super) fn dynamic_slice_fusion(
        &mut self,
        proto: &DynamicSliceFusionThunkProto,
    ) -> Result<Thunk> {
        const MESSAGE: &str = "xla.gpu.DynamicSliceFusionThunkProto";
        self.reads.fields(
            MESSAGE,
            &[
                "parameters",
                "results",
                "parameter_buffers",
                "result_buffers",
                "slice_allocations",
                "embedded_thunks",
            ],
        );
        self.reads.fields(
            "xla.gpu.DynamicSliceFusionThunkProto.ParameterProto",
            &["parameter_number", "slice_config"],
        );
        self.reads.fields(
            "xla.gpu.DynamicSliceFusionThunkProto.ResultProto",
            &["result_number", "update_config"],
        );
        let parameters = proto.parameters.iter().map(|parameter| {
            (&proto.parameter_buffers, parameter.parameter_number, parameter.slice_config.as_ref())
        });
        let results = proto.results.iter().map(|result| {
            (&proto.result_buffers, result.result_number, result.update_config.as_ref())
        });
        let wanted = proto.parameters.len() + proto.results.len();
        if proto.slice_allocations.len() != wanted {
            let value = proto.slice_allocations.len();
            return Err(Invalid::value(
                "slice_allocations",
                value,
                format!("{wanted}, one per parameter and result"),
            ));
        }
        let (mut parts, mut allocations) = (Vec::with_capacity(wanted), Vec::with_capacity(wanted));
        for (at, (buffers, number, config)) in parameters.chain(results).enumerate() {
            let place = || match at.checked_sub(proto.parameters.len()) {
                None => format!("parameters[{at}]"),
                Some(at) => format!("results[{at}]"),
            };
            let allocation = &proto.slice_allocations[at];
            let part = self.part(buffers, number, config, allocation, at).at(place)?;
            allocations.push(Allocation { size: part.size, parameter: None, constant: false });
            parts.push(part);
        }
        in_place(proto)?;
        // The embedded thunks count their allocations anew.
        let steps = self.inside(&allocations, |inner| {
            inner.nested(proto.embedded_thunks.as_ref(), "embedded_thunks")
        })?;
        Ok(Thunk::DynamicSlice(Box::new(DynamicSlice { parts, steps })))
    }

    /// The buffer that a parameter or result is cut from, and how.
    fn part(
        &mut self,
        buffers: &[BufferAllocationSliceProto],
        number: i64,
        config: Option<&DynamicSliceConfig>,
        allocation: &BufferAllocationProto,
        at: usize,
    ) -> Result<Part> {
        self.reads.fields("xla.BufferAllocationProto", &["index", "size"]);
        if allocation.index != at as i64 {
            return Err(Invalid::value(
                "slice_allocations.index",
                allocation.index,
                at.to_string(),
            ));
        }
        let buffer = usize::try_from(number).ok().and_then(|n| buffers.get(n));
        let buffer = buffer.ok_or_else(|| {
            Invalid::value("parameter_number or result_number", number, below(buffers.len()))
        })?;
        let buffer = self.slice(Some(buffer), "buffer")?;
        let size = size("slice_allocations.size", allocation.size)?;
        if size > buffer.size {
            let bound = format!("at most the {} bytes of its buffer", buffer.size);
            return Err(Invalid::value("slice_allocations.size", size, bound));
        }
        let offset = config.map(|config| self.offset(config)).transpose()?;
        Ok(Part { buffer, size, offset })
    }

    fn offset(&mut self, config: &DynamicSliceConfig) -> Result<SliceOffset> {
        const MESSAGE: &str = "xla.gpu.DynamicSliceConfig";
        self.reads.fields(MESSAGE, &["loop_index"]);
        let loop_index = config.loop_index.and_then(|index| {
            let found = usize::try_from(index).ok().filter(|index| *index < self.loops);
            if found.is_none() {
                let loops = self.loops;
                self.warn(format!(
                    "loop_index is {index} inside {loops} loops: as XLA's runtime does, the offset of the first iteration is taken"
                ));
            }
            found
        });
        Ok(match &config.offsets {
            Some(Offsets::Table(table)) => {
                self.reads.fields(MESSAGE, &["table"]);
                self.reads.fields("xla.gpu.DynamicSliceConfig.Table", &["offsets"]);
                if table.offsets.is_empty() {
                    return Err(Invalid::value(
                        "table.offsets",
                        "empty",
                        "an offset per iteration",
                    ));
                }
                SliceOffset::Table { loop_index, offsets: table.offsets.clone() }
            }
            Some(Offsets::Linear(linear)) => {
                self.reads.fields(MESSAGE, &["linear"]);
                self.reads
                    .fields("xla.gpu.DynamicSliceConfig.Linear", &["byte_offset", "byte_stride"]);
                SliceOffset::Linear {
                    loop_index,
                    start: linear.byte_offset,
                    stride: linear.byte_stride,
                }
            }
            None => {
                self.reads.fields(MESSAGE, &["byte_offset", "byte_stride"]);
                SliceOffset::Linear {
                    loop_index,
                    start: config.byte_offset,
                    stride: config.byte_stride,
                }
            }
        })
    }
}

/// A result that updates a parameter has to lie where the parameter does.
fn in_place(proto: &DynamicSliceFusionThunkProto) -> Result<()> {
    for (at, result) in proto.results.iter().enumerate() {
        let Some(number) = result.parameter_number else { continue };
        let find = |buffers: &'_ [BufferAllocationSliceProto], number: i64| {
            let buffer = usize::try_from(number).ok().and_then(|n| buffers.get(n))?;
            Some((buffer.buffer_allocation_index, buffer.offset, buffer.size))
        };
        let parameter = find(&proto.parameter_buffers, number);
        if parameter.is_none() || parameter != find(&proto.result_buffers, result.result_number) {
            let bound = "a parameter in the same buffer as the result";
            return Err(
                Invalid::value("parameter_number", number, bound).at(format!("results[{at}]"))
            );
        }
    }
    Ok(())
}

impl Part {
    /// The first byte in the buffer, given the iterations of the loops around, outermost first.
    pub fn start(&self, iterations: &[u64]) -> usize {
        let iteration = |loop_index: Option<usize>| {
            let at = loop_index.and_then(|index| iterations.len().checked_sub(index + 1));
            at.and_then(|at| iterations.get(at))
                .map_or(0, |n| i64::try_from(*n).unwrap_or(i64::MAX))
        };
        let offset = match &self.offset {
            None => 0,
            Some(SliceOffset::Linear { loop_index, start, stride }) => {
                start.saturating_add(iteration(*loop_index).saturating_mul(*stride))
            }
            Some(SliceOffset::Table { loop_index, offsets }) => {
                let at = usize::try_from(iteration(*loop_index)).unwrap_or(usize::MAX);
                offsets.get(at).or(offsets.last()).copied().unwrap_or(0)
            }
        };
        let last = self.buffer.size - self.size;
        usize::try_from(offset.max(0)).unwrap_or(usize::MAX).min(last)
    }
}
