//! Collectives: who takes part, and with which buffers.

use super::{Reader, Thunk, groups};
use crate::program::buffers::size;
use crate::program::{At as _, Invalid, Result, ShapedSlice, known};
use crate::proto::xla::gpu::{
    AllGatherThunkProto, AllReduceThunkProto, AllToAllThunkProto, CollectiveBroadcastThunkProto,
    CollectiveBufferProto, CollectiveConfigProto, CollectiveKernelThunkProto,
    CollectivePermuteThunkProto, ReduceScatterThunkProto,
};
use crate::proto::xla::{CollectiveOpGroupMode, ReductionKindProto};

/// A collective.
#[derive(Debug)]
pub struct Collective {
    /// What it does.
    pub kind: CollectiveKind,
    /// Groups of ids, as `mode` counts them; none stands for one group of all.
    pub groups: Vec<Vec<usize>>,
    /// What the ids in `groups` are.
    pub mode: GroupMode,
    /// What is sent and where the result goes.
    pub buffers: Vec<CollectiveBuffer>,
}

/// What a collective does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CollectiveKind {
    /// Everyone gets the pieces of all, one after the other.
    AllGather,
    /// Everyone gets the reduced value.
    AllReduce(Reduction),
    /// Everyone gets a piece of the reduced value.
    ReduceScatter(Reduction),
    /// Everyone sends its i-th piece to the i-th. True: the pieces are parts of one buffer.
    AllToAll(bool),
    /// Sources send to targets; who gets nothing gets zeros.
    Permute(Vec<(usize, usize)>),
    /// The first of the group sends to all.
    Broadcast,
    /// A kernel of its own: evaluated as the instruction it was compiled from.
    Kernel,
}

/// How values are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// Sum.
    Sum,
    /// Product.
    Product,
    /// Minimum.
    Min,
    /// Maximum.
    Max,
}

/// What the ids of groups count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupMode {
    /// Replicas, inside each partition.
    CrossReplica,
    /// Partitions, inside each replica.
    CrossPartition,
    /// Replicas, with all their partitions.
    CrossReplicaAndPartition,
    /// `replica * partitions + partition`.
    FlattenedId,
}

/// A buffer that is sent, and the one that receives.
#[derive(Debug)]
pub struct CollectiveBuffer {
    /// Elements that are sent.
    pub count: usize,
    /// From here.
    pub from: ShapedSlice,
    /// To here.
    pub to: ShapedSlice,
}

