//! Collectives between the devices of a program.

use std::cell::RefCell;
use std::collections::HashMap;

use super::reference::reduce_arrays;
use super::rendezvous::Rendezvous;
use super::{Device, Resolve};
use crate::array::{Array, decode, encode};
use crate::program::shape::ArrayShape;
use crate::program::thunk::{Collective, CollectiveBuffer, CollectiveKind, GroupMode, Reduction};
use crate::program::{At as _, Invalid, Result};

/// The devices that take part in a collective, as one of them sees it.
pub(crate) trait Peers {
    /// What each device of the group brought, in the group's order.
    fn share(&self, array: &Array) -> Result<Vec<Array>>;
    /// This device's place in the group.
    fn rank(&self) -> usize;
}

/// One device among the others of the program.
#[derive(Debug)]
pub(crate) struct Member<'r> {
    pub(crate) rendezvous: &'r Rendezvous,
    pub(crate) replica: usize,
    pub(crate) partition: usize,
    pub(crate) replicas: usize,
    pub(crate) partitions: usize,
    /// How often this device met each group.
    meetings: RefCell<HashMap<Vec<usize>, u64>>,
}

/// A group that a device met.
struct Group<'m, 'r> {
    member: &'m Member<'r>,
    devices: Vec<usize>,
}

impl<'r> Member<'r> {
    pub(crate) fn new(
        rendezvous: &'r Rendezvous,
        device: usize,
        replicas: usize,
        partitions: usize,
    ) -> Self {
        Member {
            rendezvous,
            replica: device / partitions,
            partition: device % partitions,
            replicas,
            partitions,
            meetings: RefCell::default(),
        }
    }

    /// This device's number.
    pub(crate) fn device(&self) -> usize {
        self.replica * self.partitions + self.partition
    }

    /// Devices that ids stand for, seen from here.
    fn devices(&self, mode: GroupMode, id: usize) -> Result<Vec<usize>> {
        let (count, devices) = match mode {
            GroupMode::CrossReplica => (self.replicas, vec![id * self.partitions + self.partition]),
            GroupMode::CrossPartition => {
                (self.partitions, vec![self.replica * self.partitions + id])
            }
            GroupMode::CrossReplicaAndPartition => {
                (self.replicas, (0..self.partitions).map(|p| id * self.partitions + p).collect())
            }
            GroupMode::FlattenedId => (self.replicas * self.partitions, vec![id]),
        };
        if id < count {
            Ok(devices)
        } else {
            Err(Invalid::value("replica_ids", id, format!("below {count}")))
        }
    }

    /// The group that this device belongs to.
    fn group(&self, collective: &Collective) -> Result<Group<'_, 'r>> {
        let all = match collective.mode {
            GroupMode::CrossReplica | GroupMode::CrossReplicaAndPartition => self.replicas,
            GroupMode::CrossPartition => self.partitions,
            GroupMode::FlattenedId => self.replicas * self.partitions,
        };
        let everyone = [(0..all).collect::<Vec<_>>()];
        // A permutation says itself who talks to whom.
        let permutes = matches!(collective.kind, CollectiveKind::Permute(_));
        let groups = if collective.groups.is_empty() || permutes {
            &everyone[..]
        } else {
            &collective.groups
        };
        for group in groups {
            let mut devices = Vec::with_capacity(group.len());
            for id in group {
                devices.extend(self.devices(collective.mode, *id)?);
            }
            if devices.contains(&self.device()) {
                return Ok(Group { member: self, devices });
            }
        }
        Err(Invalid::value(
            "replica_groups",
            format!("{groups:?}"),
            format!("a group with device {}", self.device()),
        ))
    }

    /// Runs a collective.
    pub(crate) fn run(
        &self,
        step: &crate::program::thunk::Step,
        collective: &Collective,
        device: &mut dyn Device,
        resolve: Resolve<'_>,
    ) -> Result<()> {
        let group = self.group(collective)?;
        if collective.kind == CollectiveKind::Kernel {
            return device.collective_kernel(step, collective, &group, resolve);
        }
        if collective.kind == CollectiveKind::AllToAll(false) {
            return all_to_all_buffers(&group, &collective.buffers, device, resolve);
        }
        for (at, buffer) in collective.buffers.iter().enumerate() {
            self.buffer(&group, collective, buffer, device, resolve)
                .at(|| format!("buffers[{at}]"))?;
        }
        Ok(())
    }

