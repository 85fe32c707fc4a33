//! Record files that state what a test wants, with right hashes. Small ones: a block has room for a file.

use highway::{HighwayHash as _, HighwayHasher, Key};

/// A chunk and what its header says of it.
pub(crate) struct Chunk {
    pub(crate) kind: u8,
    pub(crate) records: u64,
    pub(crate) decoded_size: u64,
    /// Bytes of data, where not those that are there.
    pub(crate) data_size: Option<u64>,
    pub(crate) data: Vec<u8>,
}

impl Chunk {
    pub(crate) fn signature() -> Chunk {
        Chunk { kind: b's', records: 0, decoded_size: 0, data_size: None, data: Vec::new() }
    }

    pub(crate) fn simple(records: u64, decoded_size: u64, data: Vec<u8>) -> Chunk {
        Chunk { kind: b'r', records, decoded_size, data_size: None, data }
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let (first, second) = (u64::from_le_bytes(*b"Riegeli/"), u64::from_le_bytes(*b"records\n"));
    let mut hasher = HighwayHasher::new(Key([first, second, first, second]));
    hasher.append(bytes);
    hasher.finalize64()
}

const BLOCK: usize = 1 << 16;

/// A file of these chunks.
pub(crate) fn file(chunks: &[Chunk]) -> Vec<u8> {
    let mut file = Vec::new();
    for chunk in chunks {
        let size = chunk.data_size.unwrap_or(chunk.data.len() as u64);
        let mut header = size.to_le_bytes().to_vec();
        header.extend(hash(&chunk.data).to_le_bytes());
        header.extend((chunk.records << 8 | u64::from(chunk.kind)).to_le_bytes());
        header.extend(chunk.decoded_size.to_le_bytes());
        let bytes = [&hash(&header).to_le_bytes(), &header[..], &chunk.data].concat();

        // Where it ends, block headers counted.
        let begin = file.len();
        let mut end = begin;
        let mut left = bytes.len();
        while left > 0 {
            end += if end % BLOCK == 0 { 24 } else { 0 };
            let part = left.min(BLOCK - end % BLOCK);
            end += part;
            left -= part;
        }
        // A byte per record; what a test only states has none.
        let padding = usize::try_from(chunk.records).ok().filter(|records| *records < 1 << 20);
        end = end.max(begin + padding.unwrap_or(0));
        let mut bytes = bytes.into_iter();
        while file.len() < end {
            if file.len() % BLOCK == 0 {
                let (previous, next) = (file.len() - begin, end - file.len());
                let mut header = (previous as u64).to_le_bytes().to_vec();
                header.extend((next as u64).to_le_bytes());
                file.extend(hash(&header).to_le_bytes());
                file.append(&mut header);
            } else {
                file.push(bytes.next().unwrap_or(0));
            }
        }
    }
    file
}

/// A file of these records, uncompressed in one chunk.
pub(crate) fn records(records: &[Vec<u8>]) -> Vec<u8> {
    let mut sizes = Vec::new();
    for record in records {
        prost::encoding::encode_varint(record.len() as u64, &mut sizes);
    }
    let values = records.concat();
    let mut data = vec![0];
    prost::encoding::encode_varint(sizes.len() as u64, &mut data);
    data.append(&mut sizes);
    data.extend_from_slice(&values);
    let chunk = Chunk::simple(records.len() as u64, values.len() as u64, data);
    file(&[Chunk::signature(), chunk])
}
