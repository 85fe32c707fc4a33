//! Goes through the thunks of an artifact and keeps what they share.

use std::collections::BTreeSet;

use super::{Step, pairing::Pairing};
use crate::program::buffers::{Allocation, Allocations};
use crate::program::{
    At as _, Devices, Invalid, Limits, Module, Reads, Result, Shape, ShapedSlice, Slice, Warning,
};
use crate::proto::xla::buffer_assignment::BufferAllocationSliceProto;
use crate::proto::xla::gpu::ThunkProto;
use crate::proto::xla::{ShapeProto, ShapedSliceProto};

/// Thunks may nest this deep.
const MAX_DEPTH: usize = 64;

/// What the thunks of a program refer to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) allocations: &'a [Allocation],
    /// Constant allocations without content.
    pub(crate) unfilled: &'a BTreeSet<usize>,
    pub(crate) devices: Devices,
    pub(crate) module: &'a Module,
    pub(crate) limits: &'a Limits,
}

/// Checks the entry sequence.
pub(crate) fn entry(
    thunks: &[ThunkProto],
    program: Around<'_>,
    reads: &mut Reads,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Step>> {
    let mut reader = Reader {
        program,
        reads,
        warnings,
        depth: 0,
        count: 0,
        loops: 0,
        pairing: Pairing::default(),
        evaluated: BTreeSet::new(),
    };
    let steps = reader.sequence(thunks)?;
    reader.pairing.finish()?;
    Ok(steps)
}

/// Reads thunks.
pub(super) struct Reader<'a> {
    pub(super) program: Around<'a>,
    pub(super) reads: &'a mut Reads,
    warnings: &'a mut Vec<Warning>,
    depth: usize,
    count: usize,
    /// How many loops are around the current thunk.
    pub(super) loops: usize,
    pub(super) pairing: Pairing,
    /// Computations whose reads are noted.
    evaluated: BTreeSet<usize>,
}

