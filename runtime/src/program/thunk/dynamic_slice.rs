//! Steps on parts of buffers, at offsets that depend on loops.

use super::{Reader, Step, Thunk};
use crate::program::buffers::{Allocations, size};
use crate::program::{Allocation, At as _, Invalid, Result, Slice};
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
        self.reads.fields(
            "xla.gpu.DynamicSliceFusionThunkProto",
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
        self.reads.fields(
            "xla.gpu.DynamicSliceConfig",
            &["loop_index", "byte_offset", "byte_stride", "table", "linear"],
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
            let place = || format!("part {at}");
            let buffer = usize::try_from(number).ok().and_then(|n| buffers.get(n));
            let buffer = buffer.ok_or_else(|| {
                Invalid::value(
                    "parameter_number or result_number",
                    number,
                    format!("below {}", buffers.len()),
                )
            });
            let buffer = self.slice(Some(buffer.at(place)?)).at(place)?;
            let part = size("size", proto.slice_allocations[at].size).at(place)?;
            if part > buffer.size {
                let bound = format!("at most the {} bytes of its buffer", buffer.size);
                return Err(Invalid::value("slice_allocations.size", part, bound)).at(place);
            }
            let offset = config.map(|config| self.offset(config)).transpose().at(place)?;
            parts.push(Part { buffer, size: part, offset });
            allocations.push(Allocation { size: part, parameter: None, constant: false });
        }
        // The embedded thunks count their allocations anew.
        let steps = {
            let mut inner = Reader {
                allocations: Allocations(&allocations),
                limits: self.limits,
                reads: self.reads,
                depth: self.depth,
                count: self.count,
                loops: self.loops,
                started: std::mem::take(&mut self.started),
                awaited: std::mem::take(&mut self.awaited),
            };
            let steps = inner.nested(proto.embedded_thunks.as_ref(), "embedded_thunks");
            let (count, started, awaited) = (inner.count, inner.started, inner.awaited);
            (self.count, self.started, self.awaited) = (count, started, awaited);
            steps
        };
        Ok(Thunk::DynamicSlice(Box::new(DynamicSlice { parts, steps: steps? })))
    }

    fn offset(&self, config: &DynamicSliceConfig) -> Result<SliceOffset> {
        let loop_index = match config.loop_index {
            None => None,
            Some(index) => {
                let index = usize::try_from(index).ok().filter(|index| *index < self.loops);
                Some(index.ok_or_else(|| {
                    let value = config.loop_index.unwrap_or_default();
                    Invalid::value(
                        "loop_index",
                        value,
                        format!("below {}, the loops around it", self.loops),
                    )
                })?)
            }
        };
        Ok(match &config.offsets {
            Some(Offsets::Table(table)) => {
                SliceOffset::Table { loop_index, offsets: table.offsets.clone() }
            }
            Some(Offsets::Linear(linear)) => SliceOffset::Linear {
                loop_index,
                start: linear.byte_offset,
                stride: linear.byte_stride,
            },
            None => SliceOffset::Linear {
                loop_index,
                start: config.byte_offset,
                stride: config.byte_stride,
            },
        })
    }
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
