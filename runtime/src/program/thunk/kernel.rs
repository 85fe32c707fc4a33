//! Device code and what it is called with.

use prost::bytes::Bytes;

use super::launch::{block_counts, cluster, shared_memory, thread_counts};
use super::{Reader, Thunk, tma};
use crate::program::buffers::{below, shape_fits};
use crate::program::shape::ArrayShape;
use crate::program::{At as _, Invalid, Result, Slice};
use crate::proto::stream_executor::kernel_loader_spec_proto::Payload;
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
    pub(super) fn kernel(&mut self, proto: &KernelThunkProto, annotation: &str) -> Result<Thunk> {
        const MESSAGE: &str = "xla.gpu.KernelThunkProto";
        self.reads
            .fields(MESSAGE, &["args", "written", "args_shape", "zeroed_output_buffer_indices"]);
        self.reads.device(
            MESSAGE,
            &[
                "kernel_name",
                "launch_dimensions",
                "cluster_dim",
                "shmem_bytes",
                "tma_metadata",
                "use_pdl",
            ],
        );
        self.reads
            .device("xla.gpu.LaunchDimensionsProto", &["block_counts", "thread_counts_per_block"]);
        // Older compilers did not write shapes.
        if !proto.args_shape.is_empty() && proto.args_shape.len() != proto.args.len() {
            let bound = format!("{} entries, as args, or none", proto.args.len());
            return Err(Invalid::value("args_shape", proto.args_shape.len(), bound));
        }
        let mut arguments = Vec::with_capacity(proto.args.len());
        for (at, slice) in proto.args.iter().enumerate() {
            let place = format!("args[{at}]");
            let slice = self.slice(Some(slice), &place)?;
            let shape = match proto.args_shape.get(at) {
                Some(shape) => Some(self.shape(Some(shape), &place)?),
                None => None,
            };
            if let Some(shape) = &shape {
                shape_fits(&slice, shape).at(|| place)?;
            }
            arguments.push(KernelArgument { slice, shape, written: false });
        }
        self.evaluates(annotation, &proto.kernel_name, (MESSAGE, "kernel_name"));
        tma::check(proto.tma_metadata.as_ref(), arguments.len())
            .at(|| "tma_metadata".to_owned())?;
        let launch = proto.launch_dimensions.unwrap_or_default();
        let kernel = Kernel {
            name: proto.kernel_name.clone(),
            arguments,
            blocks: block_counts("block_counts", launch.block_counts)?,
            threads: thread_counts("thread_counts_per_block", launch.thread_counts_per_block)?,
            cluster: cluster(proto.cluster_dim.as_ref())?,
            shared_memory: shared_memory("shmem_bytes", proto.shmem_bytes)?,
            zeroed: Vec::new(),
            code: None,
        };
        finish(kernel, &proto.written, &proto.zeroed_output_buffer_indices)
    }

    pub(super) fn custom_kernel(
        &mut self,
        proto: &CustomKernelThunkProto,
        annotation: &str,
    ) -> Result<Thunk> {
        const MESSAGE: &str = "xla.gpu.CustomKernelThunkProto";
        self.reads
            .fields(MESSAGE, &["args", "written", "custom_kernel", "zeroed_output_buffer_indices"]);
        self.reads.device(MESSAGE, &["tma_metadata", "use_pdl"]);
        self.reads.device(
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
        self.evaluates(annotation, &kernel.name, ("xla.gpu.CustomKernelProto", "name"));
        tma::check(proto.tma_metadata.as_ref(), arguments.len())
            .at(|| "tma_metadata".to_owned())?;
        let spec = kernel.kernel_spec.as_ref();
        let code = spec.and_then(|spec| spec.payload.as_ref()).map(|payload| match payload {
            Payload::Cubin(cubin) => Code::Cubin(cubin.data.clone()),
            Payload::Ptx(ptx) => Code::Ptx(ptx.data.clone()),
            Payload::InProcessSymbol(symbol) => Code::Named(symbol.persistent_name.clone()),
        });
        let kernel = Kernel {
            name: kernel.name.clone(),
            arguments,
            blocks: block_counts("block_dims", kernel.block_dims)?,
            threads: thread_counts("thread_dims", kernel.thread_dims)?,
            cluster: cluster(kernel.cluster_dim.as_ref())?,
            shared_memory: shared_memory("shared_memory_bytes", kernel.shared_memory_bytes)?,
            zeroed: Vec::new(),
            code,
        };
        finish(kernel, &proto.written, &proto.zeroed_output_buffer_indices)
    }
}

fn finish(mut kernel: Kernel, written: &[bool], zeroed: &[i64]) -> Result<Thunk> {
    let count = kernel.arguments.len();
    if written.len() != count {
        return Err(Invalid::value("written", written.len(), format!("{count} entries, as args")));
    }
    for (argument, written) in kernel.arguments.iter_mut().zip(written) {
        argument.written = *written;
    }
    apart(&kernel.arguments)?;
    let field = "zeroed_output_buffer_indices";
    let mut seen = vec![false; count];
    for at in zeroed {
        let index = usize::try_from(*at).ok().filter(|at| *at < count);
        let index = index.ok_or_else(|| Invalid::value(field, at, below(count)))?;
        if !kernel.arguments[index].written {
            return Err(Invalid::value(field, at, "an argument that is written"));
        }
        if std::mem::replace(&mut seen[index], true) {
            return Err(Invalid::value(field, format!("{at} twice"), "each index once"));
        }
        kernel.zeroed.push(index);
    }
    Ok(Thunk::Kernel(Box::new(kernel)))
}

/// What a kernel writes is a buffer of its own, or one that it updates in place.
fn apart(arguments: &[KernelArgument]) -> Result<()> {
    let mut written: Vec<(usize, &Slice)> = arguments
        .iter()
        .enumerate()
        .filter(|(_, a)| a.written)
        .map(|(at, a)| (at, &a.slice))
        .collect();
    written.sort_by_key(|(_, slice)| (slice.allocation, slice.offset, slice.size));
    // The slice that reaches furthest so far; sorted by their starts, only that one can be overlapped.
    let mut furthest: Option<(usize, &Slice)> = None;
    for (at, slice) in written {
        if let Some((other, before)) = furthest
            && before.overlaps_partly(slice)
        {
            let value = format!("{}+{}", slice.offset, slice.size);
            let bound = format!(
                "apart from args[{other}], which is written to {}+{} of the same allocation",
                before.offset, before.size
            );
            return Err(Invalid::value("written slice", value, bound).at(format!("args[{at}]")));
        }
        let reaches = |slice: &Slice| (slice.allocation, slice.offset + slice.size);
        if furthest.is_none_or(|(_, before)| reaches(before) < reaches(slice)) {
            furthest = Some((at, slice));
        }
    }
    Ok(())
}
