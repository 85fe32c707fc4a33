//! NumPy's `.npz` archives: the arrays that a program is called with, and those that it should give.
//!
//! An archive is a zip file with one `.npy` member per array, stored or deflated. Arrays are given as they
//! lie in the file, in C order and little-endian; what their elements are (`bfloat16` is stored as `<u2`) the
//! reader has to know from elsewhere.

mod bridge;
mod header;
mod write;

use std::collections::BTreeMap;
use std::io::Read as _;

use prost::bytes::Bytes;
use rawzip::{CompressionMethod, ZipArchive};

pub use self::bridge::stored_as;
pub use self::header::Element;
pub use self::write::write;
use crate::artifact::check_limit;
use crate::error::{Error, ErrorKind};

/// One array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Type of its elements.
    pub element: Element,
    /// Sizes, outermost first; none for a scalar.
    pub shape: Vec<u64>,
    /// Its elements in C order, little-endian: exactly `element.size()` bytes each.
    pub data: Bytes,
}

/// Caps of [`read_with`]. Each stops the reader before the memory is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the archive.
    pub input: u64,
    /// Bytes of all arrays together.
    pub arrays: u64,
    /// Number of arrays.
    pub members: u64,
}

impl Default for Limits {
    /// 4 GiB in, 4 GiB of arrays, 10,000 of them.
    fn default() -> Self {
        Limits { input: 4 << 30, arrays: 4 << 30, members: 10_000 }
    }
}

impl Limits {
    /// Caps for so many arrays with so many bytes of elements, their headers included: what needs more is another
    /// archive than the one that is wanted.
    pub fn exactly(arrays: usize, elements: u64) -> Self {
        let own = Limits::default();
        let headers = (arrays as u64).saturating_mul(header::MAX_FILE_HEADER);
        let bytes = elements.saturating_add(headers).min(own.arrays);
        Limits { arrays: bytes, members: own.members.min(arrays as u64), ..own }
    }
}

/// What an archive says of itself; nothing is unpacked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// How many arrays.
    pub arrays: usize,
    /// Their bytes with their headers, once unpacked.
    pub bytes: u64,
}

/// What an archive says of itself, under the default [`Limits`] of input and members.
///
/// # Errors
/// No zip archive, and too many members.
pub fn contents(bytes: &Bytes) -> Result<Contents, Error> {
    let layer = "npz archive";
    let limits = Limits::default();
    check_limit(layer, 0, "bytes", bytes.len() as u64, limits.input, "input")?;
    let archive = ZipArchive::from_slice(bytes).map_err(|error| zip_error(layer, &error))?;
    let mut contents = Contents::default();
    let mut entries = archive.entries();
    while let Some(entry) = entries.next_entry().map_err(|error| zip_error(layer, &error))? {
        contents.arrays += 1;
        contents.bytes = contents.bytes.saturating_add(entry.uncompressed_size_hint());
        check_limit(layer, 0, "arrays", contents.arrays as u64, limits.members, "members")?;
    }
    Ok(contents)
}

/// The arrays of an archive by name (without `.npy`), under the default [`Limits`].
///
/// Stored members share the memory of `bytes`.
///
/// # Errors
/// See [`read_with`].
pub fn read(bytes: impl Into<Bytes>) -> Result<BTreeMap<String, Array>, Error> {
    read_with(bytes, &Limits::default())
}

