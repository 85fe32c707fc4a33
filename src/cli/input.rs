//! Reading files that a user names: never more than is wanted, and nothing that has no end.

use std::io::Read as _;
use std::path::Path;

use crate::error::{Error, ErrorKind};

/// The content of a regular file, `None` where it has more than `limit` bytes.
///
/// # Errors
/// Directories, devices, pipes, and input errors. Nothing is waited for.
pub(super) fn file(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, Error> {
    let io = |error| Error::from(ErrorKind::Io { path: path.to_owned(), error });
    // Opening a pipe would wait for whoever writes to it.
    let metadata = std::fs::metadata(path).map_err(io)?;
    if !metadata.is_file() {
        let what = if metadata.is_dir() { "a directory" } else { "a device or a pipe" };
        return Err(ErrorKind::NotAFile { path: path.display().to_string(), what }.into());
    }
    if metadata.len() > limit {
        return Ok(None);
    }
    at_most(std::fs::File::open(path).map_err(io)?, limit).map_err(io)
}

/// All of standard input, `None` where it has more than `limit` bytes.
///
/// # Errors
/// Input errors.
pub(super) fn standard(limit: u64) -> Result<Option<Vec<u8>>, Error> {
    at_most(std::io::stdin().lock(), limit)
        .map_err(|error| ErrorKind::Io { path: "standard input".into(), error }.into())
}

fn at_most(from: impl std::io::Read, limit: u64) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    from.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}
