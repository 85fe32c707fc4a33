//! Copies and fills.

use super::{Reader, Thunk};
use crate::program::buffers::size;
use crate::program::{At as _, Invalid, Result, Slice};
use crate::proto::xla::buffer_assignment::BufferAllocationSliceProto;
use crate::proto::xla::gpu::{CopyThunkProto, Memset32BitValueThunkProto, MemzeroThunkProto};

impl Reader<'_> {
    pub(super) fn copy(&mut self, proto: Option<&CopyThunkProto>) -> Result<Thunk> {
        let proto = proto.ok_or_else(|| Invalid::missing("copy_thunk"))?;
        self.reads
            .fields("xla.gpu.CopyThunkProto", &["source_buffer", "destination_buffer", "mem_size"]);
        let from = self.shaped(proto.source_buffer.as_ref(), "source_buffer")?;
        let to = self.shaped(proto.destination_buffer.as_ref(), "destination_buffer")?;
        if from.shape.bytes() != to.shape.bytes() {
            let bound = format!("the {} bytes of source_buffer", from.shape.bytes());
            let what = format!("size of {} in destination_buffer", to.shape);
            return Err(Invalid::value(what, to.shape.bytes(), bound));
        }
        let (from, to) = (from.slice, to.slice);
        let size = size("mem_size", proto.mem_size)?;
        let bound = from.size.min(to.size);
        if size > bound {
            return Err(Invalid::value(
                "mem_size",
                size,
                format!("at most {bound}, the smaller buffer"),
            ));
        }
        apart(&Slice { size, ..from }, &Slice { size, ..to })?;
        Ok(Thunk::Copy { from, to, size })
    }

    #[allow(deprecated, reason = "what older compilers wrote")]
    pub(super) fn dynamic_memcpy(
        &mut self,
        proto: &crate::proto::xla::gpu::DynamicMemcpyThunkProto,
    ) -> Result<Thunk> {
        self.reads.fields(
            "xla.gpu.DynamicMemcpyThunkProto",
            &["source_buffer", "destination_buffer", "mem_size", "offsets"],
        );
        self.reads.fields(
            "xla.gpu.DynamicMemcpyThunkProto.Offsets",
            &["depends_on_loop", "src_offsets", "dst_offsets"],
        );
        let from = self.shaped(proto.source_buffer.as_ref(), "source_buffer")?.slice;
        let to = self.shaped(proto.destination_buffer.as_ref(), "destination_buffer")?.slice;
        let bytes = size("mem_size", proto.mem_size)?;
        let lists = proto.offsets.as_ref().ok_or_else(|| Invalid::missing("offsets"))?;
        if lists.src_offsets.len() != lists.dst_offsets.len() || lists.src_offsets.is_empty() {
            let (value, bound) = (lists.dst_offsets.len(), lists.src_offsets.len().max(1));
            return Err(Invalid::value(
                "dst_offsets",
                value,
                format!("{bound} entries, as src_offsets"),
            ));
        }
        let within = |what: &str, offset: i64, buffer: usize| {
            let last = buffer.checked_sub(bytes);
            usize::try_from(offset)
                .ok()
                .filter(|at| last.is_some_and(|last| *at <= last))
                .ok_or_else(|| {
                    Invalid::value(
                        what,
                        offset,
                        format!("{bytes} bytes inside a buffer of {buffer}"),
                    )
                })
        };
        let offsets = lists
            .src_offsets
            .iter()
            .zip(&lists.dst_offsets)
            .enumerate()
            .map(|(at, (src, dst))| {
                let both = || {
                    let source = within("src_offsets", *src, from.size)?;
                    let target = within("dst_offsets", *dst, to.size)?;
                    let part = |whole: &Slice, offset| Slice {
                        offset: whole.offset + offset,
                        size: bytes,
                        ..*whole
                    };
                    apart(&part(&from, source), &part(&to, target))?;
                    Ok((source, target))
                };
                both().at(|| format!("offsets[{at}]"))
            })
            .collect::<Result<Vec<_>>>()?;
        let by_iteration = lists.depends_on_loop;
        if by_iteration && self.loops == 0 {
            return Err(Invalid::value("depends_on_loop", true, "false outside of loops"));
        }
        Ok(Thunk::OffsetCopy { from, to, size: bytes, offsets, by_iteration })
    }

    pub(super) fn memzero(&mut self, proto: &MemzeroThunkProto) -> Result<Thunk> {
        self.reads.fields("xla.gpu.MemzeroThunkProto", &["dest_buffer"]);
        let to = self.shaped(proto.dest_buffer.as_ref(), "dest_buffer")?.slice;
        Ok(Thunk::Fill { to, word: 0 })
    }

    pub(super) fn memset(&mut self, proto: &Memset32BitValueThunkProto) -> Result<Thunk> {
        self.reads.fields("xla.gpu.Memset32BitValueThunkProto", &["dest_buffer", "value"]);
        let to = self.slice(proto.dest_buffer.as_ref(), "dest_buffer")?;
        if to.size % 4 != 0 {
            return Err(Invalid::value("dest_buffer.size", to.size, "a multiple of 4"));
        }
        Ok(Thunk::Fill { to, word: proto.value })
    }

    /// A slice of four bytes.
    pub(super) fn word(&mut self, slice: Option<&BufferAllocationSliceProto>) -> Result<Slice> {
        let slice = self.slice(slice, "dest_buffer")?;
        match slice.size {
            4 => Ok(slice),
            size => Err(Invalid::value("dest_buffer.size", size, "4")),
        }
    }
}

/// A device copies in no order that could be relied on.
fn apart(from: &Slice, to: &Slice) -> Result<()> {
    if from.overlaps_partly(to) {
        let value = format!("{}+{}", to.offset, to.size);
        let bound =
            format!("apart from the source, {}+{} of the same allocation", from.offset, from.size);
        return Err(Invalid::value("destination", value, bound));
    }
    Ok(())
}
