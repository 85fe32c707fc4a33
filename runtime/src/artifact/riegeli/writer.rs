//! Writes record files. The same records always give the same bytes.

use prost::bytes::{Buf as _, Bytes};
use prost::encoding::encode_varint;

use super::{
    BLOCK, BLOCK_HEADER, CHUNK_SIGNATURE, CHUNK_SIMPLE, COMPRESSION_NONE, COMPRESSION_SNAPPY,
    chunk_end, hash,
};
use crate::artifact::rope::Rope;
use crate::error::{Error, ErrorKind};

/// How the records of a file are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compression {
    /// As they are, each in a chunk of its own. The bytes of a file depend on nothing but its records.
    #[default]
    None,
    /// Snappy, all in one chunk, as compilers store small executables. The bytes depend on the Snappy
    /// library too.
    Snappy,
}

/// Writes a file of `records`.
pub(crate) fn write_records(records: &[Rope], compression: Compression) -> Result<Vec<u8>, Error> {
    let mut file = Writer { bytes: Vec::new() };
    file.chunk(CHUNK_SIGNATURE, 0, 0, &Rope::default());
    match compression {
        Compression::None => {
            for record in records {
                let mut sizes = Vec::new();
                encode_varint(record.len() as u64, &mut sizes);
                let mut data = vec![COMPRESSION_NONE];
                encode_varint(sizes.len() as u64, &mut data);
                data.extend_from_slice(&sizes);
                let mut data = Rope::from(data);
                data.append(record);
                file.chunk(CHUNK_SIMPLE, 1, record.len() as u64, &data);
            }
        }
        Compression::Snappy => {
            let mut sizes = Vec::new();
            let mut values = Rope::default();
            for record in records {
                encode_varint(record.len() as u64, &mut sizes);
                values.append(record);
            }
            let sizes = deflate(&sizes)?;
            let mut data = vec![COMPRESSION_SNAPPY];
            encode_varint(sizes.len() as u64, &mut data);
            data.extend_from_slice(&sizes);
            data.extend_from_slice(&deflate(&values.to_bytes())?);
            file.chunk(CHUNK_SIMPLE, records.len() as u64, values.len() as u64, &data.into());
        }
    }
    Ok(file.bytes)
}

fn deflate(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut part = Vec::new();
    encode_varint(bytes.len() as u64, &mut part);
    let compressed =
        snap::raw::Encoder::new().compress_vec(bytes).map_err(|error| ErrorKind::CannotWrite {
            what: "a Snappy chunk",
            why: error.to_string(),
            help: "write it uncompressed; Snappy takes no more than 4 GiB at once",
        })?;
    part.extend_from_slice(&compressed);
    Ok(part)
}

struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    fn chunk(&mut self, kind: u8, records: u64, decoded_size: u64, data: &Rope) {
        let begin = self.bytes.len() as u64;
        let end = chunk_end(begin, data.len() as u64, records);
        let mut header = Vec::with_capacity(32);
        header.extend_from_slice(&(data.len() as u64).to_le_bytes());
        header.extend_from_slice(&hash(data).to_le_bytes());
        header.extend_from_slice(&(records << 8 | u64::from(kind)).to_le_bytes());
        header.extend_from_slice(&decoded_size.to_le_bytes());
        let header = Bytes::from(header);
        let mut chunk = Rope::from(hash(&header.clone().into()).to_le_bytes().to_vec());
        chunk.push(header);
        chunk.append(data);

        let mut reader = chunk.reader();
        while (self.bytes.len() as u64) < end {
            let position = self.bytes.len() as u64;
            if position.is_multiple_of(BLOCK) {
                self.block_header(position - begin, end - position);
                continue;
            }
            let room = end.min(position - position % BLOCK + BLOCK) - position;
            let room = usize::try_from(room).unwrap_or(usize::MAX);
            let part = reader.chunk();
            let length = part.len().min(room);
            match part.get(..length) {
                Some(part) if length > 0 => self.bytes.extend_from_slice(part),
                // Padding up to a byte per record.
                _ => self.bytes.resize(self.bytes.len() + room, 0),
            }
            reader.advance(length);
        }
    }

    fn block_header(&mut self, previous: u64, next: u64) {
        let mut header = previous.to_le_bytes().to_vec();
        header.extend_from_slice(&next.to_le_bytes());
        debug_assert_eq!(header.len() as u64 + 8, BLOCK_HEADER);
        let header = Bytes::from(header);
        self.bytes.extend_from_slice(&hash(&header.clone().into()).to_le_bytes());
        self.bytes.extend_from_slice(&header);
    }
}
