//! The steps of a program.

mod collective;
mod control;
mod convolution;
mod dynamic_slice;
mod function;
mod groups;
mod kernel;
mod launch;
mod library;
mod linear;
mod matmul;
mod memory;
mod pairing;
mod reader;
mod tma;

pub use collective::{Collective, CollectiveBuffer, CollectiveKind, GroupMode, Reduction};
pub use convolution::{Convolution, Fused};
pub use dynamic_slice::{DynamicSlice, SliceOffset};
pub use function::{Function, Sort};
pub use kernel::{Kernel, KernelArgument};
pub use library::{CustomCall, Fft, TriangularSolve};
pub use linear::{Linear, Routine};
pub use matmul::{Matmul, MatrixLayout};
use reader::Reader;
pub(crate) use reader::{Around, entry};

use super::{Invalid, Result, ShapedSlice, Slice};
use crate::proto::xla::gpu::ThunkProto;
use crate::proto::xla::gpu::thunk_proto::Impl;

/// One thunk.
#[derive(Debug)]
pub struct Step {
    /// Its number; 0 for none.
    pub id: i64,
    /// The HLO instruction it was compiled from.
    pub annotation: String,
    /// Its kind as the contract names it.
    pub kind: &'static str,
    /// What it does.
    pub thunk: Thunk,
}

/// What a thunk does.
#[derive(Debug)]
pub enum Thunk {
    /// Steps in order.
    Sequential(Vec<Step>),
    /// Copies bytes, whatever memory they lie in.
    Copy {
        /// From here.
        from: Slice,
        /// To here.
        to: Slice,
        /// As many bytes.
        size: usize,
    },
    /// Copies bytes at offsets that depend on the iteration of the innermost loop.
    OffsetCopy {
        /// From here.
        from: Slice,
        /// To here.
        to: Slice,
        /// As many bytes.
        size: usize,
        /// Offsets in source and destination; the first holds always where there is only one.
        offsets: Vec<(usize, usize)>,
        /// Whether each iteration has its own.
        by_iteration: bool,
    },
    /// Fills with a repeated word.
    Fill {
        /// Where.
        to: Slice,
        /// The word.
        word: u32,
    },
    /// Runs device code.
    Kernel(Box<Kernel>),
    /// Loops.
    While {
        /// A predicate that `test` leaves.
        condition: Slice,
        /// Runs before each iteration, unless the number of iterations is known.
        test: Vec<Step>,
        /// Runs in each.
        body: Vec<Step>,
        /// How many there are, where that is known.
        trip_count: Option<u64>,
    },
    /// Runs one branch.
    Conditional {
        /// A predicate (true: the first branch) or an index.
        index: ShapedSlice,
        /// The branches.
        branches: Vec<Vec<Step>>,
    },
    /// Runs steps that others need not wait for.
    AsyncStart {
        /// What the end refers to.
        id: u64,
        /// The steps.
        steps: Vec<Step>,
    },
    /// Waits for an [`Thunk::AsyncStart`].
    AsyncDone {
        /// What the start said.
        id: u64,
    },
    /// Runs steps on parts of buffers.
    DynamicSlice(Box<DynamicSlice>),
    /// Stores which replica this is, as `u32`.
    ReplicaId(Slice),
    /// Stores which partition this is, as `u32`.
    PartitionId(Slice),
    /// Talks to other devices.
    Collective(Box<Collective>),
    /// A matrix product by a library.
    Matmul(Box<Matmul>),
    /// A Fourier transform by a library.
    Fft(Box<Fft>),
    /// A triangular system solved by a library.
    TriangularSolve(Box<TriangularSolve>),
    /// A convolution by a library.
    Convolution(Box<Convolution>),
    /// A registered function.
    CustomCall(Box<CustomCall>),
    /// Something that nothing here runs, and why.
    Unsupported(String),
}

