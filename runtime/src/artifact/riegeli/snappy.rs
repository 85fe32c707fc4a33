//! Raw Snappy, decompressed from a rope.
//!
//! Crate `snap` wants the compressed bytes in one piece, and a file has them in blocks: a payload that
//! does not compress would be copied twice. Snap writes, and is the oracle of the tests here.

use prost::bytes::Bytes;

use crate::artifact::rope::Rope;

/// What Snappy can yield at most for one byte of input: 64 bytes for a copy of three bytes.
pub(super) const RATIO: u64 = 22;

/// Longest head of an element: a tag, and a length or an offset of four bytes.
const HEAD: usize = 5;

/// What is wrong with a stream, and the byte of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Damage {
    pub(super) offset: usize,
    pub(super) expected: String,
    pub(super) found: String,
}

/// Decompresses the elements of a stream, which begin behind its length; they make up `size` bytes.
pub(super) fn decompress(elements: &Rope, size: usize) -> Result<Vec<u8>, Damage> {
    let mut source = Source { rest: &[], pieces: elements.pieces().iter(), position: 0 };
    let mut out = Vec::with_capacity(size);
    while source.fill() {
        let at = source.position;
        let (head, available) = source.head();
        let (length, element) = match element(head) {
            (length, element) if length <= available => (length, element),
            (length, _) => {
                return Err(damage(at, format!("an element of {length} bytes"), available));
            }
        };
        source.skip(length);
        let (Element::Literal(length) | Element::Copy { length, .. }) = element;
        let room = size - out.len();
        if length > room {
            return Err(damage(at, format!("at most the {room} bytes that are missing"), length));
        }
        match element {
            Element::Literal(length) => {
                let copied = source.take(length, &mut out);
                if copied < length {
                    return Err(damage(at, format!("a literal of {length} bytes"), copied));
                }
            }
            Element::Copy { offset, .. } if offset == 0 || offset > out.len() => {
                return Err(damage(at, format!("an offset of 1 to {}", out.len()), offset));
            }
            Element::Copy { offset, length } => repeat(&mut out, offset, length),
        }
    }
    if out.len() != size {
        return Err(damage(source.position, format!("{size} bytes"), out.len()));
    }
    Ok(out)
}

fn damage(offset: usize, expected: String, found: usize) -> Damage {
    Damage { offset, expected, found: found.to_string() }
}

enum Element {
    /// So many bytes follow.
    Literal(usize),
    /// Bytes from `offset` before the end, which may reach into the copy itself.
    Copy { offset: usize, length: usize },
}

/// Length of the head, and what it says.
fn element(head: [u8; HEAD]) -> (usize, Element) {
    let [tag, a, b, c, d] = head;
    let high = usize::from(tag >> 2);
    let number = |bytes| u32::from_le_bytes(bytes) as usize;
    match tag & 3 {
        0 if high < 60 => (1, Element::Literal(high + 1)),
        0 => {
            let bytes = high - 59;
            let mask = usize::MAX >> (usize::BITS as usize - 8 * bytes);
            (1 + bytes, Element::Literal((number([a, b, c, d]) & mask).saturating_add(1)))
        }
        1 => {
            let offset = usize::from(tag >> 5) << 8 | usize::from(a);
            (2, Element::Copy { offset, length: 4 + (high & 7) })
        }
        2 => (3, Element::Copy { offset: number([a, b, 0, 0]), length: high + 1 }),
        _ => (5, Element::Copy { offset: number([a, b, c, d]), length: high + 1 }),
    }
}

/// Adds `length` bytes that begin `offset` before the end.
fn repeat(out: &mut Vec<u8>, offset: usize, length: usize) {
    let start = out.len() - offset;
    let mut left = length;
    // What was copied is a source too.
    let mut available = offset;
    while left > 0 {
        let part = left.min(available);
        out.extend_from_within(start..start + part);
        left -= part;
        available += part;
    }
}

/// The compressed bytes, piece by piece.
struct Source<'a> {
    rest: &'a [u8],
    pieces: std::slice::Iter<'a, Bytes>,
    position: usize,
}

