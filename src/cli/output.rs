//! The only place that writes to standard output and standard error.
#![allow(clippy::print_stderr, reason = "this is the command line")]

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
#[cfg(feature = "runtime")]
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind};

/// Writes a document to the file of `--output`, or to standard output.
pub(super) fn write(path: Option<&Path>, text: &str) -> Result<(), Error> {
    let result = match path {
        Some(path) => std::fs::write(path, text),
        None => {
            let mut out = std::io::stdout().lock();
            let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
            match written {
                // The reader had enough, as `head` does.
                Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
                other => other,
            }
        }
    };
    result.map_err(|error| {
        ErrorKind::Io { path: path.unwrap_or(Path::new("standard output")).to_owned(), error }
            .into()
    })
}

/// Adds a document to a file, as GitHub wants for its job summary.
pub(super) fn append(path: &Path, text: &str) -> Result<(), Error> {
    std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| ErrorKind::Io { path: path.to_owned(), error }.into())
}

/// A line on standard error.
pub(super) fn note(text: &str) {
    eprintln!("{text}");
}

/// Whether standard output takes colours.
pub(super) fn colour(path: Option<&Path>) -> bool {
    path.is_none() && std::env::var_os("NO_COLOR").is_none() && std::io::stdout().is_terminal()
}

/// Whether the locale says that more than ASCII can be shown.
pub(super) fn unicode() -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    set.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

/// Columns to fill.
pub(super) fn width() -> usize {
    std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).unwrap_or(100)
}

/// Writes a binary file.
pub(super) fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    std::fs::write(path, bytes)
        .map_err(|error| ErrorKind::Io { path: path.to_owned(), error }.into())
}

/// How far something long has come, on standard error: only on a terminal, and after half a second.
#[cfg(feature = "runtime")]
pub(super) struct Progress {
    what: &'static str,
    of: usize,
    started: Instant,
    terminal: bool,
}

#[cfg(feature = "runtime")]
impl Progress {
    const PATIENCE: Duration = Duration::from_millis(500);

    pub(super) fn new(what: &'static str, of: usize) -> Self {
        let terminal = std::io::stderr().is_terminal();
        Progress { what, of, started: Instant::now(), terminal }
    }

    /// Shows that so many are done.
    pub(super) fn show(&self, done: usize) {
        if self.visible() {
            eprint!("\r{done} of {} {}", self.of, self.what);
        }
    }

    /// Takes the line away.
    pub(super) fn clear(&self) {
        if self.visible() {
            eprint!("\r\x1b[K");
        }
    }

    fn visible(&self) -> bool {
        self.terminal && self.started.elapsed() >= Self::PATIENCE
    }
}
