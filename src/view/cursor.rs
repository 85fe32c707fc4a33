//! Reading the tokens of the encoding, as leniently as C++ protobuf does.

use super::refused::{Failure, Reason};

/// C++ keeps some room below 2 GiB for its buffers.
const MAX_LENGTH: u64 = i32::MAX as u64 - 16;

/// A stretch of the bytes with a position in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    whole: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Cursor { whole: bytes, at: 0, end: bytes.len() }
    }

    pub(super) fn done(&self) -> bool {
        self.at >= self.end
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.whole.get(self.at..self.end).unwrap_or_default()
    }

    pub(super) fn fail<T>(&self, reason: Reason) -> Result<T, Failure> {
        Err(Failure { offset: self.at, reason })
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Failure> {
        match self.rest().get(..length) {
            Some(bytes) => {
                self.at += length;
                Ok(bytes)
            }
            None => self.fail(Reason::Truncated),
        }
    }

    fn varint_of(&mut self, longest: usize) -> Result<u64, Failure> {
        let mut value = 0u64;
        for (at, byte) in self.rest().iter().take(longest).enumerate() {
            // Bits over 64 are dropped, as C++ does.
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte & 0x80 == 0 {
                self.at += at + 1;
                return Ok(value);
            }
        }
        let long = self.rest().len() >= longest;
        self.fail(if long { Reason::VarintTooLong } else { Reason::Truncated })
    }

    pub(super) fn varint(&mut self) -> Result<u64, Failure> {
        self.varint_of(10)
    }

    /// Field number and wire type.
    pub(super) fn tag(&mut self) -> Result<(u32, u8), Failure> {
        let start = *self;
        // Bits over 32 are dropped, as C++ does.
        let tag = self.varint_of(5)? as u32;
        let (number, wire_type) = (tag >> 3, (tag & 7) as u8);
        if number == 0 {
            return start.fail(Reason::FieldNumberZero);
        }
        if wire_type > 5 {
            return start.fail(Reason::WireType(wire_type));
        }
        Ok((number, wire_type))
    }

    pub(super) fn fixed32(&mut self) -> Result<u32, Failure> {
        let mut value = [0; 4];
        value.copy_from_slice(self.take(4)?);
        Ok(u32::from_le_bytes(value))
    }

    pub(super) fn fixed64(&mut self) -> Result<u64, Failure> {
        let mut value = [0; 8];
        value.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(value))
    }

    /// A length and the stretch of that length.
    pub(super) fn delimited(&mut self) -> Result<Cursor<'a>, Failure> {
        let start = *self;
        let length = self.varint_of(5)?;
        if length > MAX_LENGTH {
            return start.fail(Reason::LengthTooLarge);
        }
        let from = self.at;
        self.take(length as usize)?;
        Ok(Cursor { whole: self.whole, at: from, end: self.at })
    }
}
