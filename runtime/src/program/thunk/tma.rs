//! Descriptors of tensor memory copies, which a device makes before it launches a kernel.

use crate::program::buffers::below;
use crate::program::{At as _, Invalid, Result};
use crate::proto::stream_executor::gpu::{TmaDescriptorProto, TmaMetadataProto};

/// Checks the descriptors of a kernel's arguments. As XLA's loader does, a corrupt one is an error: the
/// kernel would be launched with something else than a descriptor.
pub(super) fn check(proto: Option<&TmaMetadataProto>, arguments: usize) -> Result<()> {
    let Some(proto) = proto else { return Ok(()) };
    for (argument, descriptor) in &proto.arg_index_to_tma_info {
        if !usize::try_from(*argument).is_ok_and(|at| at < arguments) {
            return Err(Invalid::value("arg_index_to_tma_info", argument, below(arguments)));
        }
        self::descriptor(descriptor).at(|| format!("arg_index_to_tma_info[{argument}]"))?;
    }
    Ok(())
}

/// The bounds of `cuTensorMapEncodeTiled`.
fn descriptor(proto: &TmaDescriptorProto) -> Result<()> {
    if !matches!(proto.element_size, 1 | 2 | 4 | 8) {
        return Err(Invalid::value("element_size", proto.element_size, "1, 2, 4 or 8"));
    }
    let rank = proto.global_dims.len();
    if !(1..=5).contains(&rank) {
        return Err(Invalid::value("global_dims", rank, "1 to 5 dimensions"));
    }
    let lists = [
        ("global_strides", proto.global_strides.len(), rank - 1),
        ("box_dims", proto.box_dims.len(), rank),
        ("element_strides", proto.element_strides.len(), rank),
    ];
    if let Some((field, have, want)) = lists.into_iter().find(|(_, have, want)| have != want) {
        return Err(Invalid::value(field, have, format!("{want} entries, by global_dims")));
    }
    every("global_dims", &proto.global_dims, 1, 1 << 32)?;
    every("global_strides", &proto.global_strides, 0, (1 << 40) - 16)?;
    if let Some(stride) = proto.global_strides.iter().find(|stride| *stride % 16 != 0) {
        return Err(Invalid::value("global_strides", stride, "a multiple of 16"));
    }
    let wide = |values: &[i32]| values.iter().map(|v| i64::from(*v)).collect::<Vec<_>>();
    every("box_dims", &wide(&proto.box_dims), 1, 256)?;
    every("element_strides", &wide(&proto.element_strides), 1, 8)?;
    let enums = [
        ("interleave", proto.interleave, 3),
        ("swizzle", proto.swizzle, 4),
        ("l2_promotion", proto.l2_promotion, 4),
        ("float_oob_fill", proto.float_oob_fill, 2),
    ];
    match enums.into_iter().find(|(_, value, count)| !(0..*count).contains(value)) {
        Some((field, value, count)) => {
            Err(Invalid::value(field, value, format!("0 to {}", count - 1)))
        }
        None => Ok(()),
    }
}

fn every(field: &str, values: &[i64], least: i64, most: i64) -> Result<()> {
    match values.iter().find(|value| !(least..=most).contains(value)) {
        Some(value) => Err(Invalid::value(field, value, format!("{least} to {most}"))),
        None => Ok(()),
    }
}
