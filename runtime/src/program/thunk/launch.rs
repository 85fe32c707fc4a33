//! Sizes of grids, within what CUDA launches.

use crate::program::{Invalid, Result};
use crate::proto::stream_executor::{BlockDimProto, ClusterDimProto, Dim3DProto, ThreadDimProto};

/// Blocks along each axis.
const MAX_BLOCKS: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];
/// Threads of a block along each axis, and in all.
const MAX_THREADS: [u32; 3] = [1024, 1024, 64];
const MAX_BLOCK: u64 = 1024;
/// Blocks of a cluster: eight everywhere, sixteen where the kernel asks for it.
const MAX_CLUSTER: u64 = 16;

pub(super) fn block_counts(field: &str, proto: Option<BlockDimProto>) -> Result<[u32; 3]> {
    dim3(field, proto.and_then(|dims| dims.coordinates), MAX_BLOCKS, u64::MAX)
}

pub(super) fn thread_counts(field: &str, proto: Option<ThreadDimProto>) -> Result<[u32; 3]> {
    dim3(field, proto.and_then(|dims| dims.coordinates), MAX_THREADS, MAX_BLOCK)
}

pub(super) fn cluster(proto: Option<&ClusterDimProto>) -> Result<Option<[u32; 3]>> {
    let most = [MAX_CLUSTER as u32; 3];
    proto.map(|dims| dim3("cluster_dim", dims.coordinates, most, MAX_CLUSTER)).transpose()
}

/// Bytes of dynamic shared memory.
pub(super) fn shared_memory(field: &str, bytes: i64) -> Result<u32> {
    u32::try_from(bytes)
        .ok()
        .filter(|bytes| i32::try_from(*bytes).is_ok())
        .ok_or_else(|| Invalid::value(field, bytes, format!("0 to {}", i32::MAX)))
}

fn dim3(field: &str, proto: Option<Dim3DProto>, most: [u32; 3], product: u64) -> Result<[u32; 3]> {
    let Some(Dim3DProto { x, y, z }) = proto else { return Ok([1, 1, 1]) };
    let axis = |value: i64, most: u32| u32::try_from(value).ok().filter(|n| (1..=most).contains(n));
    let dims = match (axis(x, most[0]), axis(y, most[1]), axis(z, most[2])) {
        (Some(x), Some(y), Some(z)) => Some([x, y, z]),
        _ => None,
    };
    let inside = dims.filter(|dims| {
        dims.iter()
            .try_fold(1_u64, |n, d| n.checked_mul(u64::from(*d)))
            .is_some_and(|n| n <= product)
    });
    inside.ok_or_else(|| {
        let mut bound = format!("1 to {}, {} and {} along the axes", most[0], most[1], most[2]);
        if product < u64::MAX {
            bound.push_str(&format!(", {product} in all"));
        }
        Invalid::value(field, format!("{x}x{y}x{z}"), bound)
    })
}
