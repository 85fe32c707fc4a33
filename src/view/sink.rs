//! Where an encoding goes: a first pass counts, a second one writes into memory of the right size.

use prost::encoding::{encode_varint, encoded_len_varint};

use super::bits::{FIXED32, FIXED64, LENGTH, VARINT};

pub(super) trait Sink {
    fn varint(&mut self, value: u64);
    fn bytes(&mut self, bytes: &[u8]);
    /// A length and the content of that length.
    fn nested(&mut self, content: impl FnOnce(&mut Self));

    fn tag(&mut self, number: u32, wire: u8) {
        self.varint(u64::from(number) << 3 | u64::from(wire));
    }

    fn length_delimited(&mut self, number: u32, bytes: &[u8]) {
        self.tag(number, LENGTH);
        self.varint(bytes.len() as u64);
        self.bytes(bytes);
    }

    /// A value without its tag.
    fn raw(&mut self, wire: u8, value: u64) {
        match wire {
            VARINT => self.varint(value),
            FIXED32 => self.bytes(&(value as u32).to_le_bytes()),
            FIXED64 => self.bytes(&value.to_le_bytes()),
            _ => {}
        }
    }
}

/// Counts bytes and remembers the length of each nested content, in the order they open.
#[derive(Default)]
struct Counter {
    total: usize,
    lengths: Vec<usize>,
}

impl Sink for Counter {
    fn varint(&mut self, value: u64) {
        self.total += encoded_len_varint(value);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.total += bytes.len();
    }

    fn nested(&mut self, content: impl FnOnce(&mut Self)) {
        let (at, start) = (self.lengths.len(), self.total);
        self.lengths.push(0);
        content(self);
        let length = self.total - start;
        self.lengths[at] = length;
        self.varint(length as u64);
    }
}

struct Writer {
    out: Vec<u8>,
    lengths: std::vec::IntoIter<usize>,
}

impl Sink for Writer {
    fn varint(&mut self, value: u64) {
        encode_varint(value, &mut self.out);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    fn nested(&mut self, content: impl FnOnce(&mut Self)) {
        let length = self.lengths.next().unwrap_or_default();
        self.varint(length as u64);
        content(self);
    }
}

/// Something that writes itself the same way every time.
pub(super) trait Encode {
    fn encode(&self, sink: &mut impl Sink);
}

/// The bytes of an encoding; every payload is copied once.
pub(super) fn collect(encoding: &impl Encode) -> Vec<u8> {
    let mut counter = Counter::default();
    encoding.encode(&mut counter);
    let out = Vec::with_capacity(counter.total);
    let mut writer = Writer { out, lengths: counter.lengths.into_iter() };
    encoding.encode(&mut writer);
    writer.out
}
