//! Simple chunks: the records' sizes, then the records, each part compressed or not.

use prost::bytes::Buf as _;

use super::blocks::Chunk;
use super::{
    COMPRESSION_BROTLI, COMPRESSION_NONE, COMPRESSION_SNAPPY, COMPRESSION_ZSTD, Record, snappy,
};
use crate::artifact::limits::{self, Budget};
use crate::artifact::rope::{Rope, RopeReader};
use crate::artifact::wire::{WireError, varint};
use crate::error::{Error, ErrorKind};

/// Adds the records of a simple chunk.
pub(super) fn simple(
    chunk: &Chunk,
    layer: &str,
    budget: &mut Budget<'_>,
    records: &mut Vec<Record>,
) -> Result<(), Error> {
    let malformed = |at: usize, what: &str, expected: String, found: String| -> Error {
        ErrorKind::Malformed {
            layer: layer.to_owned(),
            offset: chunk.offset_of(at),
            what: what.to_owned(),
            expected,
            found,
        }
        .into()
    };
    let total = (records.len() as u64).saturating_add(chunk.records);
    limits::check(layer, chunk.offset(), "records", total, budget.limits.records, "records")?;

    let mut reader = chunk.data.reader();
    let Some(compression) = reader.byte() else {
        return Err(malformed(
            0,
            "compression of a chunk",
            "one byte".to_owned(),
            "none".to_owned(),
        ));
    };
    let unsupported = match compression {
        COMPRESSION_NONE | COMPRESSION_SNAPPY => None,
        COMPRESSION_BROTLI => Some("Brotli compression"),
        COMPRESSION_ZSTD => Some("Zstandard compression"),
        other => {
            let expected = "0, 's', 'b' or 'z'".to_owned();
            return Err(malformed(0, "compression of a chunk", expected, format!("{other:#04x}")));
        }
    };
    if let Some(what) = unsupported {
        return Err(ErrorKind::Unsupported {
            layer: layer.to_owned(),
            offset: chunk.offset_of(0),
            what: what.to_owned(),
            help: "XLA writes split protos uncompressed or with Snappy; write the file again so",
        }
        .into());
    }

    let sizes_length = number(&mut reader, 64, "length of the record sizes")
        .map_err(|error| in_chunk(error, chunk, 0, layer))?;
    let sizes_at = reader.position();
    let sizes_end = usize::try_from(sizes_length).ok().and_then(|size| sizes_at.checked_add(size));
    let parts = sizes_end.and_then(|end| {
        let sizes = chunk.data.slice(sizes_at..end)?;
        Some((end, sizes, chunk.data.slice(end..chunk.data.len())?))
    });
    let Some((values_at, sizes, values)) = parts else {
        let expected = format!("at most {}", reader.remaining());
        return Err(malformed(1, "length of the record sizes", expected, sizes_length.to_string()));
    };
    let snappy = compression == COMPRESSION_SNAPPY;
    // What is stated is compared before anything is decompressed: a size takes ten bytes at most.
    let most = chunk.records.saturating_mul(10);
    let sizes = if snappy { inflate(&sizes, most, chunk, sizes_at, layer, budget)? } else { sizes };
    let most = chunk.decoded_size;
    let values =
        if snappy { inflate(&values, most, chunk, values_at, layer, budget)? } else { values };
    if values.len() as u64 != chunk.decoded_size {
        let found = values.len().to_string();
        return Err(malformed(
            values_at,
            "bytes of a chunk's records",
            format!("{} as the chunk's header says", chunk.decoded_size),
            found,
        ));
    }
    if chunk.records > sizes.len() as u64 {
        let expected = format!("{} sizes", chunk.records);
        let found = format!("{} bytes", sizes.len());
        return Err(malformed(sizes_at, "sizes of the records", expected, found));
    }

    let mut sizes_reader = sizes.reader();
    let mut at = 0usize;
    for _ in 0..chunk.records {
        let size = number(&mut sizes_reader, 64, "size of a record")
            .map_err(|error| in_chunk(error, chunk, sizes_at, layer))?;
        let end = usize::try_from(size).ok().and_then(|size| at.checked_add(size));
        let Some((end, data)) = end.and_then(|end| Some((end, values.slice(at..end)?))) else {
            let expected = format!("at most the {} bytes that are left", values.len() - at);
            return Err(malformed(sizes_at, "size of a record", expected, size.to_string()));
        };
        records.push(Record { data, chunk: chunk.offset() });
        at = end;
    }
    if sizes_reader.has_remaining() {
        let found = format!("{} bytes more", sizes_reader.remaining());
        let expected = format!("{} sizes", chunk.records);
        return Err(malformed(sizes_at, "sizes of the records", expected, found));
    }
    if at != values.len() {
        let expected = format!("{at}, the sum of the records' sizes");
        let found = values.len().to_string();
        return Err(malformed(values_at, "bytes of a chunk's records", expected, found));
    }
    Ok(())
}