impl Source<'_> {
    /// Goes on to the next piece where one is used up; false at the end.
    fn fill(&mut self) -> bool {
        while self.rest.is_empty() {
            match self.pieces.next() {
                Some(piece) => self.rest = piece,
                None => return false,
            }
        }
        true
    }

    /// The next bytes, and how many of them there are before the end.
    fn head(&self) -> ([u8; HEAD], usize) {
        if let Some(head) = self.rest.first_chunk() {
            return (*head, HEAD);
        }
        let mut head = [0; HEAD];
        let ahead = self.rest.iter().chain(self.pieces.clone().flatten());
        let found = head.iter_mut().zip(ahead).map(|(to, from)| *to = *from).count();
        (head, found)
    }

    fn skip(&mut self, count: usize) {
        self.advance(count, |_| {});
    }

    /// Copies up to `count` bytes, and tells how many there were.
    fn take(&mut self, count: usize, out: &mut Vec<u8>) -> usize {
        self.advance(count, |part| out.extend_from_slice(part))
    }

    fn advance(&mut self, count: usize, mut see: impl FnMut(&[u8])) -> usize {
        let mut left = count;
        while left > 0 && self.fill() {
            let (part, rest) = self.rest.split_at(left.min(self.rest.len()));
            see(part);
            self.rest = rest;
            left -= part.len();
        }
        self.position += count - left;
        count - left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The elements of a stream that crate `snap` wrote.
    fn elements(stream: &[u8]) -> &[u8] {
        let length = stream.iter().position(|byte| *byte < 0x80).unwrap() + 1;
        &stream[length..]
    }

    fn cut(bytes: &[u8], size: usize) -> Rope {
        let mut rope = Rope::default();
        bytes.chunks(size).for_each(|piece| rope.push(Bytes::copy_from_slice(piece)));
        rope
    }

    fn samples() -> Vec<Vec<u8>> {
        let mut state = 7u32;
        let mut next = move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 24
        };
        let mut samples = vec![vec![], vec![1], vec![0; 200_000]];
        for values in [2, 7, 256] {
            for length in [59, 60, 61, 255, 256, 257, 70_000] {
                samples.push((0..length).map(|_| (next() % values) as u8).collect());
            }
        }
        samples
    }

    #[test]
    fn what_snap_writes_is_read_wherever_it_is_cut() {
        for bytes in samples() {
            let stream = snap::raw::Encoder::new().compress_vec(&bytes).unwrap();
            for size in [1, 2, 3, 5, 1000, 65_512] {
                let found = decompress(&cut(elements(&stream), size), bytes.len());
                assert!(found.unwrap() == bytes, "{} bytes in pieces of {size}", bytes.len());
            }
        }
    }

    /// Damaged streams are refused by both implementations, or by none; then both yield the same.
    #[test]
    fn damage_is_seen_as_by_snap() {
        for bytes in samples().into_iter().filter(|bytes| bytes.len() < 300) {
            let stream = snap::raw::Encoder::new().compress_vec(&bytes).unwrap();
            let length = stream.len() - elements(&stream).len();
            for bit in length * 8..stream.len() * 8 {
                let mut damaged = stream.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                let theirs = snap::raw::Decoder::new().decompress_vec(&damaged);
                let ours = decompress(&cut(elements(&damaged), 7), bytes.len());
                assert_eq!(ours.ok(), theirs.ok());
            }
            for end in length..stream.len() {
                assert!(decompress(&cut(&stream[length..end], 7), bytes.len()).is_err());
            }
        }
    }

    #[test]
    fn damage_is_placed() {
        let damage = |stream: &[u8], size| decompress(&cut(stream, 2), size).unwrap_err();
        // One byte, then a copy of what is before the beginning; of nothing; of too much.
        for (stream, offset, expected) in [
            (&[0x00, 7, 0x01, 2][..], 2, "an offset of 1 to 1"),
            (&[0x00, 7, 0x01, 0], 2, "an offset of 1 to 1"),
            (&[0x00, 7, 0x1d, 1], 2, "at most the 6 bytes that are missing"),
            (&[0x00, 7, 0x02, 1], 2, "an element of 3 bytes"),
            (&[0x00, 7, 0x08, 1], 2, "a literal of 3 bytes"),
            (&[0x00, 7, 0xfc, 255, 255, 255, 255], 2, "at most the 6 bytes that are missing"),
            (&[0x00, 7], 2, "7 bytes"),
        ] {
            let damage = damage(stream, 7);
            assert_eq!((damage.offset, damage.expected.as_str()), (offset, expected));
        }
    }
}
