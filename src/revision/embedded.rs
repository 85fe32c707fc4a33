//! Finding serialized `FileDescriptorProto`s in a stream of arbitrary bytes.
//!
//! A descriptor starts with field 1, the file name: tag `0a`, a length, and text that ends in
//! `.proto`. From there fields follow in ascending order, as every protobuf compiler writes them,
//! and the descriptor ends before the first byte that cannot continue it: a field that is unknown, out of
//! order, or whose content is no well-formed value of its type. Nothing is allocated to decide that.

use std::collections::HashMap;
use std::io::Read;

/// Longest descriptor that is recognized (the largest in a CUDA plugin has 40 kB).
const MAX_DESCRIPTOR: usize = 4 << 20;
/// How much is read at a time.
const CHUNK: usize = 4 << 20;
/// Longest file name.
const MAX_NAME: usize = 1024;
/// More files, or declarations in them, than real binaries have (a CUDA plugin: 79 files).
const MAX_FILES: usize = 20_000;
const MAX_DECLARATIONS: usize = 2_000_000;
/// Deepest nesting of declarations.
const MAX_DEPTH: usize = 64;

/// Collects descriptors from one or more byte streams.
#[derive(Default)]
pub(super) struct Scanner {
    found: Vec<Found>,
    by_name: HashMap<String, usize>,
    declarations: usize,
    /// Bytes read, and bytes looked at in vain: more of the latter than of the former is hostile.
    read: usize,
    wasted: usize,
}

struct Found {
    bytes: Vec<u8>,
    complete: bool,
}

/// Why scanning stopped.
#[derive(Debug)]
pub(super) enum ScanError {
    Io(std::io::Error),
    TooMany(&'static str),
}

impl Scanner {
    /// Reads a stream to its end.
    pub(super) fn scan(&mut self, mut reader: impl Read) -> Result<(), ScanError> {
        let mut window = vec![0; CHUNK + MAX_DESCRIPTOR];
        let mut filled = 0;
        loop {
            let read = fill(&mut reader, &mut window[filled..]).map_err(ScanError::Io)?;
            self.read += read;
            filled += read;
            let end = filled < window.len();
            // A descriptor that starts before `limit` is in the window as a whole.
            let limit = if end { filled } else { filled - MAX_DESCRIPTOR };
            let next = self.window(&window[..filled], limit)?;
            if end {
                return Ok(());
            }
            window.copy_within(next..filled, 0);
            filled -= next;
        }
    }

    /// The descriptors in order of their appearance; of several with one name the first complete one.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = &[u8]> {
        self.found.iter().map(|f| f.bytes.as_slice())
    }

    /// Scans from the window's start; returns where to go on, at or after `limit`.
    fn window(&mut self, window: &[u8], limit: usize) -> Result<usize, ScanError> {
        let mut at = 0;
        while let Some(step) = window.get(at..limit).and_then(|w| w.iter().position(|b| *b == 0x0a))
        {
            at += step;
            let rest = &window[at..window.len().min(at + MAX_DESCRIPTOR)];
            let Some(name) = file_name(rest) else {
                at += 1;
                continue;
            };
            let extent = extent(rest);
            at += extent.end;
            // What was looked at in vain is looked at again, within a budget.
            self.wasted += extent.rejected;
            if self.wasted > self.read {
                at += extent.rejected;
            }
            self.keep(name, &rest[..extent.end], &extent)?;
        }
        Ok(at.max(limit))
    }

    fn keep(&mut self, name: &str, bytes: &[u8], extent: &Extent) -> Result<(), ScanError> {
        let complete = extent.declarations > 0 || extent.imports;
        let fields = bytes.len() > name.len() + 3;
        if !fields {
            return Ok(()); // a file name in some other message
        }
        let found = Found { bytes: bytes.to_vec(), complete };
        match self.by_name.get(name) {
            Some(&at) => match self.found.get_mut(at) {
                Some(earlier) if complete && !earlier.complete => *earlier = found,
                _ => return Ok(()),
            },
            None => {
                if self.found.len() >= MAX_FILES {
                    return Err(ScanError::TooMany("descriptors"));
                }
                self.by_name.insert(name.to_owned(), self.found.len());
                self.found.push(found);
            }
        }
        self.declarations += extent.declarations;
        if self.declarations > MAX_DECLARATIONS {
            return Err(ScanError::TooMany("declarations"));
        }
        Ok(())
    }
}

