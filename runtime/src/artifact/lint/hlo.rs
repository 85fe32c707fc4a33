//! The ids of an HLO module, read off the wire: what it defines and what it refers to.

use std::collections::{BTreeMap, BTreeSet};

use prost::bytes::Buf as _;

use crate::artifact::rope::Rope;
use crate::artifact::wire::{Field, Fields, Wire, WireError, varint};

pub(super) const MODULE: &str = "xla.HloModuleProto";

/// A module.
#[derive(Default)]
pub(super) struct Module {
    pub(super) computations: Vec<Computation>,
    pub(super) entry: Option<i64>,
    /// Instructions in order, by computation.
    pub(super) schedule: Vec<(i64, Vec<i64>)>,
}

/// A computation.
#[derive(Default)]
pub(super) struct Computation {
    pub(super) id: i64,
    pub(super) name: Vec<u8>,
    pub(super) root: i64,
    pub(super) instructions: Vec<Instruction>,
}

/// An instruction.
#[derive(Default)]
pub(super) struct Instruction {
    pub(super) id: i64,
    pub(super) name: Vec<u8>,
    constant: bool,
    literal: bool,
    pub(super) operands: Vec<i64>,
    pub(super) predecessors: Vec<i64>,
    pub(super) called: Vec<i64>,
}

impl Module {
    pub(super) fn read(bytes: &Rope) -> Result<Self, WireError> {
        let mut module = Module::default();
        let mut fields = Fields::new(bytes);
        while let Some(field) = fields.next_field()? {
            match (field.number, field.wire) {
                (3, Wire::Length) => {
                    module.computations.push(Computation::read(&value(bytes, &field))?);
                }
                (6, Wire::Varint) => module.entry = Some(field.scalar.cast_signed()),
                (7, Wire::Length) => module.read_schedule(&value(bytes, &field))?,
                _ => {}
            }
        }
        Ok(module)
    }

    fn read_schedule(&mut self, bytes: &Rope) -> Result<(), WireError> {
        let mut entries = Fields::new(bytes);
        while let Some(entry) = entries.next_field()? {
            if (entry.number, entry.wire) != (1, Wire::Length) {
                continue;
            }
            let entry = value(bytes, &entry);
            let (mut computation, mut ids) = (0, Vec::new());
            let mut fields = Fields::new(&entry);
            while let Some(field) = fields.next_field()? {
                match (field.number, field.wire) {
                    (1, Wire::Varint) => computation = field.scalar.cast_signed(),
                    (2, Wire::Length) => {
                        let sequence = value(&entry, &field);
                        let mut fields = Fields::new(&sequence);
                        while let Some(field) = fields.next_field()? {
                            if field.number == 1 {
                                add_ids(&sequence, &field, &mut ids)?;
                            }
                        }
                    }
                    _ => {}
                }
            }
            self.schedule.push((computation, ids));
        }
        Ok(())
    }

    /// Names of the computations.
    pub(super) fn names(&self) -> BTreeSet<Vec<u8>> {
        self.computations.iter().map(|computation| computation.name.clone()).collect()
    }

    /// Constants by the name that their global has, and whether their value is there.
    pub(super) fn constants(&self) -> BTreeMap<Vec<u8>, bool> {
        let instructions = self.computations.iter().flat_map(|c| &c.instructions);
        let constants = instructions.filter(|instruction| instruction.constant);
        constants.map(|constant| (global(&constant.name), constant.literal)).collect()
    }
}

/// The name of the global that holds a constant.
fn global(name: &[u8]) -> Vec<u8> {
    let mapped = name.iter().map(|byte| match byte {
        b'.' | b'-' => b'_',
        other => *other,
    });
    b"buffer_for_".iter().copied().chain(mapped).collect()
}

impl Computation {
    fn read(bytes: &Rope) -> Result<Self, WireError> {
        let mut computation = Computation::default();
        let mut fields = Fields::new(bytes);
        while let Some(field) = fields.next_field()? {
            match (field.number, field.wire) {
                (1, Wire::Length) => computation.name = text(bytes, &field),
                (2, Wire::Length) => {
                    computation.instructions.push(Instruction::read(&value(bytes, &field))?);
                }
                (5, Wire::Varint) => computation.id = field.scalar.cast_signed(),
                (6, Wire::Varint) => computation.root = field.scalar.cast_signed(),
                _ => {}
            }
        }
        Ok(computation)
    }
}

impl Instruction {
    fn read(bytes: &Rope) -> Result<Self, WireError> {
        let mut instruction = Instruction::default();
        let mut fields = Fields::new(bytes);
        while let Some(field) = fields.next_field()? {
            match (field.number, field.wire) {
                (1, Wire::Length) => instruction.name = text(bytes, &field),
                (2, Wire::Length) => instruction.constant = text(bytes, &field) == b"constant",
                (8, Wire::Length) => instruction.literal = true,
                (35, Wire::Varint) => instruction.id = field.scalar.cast_signed(),
                (36, _) => add_ids(bytes, &field, &mut instruction.operands)?,
                (37, _) => add_ids(bytes, &field, &mut instruction.predecessors)?,
                (38, _) => add_ids(bytes, &field, &mut instruction.called)?,
                _ => {}
            }
        }
        Ok(instruction)
    }
}

fn value(bytes: &Rope, field: &Field) -> Rope {
    bytes.slice(field.value.clone()).unwrap_or_default()
}

fn text(bytes: &Rope, field: &Field) -> Vec<u8> {
    value(bytes, field).to_bytes().to_vec()
}

/// Adds the numbers of a repeated field, packed or not.
pub(super) fn add_ids(bytes: &Rope, field: &Field, ids: &mut Vec<i64>) -> Result<(), WireError> {
    match field.wire {
        Wire::Varint => ids.push(field.scalar.cast_signed()),
        Wire::Length => {
            let packed = value(bytes, field);
            let mut reader = packed.reader();
            while reader.has_remaining() {
                ids.push(varint(&mut reader, "an id of a packed list")?.cast_signed());
            }
        }
        _ => {}
    }
    Ok(())
}
