//! Descriptors embedded in released binaries.
//!
//! protoc's C++ output stores each file's serialized `FileDescriptorProto` in the binary; a released
//! plugin therefore carries the schema that it was built with. Wheels are zip archives of such
//! binaries. Both are read as streams, so that a plugin of several hundred megabytes takes little memory.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rawzip::{CompressionMethod, RECOMMENDED_BUFFER_SIZE, ZipArchive};

use super::embedded::{ScanError, Scanner};
use crate::descriptor::SourceClosure;
use crate::error::{Error, ErrorKind};

/// Larger descriptor sets are refused: the contract's has 0.1 MB.
const MAX_SET_BYTES: u64 = 256 << 20;
/// Larger binaries (the sum of a wheel's, unpacked) are refused: a CUDA plugin has 0.4 GB.
const MAX_BINARY_BYTES: u64 = 8 << 30;
/// More shared libraries than any wheel has.
const MAX_MEMBERS: usize = 1000;

pub(super) fn read_file(path: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    open(path)?.take(MAX_SET_BYTES + 1).read_to_end(&mut bytes).map_err(|e| io(path, e))?;
    if bytes.len() as u64 > MAX_SET_BYTES {
        return Err(unreadable(path, format!("larger than {MAX_SET_BYTES} bytes")));
    }
    Ok(bytes)
}

/// Reads the descriptors of a shared library, or of the shared libraries in a wheel.
///
/// # Errors
/// Unreadable files, and files without any descriptor.
pub(super) fn embedded_descriptors(path: &Path) -> Result<SourceClosure, Error> {
    let mut file = open(path)?;
    let mut magic = [0; 4];
    let zip = file.read_exact(&mut magic).is_ok() && magic == *b"PK\x03\x04";
    let mut scanner = Scanner::default();
    if zip {
        scan_wheel(path, file, &mut scanner)?;
    } else {
        std::io::Seek::rewind(&mut file).map_err(|e| io(path, e))?;
        scan(path, &mut scanner, file, &mut { MAX_BINARY_BYTES })?;
    }
    if scanner.descriptors().next().is_none() {
        return Err(ErrorKind::NoEmbeddedDescriptors { path: path.to_owned() }.into());
    }
    SourceClosure::from_embedded(scanner.descriptors())
}

fn scan_wheel(path: &Path, file: File, scanner: &mut Scanner) -> Result<(), Error> {
    let zip_error = |error: rawzip::Error| unreadable(path, format!("zip archive: {error}"));
    let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
    let archive = ZipArchive::from_file(file, &mut buffer).map_err(zip_error)?;
    let mut members = Vec::new();
    let mut entries = archive.entries(&mut buffer);
    while let Some(entry) = entries.next_entry().map_err(zip_error)? {
        let raw = entry.file_path();
        let name = raw.as_ref();
        if !(name.ends_with(b".so") || name.windows(4).any(|w| w == b".so.")) {
            continue;
        }
        if members.len() >= MAX_MEMBERS {
            return Err(unreadable(path, format!("more than {MAX_MEMBERS} shared libraries")));
        }
        if entry.flags().is_encrypted() {
            return Err(unreadable(path, "its members are encrypted".to_owned()));
        }
        members.push((entry.wayfinder(), entry.compression_method()));
    }
    let mut budget = MAX_BINARY_BYTES;
    for (wayfinder, method) in members {
        let entry = archive.get_entry(wayfinder).map_err(zip_error)?;
        match method {
            CompressionMethod::STORE => {
                scan(path, scanner, entry.verifying_reader(entry.reader()), &mut budget)?;
            }
            CompressionMethod::DEFLATE => {
                let inflated = flate2::read::DeflateDecoder::new(entry.reader());
                scan(path, scanner, entry.verifying_reader(inflated), &mut budget)?;
            }
            other => return Err(unreadable(path, format!("compression method {other}"))),
        }
    }
    Ok(())
}

/// Scans a stream of at most `budget` bytes and takes its length off.
fn scan(
    path: &Path,
    scanner: &mut Scanner,
    reader: impl Read,
    budget: &mut u64,
) -> Result<(), Error> {
    let mut limited = reader.take(*budget + 1);
    scanner.scan(&mut limited).map_err(|error| match error {
        ScanError::Io(error) => io(path, error),
        ScanError::TooMany(what) => unreadable(path, format!("too many {what}")),
    })?;
    *budget = limited.limit().checked_sub(1).ok_or_else(|| {
        unreadable(path, format!("more than {MAX_BINARY_BYTES} bytes of shared libraries"))
    })?;
    Ok(())
}

fn open(path: &Path) -> Result<File, Error> {
    // Opening a pipe would wait for whoever writes to it.
    let metadata = std::fs::metadata(path).map_err(|e| io(path, e))?;
    if !metadata.is_file() {
        let what = if metadata.is_dir() { "a directory" } else { "a device or a pipe" };
        return Err(ErrorKind::NotAFile { path: path.display().to_string(), what }.into());
    }
    File::open(path).map_err(|e| io(path, e))
}

fn io(path: &Path, error: std::io::Error) -> Error {
    ErrorKind::Io { path: path.to_owned(), error }.into()
}

fn unreadable(path: &Path, reason: String) -> Error {
    ErrorKind::ReleasedBinary { path: path.to_owned(), reason }.into()
}