fn fill(reader: &mut impl Read, mut buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut total = 0;
    while !buffer.is_empty() {
        match reader.read(buffer) {
            Ok(0) => break,
            Ok(read) => {
                total += read;
                buffer = &mut std::mem::take(&mut buffer)[read..];
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(total)
}

/// The name in field 1 at the start of `bytes`, if it is one of a `.proto` file.
fn file_name(bytes: &[u8]) -> Option<&str> {
    let mut wire = Wire { bytes, at: 1 };
    let length = usize::try_from(wire.varint()?).ok().filter(|n| (7..=MAX_NAME).contains(n))?;
    let name = wire.take(length)?;
    let plausible = name.ends_with(b".proto") && !name.iter().any(u8::is_ascii_control);
    std::str::from_utf8(name).ok().filter(|_| plausible)
}

/// How far a descriptor reaches.
#[derive(Default)]
struct Extent {
    end: usize,
    /// Messages, fields, enums, values, services, methods.
    declarations: usize,
    imports: bool,
    /// Bytes behind the end that were looked at and do not belong to it.
    rejected: usize,
}

/// Reads fields from the start of `bytes` to the first thing that cannot continue the descriptor.
fn extent(bytes: &[u8]) -> Extent {
    let mut wire = Wire { bytes, at: 0 };
    let mut extent = Extent::default();
    let (mut last, mut imports) = (0, 0u64);
    while let Some((number, value)) = wire.field() {
        let once = matches!(number, 1 | 2 | 8 | 9 | 12 | 14);
        if number < last || (once && number == last) {
            break;
        }
        let mut count = 0;
        let ok = match (number, value) {
            (1, Value::Bytes(_)) => true,
            (2, Value::Bytes(package)) => {
                package.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_'))
            }
            (3 | 15, Value::Bytes(import)) => {
                imports += 1;
                std::str::from_utf8(import).is_ok_and(|i| !i.contains(char::is_control))
            }
            (12, Value::Bytes(syntax)) => matches!(syntax, b"proto2" | b"proto3" | b"editions"),
            (4, Value::Bytes(content)) => well_formed(Kind::Message, content, 0, &mut count),
            (5, Value::Bytes(content)) => well_formed(Kind::Enum, content, 0, &mut count),
            (6, Value::Bytes(content)) => well_formed(Kind::Service, content, 0, &mut count),
            (7, Value::Bytes(content)) => well_formed(Kind::Field, content, 0, &mut count),
            (8 | 9, Value::Bytes(content)) => well_formed(Kind::Other, content, 0, &mut count),
            (10 | 11, Value::Number(index)) => index < imports,
            (14, Value::Number(edition)) => edition <= i32::MAX as u64,
            _ => false,
        };
        if !ok {
            break;
        }
        (last, extent.end) = (number, wire.at);
        extent.declarations += count;
        extent.imports |= number == 3;
    }
    extent.rejected = wire.at - extent.end;
    extent
}

/// The messages of `descriptor.proto` that are told apart.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Message,
    Field,
    Oneof,
    Enum,
    EnumValue,
    Service,
    Method,
    /// Options, ranges, source information: any well-formed message.
    Other,
}

enum Shape {
    Text,
    Number,
    Nested(Kind),
}

/// Field numbers and types of `descriptor.proto`; `None` for a number it does not have.
fn shape(kind: Kind, number: u64) -> Option<Shape> {
    use Kind::{Enum, EnumValue, Field, Message, Method, Oneof, Other, Service};
    Some(match (kind, number) {
        (Other, _) => return None,
        (_, 1) => Shape::Text,
        (Message, 2 | 6) => Shape::Nested(Field),
        (Message, 3) => Shape::Nested(Message),
        (Message, 4) => Shape::Nested(Enum),
        (Message, 8) => Shape::Nested(Oneof),
        (Message, 5 | 7 | 9) => Shape::Nested(Other),
        (Message, 10) => Shape::Text,
        (Message, 11) => Shape::Number,
        (Field, 2 | 6 | 7 | 10) => Shape::Text,
        (Field, 3 | 4 | 5 | 9 | 17) => Shape::Number,
        (Field, 8) => Shape::Nested(Other),
        (Oneof, 2) => Shape::Nested(Other),
        (Enum, 2) => Shape::Nested(EnumValue),
        (Enum, 3 | 4) => Shape::Nested(Other),
        (Enum, 5) => Shape::Text,
        (Enum, 6) => Shape::Number,
        (EnumValue, 2) => Shape::Number,
        (EnumValue, 3) => Shape::Nested(Other),
        (Service, 2) => Shape::Nested(Method),
        (Service, 3) => Shape::Nested(Other),
        (Method, 2 | 3) => Shape::Text,
        (Method, 4) => Shape::Nested(Other),
        (Method, 5 | 6) => Shape::Number,
        _ => return None,
    })
}

/// Whether `bytes` are a message of this kind from first to last; adds up its declarations.
fn well_formed(kind: Kind, bytes: &[u8], depth: usize, count: &mut usize) -> bool {
    if depth > MAX_DEPTH {
        return false;
    }
    *count += usize::from(kind != Kind::Other);
    let mut wire = Wire { bytes, at: 0 };
    let mut named = kind == Kind::Other;
    while wire.at < bytes.len() {
        let Some((number, value)) = wire.field() else { return false };
        let ok = match (shape(kind, number), value) {
            (None, _) => kind == Kind::Other,
            (Some(Shape::Text), Value::Bytes(text)) => std::str::from_utf8(text).is_ok(),
            (Some(Shape::Number), Value::Number(_)) => true,
            (Some(Shape::Nested(kind)), Value::Bytes(nested)) => {
                well_formed(kind, nested, depth + 1, count)
            }
            _ => false,
        };
        if !ok {
            return false;
        }
        named |= number == 1;
    }
    named
}

enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Fixed,
}

/// Protobuf's wire format.
struct Wire<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Wire<'a> {
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(length)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    /// The next field; groups do not occur in `descriptor.proto`.
    fn field(&mut self) -> Option<(u64, Value<'a>)> {
        let tag = self.varint()?;
        let value = match tag & 7 {
            0 => Value::Number(self.varint()?),
            1 => self.take(8).map(|_| Value::Fixed)?,
            2 => {
                let length = usize::try_from(self.varint()?).ok()?;
                Value::Bytes(self.take(length)?)
            }
            5 => self.take(4).map(|_| Value::Fixed)?,
            _ => return None,
        };
        (tag >= 8).then_some((tag >> 3, value))
    }
}

