//! Which compressed bytes stand for which part.
//!
//! A raw Snappy stream is a size and then elements: literals, which hold bytes as they are, and copies, which
//! repeat what came before. A literal's bytes belong to the parts that they are; the head of a literal
//! and a whole copy belong to the part whose byte they yield first. So a part that repeats an earlier
//! one costs little, and that is what it costs.

use super::cover::{Cover, PartId};

/// Carries a cover of decompressed bytes over to the compressed ones. `overhead` owns what yields
/// nothing.
pub(super) fn compressed(stream: &[u8], inflated: &Cover, overhead: PartId) -> Cover {
    let mut cover = Cover::default();
    let mut reader = inflated.reader();
    let mut discard = Cover::default();
    let mut rest = stream;
    // The stream's own size.
    while let Some((byte, after)) = rest.split_first() {
        cover.push(overhead, 1);
        rest = after;
        if *byte < 0x80 {
            break;
        }
    }
    while let Some((tag, after)) = rest.split_first() {
        let owner = reader.owner().unwrap_or(overhead);
        let length = usize::from(tag >> 2);
        let (head, literal, yields) = match tag & 3 {
            0 if length < 60 => (1, length + 1, 0),
            // The length is in the bytes that follow, least first.
            0 => {
                let bytes = after.get(..length - 59).unwrap_or_default();
                let length = bytes.iter().rev().fold(0usize, |n, b| n << 8 | usize::from(*b));
                (1 + bytes.len(), length.saturating_add(1), 0)
            }
            1 => (2, 0, 4 + (length & 7)),
            2 => (3, 0, length + 1),
            _ => (5, 0, length + 1),
        };
        let head = head.min(rest.len());
        cover.push(owner, head);
        rest = rest.get(head..).unwrap_or_default();
        let literal = literal.min(rest.len());
        let before = cover.len();
        reader.take(literal, &mut cover);
        cover.push(overhead, literal - (cover.len() - before));
        rest = rest.get(literal..).unwrap_or_default();
        reader.take(yields, &mut discard);
        discard = Cover::default();
    }
    cover
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(cover: &Cover, part: PartId) -> usize {
        cover.runs().iter().filter(|run| run.0 == part).map(|run| run.1).sum()
    }

    #[test]
    fn what_is_repeated_costs_little() {
        // 100 bytes as they are, then the same by two copies, then a run of one byte.
        let mut stream = vec![0x96, 0x02, 60 << 2, 99];
        stream.extend(0..100);
        stream.extend([63 << 2 | 2, 100, 0, 35 << 2 | 2, 100, 0]);
        stream.extend([0, 7, 48 << 2 | 2, 1, 0, 28 << 2 | 2, 1, 0]);
        let mut inflated = Cover::of(1, 100);
        inflated.push(2, 100);
        inflated.push(3, 78);
        let cover = compressed(&stream, &inflated, 0);
        assert_eq!(cover.len(), stream.len());
        let stored: Vec<_> = (0..4).map(|part| stored(&cover, part)).collect();
        assert_eq!(stored, [2, 102, 6, 8]);
    }

    #[test]
    fn damaged_streams_are_covered_whole() {
        let mut random = 99u64;
        for length in 0..300usize {
            let stream: Vec<u8> = (0..length)
                .map(|_| {
                    random = random.wrapping_mul(6364136223846793005).wrapping_add(1);
                    random.to_le_bytes()[7]
                })
                .collect();
            assert_eq!(compressed(&stream, &Cover::of(1, 77), 0).len(), length);
        }
    }
}
