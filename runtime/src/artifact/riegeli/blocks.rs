//! Blocks and chunk headers.

use super::{
    BLOCK, BLOCK_HEADER, CHUNK_HEADER, CHUNK_METADATA, CHUNK_SIGNATURE, CHUNK_SIMPLE,
    add_with_overhead, chunk_end, hash, words,
};
use crate::artifact::rope::Rope;
use crate::error::{Error, ErrorKind};

/// A file seen as blocks.
pub(super) struct Blocks<'a> {
    file: &'a Rope,
    layer: &'a str,
}

/// One chunk with its data still encoded; its hash was checked.
pub(crate) struct Chunk {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(super) kind: u8,
    pub(super) records: u64,
    /// Sum of the records' sizes.
    pub(crate) decoded_size: u64,
    pub(crate) data: Rope,
}

impl Chunk {
    /// Whether records are in it.
    pub(crate) fn has_records(&self) -> bool {
        self.kind == CHUNK_SIMPLE
    }

    pub(super) fn offset(&self) -> usize {
        offset(self.begin)
    }

    /// Checks what the header of a chunk says that holds no records. With `empty`, it has no data either.
    pub(super) fn without_records(&self, layer: &str, empty: bool) -> Result<(), Error> {
        let (records, decoded, data) = (self.records, self.decoded_size, self.data.len());
        // Metadata is a record of its own kind: it has a decoded size.
        let decoded = if self.kind == CHUNK_METADATA { 0 } else { decoded };
        if records == 0 && decoded == 0 && (!empty || data == 0) {
            return Ok(());
        }
        Err(ErrorKind::Malformed {
            layer: layer.to_owned(),
            offset: self.offset(),
            what: format!("chunk of type {:?}", char::from(self.kind)),
            expected: format!("no records{}", if empty { " and no data" } else { "" }),
            found: format!("{records} records of {decoded} bytes and {data} bytes of data"),
        }
        .into())
    }

    /// Position in the file of a byte of the data.
    pub(super) fn offset_of(&self, data: usize) -> usize {
        offset(add_with_overhead(self.begin, CHUNK_HEADER + data as u64))
    }
}

fn offset(position: u64) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

impl<'a> Blocks<'a> {
    pub(super) fn new(file: &'a Rope, layer: &'a str) -> Self {
        Blocks { file, layer }
    }

    /// Checks the chunk that every file begins with; gives the position after it.
    pub(super) fn signature(&self) -> Result<u64, Error> {
        let chunk = self.chunk(0)?;
        if chunk.kind == CHUNK_SIGNATURE {
            return chunk.without_records(self.layer, true).map(|()| chunk.end);
        }
        Err(self.malformed(
            BLOCK_HEADER,
            "first chunk",
            "the file's signature".to_owned(),
            format!("a chunk of type {:?}", char::from(chunk.kind)),
        ))
    }

    /// The chunk that begins at `begin`.
    pub(super) fn chunk(&self, begin: u64) -> Result<Chunk, Error> {
        let header = self.take(begin, CHUNK_HEADER, "header of a chunk")?;
        let hashed = header.slice(8..header.len()).unwrap_or_default();
        let [stated, data_size, data_hash, kind_and_records, decoded_size] = words(&header);
        let at = if begin.is_multiple_of(BLOCK) { begin + BLOCK_HEADER } else { begin };
        self.compare_hash(at, "hash of a chunk's header", stated, hash(&hashed))?;

        let records = kind_and_records >> 8;
        let size = self.file.len() as u64;
        if data_size > size {
            return Err(self.truncated(at + 8, "data of a chunk", data_size, size - begin));
        }
        // A chunk of records is padded to a byte per record.
        if records > size {
            return Err(self.truncated(at + 24, "records of a chunk", records, size - begin));
        }
        let end = chunk_end(begin, data_size, records);
        if end > size {
            return Err(self.truncated(begin, "a chunk", end - begin, size - begin));
        }
        self.check_blocks(begin, end)?;
        let data = add_with_overhead(begin, CHUNK_HEADER);
        let data = self.take(data, data_size, "data of a chunk")?;
        self.compare_hash(at + 16, "hash of a chunk's data", data_hash, hash(&data))?;
        let kind = kind_and_records.to_le_bytes()[0];
        Ok(Chunk { begin, end, kind, records, decoded_size, data })
    }

    /// Checks the block headers inside a chunk.
    fn check_blocks(&self, begin: u64, end: u64) -> Result<(), Error> {
        let mut block = begin.div_ceil(BLOCK) * BLOCK;
        while block < end {
            let header = self.slice(block, block + BLOCK_HEADER, "header of a block")?;
            let hashed = header.slice(8..header.len()).unwrap_or_default();
            let [stated, previous, next] = words(&header);
            self.compare_hash(block, "hash of a block's header", stated, hash(&hashed))?;
            for (at, what, stated, actual) in [
                (8, "distance from the chunk's begin to the block", previous, block - begin),
                (16, "distance from the block to the chunk's end", next, end - block),
            ] {
                if stated != actual {
                    return Err(self.malformed(
                        block + at,
                        what,
                        actual.to_string(),
                        stated.to_string(),
                    ));
                }
            }
            block += BLOCK;
        }
        Ok(())
    }

    /// `length` bytes of a chunk from `position` on, without the block headers between them.
    fn take(&self, mut position: u64, mut length: u64, what: &'static str) -> Result<Rope, Error> {
        let mut taken = Rope::default();
        while length > 0 {
            if position % BLOCK < BLOCK_HEADER {
                position = position - position % BLOCK + BLOCK_HEADER;
            }
            let part = length.min(BLOCK - position % BLOCK);
            taken.append(&self.slice(position, position + part, what)?);
            position += part;
            length -= part;
        }
        Ok(taken)
    }

    fn slice(&self, start: u64, end: u64, what: &'static str) -> Result<Rope, Error> {
        self.file.slice(offset(start)..offset(end)).ok_or_else(|| {
            let left = (self.file.len() as u64).saturating_sub(start);
            self.truncated(start, what, end - start, left)
        })
    }

    fn compare_hash(
        &self,
        at: u64,
        what: &'static str,
        stated: u64,
        actual: u64,
    ) -> Result<(), Error> {
        if stated == actual {
            return Ok(());
        }
        Err(self.malformed(at, what, format!("{actual:016x}"), format!("{stated:016x}")))
    }

    fn malformed(&self, at: u64, what: &str, expected: String, found: String) -> Error {
        ErrorKind::Malformed {
            layer: self.layer.to_owned(),
            offset: offset(at),
            what: what.to_owned(),
            expected,
            found,
        }
        .into()
    }

    fn truncated(&self, at: u64, what: &str, expected: u64, found: u64) -> Error {
        ErrorKind::Truncated {
            layer: self.layer.to_owned(),
            offset: offset(at),
            what: what.to_owned(),
            expected,
            found,
        }
        .into()
    }
}