/// The arrays of an archive by name, under given limits.
///
/// # Errors
/// No zip archive, encrypted or damaged members, names that occur twice, compression other than deflate, arrays in
/// Fortran order or big-endian, types that are no numbers, sizes that do not fit, and archives over a limit.
pub fn read_with(
    bytes: impl Into<Bytes>,
    limits: &Limits,
) -> Result<BTreeMap<String, Array>, Error> {
    let bytes = bytes.into();
    let layer = "npz archive";
    check_limit(layer, 0, "bytes", bytes.len() as u64, limits.input, "input")?;
    let archive = ZipArchive::from_slice(&bytes).map_err(|error| zip_error(layer, &error))?;
    let mut members = Vec::new();
    let mut entries = archive.entries();
    while let Some(entry) = entries.next_entry().map_err(|error| zip_error(layer, &error))? {
        let name = entry.file_path();
        let name = String::from_utf8_lossy(name.as_ref()).into_owned();
        let count = members.len() as u64 + 1;
        check_limit(layer, 0, "arrays", count, limits.members, "members")?;
        if entry.flags().is_encrypted() {
            return Err(malformed(&place(&name), "member", "plain content", "an encrypted one"));
        }
        members.push((name, entry.wayfinder(), entry.compression_method()));
    }
    let mut budget = limits.arrays;
    let mut arrays = BTreeMap::new();
    for (name, wayfinder, method) in members {
        let layer = place(&name);
        let Some(key) = name.strip_suffix(".npy").filter(|key| !key.is_empty()) else {
            return Err(malformed(&layer, "member", "a name that ends in .npy", "another one"));
        };
        let entry = archive.get_entry(wayfinder).map_err(|error| zip_error(&layer, &error))?;
        let size = entry.claim_verifier().uncompressed_size;
        check_limit(&layer, 0, "bytes of arrays", size, budget, "arrays")?;
        budget -= size;
        let content = match method {
            CompressionMethod::STORE => {
                let mut check = entry.verifying_reader(entry.data());
                std::io::copy(&mut check, &mut std::io::sink()).map_err(|error| {
                    malformed(&layer, "member", "intact data", &error.to_string())
                })?;
                bytes.slice_ref(entry.data())
            }
            CompressionMethod::DEFLATE => {
                let inflated = flate2::read::DeflateDecoder::new(entry.data());
                let mut content = Vec::new();
                entry
                    .verifying_reader(inflated)
                    .take(size.saturating_add(1))
                    .read_to_end(&mut content)
                    .map_err(|error| {
                        malformed(&layer, "member", "intact data", &error.to_string())
                    })?;
                if content.len() as u64 != size {
                    let found = format!("{} bytes", content.len());
                    return Err(malformed(&layer, "member", &format!("{size} bytes"), &found));
                }
                Bytes::from(content)
            }
            other => {
                return Err(ErrorKind::Unsupported {
                    layer,
                    offset: 0,
                    what: format!("compression method {other}"),
                    help: "write the archive with `numpy.savez` or `numpy.savez_compressed`",
                }
                .into());
            }
        };
        let array = header::array(&layer, content)?;
        if arrays.insert(key.to_owned(), array).is_some() {
            return Err(malformed(&layer, "member", "every name once", "it twice"));
        }
    }
    Ok(arrays)
}

/// The arrays named "0", "1", ... in that order, which is how parameters and results are numbered.
///
/// # Errors
/// Other names, and gaps.
pub fn numbered(mut arrays: BTreeMap<String, Array>) -> Result<Vec<Array>, Error> {
    let count = arrays.len();
    let mut ordered = Vec::with_capacity(count);
    for at in 0..count {
        let Some(array) = arrays.remove(&at.to_string()) else {
            let names: Vec<&str> = arrays.keys().take(3).map(|name| &**name).collect();
            let expected = format!("arrays named 0 to {}", count - 1);
            let found = format!("no {at}, but {}", names.join(", "));
            return Err(malformed("npz archive", "names", &expected, &found));
        };
        ordered.push(array);
    }
    Ok(ordered)
}

fn place(member: &str) -> String {
    format!("npz member {member:?}")
}

fn zip_error(layer: &str, error: &rawzip::Error) -> Error {
    malformed(layer, "zip", "a zip archive", &error.to_string())
}

fn malformed(layer: &str, what: &str, expected: &str, found: &str) -> Error {
    ErrorKind::NotAnArray {
        layer: layer.to_owned(),
        what: what.to_owned(),
        expected: expected.to_owned(),
        found: found.to_owned(),
    }
    .into()
}
