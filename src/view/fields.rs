//! Reading the fields of a message into a [`Node`].

use super::bits::{FIXED32, FIXED64, LENGTH, from_fixed32, from_varint, takes_packed, wire_type};
use super::cursor::Cursor;
use super::decode::Limits;
use super::held::{Node, Slot, Unknown, UnknownValue, Value};
use super::path::Path;
use super::refused::{Failure, Reason};
use super::types::Types;
use super::unknown::next_field;
use crate::descriptor::{Contract, Field, Label, Message, Scalar, Type};

pub(super) struct Decoder<'a> {
    contract: &'a Contract,
    pub(super) types: Types<'a>,
    limits: Limits,
    depth: usize,
    memory: usize,
    /// Not unwound on failure: it then tells where.
    pub(super) path: Path<'a>,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(contract: &'a Contract, limits: Limits) -> Self {
        let (types, memory) = (Types::new(contract), limits.memory);
        Decoder { contract, types, limits, depth: 0, memory, path: Path::default() }
    }

    /// Reads fields up to the end of the cursor, or of the open group.
    pub(super) fn fields(
        &mut self,
        node: &mut Node<'a>,
        cursor: &mut Cursor<'a>,
        group: Option<u32>,
    ) -> Result<(), Failure> {
        while let Some((number, wire)) = next_field(cursor, group)? {
            let field = i32::try_from(number).ok().and_then(|number| node.ty.field(number));
            match field {
                Some(field) if wire == wire_type(field) => {
                    self.path.field(&field.name);
                    self.value(node, field, cursor)?;
                    self.path.pop();
                }
                Some(field) if wire == LENGTH && takes_packed(field) => {
                    self.path.field(&field.name);
                    let list = cursor.delimited()?;
                    self.packed(node, field, list)?;
                    self.path.pop();
                }
                _ => {
                    let unknown = self.unknown(number, wire, cursor)?;
                    node.unknown.push(unknown);
                }
            }
        }
        Ok(())
    }

    /// Reads a value whose wire type is the field's.
    fn value(
        &mut self,
        node: &mut Node<'a>,
        field: &'a Field,
        cursor: &mut Cursor<'a>,
    ) -> Result<(), Failure> {
        match &field.ty {
            Type::Message(_) => {
                let Some(ty) = self.types.of(field) else { return Ok(()) };
                if ty.map_entry && field.label == Label::Repeated {
                    return self.entry(node, field, ty, cursor);
                }
                self.message(node, field, ty, cursor)
            }
            Type::Scalar(Scalar::String | Scalar::Bytes) => {
                let bytes = self.bytes(field, cursor)?;
                if field.label != Label::Repeated {
                    node.set(field, Value::Bytes(bytes));
                } else if let Slot::Bytes(list) =
                    node.slot_or(field.number, || Slot::Bytes(Vec::new()))
                {
                    list.push(bytes);
                }
                Ok(())
            }
            _ => {
                let bits = self.bits(field, cursor)?;
                self.scalar(node, field, bits);
                Ok(())
            }
        }
    }

    /// Stores a scalar, or puts it aside if it is an unknown number of a closed enum.
    fn scalar(&mut self, node: &mut Node<'a>, field: &Field, bits: u64) {
        if self.unknown_number(field, bits) {
            let number = field.number as u32;
            node.unknown.push(Unknown { number, value: UnknownValue::Varint(bits) });
        } else if field.label != Label::Repeated {
            node.set(field, Value::Bits(bits));
        } else if let Slot::Bits(list) = node.slot_or(field.number, || Slot::Bits(Vec::new())) {
            list.push(bits);
        }
    }

    fn packed(
        &mut self,
        node: &mut Node<'a>,
        field: &'a Field,
        mut list: Cursor<'a>,
    ) -> Result<(), Failure> {
        let element = match wire_type(field) {
            FIXED32 => 4,
            FIXED64 => 8,
            _ => 1,
        };
        let length = list.rest().len();
        if !length.is_multiple_of(element) {
            return list.fail(Reason::PackedLength { element, length });
        }
        while !list.done() {
            let bits = self.bits(field, &mut list)?;
            self.scalar(node, field, bits);
        }
        Ok(())
    }

    fn message(
        &mut self,
        node: &mut Node<'a>,
        field: &'a Field,
        ty: &'a Message,
        cursor: &mut Cursor<'a>,
    ) -> Result<(), Failure> {
        self.spend(size_of::<Node<'_>>(), cursor)?;
        if field.label == Label::Repeated {
            let slot = node.slot_or(field.number, || Slot::Messages(Vec::new()));
            let Slot::Messages(list) = slot else { return Ok(()) };
            let mut element = Node::new(ty);
            self.path.index(list.len());
            self.nested(&mut element, field, cursor)?;
            self.path.pop();
            list.push(element);
            return Ok(());
        }
        node.clear_siblings(field);
        let new = || Slot::One(Value::Message(Box::new(Node::new(ty))));
        match node.slot_or(field.number, new) {
            // Merges into what an earlier occurrence left.
            Slot::One(Value::Message(message)) => self.nested(message, field, cursor),
            _ => Ok(()),
        }
    }

    /// Reads a sub-message into `target`.
    pub(super) fn nested(
        &mut self,
        target: &mut Node<'a>,
        field: &Field,
        cursor: &mut Cursor<'a>,
    ) -> Result<(), Failure> {
        self.enter(cursor)?;
        if field.delimited {
            self.fields(target, cursor, Some(field.number as u32))?;
        } else {
            self.fields(target, &mut cursor.delimited()?, None)?;
        }
        self.leave();
        Ok(())
    }

    pub(super) fn bytes(
        &mut self,
        field: &Field,
        cursor: &mut Cursor<'a>,
    ) -> Result<&'a [u8], Failure> {
        self.spend(size_of::<Value<'_>>(), cursor)?;
        let value = cursor.delimited()?;
        if field.verify_utf8 && std::str::from_utf8(value.rest()).is_err() {
            return value.fail(Reason::InvalidUtf8);
        }
        Ok(value.rest())
    }

    pub(super) fn bits(&mut self, field: &Field, cursor: &mut Cursor<'a>) -> Result<u64, Failure> {
        self.spend(size_of::<u64>(), cursor)?;
        Ok(match wire_type(field) {
            FIXED32 => from_fixed32(&field.ty, cursor.fixed32()?),
            FIXED64 => cursor.fixed64()?,
            _ => from_varint(&field.ty, cursor.varint()?),
        })
    }

    /// Whether the field's enum is closed and lacks this number.
    pub(super) fn unknown_number(&self, field: &Field, bits: u64) -> bool {
        let Type::Enum(name) = &field.ty else { return false };
        let known =
            |number| self.contract.enumeration(name).is_some_and(|e| e.value(number).is_some());
        field.closed_enum && !known(bits as i32)
    }

    pub(super) fn enter(&mut self, cursor: &Cursor<'_>) -> Result<(), Failure> {
        if self.depth >= self.limits.depth {
            return cursor.fail(Reason::TooDeep(self.limits.depth));
        }
        self.depth += 1;
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    pub(super) fn spend(&mut self, bytes: usize, cursor: &Cursor<'_>) -> Result<(), Failure> {
        match self.memory.checked_sub(bytes) {
            Some(left) => {
                self.memory = left;
                Ok(())
            }
            None => cursor.fail(Reason::TooLarge(self.limits.memory)),
        }
    }
}
