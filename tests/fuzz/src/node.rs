//! An artifact as a tree of what its containers hold.

use crate::frame::{self, Chunk, SIGNATURE};

/// A part of an artifact.
#[derive(Clone, Debug)]
pub enum Node {
    /// Bytes without a known inside.
    Leaf(Vec<u8>),
    /// A length in front.
    Envelope { metadata: Vec<u8>, payload: Box<Node> },
    /// A message whose first field is a record file.
    Outer { executable: Box<Node>, rest: Vec<u8> },
    /// A record file.
    File(Vec<Part>),
}

/// A chunk of a record file.
#[derive(Clone, Debug)]
pub enum Part {
    /// As it stands.
    Raw(Chunk),
    /// A simple chunk that holds these records.
    Records { snappy: bool, records: Vec<Node> },
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in 0..10 {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f).checked_shl(7 * shift).unwrap_or(0);
        if *first < 0x80 {
            return Some(value);
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], length: u64) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    Some(taken)
}

fn delimited(out: &mut Vec<u8>, bytes: &[u8]) {
    prost::encoding::encode_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

impl Node {
    /// Takes bytes apart.
    pub fn read(bytes: &[u8]) -> Node {
        if bytes.starts_with(&SIGNATURE) {
            let chunks = frame::chunks(bytes);
            return Node::File(chunks.into_iter().map(Part::read).collect());
        }
        Node::envelope(bytes).or_else(|| Node::outer(bytes)).unwrap_or(Node::Leaf(bytes.to_vec()))
    }

    fn envelope(bytes: &[u8]) -> Option<Node> {
        let mut rest = bytes;
        let length = varint(&mut rest)?;
        let metadata = take(&mut rest, length)?;
        (metadata.get(2..4)? == b"\x12\x09").then_some(())?;
        Some(Node::Envelope { metadata: metadata.to_vec(), payload: Box::new(Node::read(rest)) })
    }

    fn outer(bytes: &[u8]) -> Option<Node> {
        let mut rest = bytes.strip_prefix(b"\x0a")?;
        let length = varint(&mut rest)?;
        let executable = take(&mut rest, length)?;
        executable.starts_with(&SIGNATURE).then(|| Node::Outer {
            executable: Box::new(Node::read(executable)),
            rest: rest.to_vec(),
        })
    }

    /// Puts it together.
    pub fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Node::Leaf(bytes) => out.extend_from_slice(bytes),
            Node::Envelope { metadata, payload } => {
                delimited(&mut out, metadata);
                out.append(&mut payload.write());
            }
            Node::Outer { executable, rest } => {
                out.push(0x0a);
                delimited(&mut out, &executable.write());
                out.extend_from_slice(rest);
            }
            Node::File(parts) => {
                out = frame::file(&parts.iter().map(Part::write).collect::<Vec<_>>());
            }
        }
        out
    }
}

impl Part {
    fn read(chunk: Chunk) -> Part {
        Part::records(&chunk).unwrap_or(Part::Raw(chunk))
    }

    fn records(chunk: &Chunk) -> Option<Part> {
        let (compression, mut rest) = chunk.data.split_first()?;
        let snappy = match (chunk.kind, compression) {
            (b'r', 0) => false,
            (b'r', b's') => true,
            _ => return None,
        };
        let inflate = |mut part: &[u8]| -> Option<Vec<u8>> {
            if !snappy {
                return Some(part.to_vec());
            }
            let size = varint(&mut part)?;
            let fits = size < 1 << 20 && snap::raw::decompress_len(part).ok()? as u64 == size;
            fits.then(|| snap::raw::Decoder::new().decompress_vec(part).ok())?
        };
        let length = varint(&mut rest)?;
        let sizes = inflate(take(&mut rest, length)?)?;
        let values = inflate(rest)?;
        let (mut sizes, mut values) = (sizes.as_slice(), values.as_slice());
        let mut records = Vec::new();
        while !sizes.is_empty() {
            let size = varint(&mut sizes)?;
            records.push(Node::read(take(&mut values, size)?));
        }
        (records.len() as u64 == chunk.records).then_some(Part::Records { snappy, records })
    }

    /// The chunk.
    pub fn write(&self) -> Chunk {
        let (snappy, records) = match self {
            Part::Raw(chunk) => return chunk.clone(),
            Part::Records { snappy, records } => (*snappy, records),
        };
        let (mut sizes, mut values) = (Vec::new(), Vec::new());
        for record in records {
            let mut bytes = record.write();
            prost::encoding::encode_varint(bytes.len() as u64, &mut sizes);
            values.append(&mut bytes);
        }
        let decoded_size = values.len() as u64;
        let deflate = |bytes: Vec<u8>| {
            if !snappy {
                return bytes;
            }
            let mut part = Vec::new();
            prost::encoding::encode_varint(bytes.len() as u64, &mut part);
            part.extend(snap::raw::Encoder::new().compress_vec(&bytes).unwrap_or_default());
            part
        };
        let mut data = vec![if snappy { b's' } else { 0 }];
        delimited(&mut data, &deflate(sizes));
        data.append(&mut deflate(values));
        Chunk { kind: b'r', records: records.len() as u64, decoded_size, data }
    }
}
