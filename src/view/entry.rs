//! Reading map entries.

use super::bits::wire_type;
use super::canonical;
use super::cursor::Cursor;
use super::fields::Decoder;
use super::held::{Key, Node, Slot, Unknown, UnknownValue, Value};
use super::refused::Failure;
use super::unknown::next_field;
use crate::descriptor::{Field, Message, Scalar, Type};

impl<'a> Decoder<'a> {
    /// Reads one entry: the last key and value in it count, message values merge, anything else in it is
    /// dropped; an earlier entry of the same key is replaced.
    pub(super) fn entry(
        &mut self,
        node: &mut Node<'a>,
        field: &'a Field,
        ty: &'a Message,
        cursor: &mut Cursor<'a>,
    ) -> Result<(), Failure> {
        let (Some(key_field), Some(value_field)) = (ty.field(1), ty.field(2)) else {
            return Ok(());
        };
        self.spend(size_of::<(Key<'_>, Value<'_>)>(), cursor)?;
        self.enter(cursor)?;
        let mut inner = cursor.delimited()?;
        let mut key = Key::of(key_field, 0);
        let Some(mut value) = self.zero(value_field) else { return Ok(()) };
        while let Some((number, wire)) = next_field(&mut inner, None)? {
            if number == 1 && wire == wire_type(key_field) {
                key = self.key(key_field, &mut inner)?;
            } else if number == 2 && wire == wire_type(value_field) {
                match &mut value {
                    Value::Message(message) => self.nested(message, value_field, &mut inner)?,
                    Value::Bytes(bytes) => *bytes = self.bytes(value_field, &mut inner)?,
                    Value::Bits(bits) => *bits = self.bits(value_field, &mut inner)?,
                }
            } else {
                self.unknown(number, wire, &mut inner)?;
            }
        }
        self.leave();
        match value {
            Value::Bits(bits) if self.unknown_number(value_field, bits) => {
                let number = field.number as u32;
                let entry = canonical::entry(key_field, key, value_field, &value);
                let value = UnknownValue::Length(entry.into());
                node.unknown.push(Unknown { number, value });
            }
            value => {
                let slot = node.slot_or(field.number, || Slot::Map(Default::default()));
                if let Slot::Map(map) = slot {
                    map.insert(key, value);
                }
            }
        }
        Ok(())
    }

    fn key(&mut self, field: &Field, cursor: &mut Cursor<'a>) -> Result<Key<'a>, Failure> {
        Ok(match &field.ty {
            Type::Scalar(Scalar::String) => Key::Text(self.bytes(field, cursor)?),
            _ => Key::of(field, self.bits(field, cursor)?),
        })
    }

    /// What a value that an entry does not carry reads as.
    fn zero(&mut self, field: &'a Field) -> Option<Value<'a>> {
        Some(match &field.ty {
            Type::Message(_) => Value::Message(Box::new(Node::new(self.types.of(field)?))),
            Type::Scalar(Scalar::String | Scalar::Bytes) => Value::Bytes(&[]),
            _ => Value::Bits(0),
        })
    }
}
