//! Wire bytes in the order of the text, from which the canonical ones are made.

use prost::encoding::encode_varint;

use crate::view::sink::Sink;

/// A length takes this many bytes, so that it can be filled in when its content is known. Readers take
/// a varint that is longer than it need be.
const LENGTH_BYTES: usize = 5;

#[derive(Debug, Default)]
pub(super) struct Draft(Vec<u8>);

impl Draft {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Leaves room for a length; returns what [`Draft::close`] needs.
    pub(super) fn open(&mut self) -> usize {
        self.0.extend_from_slice(&[0; LENGTH_BYTES]);
        self.0.len()
    }

    /// Fills in the length of what was written since.
    pub(super) fn close(&mut self, start: usize) {
        let mut length = self.0.len() - start;
        let room = self.0.get_mut(start - LENGTH_BYTES..start).unwrap_or_default();
        for (at, byte) in room.iter_mut().enumerate() {
            let more = if at + 1 < LENGTH_BYTES { 0x80 } else { 0 };
            *byte = (length & 0x7f) as u8 | more;
            length >>= 7;
        }
    }
}

impl Sink for Draft {
    fn varint(&mut self, value: u64) {
        encode_varint(value, &mut self.0);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn nested(&mut self, content: impl FnOnce(&mut Self)) {
        let start = self.open();
        content(self);
        self.close(start);
    }
}