impl Reader<'_> {
    /// The kind and content of a thunk.
    fn thunk(&mut self, proto: &ThunkProto) -> Result<(&'static str, Thunk)> {
        let annotation = proto.thunk_info.as_ref().map_or("", |info| &info.profile_annotation);
        let Some(thunk) = &proto.r#impl else {
            // What XLA reports as a thunk without an embedded one.
            return Err(Invalid::value(
                "impl",
                "not set",
                "a kind of thunk that the contract knows",
            ));
        };
        // Kinds that need devices, libraries or hosts that are not here.
        let unsupported = |kind: &'static str| Ok((kind, Thunk::Unsupported(kind.to_owned())));
        Ok(match thunk {
            Impl::SequentialThunk(p) => {
                self.reads.fields("xla.gpu.SequentialThunkProto", &["thunks"]);
                ("sequential_thunk", Thunk::Sequential(self.sequence(&p.thunks)?))
            }
            Impl::CopyThunk(p) => ("copy_thunk", self.copy(Some(p))?),
            Impl::DeviceToDeviceCopyThunk(p) => {
                self.reads.fields("xla.gpu.DeviceToDeviceCopyThunkProto", &["copy_thunk"]);
                ("device_to_device_copy_thunk", self.copy(p.copy_thunk.as_ref())?)
            }
            Impl::DeviceToHostCopyThunk(p) => {
                self.reads.fields("xla.gpu.DeviceToHostCopyThunkProto", &["copy_thunk"]);
                ("device_to_host_copy_thunk", self.copy(p.copy_thunk.as_ref())?)
            }
            Impl::HostToDeviceCopyThunk(p) => {
                self.reads.fields("xla.gpu.HostToDeviceCopyThunkProto", &["copy_thunk"]);
                ("host_to_device_copy_thunk", self.copy(p.copy_thunk.as_ref())?)
            }
            #[allow(deprecated, reason = "what older compilers wrote")]
            Impl::DynamicMemcpyThunk(p) => ("dynamic_memcpy_thunk", self.dynamic_memcpy(p)?),
            #[allow(deprecated, reason = "what older compilers wrote")]
            // Copies are finished when they return here.
            Impl::CopyDoneThunk(_) => ("copy_done_thunk", Thunk::Sequential(Vec::new())),
            Impl::MemzeroThunk(p) => ("memzero_thunk", self.memzero(p)?),
            Impl::Memset32bitValueThunk(p) => ("memset32bit_value_thunk", self.memset(p)?),
            Impl::ConditionalThunk(p) => ("conditional_thunk", self.conditional(p)?),
            Impl::WhileThunk(p) => ("while_thunk", self.while_loop(p)?),
            Impl::AsyncStartThunk(p) => ("async_start_thunk", self.async_start(p)?),
            Impl::AsyncDoneThunk(p) => ("async_done_thunk", self.async_done(p)?),
            Impl::KernelThunk(p) => ("kernel_thunk", self.kernel(p, annotation)?),
            Impl::CustomKernelThunk(p) => {
                ("custom_kernel_thunk", self.custom_kernel(p, annotation)?)
            }
            Impl::DynamicSliceFusionThunk(p) => {
                ("dynamic_slice_fusion_thunk", self.dynamic_slice_fusion(p)?)
            }
            Impl::ReplicaIdThunk(p) => {
                self.reads.fields("xla.gpu.ReplicaIdThunkProto", &["dest_buffer"]);
                ("replica_id_thunk", Thunk::ReplicaId(self.word(p.dest_buffer.as_ref())?))
            }
            Impl::PartitionIdThunk(p) => {
                self.reads.fields("xla.gpu.PartitionIdThunkProto", &["dest_buffer"]);
                ("partition_id_thunk", Thunk::PartitionId(self.word(p.dest_buffer.as_ref())?))
            }
            Impl::AllGatherThunk(p) => ("all_gather_thunk", self.all_gather(p)?),
            Impl::AllReduceThunk(p) => ("all_reduce_thunk", self.all_reduce(p)?),
            Impl::ReduceScatterThunk(p) => ("reduce_scatter_thunk", self.reduce_scatter(p)?),
            Impl::AllToAllThunk(p) => ("all_to_all_thunk", self.all_to_all(p)?),
            Impl::CollectivePermuteThunk(p) => {
                ("collective_permute_thunk", self.collective_permute(p)?)
            }
            Impl::CollectiveBroadcastThunk(p) => {
                ("collective_broadcast_thunk", self.collective_broadcast(p)?)
            }
            Impl::CollectiveKernelThunk(p) => {
                ("collective_kernel_thunk", self.collective_kernel(p, annotation)?)
            }
            Impl::CollectiveGroupThunk(p) => {
                self.reads.fields("xla.gpu.CollectiveGroupThunkProto", &["thunks"]);
                ("collective_group_thunk", Thunk::Sequential(self.sequence(&p.thunks)?))
            }
            #[allow(deprecated, reason = "what older compilers wrote")]
            // Collectives are finished when they return here.
            Impl::CollectiveDoneThunk(_) => {
                ("collective_done_thunk", Thunk::Sequential(Vec::new()))
            }
            Impl::GemmThunk(p) => ("gemm_thunk", self.gemm(p)?),
            Impl::CublasLtMatmulThunk(p) => ("cublas_lt_matmul_thunk", self.cublas_lt_matmul(p)?),
            Impl::FftThunk(p) => ("fft_thunk", self.fft(p)?),
            Impl::TriangularSolveThunk(p) => ("triangular_solve_thunk", self.triangular_solve(p)?),
            Impl::CustomCallThunk(p) => ("custom_call_thunk", self.custom_call(p)?),
            Impl::CudnnThunk(_) => return unsupported("cudnn_thunk"),
            Impl::ConvolutionThunk(p) => ("convolution_thunk", self.convolution(p, annotation)?),
            Impl::ConvolutionReorderThunk(_) => return unsupported("convolution_reorder_thunk"),
            Impl::NormThunk(_) => return unsupported("norm_thunk"),
            Impl::HostExecuteStartThunk(_) => return unsupported("host_execute_start_thunk"),
            Impl::HostExecuteDoneThunk(_) => return unsupported("host_execute_done_thunk"),
            Impl::InfeedThunk(_) => return unsupported("infeed_thunk"),
            Impl::OutfeedThunk(_) => return unsupported("outfeed_thunk"),
            Impl::HostSendThunk(_) => return unsupported("host_send_thunk"),
            Impl::HostSendDoneThunk(_) => return unsupported("host_send_done_thunk"),
            Impl::HostRecvThunk(_) => return unsupported("host_recv_thunk"),
            Impl::HostRecvDoneThunk(_) => return unsupported("host_recv_done_thunk"),
            Impl::RaggedAllToAllThunk(_) => return unsupported("ragged_all_to_all_thunk"),
            Impl::SendThunk(_) => return unsupported("send_thunk"),
            Impl::RecvThunk(_) => return unsupported("recv_thunk"),
            Impl::CollectiveReduceThunk(_) => return unsupported("collective_reduce_thunk"),
            Impl::RngSeedThunk(_) => return unsupported("rng_seed_thunk"),
            #[allow(deprecated, reason = "what older compilers wrote")]
            Impl::DynamicSliceThunk(_) => return unsupported("dynamic_slice_thunk"),
            #[allow(deprecated, reason = "what older compilers wrote")]
            Impl::SelectKThunk(_) => return unsupported("select_k_thunk"),
            #[allow(deprecated, reason = "what older compilers wrote")]
            Impl::NvshmemAllReduceThunk(_) => return unsupported("nvshmem_all_reduce_thunk"),
            #[allow(deprecated, reason = "what older compilers wrote")]
            Impl::NvshmemCollectivePermuteThunk(_) => {
                return unsupported("nvshmem_collective_permute_thunk");
            }
            #[allow(deprecated, reason = "what older compilers wrote")]
            Impl::NvshmemSendThunk(_) => return unsupported("nvshmem_send_thunk"),
            #[allow(deprecated, reason = "what older compilers wrote")]
            Impl::NvshmemRecvThunk(_) => return unsupported("nvshmem_recv_thunk"),
        })
    }
}