impl Reader<'_> {
    pub(super) fn all_gather(&mut self, p: &AllGatherThunkProto) -> Result<Thunk> {
        self.reads.fields("xla.gpu.AllGatherThunkProto", &["collective_config", "buffers"]);
        self.collective(CollectiveKind::AllGather, p.collective_config.as_ref(), &p.buffers)
    }

    pub(super) fn all_reduce(&mut self, p: &AllReduceThunkProto) -> Result<Thunk> {
        self.reads.fields(
            "xla.gpu.AllReduceThunkProto",
            &["collective_config", "buffers", "reduction_kind"],
        );
        let kind = CollectiveKind::AllReduce(self.reduction(p.reduction_kind)?);
        self.collective(kind, p.collective_config.as_ref(), &p.buffers)
    }

    pub(super) fn reduce_scatter(&mut self, p: &ReduceScatterThunkProto) -> Result<Thunk> {
        self.reads.fields(
            "xla.gpu.ReduceScatterThunkProto",
            &["collective_config", "buffers", "reduction_kind"],
        );
        let kind = CollectiveKind::ReduceScatter(self.reduction(p.reduction_kind)?);
        self.collective(kind, p.collective_config.as_ref(), &p.buffers)
    }

    pub(super) fn all_to_all(&mut self, p: &AllToAllThunkProto) -> Result<Thunk> {
        self.reads.fields(
            "xla.gpu.AllToAllThunkProto",
            &["collective_config", "buffers", "has_split_dimension"],
        );
        let kind = CollectiveKind::AllToAll(p.has_split_dimension);
        self.collective(kind, p.collective_config.as_ref(), &p.buffers)
    }

    pub(super) fn collective_permute(&mut self, p: &CollectivePermuteThunkProto) -> Result<Thunk> {
        self.reads.fields(
            "xla.gpu.CollectivePermuteThunkProto",
            &["collective_config", "buffers", "source_target_pairs"],
        );
        self.reads.fields("xla.SourceTarget", &["source", "target"]);
        let pairs = p
            .source_target_pairs
            .iter()
            .map(|pair| Ok((size("source", pair.source)?, size("target", pair.target)?)))
            .collect::<Result<Vec<_>>>()
            .at(|| "source_target_pairs".to_owned())?;
        self.collective(CollectiveKind::Permute(pairs), p.collective_config.as_ref(), &p.buffers)
    }

    pub(super) fn collective_broadcast(
        &mut self,
        p: &CollectiveBroadcastThunkProto,
    ) -> Result<Thunk> {
        self.reads.fields(
            "xla.gpu.CollectiveBroadcastThunkProto",
            &["collective_config", "buffers", "has_dynamic_root"],
        );
        if p.has_dynamic_root {
            return Ok(Thunk::Unsupported(
                "collective_broadcast_thunk with a dynamic root".to_owned(),
            ));
        }
        self.collective(CollectiveKind::Broadcast, p.collective_config.as_ref(), &p.buffers)
    }

    pub(super) fn collective_kernel(
        &mut self,
        p: &CollectiveKernelThunkProto,
        annotation: &str,
    ) -> Result<Thunk> {
        const MESSAGE: &str = "xla.gpu.CollectiveKernelThunkProto";
        self.reads.fields(MESSAGE, &["collective_config", "buffers", "reduction_kind"]);
        self.reads.device(
            MESSAGE,
            &["kernel_name", "launch_dimensions", "shmem_bytes", "cubin", "use_pdl", "kernel_spec"],
        );
        #[allow(deprecated, reason = "what older compilers wrote")]
        let kind = match p.reduction_kind {
            0 => {
                self.evaluates(annotation, "", (MESSAGE, "kernel_name"));
                CollectiveKind::Kernel
            }
            kind => CollectiveKind::AllReduce(self.reduction(kind)?),
        };
        self.collective(kind, p.collective_config.as_ref(), &p.buffers)
    }

    fn collective(
        &mut self,
        kind: CollectiveKind,
        config: Option<&CollectiveConfigProto>,
        buffers: &[CollectiveBufferProto],
    ) -> Result<Thunk> {
        self.reads.fields("xla.gpu.CollectiveConfigProto", &["replica_groups", "group_mode"]);
        self.reads.fields("xla.ReplicaGroup", &["replica_ids"]);
        self.reads.fields(
            "xla.gpu.CollectiveBufferProto",
            &["element_count", "source_buffer", "destination_buffer"],
        );
        let config = config.ok_or_else(|| Invalid::missing("collective_config"))?;
        let groups = config.replica_groups.iter().map(|group| {
            group.replica_ids.iter().map(|id| size("replica_ids", *id)).collect::<Result<Vec<_>>>()
        });
        let groups = groups
            .filter(|group| !matches!(group, Ok(ids) if ids.is_empty()))
            .collect::<Result<_>>()?;
        let mode = known("group_mode", "xla.CollectiveOpGroupMode", config.group_mode)?;
        self.reads.value("xla.CollectiveOpGroupMode", CollectiveOpGroupMode::as_str_name(&mode));
        let mode = match mode {
            CollectiveOpGroupMode::CrossReplica => GroupMode::CrossReplica,
            CollectiveOpGroupMode::CrossPartition => GroupMode::CrossPartition,
            CollectiveOpGroupMode::CrossReplicaAndPartition => GroupMode::CrossReplicaAndPartition,
            CollectiveOpGroupMode::FlattenedId => GroupMode::FlattenedId,
        };
        let buffers = buffers
            .iter()
            .enumerate()
            .map(|(at, buffer)| self.collective_buffer(buffer).at(|| format!("buffers[{at}]")))
            .collect::<Result<Vec<_>>>()?;
        element_types(config, &buffers)?;
        let collective = Collective { kind, groups, mode, buffers };
        groups::check(&collective, self.program.devices)?;
        Ok(Thunk::Collective(Box::new(collective)))
    }

    fn collective_buffer(&mut self, proto: &CollectiveBufferProto) -> Result<CollectiveBuffer> {
        let from = self.shaped(proto.source_buffer.as_ref(), "source_buffer")?;
        let to = self.shaped(proto.destination_buffer.as_ref(), "destination_buffer")?;
        let count = size("element_count", proto.element_count)?;
        if count > from.shape.elements() {
            let bound = format!("at most the {} of {}", from.shape.elements(), from.shape);
            return Err(Invalid::value("element_count", count, bound));
        }
        if from.shape.ty != to.shape.ty || from.shape.element_bits != to.shape.element_bits {
            let bound = format!("the element type of {}", from.shape);
            return Err(Invalid::value("destination_buffer.shape", &to.shape, bound));
        }
        Ok(CollectiveBuffer { count, from, to })
    }

    fn reduction(&mut self, kind: i32) -> Result<Reduction> {
        let kind = known("reduction_kind", "xla.ReductionKindProto", kind)?;
        self.reads.value("xla.ReductionKindProto", ReductionKindProto::as_str_name(&kind));
        Ok(match kind {
            ReductionKindProto::ReductionKindSum => Reduction::Sum,
            ReductionKindProto::ReductionKindProduct => Reduction::Product,
            ReductionKindProto::ReductionKindMin => Reduction::Min,
            ReductionKindProto::ReductionKindMax => Reduction::Max,
            ReductionKindProto::ReductionKindUnspecified => {
                return Err(Invalid::missing("reduction_kind"));
            }
        })
    }
}

/// The types by which a communication library would send the buffers.
fn element_types(config: &CollectiveConfigProto, buffers: &[CollectiveBuffer]) -> Result<()> {
    let types = &config.operand_element_type;
    if types.len() != buffers.len() {
        let bound = format!("{} entries, as buffers", buffers.len());
        return Err(Invalid::value("operand_element_type", types.len(), bound));
    }
    for (at, (ty, buffer)) in types.iter().zip(buffers).enumerate() {
        let own = buffer.from.shape.ty;
        if *ty != own as i32 {
            let bound = format!("{} for {}", own as i32, buffer.from.shape);
            return Err(Invalid::value(format!("operand_element_type[{at}]"), ty, bound));
        }
    }
    Ok(())
}