impl Reader<'_> {
    pub(super) fn sequence(&mut self, thunks: &[ThunkProto]) -> Result<Vec<Step>> {
        if self.depth >= MAX_DEPTH {
            return Err(Invalid::value(
                "nesting of thunks",
                self.depth + 1,
                format!("at most {MAX_DEPTH}"),
            ));
        }
        self.depth += 1;
        let mut steps = Vec::with_capacity(thunks.len().min(self.program.limits.thunks));
        for (at, thunk) in thunks.iter().enumerate() {
            let warned = self.warnings.len();
            steps.push(self.step(thunk).at(|| place(at, thunk))?);
            for warning in &mut self.warnings[warned..] {
                warning.place.insert(0, place(at, thunk));
            }
        }
        self.depth -= 1;
        Ok(steps)
    }

    fn step(&mut self, proto: &ThunkProto) -> Result<Step> {
        self.count += 1;
        if self.count > self.program.limits.thunks {
            let (count, limit) = (self.count as u64, self.program.limits.thunks as u64);
            return Err(Invalid::limit("thunks", count, limit, "thunks"));
        }
        let info = proto.thunk_info.clone().unwrap_or_default();
        let (kind, thunk) = self.thunk(proto)?;
        self.reads.fields("xla.gpu.ThunkProto", &[kind]);
        Ok(Step { id: info.thunk_id, annotation: info.profile_annotation, kind, thunk })
    }

    /// Reads thunks that count their allocations anew.
    pub(super) fn inside<T>(
        &mut self,
        allocations: &[Allocation],
        read: impl FnOnce(&mut Reader<'_>) -> Result<T>,
    ) -> Result<T> {
        let unfilled = BTreeSet::new();
        let mut inner = Reader {
            program: Around { allocations, unfilled: &unfilled, ..self.program },
            reads: self.reads,
            warnings: self.warnings,
            depth: self.depth,
            count: self.count,
            loops: self.loops,
            pairing: std::mem::take(&mut self.pairing),
            evaluated: std::mem::take(&mut self.evaluated),
        };
        let result = read(&mut inner);
        let (count, pairing, evaluated) = (inner.count, inner.pairing, inner.evaluated);
        (self.count, self.pairing, self.evaluated) = (count, pairing, evaluated);
        result
    }

    pub(super) fn warn(&mut self, message: impl Into<String>) {
        self.warnings.push(Warning::new(message));
    }

    pub(super) fn slice(
        &mut self,
        slice: Option<&BufferAllocationSliceProto>,
        field: &str,
    ) -> Result<Slice> {
        self.reads.fields(
            "xla.buffer_assignment.BufferAllocationSliceProto",
            &["offset", "size", "buffer_allocation_index"],
        );
        let slice = Allocations(self.program.allocations).slice(slice);
        slice.and_then(|slice| self.filled(slice)).at(|| field.to_owned())
    }

    /// XLA takes what the module's own code has for a constant, and there is none here.
    fn filled(&self, slice: Slice) -> Result<Slice> {
        if self.program.unfilled.contains(&slice.allocation) {
            let bound =
                "one that holds something: it is constant, and none of the constants fills it";
            return Err(Invalid::value("buffer_allocation_index", slice.allocation, bound));
        }
        Ok(slice)
    }

    pub(super) fn shaped(
        &mut self,
        slice: Option<&ShapedSliceProto>,
        field: &str,
    ) -> Result<ShapedSlice> {
        self.reads.fields("xla.ShapedSliceProto", &["slice", "shape"]);
        self.reads.fields(
            "xla.buffer_assignment.BufferAllocationSliceProto",
            &["offset", "size", "buffer_allocation_index"],
        );
        let shaped = Allocations(self.program.allocations).shaped(slice);
        let shaped = shaped
            .and_then(|shaped| self.filled(shaped.slice).map(|_| shaped))
            .at(|| field.to_owned())?;
        shaped.shape.record(self.reads);
        Ok(shaped)
    }

    /// A slice that may be absent.
    pub(super) fn optional(
        &mut self,
        slice: Option<&ShapedSliceProto>,
        field: &str,
    ) -> Result<Option<ShapedSlice>> {
        slice.map(|slice| self.shaped(Some(slice), field)).transpose()
    }

    /// The shape of an array.
    pub(super) fn shape(
        &mut self,
        shape: Option<&ShapeProto>,
        field: &str,
    ) -> Result<crate::program::ArrayShape> {
        let read = || {
            let shape = Shape::new(shape.ok_or_else(|| Invalid::missing("shape"))?)?;
            shape.array().cloned()
        };
        let shape = read().at(|| field.to_owned())?;
        shape.record(self.reads);
        Ok(shape)
    }

    /// Notes what evaluating the instruction reads that a kernel was compiled from: the one that the
    /// annotation names, else the one that the symbol names.
    pub(super) fn evaluates(
        &mut self,
        annotation: &str,
        symbol: &str,
        symbol_field: (&'static str, &'static str),
    ) {
        self.reads.fields("xla.gpu.ThunkProto", &["thunk_info"]);
        self.reads.fields("xla.gpu.ThunkInfoProto", &["profile_annotation"]);
        self.reads.fields("xla.HloInstructionProto", &["name"]);
        let module = self.program.module;
        // What is wrong with a name is said when the kernel is launched.
        let found = match module.instruction(annotation) {
            Ok(None) => {
                self.reads.fields(symbol_field.0, &[symbol_field.1]);
                module.instruction(symbol)
            }
            found => found,
        };
        if let Ok(Some(found)) = found {
            crate::program::hlo::record_evaluated(module, found, &mut self.evaluated, self.reads);
        }
    }
}

/// How an error names a thunk.
fn place(at: usize, proto: &ThunkProto) -> String {
    let info = proto.thunk_info.as_ref();
    let annotation = info.map_or("", |info| &info.profile_annotation);
    let id = info.map_or(0, |info| info.thunk_id);
    format!("thunks[{at}] (id {id}, {annotation:?})")
}
