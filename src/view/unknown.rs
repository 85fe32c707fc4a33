//! Reading what the contract does not know, and the ends of messages and groups.

use super::bits::{END_GROUP, FIXED64, LENGTH, START_GROUP, VARINT};
use super::cursor::Cursor;
use super::fields::Decoder;
use super::held::{Unknown, UnknownValue};
use super::refused::{Failure, Reason};

impl<'a> Decoder<'a> {
    pub(super) fn unknown(
        &mut self,
        number: u32,
        wire: u8,
        cursor: &mut Cursor<'a>,
    ) -> Result<Unknown<'a>, Failure> {
        self.spend(size_of::<Unknown<'_>>(), cursor)?;
        let value = match wire {
            VARINT => UnknownValue::Varint(cursor.varint()?),
            FIXED64 => UnknownValue::Fixed64(cursor.fixed64()?),
            LENGTH => UnknownValue::Length(cursor.delimited()?.rest().into()),
            START_GROUP => {
                self.enter(cursor)?;
                let mut inner = Vec::new();
                while let Some((number, wire)) = next_field(cursor, Some(number))? {
                    inner.push(self.unknown(number, wire, cursor)?);
                }
                self.leave();
                UnknownValue::Group(inner)
            }
            _ => UnknownValue::Fixed32(cursor.fixed32()?),
        };
        Ok(Unknown { number, value })
    }
}

/// The next field's number and wire type; none at the end of the cursor or of the open group.
pub(super) fn next_field(
    cursor: &mut Cursor<'_>,
    group: Option<u32>,
) -> Result<Option<(u32, u8)>, Failure> {
    if cursor.done() {
        return match group {
            Some(number) => cursor.fail(Reason::GroupNotClosed(number)),
            None => Ok(None),
        };
    }
    let start = *cursor;
    let (number, wire) = cursor.tag()?;
    match wire {
        END_GROUP if group == Some(number) => Ok(None),
        END_GROUP => start.fail(Reason::EndGroup(number)),
        _ => Ok(Some((number, wire))),
    }
}
