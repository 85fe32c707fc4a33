//! Which allocations a slice counts in.

use std::rc::Rc;

use prost::Message as _;
use prost_reflect::{Cardinality, Kind, MessageDescriptor};

use crate::artifact::rope::Rope;
use crate::artifact::wire::{Fields, Wire};
use crate::error::{Error, ErrorKind};
use crate::proto::xla::BufferAllocationProto;

pub(super) const ALLOCATION: &str = "xla.BufferAllocationProto";
const SEQUENCE: &str = "xla.gpu.ThunkSequenceProto";
const THUNK: &str = "xla.gpu.ThunkProto";
/// Field of the executable with its allocations, and of their wrapper.
const BUFFER_ALLOCATIONS: u32 = 10;
const VALUES: u32 = 1;

/// One allocation.
#[derive(Clone, Debug)]
pub(super) struct Allocation {
    pub(super) size: i64,
    pub(super) constant: bool,
    /// Provided by the caller, handed out, one thread's, or a tuple of pointers: needs no slice.
    pub(super) special: bool,
}

/// The allocations that slices count in.
#[derive(Clone, Debug, Default)]
pub(super) struct Allocations {
    pub(super) list: Rc<Vec<Allocation>>,
    /// The executable's own, and not those that stand for slices inside a thunk.
    pub(super) own: bool,
}

impl Allocations {
    /// Those of the executable.
    pub(super) fn of_executable(executable: &Rope) -> Result<Self, Error> {
        let mut list = Vec::new();
        let layer = crate::artifact::EXECUTABLE;
        let mut fields = Fields::new(executable);
        while let Some(field) = fields.next_field().map_err(|error| error.in_layer(layer))? {
            if field.number == BUFFER_ALLOCATIONS && field.wire == Wire::Length {
                let wrapper = executable.slice(field.value).unwrap_or_default();
                read(&wrapper, VALUES, &mut list)?;
            }
        }
        Ok(Allocations { list: Rc::new(list), own: true })
    }

    /// Those that a message brings in its field `number` for the thunks inside it.
    pub(super) fn inside(number: u32, bytes: &Rope) -> Option<Self> {
        let mut list = Vec::new();
        // What is malformed stops the walk, which reports it.
        read(bytes, number, &mut list).ok()?;
        Some(Allocations { list: Rc::new(list), own: false })
    }
}

/// The field in which a type of message brings allocations for the thunks inside it.
pub(super) fn bringing_field(message: &MessageDescriptor) -> Option<u32> {
    let mut allocations = None;
    let mut thunks = false;
    for field in message.fields() {
        let Kind::Message(kind) = field.kind() else { continue };
        if kind.full_name() == ALLOCATION && field.cardinality() == Cardinality::Repeated {
            allocations = Some(field.number());
        }
        thunks |= holds_thunks(&kind);
    }
    allocations.filter(|_| thunks)
}

/// Whether a message is a thunk or a sequence of them.
pub(super) fn holds_thunks(message: &MessageDescriptor) -> bool {
    matches!(message.full_name(), SEQUENCE | THUNK)
}

fn read(bytes: &Rope, number: u32, list: &mut Vec<Allocation>) -> Result<(), Error> {
    let mut fields = Fields::new(bytes);
    while let Some(field) = fields.next_field().map_err(|error| error.in_layer(ALLOCATION))? {
        if field.number != number || field.wire != Wire::Length {
            continue;
        }
        let value = bytes.slice(field.value).unwrap_or_default();
        let allocation = BufferAllocationProto::decode(value.reader())
            .map_err(|error| ErrorKind::Decode { message: ALLOCATION, error })?;
        list.push(Allocation {
            size: allocation.size,
            constant: allocation.is_constant,
            special: allocation.is_entry_computation_parameter
                || allocation.maybe_live_out
                || allocation.is_thread_local
                || allocation.is_tuple,
        });
    }
    Ok(())
}
