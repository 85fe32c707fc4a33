//! Whether a collective can take place: every device in a group, buffers for what is sent and received.

use super::{Collective, CollectiveBuffer, CollectiveKind, GroupMode};
use crate::program::buffers::below;
use crate::program::{At as _, Devices, Invalid, Result};

/// Checks a collective of a program for so many devices.
pub(super) fn check(collective: &Collective, devices: Devices) -> Result<()> {
    let (ids, per_id) = match collective.mode {
        GroupMode::CrossReplica => (devices.replicas, 1),
        GroupMode::CrossPartition => (devices.partitions, 1),
        GroupMode::CrossReplicaAndPartition => (devices.replicas, devices.partitions),
        GroupMode::FlattenedId => (devices.count(), 1),
    };
    covered(&collective.groups, ids)?;
    if let CollectiveKind::Permute(pairs) = &collective.kind {
        once("source", pairs.iter().map(|(source, _)| *source), ids)?;
        once("target", pairs.iter().map(|(_, target)| *target), ids)?;
    }
    let mut sizes: Vec<usize> = match &collective.groups[..] {
        [] => vec![ids * per_id],
        groups => groups.iter().map(|group| group.len() * per_id).collect(),
    };
    sizes.sort_unstable();
    sizes.dedup();
    for size in sizes {
        if collective.kind == CollectiveKind::AllToAll(false) {
            alike(&collective.buffers, size)?;
        }
        for (at, buffer) in collective.buffers.iter().enumerate() {
            fits(&collective.kind, buffer, size).at(|| format!("buffers[{at}]"))?;
        }
    }
    Ok(())
}

/// Every id is in exactly one group; no groups stand for one of all.
fn covered(groups: &[Vec<usize>], ids: usize) -> Result<()> {
    let mut seen = vec![false; ids];
    for id in groups.iter().flatten() {
        match seen.get_mut(*id) {
            None => return Err(Invalid::value("replica_groups", id, below(ids))),
            Some(seen) if *seen => {
                return Err(Invalid::value(
                    "replica_groups",
                    format!("{id} twice"),
                    "each id once",
                ));
            }
            Some(seen) => *seen = true,
        }
    }
    match seen.iter().position(|seen| !seen) {
        Some(left_out) if !groups.is_empty() => {
            let value = format!("{groups:?}");
            Err(Invalid::value(
                "replica_groups",
                value,
                format!("a group with {left_out}, which runs it too"),
            ))
        }
        _ => Ok(()),
    }
}

fn once(side: &str, ids: impl Iterator<Item = usize>, count: usize) -> Result<()> {
    let mut seen = vec![false; count];
    for id in ids {
        match seen.get_mut(id) {
            None => {
                return Err(Invalid::value(
                    format!("source_target_pairs.{side}"),
                    id,
                    below(count),
                ));
            }
            Some(seen) if *seen => {
                let value = format!("{id} twice");
                return Err(Invalid::value(
                    format!("source_target_pairs.{side}"),
                    value,
                    "each id once",
                ));
            }
            Some(seen) => *seen = true,
        }
    }
    Ok(())
}

/// Buffers that are sent one to each device of a group of `n`.
fn alike(buffers: &[CollectiveBuffer], n: usize) -> Result<()> {
    if buffers.len() != n {
        return Err(Invalid::value(
            "buffers",
            buffers.len(),
            format!("{n}, one per device of the group"),
        ));
    }
    let kind = |buffer: &CollectiveBuffer| (buffer.count, buffer.from.shape.ty);
    match buffers.iter().position(|buffer| kind(buffer) != kind(&buffers[0])) {
        None => Ok(()),
        Some(at) => {
            Err(Invalid::value("element_count or type", buffers[at].count, "those of buffers[0]")
                .at(format!("buffers[{at}]")))
        }
    }
}

/// What a device of a group of `n` gets has to fit into its destination.
fn fits(kind: &CollectiveKind, buffer: &CollectiveBuffer, n: usize) -> Result<()> {
    let pieces = match buffer.count % n {
        0 => Ok(buffer.count / n),
        _ => Err(Invalid::value(
            "element_count",
            buffer.count,
            format!("a multiple of the {n} devices"),
        )),
    };
    let received = match kind {
        CollectiveKind::AllGather => buffer.count.saturating_mul(n),
        CollectiveKind::ReduceScatter(_) => pieces?,
        CollectiveKind::AllToAll(true) => pieces?.saturating_mul(n),
        // The kernel knows what it writes; it is checked against the instruction.
        CollectiveKind::Kernel => 0,
        CollectiveKind::AllReduce(_)
        | CollectiveKind::AllToAll(false)
        | CollectiveKind::Permute(_)
        | CollectiveKind::Broadcast => buffer.count,
    };
    let room = buffer.to.shape.elements();
    if received > room {
        let bound = format!("at most the {room} of {}", buffer.to.shape);
        return Err(Invalid::value("elements that destination_buffer receives", received, bound));
    }
    Ok(())
}
