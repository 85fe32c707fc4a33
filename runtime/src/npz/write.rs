//! Writes archives as `numpy.savez` does: stored, one member per array, nothing that changes with the time.

use std::io::{Cursor, Write as _};

use rawzip::{CompressionMethod, ZipArchiveWriter};

use super::Array;
use crate::error::{Error, ErrorKind};

/// NumPy starts the data at a multiple of this.
const ALIGN: usize = 64;

/// An archive of arrays named "0", "1", ....
///
/// # Errors
/// More arrays or bytes than a zip archive holds.
pub fn write(arrays: &[Array]) -> Result<Vec<u8>, Error> {
    let mut out = Cursor::new(Vec::new());
    archive(arrays, &mut out).map_err(|error| ErrorKind::CannotWrite {
        what: "an npz archive",
        why: error.to_string(),
        help: "check the number and size of the arrays",
    })?;
    Ok(out.into_inner())
}

fn archive(arrays: &[Array], out: &mut Cursor<Vec<u8>>) -> Result<(), rawzip::Error> {
    let mut archive = ZipArchiveWriter::new(out);
    for (at, array) in arrays.iter().enumerate() {
        let name = format!("{at}.npy");
        let file = archive.new_file(&name).compression_method(CompressionMethod::STORE);
        let (mut entry, config) = file.start()?;
        let mut writer = config.wrap(&mut entry);
        writer.write_all(&header(array))?;
        writer.write_all(&array.data)?;
        let (_, descriptor) = writer.finish()?;
        entry.finish(descriptor)?;
    }
    archive.finish()?;
    Ok(())
}

/// Magic, version and dictionary; version 1 holds 64 KiB, and a shape has 64 sizes at most.
fn header(array: &Array) -> Vec<u8> {
    let sizes: Vec<String> = array.shape.iter().map(|size| format!("{size},")).collect();
    let mut text = format!(
        "{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
        array.element.descr(),
        sizes.join(" ")
    );
    let start = 10;
    while (start + text.len() + 1) % ALIGN != 0 {
        text.push(' ');
    }
    text.push('\n');
    let length = u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], text.as_bytes()].concat()
}
