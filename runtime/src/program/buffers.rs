//! Buffer allocations and slices of them.

use super::invalid::{At as _, Invalid, Result};
use super::shape::{ArrayShape, Shape};
use crate::proto::xla::buffer_assignment::BufferAllocationSliceProto;
use crate::proto::xla::{BufferAllocationProto, ShapedSliceProto};

/// A piece of memory that thunks work on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allocation {
    /// Bytes.
    pub size: usize,
    /// Parameter and index inside it, where the caller supplies the memory.
    pub parameter: Option<(usize, Vec<usize>)>,
    /// Filled with a constant before the program starts.
    pub constant: bool,
}

/// Part of an allocation; lies inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// Index of the allocation.
    pub allocation: usize,
    /// First byte.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
}

/// A slice and the array in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapedSlice {
    /// Where it lies.
    pub slice: Slice,
    /// What it holds.
    pub shape: ArrayShape,
}

impl Slice {
    /// Whether two slices share some bytes without being the same.
    pub(crate) fn overlaps_partly(&self, other: &Slice) -> bool {
        self != other
            && self.size > 0
            && other.size > 0
            && self.allocation == other.allocation
            && self.offset < other.offset + other.size
            && other.offset < self.offset + self.size
    }
}

/// The allocations that slices of a thunk sequence refer to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allocations<'a>(pub(crate) &'a [Allocation]);

/// Checks the allocations of one device; `limit` is the most they may take together.
pub(crate) fn allocations(protos: &[BufferAllocationProto], limit: u64) -> Result<Vec<Allocation>> {
    let mut total = 0_u64;
    let mut out = Vec::with_capacity(protos.len());
    for (at, proto) in protos.iter().enumerate() {
        let place = || format!("allocation {at}");
        if proto.index != at as i64 {
            return Err(Invalid::value("index", proto.index, at.to_string())).at(place);
        }
        let size = size("size", proto.size).at(place)?;
        total = total.saturating_add(size as u64);
        if total > limit {
            return Err(Invalid::limit("bytes of all allocations", total, limit, "memory"))
                .at(place);
        }
        if proto.is_entry_computation_parameter && proto.is_constant {
            let bound = "false for a parameter, which the caller fills";
            return Err(Invalid::value("is_constant", true, bound)).at(place);
        }
        let parameter = if proto.is_entry_computation_parameter {
            let number = self::size("parameter_number", proto.parameter_number).at(place)?;
            let index =
                proto.parameter_shape_index.iter().map(|i| self::size("parameter_shape_index", *i));
            Some((number, index.collect::<Result<Vec<_>>>().at(place)?))
        } else {
            None
        };
        out.push(Allocation { size, parameter, constant: proto.is_constant });
    }
    Ok(out)
}

/// The bound of an index into a list.
pub(crate) fn below(count: usize) -> String {
    if count == 0 {
        "none, because the list is empty".to_owned()
    } else {
        format!("0 to {}", count - 1)
    }
}

/// A count or size that must not be negative.
pub(crate) fn size(what: &str, value: i64) -> Result<usize> {
    usize::try_from(value).map_err(|_| Invalid::value(what, value, "0 or more"))
}

impl Allocations<'_> {
    /// Checks a slice against its allocation.
    pub(crate) fn slice(self, proto: Option<&BufferAllocationSliceProto>) -> Result<Slice> {
        let proto = proto.ok_or_else(|| Invalid::missing("slice"))?;
        let index = proto.buffer_allocation_index;
        let allocation = usize::try_from(index).ok().filter(|at| *at < self.0.len());
        let Some(allocation) = allocation else {
            return Err(Invalid::value("buffer_allocation_index", index, below(self.0.len())));
        };
        let bytes = self.0[allocation].size;
        let (offset, size) = (size("offset", proto.offset)?, size("size", proto.size)?);
        match offset.checked_add(size).filter(|end| *end <= bytes) {
            Some(_) => Ok(Slice { allocation, offset, size }),
            None => Err(Invalid::value(
                "slice",
                format!("{offset}+{size}"),
                format!("inside the {bytes} bytes of allocation {allocation}"),
            )),
        }
    }

    /// Checks a slice with a shape: the array has to fit.
    pub(crate) fn shaped(self, proto: Option<&ShapedSliceProto>) -> Result<ShapedSlice> {
        let proto = proto.ok_or_else(|| Invalid::missing("slice"))?;
        let slice = self.slice(proto.slice.as_ref())?;
        let shape = proto.shape.as_ref().ok_or_else(|| Invalid::missing("shape"))?;
        let shape = Shape::new(shape)?.array()?.clone();
        shape_fits(&slice, &shape)?;
        Ok(ShapedSlice { slice, shape })
    }
}

/// An array must not be larger than the slice that holds it.
pub(crate) fn shape_fits(slice: &Slice, shape: &ArrayShape) -> Result<()> {
    if shape.bytes() > slice.size {
        let bound = format!("at most the {} bytes of its slice", slice.size);
        return Err(Invalid::value(format!("size of {shape}"), shape.bytes(), bound));
    }
    Ok(())
}
