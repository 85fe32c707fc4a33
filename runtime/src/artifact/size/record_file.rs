//! Which part every byte of a record file belongs to.

use prost::bytes::Buf as _;

use super::cover::{Cover, PartId};
use super::snappy;
use crate::artifact::riegeli::{
    self, BLOCK, BLOCK_HEADER, CHUNK_HEADER, COMPRESSION_SNAPPY, Chunk,
};
use crate::artifact::rope::Rope;
use crate::artifact::wire::varint;
use crate::error::Error;

/// Carries the covers of a file's records over to the file. `overhead` owns headers, sizes and padding.
pub(super) fn cover(
    file: &Rope,
    layer: &str,
    records: &[Cover],
    overhead: PartId,
) -> Result<Cover, Error> {
    let mut all = Cover::default();
    records.iter().for_each(|record| all.append(record));
    let mut values = all.reader();
    let mut whole = Cover::default();
    for chunk in riegeli::chunks(file, layer)? {
        let data = if chunk.has_records() {
            let mut inside = Cover::default();
            values.take(usize::try_from(chunk.decoded_size).unwrap_or(usize::MAX), &mut inside);
            data(&chunk.data, &inside, overhead)
        } else {
            Cover::of(overhead, chunk.data.len())
        };
        place(&chunk, &data, overhead, &mut whole);
    }
    Ok(whole.fit(overhead, file.len()))
}

/// Covers the data of a simple chunk, whose records `inside` covers.
fn data(data: &Rope, inside: &Cover, overhead: PartId) -> Cover {
    let mut reader = data.reader();
    let snappy = reader.byte() == Some(COMPRESSION_SNAPPY);
    let sizes = varint(&mut reader, "length of the record sizes").unwrap_or(0);
    let sizes = usize::try_from(sizes).unwrap_or(usize::MAX);
    reader.advance(sizes.min(reader.remaining()));
    let mut cover = Cover::of(overhead, reader.position());
    if snappy {
        // The size of what is to come, once more.
        let before = reader.position();
        let _ = varint(&mut reader, "decompressed size");
        cover.push(overhead, reader.position() - before);
        let stream = reader.copy_to_bytes(reader.remaining());
        cover.append(&snappy::compressed(&stream, inside, overhead));
    } else {
        cover.append(inside);
    }
    cover.fit(overhead, data.len())
}

/// Puts a chunk's data between the headers that cut it up.
fn place(chunk: &Chunk, data: &Cover, overhead: PartId, whole: &mut Cover) {
    let mut position = chunk.begin;
    let mut header = CHUNK_HEADER;
    let mut rest = data.reader();
    while position < chunk.end {
        let in_block = position % BLOCK;
        if in_block < BLOCK_HEADER {
            let length = (BLOCK_HEADER - in_block).min(chunk.end - position);
            push(whole, overhead, length);
            position += length;
            continue;
        }
        let room = (BLOCK - in_block).min(chunk.end - position);
        let head = header.min(room);
        push(whole, overhead, head);
        header -= head;
        let before = whole.len();
        rest.take(usize::try_from(room - head).unwrap_or(usize::MAX), whole);
        let placed = (whole.len() - before) as u64;
        // Padding up to a byte per record.
        push(whole, overhead, room - head - placed);
        position += room;
    }
}

fn push(whole: &mut Cover, part: PartId, length: u64) {
    whole.push(part, usize::try_from(length).unwrap_or(usize::MAX));
}
