//! Riegeli record files, as far as split protos use them: simple chunks, uncompressed or Snappy.
//!
//! Written here rather than taken from a crate, because an artifact is hostile input: every size is
//! checked against [`Limits`](super::Limits) before memory is taken, an error names the byte, and an
//! uncompressed record shares the memory of the file. Crate `riegeli` is the tests' oracle.
//!
//! Layout: blocks of 64 KiB, each with a 24-byte header, in which chunks lie end to end as if the block
//! headers were not there. A chunk is a 40-byte header and data. Hashes are HighwayHash-64.

mod blocks;
mod chunk;
mod snappy;
mod writer;

use highway::{HighwayHash as _, HighwayHasher, Key};

pub(crate) use self::blocks::Chunk;
pub use self::writer::Compression;
pub(crate) use self::writer::write_records;
use super::limits::Budget;
use super::rope::Rope;
use crate::error::{Error, ErrorKind};

/// First bytes of a record file: the hash of the first block header, whose content never varies.
pub(crate) const SIGNATURE: [u8; 8] = [0x83, 0xaf, 0x70, 0xd1, 0x0d, 0x88, 0x4a, 0x3f];

pub(crate) const BLOCK: u64 = 1 << 16;
pub(crate) const BLOCK_HEADER: u64 = 24;
pub(crate) const CHUNK_HEADER: u64 = 40;

const CHUNK_SIGNATURE: u8 = b's';
const CHUNK_METADATA: u8 = b'm';
const CHUNK_PADDING: u8 = b'p';
const CHUNK_SIMPLE: u8 = b'r';
const CHUNK_TRANSPOSED: u8 = b't';

const COMPRESSION_NONE: u8 = 0;
const COMPRESSION_BROTLI: u8 = b'b';
const COMPRESSION_ZSTD: u8 = b'z';
pub(crate) const COMPRESSION_SNAPPY: u8 = b's';

/// One record of a file.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) data: Rope,
    /// Where the chunk that holds it begins.
    pub(crate) chunk: usize,
}

/// Reads all records of a file.
pub(crate) fn read_records(
    file: &Rope,
    layer: &str,
    budget: &mut Budget<'_>,
) -> Result<Vec<Record>, Error> {
    let blocks = blocks::Blocks::new(file, layer);
    let mut position = blocks.signature()?;
    let mut records = Vec::new();
    while position < file.len() as u64 {
        let chunk = blocks.chunk(position)?;
        position = chunk.end;
        match chunk.kind {
            CHUNK_METADATA | CHUNK_PADDING => chunk.without_records(layer, false)?,
            CHUNK_SIGNATURE => chunk.without_records(layer, true)?,
            CHUNK_SIMPLE => chunk::simple(&chunk, layer, budget, &mut records)?,
            CHUNK_TRANSPOSED => {
                return Err(ErrorKind::Unsupported {
                    layer: layer.to_owned(),
                    offset: chunk.offset(),
                    what: "a transposed chunk".to_owned(),
                    help: "XLA writes simple chunks; write the file again without `transpose`",
                }
                .into());
            }
            // Riegeli passes over kinds that it does not know, provided that nothing is lost by it.
            _ if chunk.records == 0 => {}
            other => {
                return Err(ErrorKind::Malformed {
                    layer: layer.to_owned(),
                    offset: chunk.offset(),
                    what: "type of a chunk".to_owned(),
                    expected: "'r', or another one without records".to_owned(),
                    found: format!("{:?}", char::from(other)),
                }
                .into());
            }
        }
    }
    Ok(records)
}

/// The chunks of a file, the signature's first. Together they are the whole file.
pub(crate) fn chunks(file: &Rope, layer: &str) -> Result<Vec<Chunk>, Error> {
    let blocks = blocks::Blocks::new(file, layer);
    let mut chunks = Vec::new();
    let mut position = 0;
    while position < file.len() as u64 {
        let chunk = blocks.chunk(position)?;
        position = chunk.end;
        chunks.push(chunk);
    }
    Ok(chunks)
}

fn hash(data: &Rope) -> u64 {
    const KEY: [u8; 32] = *b"Riegeli/records\nRiegeli/records\n";
    let word = |at: usize| {
        KEY.iter().skip(at).take(8).rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
    };
    let mut hasher = HighwayHasher::new(Key([word(0), word(8), word(16), word(24)]));
    for piece in data.pieces() {
        hasher.append(piece);
    }
    hasher.finalize64()
}

/// Little-endian numbers of a header.
fn words<const N: usize>(header: &Rope) -> [u64; N] {
    let bytes = header.to_bytes();
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks(8)) {
        *word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    }
    words
}

/// Where a chunk that begins at `begin` has put `length` bytes, block headers counted.
fn add_with_overhead(begin: u64, length: u64) -> u64 {
    let usable = BLOCK - BLOCK_HEADER;
    let blocks = length.saturating_add((begin.saturating_add(usable - 1)) % BLOCK) / usable;
    begin.saturating_add(length).saturating_add(blocks.saturating_mul(BLOCK_HEADER))
}

/// Where the chunk after this one begins. A chunk takes up at least one byte per record, so that every
/// record has a position of its own; padding fills it up.
fn chunk_end(begin: u64, data: u64, records: u64) -> u64 {
    let by_data = add_with_overhead(begin, CHUNK_HEADER.saturating_add(data));
    let by_records = begin.saturating_add(records);
    let left_in_block = (BLOCK - by_records % BLOCK) % BLOCK;
    let usable = BLOCK - BLOCK_HEADER;
    by_data.max(by_records.saturating_add(left_in_block.saturating_sub(usable - 1)))
}
