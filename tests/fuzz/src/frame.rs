//! Record files taken apart into chunks and put together: no check when reading, right hashes when
//! writing. Independent of the library's own reader and writer.

use highway::{HighwayHash as _, HighwayHasher, Key};

pub const SIGNATURE: [u8; 8] = [0x83, 0xaf, 0x70, 0xd1, 0x0d, 0x88, 0x4a, 0x3f];
const BLOCK: usize = 1 << 16;
const BLOCK_HEADER: usize = 24;
const CHUNK_HEADER: usize = 40;

/// A chunk with the statements of its header.
#[derive(Clone, Debug)]
pub struct Chunk {
    pub kind: u8,
    pub records: u64,
    pub decoded_size: u64,
    pub data: Vec<u8>,
}

fn hash(bytes: &[u8]) -> u64 {
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    let (first, second) = (word(b"Riegeli/"), word(b"records\n"));
    let mut hasher = HighwayHasher::new(Key([first, second, first, second]));
    hasher.append(bytes);
    hasher.finalize64()
}

/// The chunks of a file, as far as their sizes make sense; the first one is the signature.
pub fn chunks(file: &[u8]) -> Vec<Chunk> {
    let stream: Vec<u8> = file
        .chunks(BLOCK)
        .flat_map(|block| block.get(BLOCK_HEADER..).unwrap_or(&[]))
        .copied()
        .collect();
    let mut chunks = Vec::new();
    let mut rest = stream.as_slice();
    while let Some((header, tail)) = rest.split_at_checked(CHUNK_HEADER) {
        let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().unwrap());
        let Some(size) = usize::try_from(word(8)).ok().filter(|size| *size <= tail.len()) else {
            break;
        };
        let (kind, records) = (header[24], word(24) >> 8);
        chunks.push(Chunk { kind, records, decoded_size: word(32), data: tail[..size].to_vec() });
        rest = &tail[size..];
    }
    chunks
}

/// A file of these chunks; a byte per record as padding where a chunk is smaller.
pub fn file(chunks: &[Chunk]) -> Vec<u8> {
    let mut file = Vec::new();
    for chunk in chunks {
        let mut header = (chunk.data.len() as u64).to_le_bytes().to_vec();
        header.extend(hash(&chunk.data).to_le_bytes());
        header.extend((chunk.records << 8 | u64::from(chunk.kind)).to_le_bytes());
        header.extend(chunk.decoded_size.to_le_bytes());
        let mut bytes = hash(&header).to_le_bytes().to_vec();
        bytes.append(&mut header);
        bytes.extend_from_slice(&chunk.data);

        let begin = file.len();
        let records = usize::try_from(chunk.records).unwrap_or(usize::MAX);
        let end = end(begin, bytes.len(), records.min(1 << 20));
        let mut bytes = bytes.into_iter();
        while file.len() < end {
            if file.len() % BLOCK == 0 {
                let mut header = ((file.len() - begin) as u64).to_le_bytes().to_vec();
                header.extend(((end - file.len()) as u64).to_le_bytes());
                file.extend(hash(&header).to_le_bytes());
                file.append(&mut header);
            } else {
                file.push(bytes.next().unwrap_or(0));
            }
        }
    }
    file
}

/// Where a chunk ends that begins at `begin` and takes `length` bytes without block headers.
fn end(begin: usize, length: usize, records: usize) -> usize {
    let mut end = begin;
    let mut left = length;
    while left > 0 {
        if end % BLOCK == 0 {
            end += BLOCK_HEADER;
        }
        let part = left.min(BLOCK - end % BLOCK);
        end += part;
        left -= part;
    }
    end = end.max(begin + records);
    // A chunk does not begin inside a block header.
    if end % BLOCK > 0 && end % BLOCK < BLOCK_HEADER {
        end = end - end % BLOCK + BLOCK_HEADER;
    }
    end
}
