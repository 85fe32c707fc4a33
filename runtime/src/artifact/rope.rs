//! Bytes in pieces, so that assembling a message copies no payload.

use std::ops::Range;

use prost::bytes::{Buf, BufMut as _, Bytes, BytesMut};

/// A byte string held as shared pieces.
///
/// Containers cut payloads up (a record file has a header every 64 KiB; a split message is spread over
/// records). A rope joins the pieces without copying them. Decode a message from
/// [`reader`](Rope::reader): a field that lies in one piece shares its memory.
#[derive(Clone, Debug, Default)]
pub struct Rope {
    pieces: Vec<Bytes>,
    /// End of each piece, counted from the start of the rope.
    ends: Vec<usize>,
}

impl Rope {
    /// Number of bytes.
    pub fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The pieces in order; none is empty.
    pub fn pieces(&self) -> &[Bytes] {
        &self.pieces
    }

    /// Adds bytes at the end.
    pub fn push(&mut self, piece: Bytes) {
        if !piece.is_empty() {
            self.ends.push(self.len() + piece.len());
            self.pieces.push(piece);
        }
    }

    /// Adds another rope's pieces at the end.
    pub fn append(&mut self, other: &Rope) {
        for piece in &other.pieces {
            self.push(piece.clone());
        }
    }

    /// The bytes of a range, sharing memory; `None` where the range is not inside the rope.
    pub fn slice(&self, range: Range<usize>) -> Option<Rope> {
        if range.start > range.end || range.end > self.len() {
            return None;
        }
        let mut slice = Rope::default();
        if range.is_empty() {
            return Some(slice);
        }
        let first = self.ends.partition_point(|end| *end <= range.start);
        let count = self.ends.iter().skip(first).take_while(|end| **end < range.end).count() + 1;
        slice.pieces.reserve_exact(count);
        slice.ends.reserve_exact(count);
        for (piece, end) in self.pieces.iter().zip(&self.ends).skip(first).take(count) {
            let start = end - piece.len();
            let from = range.start.saturating_sub(start);
            let to = range.end.min(*end) - start;
            slice.push(piece.slice(from..to));
        }
        Some(slice)
    }

    /// All bytes in one piece. Copies only where there is more than one.
    pub fn to_bytes(&self) -> Bytes {
        match self.pieces.as_slice() {
            [] => Bytes::new(),
            [only] => only.clone(),
            pieces => {
                let mut joined = BytesMut::with_capacity(self.len());
                for piece in pieces {
                    joined.put_slice(piece);
                }
                joined.freeze()
            }
        }
    }

    /// A buffer over the bytes, to decode messages from.
    pub fn reader(&self) -> RopeReader<'_> {
        RopeReader { rope: self, piece: 0, within: 0, position: 0 }
    }

    /// Whether the rope begins with `prefix`.
    pub(crate) fn starts_with(&self, prefix: &[u8]) -> bool {
        self.slice(0..prefix.len()).is_some_and(|head| head.to_bytes() == prefix)
    }
}

impl From<Bytes> for Rope {
    fn from(bytes: Bytes) -> Self {
        if bytes.is_empty() {
            return Rope::default();
        }
        Rope { ends: vec![bytes.len()], pieces: vec![bytes] }
    }
}

impl From<Vec<u8>> for Rope {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl PartialEq for Rope {
    fn eq(&self, other: &Self) -> bool {
        let (mut left, mut right) = (self.reader(), other.reader());
        if left.remaining() != right.remaining() {
            return false;
        }
        while left.has_remaining() {
            let length = left.chunk().len().min(right.chunk().len());
            if left.chunk().get(..length) != right.chunk().get(..length) {
                return false;
            }
            left.advance(length);
            right.advance(length);
        }
        true
    }
}

impl Eq for Rope {}

/// Reads a [`Rope`] from front to back.
#[derive(Clone, Debug)]
pub struct RopeReader<'a> {
    rope: &'a Rope,
    piece: usize,
    within: usize,
    position: usize,
}

impl RopeReader<'_> {
    /// Bytes read so far.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// The next byte.
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let byte = self.chunk().first().copied()?;
        self.advance(1);
        Some(byte)
    }
}

impl Buf for RopeReader<'_> {
    fn remaining(&self) -> usize {
        self.rope.len() - self.position
    }

    fn chunk(&self) -> &[u8] {
        self.rope.pieces.get(self.piece).and_then(|piece| piece.get(self.within..)).unwrap_or(&[])
    }

    /// Moves on by at most what remains.
    fn advance(&mut self, count: usize) {
        let mut count = count.min(self.remaining());
        self.position += count;
        while let Some(piece) = self.rope.pieces.get(self.piece) {
            let left = piece.len() - self.within;
            if count < left {
                self.within += count;
                return;
            }
            count -= left;
            self.piece += 1;
            self.within = 0;
        }
    }

    fn copy_to_bytes(&mut self, length: usize) -> Bytes {
        let end = self.position + length.min(self.remaining());
        let bytes = match self.rope.pieces.get(self.piece) {
            Some(piece) if piece.len() - self.within >= end - self.position => {
                piece.slice(self.within..self.within + (end - self.position))
            }
            _ => self.rope.slice(self.position..end).unwrap_or_default().to_bytes(),
        };
        self.advance(bytes.len());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rope(pieces: &[&'static str]) -> Rope {
        let mut rope = Rope::default();
        for piece in pieces {
            rope.push(Bytes::from_static(piece.as_bytes()));
        }
        rope
    }

    #[test]
    fn every_slice_equals_that_of_the_joined_bytes() {
        let rope = rope(&["a", "", "bcd", "ef", "g"]);
        let joined = rope.to_bytes();
        for start in 0..=rope.len() {
            for end in start..=rope.len() {
                let slice = rope.slice(start..end).unwrap();
                assert_eq!(slice.to_bytes(), joined[start..end]);
                let mut reader = rope.reader();
                reader.advance(start);
                assert_eq!(reader.copy_to_bytes(end - start), joined[start..end]);
                assert_eq!(reader.position(), end);
                assert_eq!(reader.remaining(), rope.len() - end);
            }
        }
        assert!(rope.slice(0..rope.len() + 1).is_none());
    }

    #[test]
    fn a_slice_of_one_piece_shares_its_memory() {
        let rope = rope(&["abc", "def"]);
        let mut reader = rope.reader();
        reader.advance(3);
        assert_eq!(reader.copy_to_bytes(2).as_ptr(), rope.pieces()[1].as_ptr());
    }

    #[test]
    fn equality_ignores_where_the_cuts_are() {
        assert_eq!(rope(&["abc", "def"]), rope(&["a", "bcdef"]));
        assert_ne!(rope(&["abc"]), rope(&["abd"]));
        assert_ne!(rope(&["abc"]), rope(&["ab"]));
    }
}
