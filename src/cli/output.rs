//! The only place that writes to standard output and standard error.
#![allow(clippy::print_stderr, reason = "this is the command line")]

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::files;
use crate::error::{Error, ErrorKind};

/// Writes a document to the file of `--output`, or to standard output.
pub(super) fn write(path: Option<&Path>, text: &str) -> Result<(), Error> {
    if let Some(path) = path {
        return write_bytes(path, text.as_bytes());
    }
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // The reader had enough, as `head` does.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(ErrorKind::Io { path: "standard output".into(), error }.into())
        }
        _ => Ok(()),
    }
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

/// Writes a binary file in one step: whoever reads it finds the old content or the new.
pub(super) fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    // Another name for a file keeps standing for that file.
    let target = files::target(path);
    let written = match std::fs::metadata(&target) {
        // Devices and pipes take what they get.
        Ok(metadata) if !metadata.is_file() => std::fs::write(&target, bytes),
        Ok(metadata) => replace(&target, bytes, Some(&metadata)),
        Err(_) => replace(&target, bytes, None),
    };
    written.map_err(|error| ErrorKind::Io { path: path.to_owned(), error }.into())
}

/// Puts a file into another's place. Where that fails the old one stays, and nothing else does.
fn replace(path: &Path, bytes: &[u8], old: Option<&std::fs::Metadata>) -> std::io::Result<()> {
    let (new, mut file) = match beside(path) {
        // A file may be open to those to whom its directory is not.
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied && old.is_some() => {
            return std::fs::write(path, bytes);
        }
        other => other?,
    };
    let written = file.write_all(bytes).and_then(|()| match old {
        Some(old) => file.set_permissions(old.permissions()),
        None => Ok(()),
    });
    written.and_then(|()| std::fs::rename(&new, path)).inspect_err(|_| {
        let _ = std::fs::remove_file(&new);
    })
}

/// A new file in the same directory, under a name that nothing else has.
fn beside(path: &Path) -> std::io::Result<(PathBuf, std::fs::File)> {
    let mut at = 0_u32;
    loop {
        let new = path.with_file_name(format!(".aotgate.{}.{at}.new", std::process::id()));
        match std::fs::OpenOptions::new().write(true).create_new(true).open(&new) {
            // Of one that was killed.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && at < 1000 => at += 1,
            opened => return opened.map(|file| (new, file)),
        }
    }
}

/// How far something long has come, on standard error: only on a terminal, and after half a second.
pub(super) struct Progress {
    what: &'static str,
    #[cfg_attr(not(feature = "runtime"), allow(dead_code, reason = "asked by `show` alone"))]
    of: usize,
    started: Instant,
    terminal: bool,
    /// Milliseconds after the start at which it was shown last.
    shown: AtomicU64,
}

impl Progress {
    const PATIENCE: Duration = Duration::from_millis(500);
    /// Milliseconds between two changes of the line.
    const RATE: u64 = 50;

    pub(super) fn new(what: &'static str, of: usize) -> Self {
        let terminal = std::io::stderr().is_terminal();
        Progress { what, of, started: Instant::now(), terminal, shown: AtomicU64::new(0) }
    }

    /// Shows that so many are done.
    #[cfg(feature = "runtime")]
    pub(super) fn show(&self, done: usize) {
        self.show_of(done, self.of);
    }

    /// The same, where only now is known of how many.
    pub(super) fn show_of(&self, done: usize, of: usize) {
        if !self.visible() {
            return;
        }
        let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let last = self.shown.load(Ordering::Relaxed);
        if done == of || now >= last.saturating_add(Self::RATE) {
            self.shown.store(now, Ordering::Relaxed);
            eprint!("\r{done} of {of} {}", self.what);
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

/// Writes a binary document to standard output, unless that is a terminal.
#[cfg(feature = "runtime")]
pub(super) fn write_bytes_to_standard(bytes: &[u8]) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    if out.is_terminal() {
        return Err(ErrorKind::Usage {
            message: "standard output is a terminal".to_owned(),
            help: "name a file, or pipe the artifact into something that reads it".to_owned(),
        }
        .into());
    }
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(ErrorKind::Io { path: "standard output".into(), error }.into())
        }
        _ => Ok(()),
    }
}

/// An error where a file is to be written that exists, dangling links included.
#[cfg(feature = "runtime")]
pub(super) fn check_absent(path: &Path) -> Result<(), Error> {
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    Err(ErrorKind::Usage {
        message: format!("{} exists", path.display()),
        help: "pass `--force` to replace it, or name another file".to_owned(),
    }
    .into())
}

/// Writes a binary file that must not exist. Where it cannot be written whole, nothing stays.
#[cfg(feature = "runtime")]
pub(super) fn write_new_bytes(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let io = |error| Error::from(ErrorKind::Io { path: path.to_owned(), error });
    let mut file = match std::fs::OpenOptions::new().write(true).create_new(true).open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return check_absent(path);
        }
        other => other.map_err(io)?,
    };
    file.write_all(bytes).map_err(|error| {
        let _ = std::fs::remove_file(path);
        io(error)
    })
}

/// Replaces a binary file in one step, so that an error leaves the old one.
#[cfg(feature = "runtime")]
pub(super) fn replace_bytes(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    if path.exists() && !path.is_file() {
        return Err(ErrorKind::Usage {
            message: format!("{} is no regular file", path.display()),
            help: "name a file; `-o -` is standard output".to_owned(),
        }
        .into());
    }
    write_bytes(path, bytes)
}