fn in_chunk(mut error: WireError, chunk: &Chunk, base: usize, layer: &str) -> Error {
    error.offset = chunk.offset_of(base.saturating_add(error.offset));
    error.in_layer(layer)
}

/// A varint of no more than `bits` bits, which Riegeli and Snappy refuse beyond that; protobuf drops them.
fn number(reader: &mut RopeReader<'_>, bits: u32, what: &'static str) -> Result<u64, WireError> {
    let mut own = reader.clone();
    let value = varint(reader, what)?;
    let mut left = bits;
    while let Some(byte) = own.byte() {
        let fits = left > 0 && (left >= 7 || byte & 0x7f < 1 << left);
        if !fits {
            return Err(WireError {
                offset: own.position() - 1,
                what,
                expected: format!("a varint of {bits} bits"),
                found: "a longer one".to_owned(),
            });
        }
        left = left.saturating_sub(7);
        if byte < 0x80 {
            break;
        }
    }
    Ok(value)
}

/// Decompresses one part of no more than `limit` bytes: its size as a varint, then raw Snappy, which begins
/// with its size too.
fn inflate(
    part: &Rope,
    limit: u64,
    chunk: &Chunk,
    at: usize,
    layer: &str,
    budget: &mut Budget<'_>,
) -> Result<Rope, Error> {
    let malformed = |within: usize, what: &str, expected: String, found: String| -> Error {
        let offset = chunk.offset_of(at.saturating_add(within));
        let what = what.to_owned();
        ErrorKind::Malformed { layer: layer.to_owned(), offset, what, expected, found }.into()
    };
    let mut reader = part.reader();
    let size = number(&mut reader, 64, "decompressed size")
        .map_err(|error| in_chunk(error, chunk, at, layer))?;
    if size > limit {
        let expected = format!("at most {limit} for {} records", chunk.records);
        return Err(malformed(0, "decompressed size", expected, size.to_string()));
    }
    let stream = reader.position();
    let own = number(&mut reader, 32, "size of a Snappy stream")
        .map_err(|error| in_chunk(error, chunk, at, layer))?;
    if own != size {
        let (expected, found) = (size.to_string(), own.to_string());
        return Err(malformed(stream, "size of a Snappy stream", expected, found));
    }
    let begin = reader.position();
    let elements = part.slice(begin..part.len()).unwrap_or_default();
    let most = (elements.len() as u64).saturating_mul(snappy::RATIO);
    if size > most {
        let expected = format!("at most {most} from {} bytes of Snappy", elements.len());
        return Err(malformed(0, "decompressed size", expected, size.to_string()));
    }
    budget.decompress(layer, chunk.offset_of(at), size)?;
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let inflated = snappy::decompress(&elements, size).map_err(|damage| {
        malformed(begin + damage.offset, "Snappy data", damage.expected, damage.found)
    })?;
    Ok(inflated.into())
}
