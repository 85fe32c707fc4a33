//! The protobuf wire format, as much of it as containers need: fields of one level, no schema.

use std::fmt;
use std::ops::Range;

use prost::bytes::Buf as _;
use prost::encoding::encode_varint;

use super::rope::{Rope, RopeReader};
use crate::error::{Error, ErrorKind};

/// Groups inside one another that are skipped; deeper ones are an error.
const MAX_GROUPS: usize = 100;

/// How a value is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Varint,
    Fixed64,
    Length,
    Group,
    Fixed32,
}

/// One field occurrence of a message.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) number: u32,
    pub(crate) wire: Wire,
    /// From the tag to the end of the value.
    pub(crate) whole: Range<usize>,
    /// The value; for `Wire::Length` without its length.
    pub(crate) value: Range<usize>,
    /// The number, where it is one.
    pub(crate) scalar: u64,
}

/// What is wrong with a message, before it is known which layer that is.
#[derive(Debug)]
pub(crate) struct WireError {
    pub(crate) offset: usize,
    pub(crate) what: &'static str,
    pub(crate) expected: String,
    pub(crate) found: String,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WireError { offset, what, expected, found } = self;
        write!(f, "{what} at its byte {offset}: {found} instead of {expected}")
    }
}

impl WireError {
    pub(crate) fn in_layer(self, layer: &str) -> Error {
        ErrorKind::Malformed {
            layer: layer.to_owned(),
            offset: self.offset,
            what: self.what.to_owned(),
            expected: self.expected,
            found: self.found,
        }
        .into()
    }
}

/// Iterates over the fields of one message.
pub(crate) struct Fields<'a> {
    reader: RopeReader<'a>,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(message: &'a Rope) -> Self {
        Fields { reader: message.reader() }
    }

    /// The next field, `None` at the end.
    pub(crate) fn next_field(&mut self) -> Result<Option<Field>, WireError> {
        let reader = &mut self.reader;
        if !reader.has_remaining() {
            return Ok(None);
        }
        let start = reader.position();
        let (number, wire_type) = tag(reader)?;
        let mut value = reader.position();
        let mut scalar = 0;
        let wire = match wire_type {
            0 => {
                scalar = varint(reader, "a varint")?;
                Wire::Varint
            }
            1 => {
                scalar = fixed(reader, 8)?;
                Wire::Fixed64
            }
            2 => {
                let length = length(reader)?;
                value = reader.position();
                reader.advance(length);
                Wire::Length
            }
            3 => {
                skip_group(reader, number)?;
                Wire::Group
            }
            5 => {
                scalar = fixed(reader, 4)?;
                Wire::Fixed32
            }
            other => {
                return Err(WireError {
                    offset: start,
                    what: "wire type of a field",
                    expected: "0, 1, 2, 3 or 5".to_owned(),
                    found: format!("{other} (field {number})"),
                });
            }
        };
        let end = reader.position();
        Ok(Some(Field { number, wire, whole: start..end, value: value..end, scalar }))
    }
}

fn tag(reader: &mut RopeReader<'_>) -> Result<(u32, u64), WireError> {
    let offset = reader.position();
    let tag = varint(reader, "a field's tag")?;
    match u32::try_from(tag >> 3) {
        Ok(number @ 1..=0x1fff_ffff) => Ok((number, tag & 7)),
        _ => Err(WireError {
            offset,
            what: "number of a field",
            expected: "1 to 536870911".to_owned(),
            found: (tag >> 3).to_string(),
        }),
    }
}

