//! Changes one part of an artifact.

use libfuzzer_sys::fuzzer_mutate;

use crate::node::{Node, Part};

/// A mutator for `fuzz_mutator!`: mostly inside the containers, sometimes of the bytes as they stand.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    let mut random = Random(u64::from(seed) << 16 | 0x9e37);
    if random.below(4) == 0 {
        return fuzzer_mutate(data, size, max_size);
    }
    let mut node = Node::read(&data[..size]);
    for _ in 0..=random.below(3) {
        change(&mut node, max_size, &mut random);
    }
    let bytes = node.write();
    match data.get_mut(..bytes.len()) {
        Some(place) if bytes.len() <= max_size => {
            place.copy_from_slice(&bytes);
            bytes.len()
        }
        _ => fuzzer_mutate(data, size, max_size),
    }
}

fn change(node: &mut Node, max_size: usize, random: &mut Random) {
    match node {
        Node::Leaf(bytes) => bytes_of(bytes, max_size),
        Node::Envelope { metadata, payload } => {
            if random.below(3) == 0 {
                bytes_of(metadata, max_size)
            } else {
                change(payload, max_size, random)
            }
        }
        Node::Outer { executable, rest } => {
            if random.below(3) == 0 {
                bytes_of(rest, max_size)
            } else {
                change(executable, max_size, random)
            }
        }
        Node::File(parts) => match random.below(12) {
            0 if parts.len() > 1 => drop(parts.remove(random.below(parts.len()))),
            1 if !parts.is_empty() => {
                let (from, to) = (random.below(parts.len()), random.below(parts.len()));
                let part = parts[from].clone();
                parts.insert(to, part);
            }
            _ if !parts.is_empty() => {
                let at = random.below(parts.len());
                part(&mut parts[at], max_size, random);
            }
            _ => {}
        },
    }
}

fn part(part: &mut Part, max_size: usize, random: &mut Random) {
    match part {
        Part::Raw(chunk) => match random.below(6) {
            0 => chunk.kind = *random.pick(b"srmpt\0"),
            1 => chunk.records = random.number(chunk.records),
            2 => chunk.decoded_size = random.number(chunk.decoded_size),
            _ => bytes_of(&mut chunk.data, max_size),
        },
        Part::Records { snappy, records } => match random.below(12) {
            0 => *snappy = !*snappy,
            // From here on its encoding is what changes: sizes, compressed bytes.
            1 | 2 => *part = Part::Raw(part.write()),
            3 if !records.is_empty() => drop(records.remove(random.below(records.len()))),
            4 if !records.is_empty() => {
                let (from, to) = (random.below(records.len()), random.below(records.len()));
                let record = records[from].clone();
                records.insert(to, record);
            }
            5 => records.push(Node::Leaf(Vec::new())),
            _ if !records.is_empty() => {
                let at = random.below(records.len());
                change(&mut records[at], max_size, random);
            }
            _ => {}
        },
    }
}

fn bytes_of(bytes: &mut Vec<u8>, max_size: usize) {
    let size = bytes.len();
    let room = (size + 256).min(max_size.max(size));
    bytes.resize(room, 0);
    let size = fuzzer_mutate(bytes, size, room);
    bytes.truncate(size);
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// A number near `value`, or one that is large.
    fn number(&mut self, value: u64) -> u64 {
        match self.below(4) {
            0 => value.wrapping_add(1),
            1 => value.wrapping_sub(1),
            2 => self.next() >> self.below(64),
            _ => u64::MAX >> self.below(64),
        }
    }
}
