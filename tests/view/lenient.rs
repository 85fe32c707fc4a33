//! How protoc's text printer guesses whether unknown bytes are a message: with the older
//! `CodedInputStream`, which takes tags and lengths of up to ten bytes.

use aotgate::view::{Unknown, UnknownValue};

/// The fields of a message, if the bytes look like one.
pub(crate) fn message(bytes: &[u8], budget: usize) -> Option<Vec<Unknown<'_>>> {
    let mut rest = bytes;
    fields(&mut rest, None, budget)
}

fn fields<'a>(rest: &mut &'a [u8], group: Option<u32>, budget: usize) -> Option<Vec<Unknown<'a>>> {
    let mut found = Vec::new();
    while !rest.is_empty() {
        let tag = varint(rest)? as u32;
        let number = tag >> 3;
        if number == 0 {
            return None;
        }
        let value = match tag & 7 {
            0 => UnknownValue::Varint(varint(rest)?),
            1 => UnknownValue::Fixed64(u64::from_le_bytes(take(rest, 8)?.try_into().unwrap())),
            2 => {
                let length = varint(rest)? as u32 as usize;
                UnknownValue::Length(take(rest, length)?.into())
            }
            3 => UnknownValue::Group(fields(rest, Some(number), budget.checked_sub(1)?)?),
            4 => return (group == Some(number)).then_some(found),
            5 => UnknownValue::Fixed32(u32::from_le_bytes(take(rest, 4)?.try_into().unwrap())),
            _ => return None,
        };
        found.push(Unknown { number, value });
    }
    group.is_none().then_some(found)
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for at in 0..10 {
        let byte = take(rest, 1)?[0];
        value |= u64::from(byte & 0x7f) << (7 * at);
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}