/// Reads a varint of up to 10 bytes.
pub(crate) fn varint(reader: &mut RopeReader<'_>, what: &'static str) -> Result<u64, WireError> {
    let offset = reader.position();
    let mut value = 0u64;
    for index in 0..10u32 {
        let Some(byte) = reader.byte() else {
            return Err(WireError {
                offset,
                what,
                expected: "a varint".to_owned(),
                found: format!("the end after {index} bytes of it"),
            });
        };
        value |= u64::from(byte & 0x7f).checked_shl(7 * index).unwrap_or(0);
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(WireError {
        offset,
        what,
        expected: "a varint of at most 10 bytes".to_owned(),
        found: "a longer one".to_owned(),
    })
}

fn fixed(reader: &mut RopeReader<'_>, size: usize) -> Result<u64, WireError> {
    let offset = reader.position();
    let mut value = 0;
    for index in 0..size {
        let Some(byte) = reader.byte() else {
            return Err(WireError {
                offset,
                what: "a fixed-size number",
                expected: format!("{size} bytes"),
                found: format!("{index}"),
            });
        };
        value |= u64::from(byte) << (8 * index);
    }
    Ok(value)
}

fn length(reader: &mut RopeReader<'_>) -> Result<usize, WireError> {
    let offset = reader.position();
    let length = varint(reader, "length of a field")?;
    match usize::try_from(length) {
        Ok(fits) if fits <= reader.remaining() => Ok(fits),
        _ => Err(WireError {
            offset,
            what: "length of a field",
            expected: format!("at most the {} bytes that are left", reader.remaining()),
            found: length.to_string(),
        }),
    }
}

fn skip_group(reader: &mut RopeReader<'_>, number: u32) -> Result<(), WireError> {
    let mut open = vec![number];
    while let Some(innermost) = open.last().copied() {
        let offset = reader.position();
        let (number, wire_type) = tag(reader)?;
        match wire_type {
            0 => drop(varint(reader, "a varint")?),
            1 => drop(fixed(reader, 8)?),
            2 => {
                let length = length(reader)?;
                reader.advance(length);
            }
            3 if open.len() < MAX_GROUPS => open.push(number),
            4 if number == innermost => drop(open.pop()),
            5 => drop(fixed(reader, 4)?),
            _ => {
                return Err(WireError {
                    offset,
                    what: "inside of a group",
                    expected: format!("fields, then the end of group {innermost}"),
                    found: format!("field {number} with wire type {wire_type}"),
                });
            }
        }
    }
    Ok(())
}

/// Checks that `message` is a sequence of whole fields.
pub(crate) fn check(message: &Rope) -> Result<(), WireError> {
    let mut fields = Fields::new(message);
    while fields.next_field()?.is_some() {}
    Ok(())
}

/// Adds a length-delimited field to `message`.
pub(crate) fn push_field(message: &mut Rope, number: u32, value: &Rope) {
    let mut head = Vec::with_capacity(15);
    encode_varint(u64::from(number) << 3 | 2, &mut head);
    encode_varint(value.len() as u64, &mut head);
    message.push(head.into());
    message.append(value);
}

/// Lower-case hexadecimal of the first bytes, for messages.
pub(crate) fn preview(bytes: &Rope) -> String {
    const SHOWN: usize = 16;
    let head = bytes.slice(0..bytes.len().min(SHOWN)).unwrap_or_default().to_bytes();
    if head.is_empty() {
        return "no bytes".to_owned();
    }
    let mut text = String::from("bytes");
    for byte in &head {
        text.push_str(&format!(" {byte:02x}"));
    }
    if bytes.len() > SHOWN {
        text.push_str(" ...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(bytes: &[u8]) -> Result<Vec<(u32, Wire, u64)>, WireError> {
        let rope = Rope::from(bytes.to_vec());
        let mut fields = Fields::new(&rope);
        let mut found = Vec::new();
        while let Some(field) = fields.next_field()? {
            found.push((field.number, field.wire, field.scalar));
        }
        Ok(found)
    }

    #[test]
    fn every_wire_type_is_walked() {
        let bytes = [
            &[0x08, 0x96, 0x01][..],
            &[0x11, 1, 0, 0, 0, 0, 0, 0, 0],
            &[0x1a, 0x02, 0xff, 0xff],
            &[0x23, 0x08, 0x01, 0x2b, 0x2c, 0x24],
            &[0x2d, 2, 0, 0, 0],
        ]
        .concat();
        let expected = [
            (1, Wire::Varint, 150),
            (2, Wire::Fixed64, 1),
            (3, Wire::Length, 0),
            (4, Wire::Group, 0),
            (5, Wire::Fixed32, 2),
        ];
        assert_eq!(fields(&bytes).unwrap(), expected);
    }

    #[test]
    fn damage_is_placed() {
        let cases: [(&[u8], usize); 6] = [
            (&[0x08], 1),
            (&[0x08, 0x01, 0x12, 0x05, 0x00], 3),
            (&[0x00, 0x01], 0),
            (&[0x0e], 0),
            (&[0x0b, 0x14], 1),
            (&[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], 1),
        ];
        for (bytes, offset) in cases {
            assert_eq!(fields(bytes).unwrap_err().offset, offset, "{bytes:02x?}");
        }
    }

    #[test]
    fn groups_do_not_nest_without_end() {
        assert!(fields(&[0x0b; 10_000]).is_err());
    }
}
