//! The crate's error type: opaque outside, a diagnostic per cause inside.
//!
//! Every error names the layer of the artifact and the byte in it, what was expected there, what was
//! found, and the way out.

use miette::Diagnostic;
use thiserror::Error as ThisError;

use crate::program::{Fault, Invalid};

/// Why an artifact could not be read or written.
#[derive(Debug, Diagnostic, ThisError)]
#[error(transparent)]
#[diagnostic(transparent)]
pub struct Error {
    kind: Box<ErrorKind>,
}

impl Error {
    /// Whether more than one container accepts the input, so that none was chosen.
    pub fn is_ambiguous(&self) -> bool {
        matches!(*self.kind, ErrorKind::Ambiguous { .. })
    }

    /// Whether the input is intact as far as it was read, but uses something this crate does not do.
    pub fn is_unsupported(&self) -> bool {
        matches!(*self.kind, ErrorKind::Unsupported { .. } | ErrorKind::NotSupported { .. })
    }

    /// What it is that this crate does not do, where that is the reason; see [`Error::is_unsupported`].
    pub fn unsupported(&self) -> Option<&str> {
        match &*self.kind {
            ErrorKind::Unsupported { what, .. } => Some(what),
            ErrorKind::NotSupported {
                invalid: Invalid { fault: Fault::Unsupported(what), .. },
            } => Some(what),
            _ => None,
        }
    }

    /// Whether a cap of [`Limits`](crate::artifact::Limits) stopped the reader.
    pub fn is_limit(&self) -> bool {
        matches!(*self.kind, ErrorKind::Limit { .. } | ErrorKind::OverLimit { .. })
    }

    /// The byte the error is about, counted from the start of the layer that the message names.
    pub fn offset(&self) -> Option<usize> {
        match *self.kind {
            ErrorKind::Malformed { offset, .. }
            | ErrorKind::Truncated { offset, .. }
            | ErrorKind::Limit { offset, .. }
            | ErrorKind::Unsupported { offset, .. } => Some(offset),
            ErrorKind::Unrecognized { .. }
            | ErrorKind::Ambiguous { .. }
            | ErrorKind::Thread { .. }
            | ErrorKind::Contract { .. }
            | ErrorKind::Decode { .. }
            | ErrorKind::Invalid { .. }
            | ErrorKind::NotSupported { .. }
            | ErrorKind::OverLimit { .. }
            | ErrorKind::Missing { .. }
            | ErrorKind::CannotWrite { .. }
            | ErrorKind::NotAnArray { .. } => None,
        }
    }
}

impl From<Invalid> for Error {
    fn from(invalid: Invalid) -> Self {
        match &invalid.fault {
            Fault::Value { .. } => ErrorKind::Invalid { invalid },
            Fault::Unsupported(_) => ErrorKind::NotSupported { invalid },
            Fault::Limit { setting, .. } => ErrorKind::OverLimit { help: raise(setting), invalid },
            Fault::Missing { .. } => ErrorKind::Missing { invalid },
        }
        .into()
    }
}

/// How a limit is raised: by the option of the command line that sets it, where there is one.
fn raise(setting: &str) -> String {
    let option = match setting {
        "memory" | "steps" | "iterations" | "thunks" => format!("max-{setting}"),
        "devices" => setting.to_owned(),
        "time" => "timeout".to_owned(),
        "rendezvous" => "rendezvous-timeout".to_owned(),
        "decompressed" => "max-unpacked".to_owned(),
        _ => {
            return format!(
                "no recorded artifact comes near; check the file (the library has `Limits::{setting}`)"
            );
        }
    };
    format!("raise `--{option}` (`Limits::{setting}`) if the artifact is trusted")
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Error { kind: Box::new(kind) }
    }
}

#[derive(Debug, Diagnostic, ThisError)]
pub(crate) enum ErrorKind {
    #[error("{layer}: no known container; expected {expected}, found {found}")]
    #[diagnostic(code(aotgate::artifact::unrecognized), help("{help}"))]
    Unrecognized { layer: String, expected: String, found: String, help: &'static str },

    #[error("{layer}: ambiguous, the bytes are acceptable as {containers}")]
    #[diagnostic(
        code(aotgate::artifact::ambiguous),
        help(
            "nothing was tried, because a loader may choose either; write the artifact again in one container"
        )
    )]
    Ambiguous { layer: String, containers: String },

    #[error("{layer}, byte {offset}: {what}: expected {expected}, found {found}")]
    #[diagnostic(
        code(aotgate::artifact::malformed),
        help("the file is damaged, or was not written by a known compiler; fetch it again")
    )]
    Malformed { layer: String, offset: usize, what: String, expected: String, found: String },

    #[error("{layer}, byte {offset}: {what}: expected {expected} bytes, found {found}")]
    #[diagnostic(
        code(aotgate::artifact::truncated),
        help("the file is cut short, or a length in it is wrong; fetch it again")
    )]
    Truncated { layer: String, offset: usize, what: String, expected: u64, found: u64 },

    #[error("{layer}, byte {offset}: {what}: {value} is over the limit of {limit}")]
    #[diagnostic(code(aotgate::artifact::limit), help("{}", raise(setting)))]
    Limit {
        layer: String,
        offset: usize,
        what: &'static str,
        value: u64,
        limit: u64,
        setting: &'static str,
    },

    #[error("{layer}, byte {offset}: not supported yet: {what}")]
    #[diagnostic(code(aotgate::artifact::unsupported), help("{help}"))]
    Unsupported { layer: String, offset: usize, what: String, help: &'static str },

    #[error("the thread that decodes failed: {reason}")]
    #[diagnostic(
        code(aotgate::artifact::thread),
        help("free some memory, or raise the limit on threads; if it panicked, please report it")
    )]
    Thread { reason: String },

    #[error("the built-in contract cannot be read: {reason}")]
    #[diagnostic(
        code(aotgate::artifact::contract),
        help("this is a defect of the build; please report it")
    )]
    Contract { reason: String },

    #[error("{message} does not decode with the contract: {error}")]
    #[diagnostic(
        code(aotgate::artifact::decode),
        help(
            "a damaged artifact, or one whose schema differs in type; look at it through its own release's schema"
        )
    )]
    Decode { message: &'static str, error: prost::DecodeError },

    #[error("{invalid}")]
    #[diagnostic(
        code(aotgate::runtime::invalid),
        help("the artifact is damaged or was written by another tool than XLA's compiler")
    )]
    Invalid { invalid: Invalid },

    #[error("{invalid}")]
    #[diagnostic(
        code(aotgate::runtime::unsupported),
        help("nothing is wrong with the artifact; this runtime cannot run it")
    )]
    NotSupported { invalid: Invalid },

    #[error("{invalid}")]
    #[diagnostic(code(aotgate::runtime::limit), help("{help}"))]
    OverLimit { invalid: Invalid, help: String },

    #[error("{invalid}")]
    #[diagnostic(
        code(aotgate::runtime::rendezvous),
        help(
            "the devices of a collective do not all reach it: compare what each of them executes"
        )
    )]
    Missing { invalid: Invalid },

    #[error("cannot write {what}: {why}")]
    #[diagnostic(code(aotgate::artifact::cannot_write), help("{help}"))]
    CannotWrite { what: &'static str, why: String, help: &'static str },

    #[error("{layer}: {what}: expected {expected}, found {found}")]
    #[diagnostic(
        code(aotgate::npz),
        help("write the arrays with `numpy.savez`, named \"0\", \"1\", ..., in C order")
    )]
    NotAnArray { layer: String, what: String, expected: String, found: String },
}