#[cfg(test)]
mod tests {
    use prost::Message as _;
    use prost_types::{DescriptorProto, FileDescriptorProto, FileOptions};

    use super::*;

    fn file(name: &str, messages: usize) -> Vec<u8> {
        FileDescriptorProto {
            name: Some(name.into()),
            package: Some("p".into()),
            dependency: vec!["other.proto".into()],
            public_dependency: vec![0],
            message_type: (0..messages)
                .map(|n| DescriptorProto { name: Some(format!("M{n}")), ..Default::default() })
                .collect(),
            options: Some(FileOptions { java_package: Some("j".into()), ..Default::default() }),
            syntax: Some("proto3".into()),
            ..Default::default()
        }
        .encode_to_vec()
    }

    fn found(bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut scanner = Scanner::default();
        scanner.scan(bytes).unwrap();
        scanner.descriptors().map(<[u8]>::to_vec).collect()
    }

    #[test]
    fn the_end_is_found_whatever_follows() {
        let (a, b) = (file("a.proto", 3), file("dir/b.proto", 1));
        for junk in
            [&b""[..], b"\0", b"\0\0\0\0", b"\x22\x03abc", b"\xff\xff\xff", b"b\x06proto3", b"r\0"]
        {
            let bytes = [b"\x7fELF\n\n", a.as_slice(), junk, &b, junk].concat();
            assert_eq!(found(&bytes), [a.clone(), b.clone()], "{junk:?}");
        }
    }

    #[test]
    fn the_first_complete_one_of_a_name_counts() {
        let whole = file("a.proto", 2);
        let bytes = [b"\x0a\x07a.proto\x12\x01p\0", whole.as_slice(), &file("a.proto", 5)].concat();
        assert_eq!(found(&bytes), [whole]);
        assert!(found(b"\x0a\x07a.proto").is_empty());
        assert!(found(b"").is_empty());
    }

    #[test]
    fn descriptors_across_chunks_are_found() {
        let one = file("edge.proto", 2000);
        for shift in [0, 1, one.len() / 2, one.len()] {
            let mut bytes = vec![0u8; CHUNK - shift];
            bytes.extend_from_slice(&one);
            bytes.resize(CHUNK * 3, 0);
            assert_eq!(found(&bytes), std::slice::from_ref(&one), "{shift}");
        }
    }

    #[test]
    fn hostile_bytes_take_linear_time() {
        // Each candidate claims a large message that turns out to be none at its very end.
        let mut bytes = Vec::new();
        while bytes.len() < 3 << 20 {
            bytes.extend_from_slice(b"\x0a\x07a.proto\x22\xff\xff\x7f");
            bytes.extend_from_slice(b"\x0a\x00\x0a\x00");
        }
        found(&bytes);
        // Deep nesting.
        let mut nested = Vec::new();
        for _ in 0..200 {
            let mut outer = vec![0x0a, 0, 0x1a];
            prost::encoding::encode_varint(nested.len() as u64, &mut outer);
            outer.append(&mut nested);
            nested = outer;
        }
        let mut deep = b"\x0a\x07a.proto\x22".to_vec();
        prost::encoding::encode_varint(nested.len() as u64, &mut deep);
        deep.append(&mut nested);
        found(&deep);
    }
}
