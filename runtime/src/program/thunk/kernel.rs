//! Device code and what it is called with.

use prost::bytes::Bytes;

use super::{Reader, Thunk};
use crate::program::shape::{ArrayShape, Shape};
use crate::program::{At as _, Invalid, Result, Slice};
use crate::proto::stream_executor::kernel_loader_spec_proto::Payload;
use crate::proto::stream_executor::{ClusterDimProto, Dim3DProto};
use crate::proto::xla::gpu::{CustomKernelThunkProto, KernelThunkProto};

/// A kernel and its arguments.
#[derive(Debug)]
pub struct Kernel {
    /// Its symbol.
    pub name: String,
    /// Arguments in order.
    pub arguments: Vec<KernelArgument>,
    /// Blocks of the grid.
    pub blocks: [u32; 3],
    /// Threads of a block.
    pub threads: [u32; 3],
    /// Blocks of a cluster.
    pub cluster: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory.
    pub shared_memory: u32,
    /// Arguments that are zeroed before the launch.
    pub zeroed: Vec<usize>,
    /// The code; `None` where it is part of the module's own.
    pub code: Option<Code>,
}

/// Device code.
#[derive(Debug)]
pub enum Code {
    /// Machine code.
    Cubin(Bytes),
    /// Text that the driver compiles.
    Ptx(String),
    /// A kernel that is built into the runtime.
    Named(String),
}

/// An argument of a kernel.
#[derive(Debug)]
pub struct KernelArgument {
    /// The memory.
    pub slice: Slice,
    /// What lies there, where the artifact says so.
    pub shape: Option<ArrayShape>,
    /// Whether the kernel writes it.
    pub written: bool,
}

impl Reader<'_> {
    pub(super) fn kernel(&mut self, proto: &KernelThunkProto) -> Result<Thunk> {
        self.reads.fields(
            "xla.gpu.KernelThunkProto",
            &[
                "args",
                "written",
                "kernel_name",
                "launch_dimensions",
                "cluster_dim",
                "shmem_bytes",
                "args_shape",
                "zeroed_output_buffer_indices",
            ],
        );
        self.reads
            .fields("xla.gpu.LaunchDimensionsProto", &["block_counts", "thread_counts_per_block"]);
        let mut arguments = Vec::with_capacity(proto.args.len());
        for (at, slice) in proto.args.iter().enumerate() {
            let place = || format!("args[{at}]");
            let slice = self.slice(Some(slice)).at(place)?;
            // Older compilers did not write shapes.
            let shape = match proto.args_shape.get(at) {
                Some(shape) => Some(Shape::new(shape).at(place)?.array().at(place)?.clone()),
                None => None,
            };
            if let Some(shape) = &shape {
                crate::program::buffers::shape_fits(&slice, shape).at(place)?;
            }
            arguments.push(KernelArgument { slice, shape, written: false });
        }
        let launch = proto.launch_dimensions.clone().unwrap_or_default();
        self.finish(
            Kernel {
                name: proto.kernel_name.clone(),
                arguments,
                blocks: dim3("block_counts", launch.block_counts.and_then(|b| b.coordinates))?,
                threads: dim3(
                    "thread_counts_per_block",
                    launch.thread_counts_per_block.and_then(|t| t.coordinates),
                )?,
                cluster: cluster(proto.cluster_dim.as_ref())?,
                shared_memory: shared_memory(proto.shmem_bytes)?,
                zeroed: Vec::new(),
                code: None,
            },
            &proto.written,
            &proto.zeroed_output_buffer_indices,
        )
    }

    pub(super) fn custom_kernel(&mut self, proto: &CustomKernelThunkProto) -> Result<Thunk> {
        self.reads.fields(
            "xla.gpu.CustomKernelThunkProto",
            &["args", "written", "custom_kernel", "zeroed_output_buffer_indices"],
        );
        self.reads.fields(
            "xla.gpu.CustomKernelProto",
            &[
                "name",
                "kernel_spec",
                "block_dims",
                "thread_dims",
                "cluster_dim",
                "shared_memory_bytes",
            ],
        );
        let mut arguments = Vec::with_capacity(proto.args.len());
        for (at, slice) in proto.args.iter().enumerate() {
            let shaped = self.shaped(Some(slice), &format!("args[{at}]"))?;
            arguments.push(KernelArgument {
                slice: shaped.slice,
                shape: Some(shaped.shape),
                written: false,
            });
        }
        let kernel =
            proto.custom_kernel.as_ref().ok_or_else(|| Invalid::missing("custom_kernel"))?;
        let spec = kernel.kernel_spec.as_ref();
        let code = spec.and_then(|spec| spec.payload.as_ref()).map(|payload| match payload {
            Payload::Cubin(cubin) => Code::Cubin(cubin.data.clone()),
            Payload::Ptx(ptx) => Code::Ptx(ptx.data.clone()),
            Payload::InProcessSymbol(symbol) => Code::Named(symbol.persistent_name.clone()),
        });
        self.finish(
            Kernel {
                name: kernel.name.clone(),
                arguments,
                blocks: dim3("block_dims", kernel.block_dims.clone().and_then(|b| b.coordinates))?,
                threads: dim3(
                    "thread_dims",
                    kernel.thread_dims.clone().and_then(|t| t.coordinates),
                )?,
                cluster: cluster(kernel.cluster_dim.as_ref())?,
                shared_memory: shared_memory(kernel.shared_memory_bytes)?,
                zeroed: Vec::new(),
                code,
            },
            &proto.written,
            &proto.zeroed_output_buffer_indices,
        )
    }

    fn finish(&mut self, mut kernel: Kernel, written: &[bool], zeroed: &[i64]) -> Result<Thunk> {
        let count = kernel.arguments.len();
        if written.len() != count {
            return Err(Invalid::value(
                "written",
                written.len(),
                format!("{count} entries, as args"),
            ));
        }
        for (argument, written) in kernel.arguments.iter_mut().zip(written) {
            argument.written = *written;
        }
        kernel.zeroed = zeroed
            .iter()
            .map(|at| {
                usize::try_from(*at).ok().filter(|at| *at < count).ok_or_else(|| {
                    Invalid::value("zeroed_output_buffer_indices", at, format!("below {count}"))
                })
            })
            .collect::<Result<_>>()?;
        Ok(Thunk::Kernel(Box::new(kernel)))
    }
}

/// Launch dimensions; at most what CUDA allows along the first axis.
fn dim3(what: &str, proto: Option<Dim3DProto>) -> Result<[u32; 3]> {
    let Some(Dim3DProto { x, y, z }) = proto else { return Ok([1, 1, 1]) };
    let axis = |value: i64| {
        u32::try_from(value).ok().filter(|n| (1..=i32::MAX as u32).contains(n)).ok_or_else(|| {
            Invalid::value(what, format!("{x}x{y}x{z}"), "1 to 2147483647 along each axis")
        })
    };
    Ok([axis(x)?, axis(y)?, axis(z)?])
}

fn cluster(proto: Option<&ClusterDimProto>) -> Result<Option<[u32; 3]>> {
    proto.map(|cluster| dim3("cluster_dim", cluster.coordinates.clone())).transpose()
}

fn shared_memory(bytes: i64) -> Result<u32> {
    u32::try_from(bytes)
        .map_err(|_| Invalid::value("shared memory", bytes, "0 to 4294967295 bytes"))
}