    fn buffer(
        &self,
        group: &Group<'_, '_>,
        collective: &Collective,
        buffer: &CollectiveBuffer,
        device: &mut dyn Device,
        resolve: Resolve<'_>,
    ) -> Result<()> {
        let (sent, count) = (sent(buffer, device, resolve)?, buffer.count);
        let (n, rank) = (group.devices.len(), group.rank());
        let all = group.exchange(sent)?;
        let arrays = || -> Result<Vec<Array>> {
            all.iter().map(|bytes| decode(bytes, &flat(buffer, count))).collect()
        };
        let piece = || match count % n {
            0 => Ok(bytes_of(buffer, count / n)),
            _ => Err(Invalid::value(
                "element_count",
                count,
                format!("a multiple of the {n} devices"),
            )),
        };
        let result = match &collective.kind {
            CollectiveKind::AllGather => {
                all.iter().flat_map(|bytes| bytes.iter().copied()).collect()
            }
            CollectiveKind::AllReduce(kind) => reduced(*kind, &arrays()?, buffer)?,
            CollectiveKind::ReduceScatter(kind) => {
                let piece = piece()?;
                reduced(*kind, &arrays()?, buffer)?[rank * piece..][..piece].to_vec()
            }
            CollectiveKind::AllToAll(_) => {
                let piece = piece()?;
                all.iter()
                    .flat_map(|bytes| bytes[rank * piece..][..piece].iter().copied())
                    .collect()
            }
            CollectiveKind::Permute(pairs) => {
                let me = group.rank();
                let source =
                    pairs.iter().find(|(_, target)| *target == me).map(|(source, _)| *source);
                match source {
                    None => vec![0; bytes_of(buffer, count)],
                    Some(source) => all
                        .get(source)
                        .ok_or_else(|| Invalid::value("source", source, format!("below {n}")))?
                        .to_vec(),
                }
            }
            CollectiveKind::Broadcast => all[0].to_vec(),
            CollectiveKind::Kernel => {
                return Err(Invalid::unsupported("a kernel without a device"));
            }
        };
        received(buffer, &result, device, resolve)
    }
}

impl Group<'_, '_> {
    fn exchange(&self, bytes: Vec<u8>) -> Result<Vec<std::sync::Arc<Vec<u8>>>> {
        let count = {
            let mut meetings = self.member.meetings.borrow_mut();
            let count = meetings.entry(self.devices.clone()).or_default();
            *count += 1;
            *count
        };
        let length = bytes.len();
        let all =
            self.member.rendezvous.exchange(self.member.device(), &self.devices, count, bytes)?;
        match all.iter().find(|bytes| bytes.len() != length) {
            None => Ok(all),
            Some(other) => Err(Invalid::value(
                "bytes that another device sends",
                other.len(),
                length.to_string(),
            )),
        }
    }
}

impl Peers for Group<'_, '_> {
    fn share(&self, array: &Array) -> Result<Vec<Array>> {
        let shape = array.shape();
        let mut bytes = vec![0; shape.bytes()];
        encode(array, &shape, &mut bytes)?;
        self.exchange(bytes)?.iter().map(|bytes| decode(bytes, &shape)).collect()
    }

    fn rank(&self) -> usize {
        let me = self.member.device();
        self.devices.iter().position(|d| *d == me).unwrap_or(0)
    }
}

/// Each device sends its i-th buffer to the i-th of the group.
fn all_to_all_buffers(
    group: &Group<'_, '_>,
    buffers: &[CollectiveBuffer],
    device: &mut dyn Device,
    resolve: Resolve<'_>,
) -> Result<()> {
    let n = group.devices.len();
    if buffers.len() != n {
        return Err(Invalid::value("buffers", buffers.len(), format!("{n}, one per device")));
    }
    let mut received_from = Vec::with_capacity(n);
    let all: Vec<Vec<_>> = buffers
        .iter()
        .map(|buffer| group.exchange(sent(buffer, device, resolve)?))
        .collect::<Result<_>>()?;
    // The buffers that are meant for this device, one from each.
    if let Some(mine) = all.get(group.rank()) {
        received_from.extend(mine.iter().cloned());
    }
    for (buffer, bytes) in buffers.iter().zip(received_from) {
        received(buffer, &bytes, device, resolve)?;
    }
    Ok(())
}

/// The shape of so many elements of a buffer, in the order of memory.
fn flat(buffer: &CollectiveBuffer, count: usize) -> ArrayShape {
    let shape = &buffer.from.shape;
    ArrayShape { element_bits: shape.element_bits, ..ArrayShape::row_major(shape.ty, &[count]) }
}

fn bytes_of(buffer: &CollectiveBuffer, count: usize) -> usize {
    flat(buffer, count).bytes()
}

fn sent(
    buffer: &CollectiveBuffer,
    device: &mut dyn Device,
    resolve: Resolve<'_>,
) -> Result<Vec<u8>> {
    let mut bytes = device.read(resolve(&buffer.from.slice))?;
    bytes.truncate(bytes_of(buffer, buffer.count));
    Ok(bytes)
}

fn received(
    buffer: &CollectiveBuffer,
    bytes: &[u8],
    device: &mut dyn Device,
    resolve: Resolve<'_>,
) -> Result<()> {
    if bytes.len() > buffer.to.slice.size {
        let bound = format!("at most the {} of destination_buffer", buffer.to.slice.size);
        return Err(Invalid::value("bytes of the result", bytes.len(), bound));
    }
    device.write(resolve(&buffer.to.slice), bytes)
}

fn reduced(kind: Reduction, arrays: &[Array], buffer: &CollectiveBuffer) -> Result<Vec<u8>> {
    let opcode = match kind {
        Reduction::Sum => "add",
        Reduction::Product => "multiply",
        Reduction::Min => "minimum",
        Reduction::Max => "maximum",
    };
    let sum = reduce_arrays(opcode, arrays)?;
    let shape = flat(buffer, sum.len());
    let mut bytes = vec![0; shape.bytes()];
    encode(&sum, &shape, &mut bytes)?;
    Ok(bytes)
}
