//! Why a reader refuses a JSON payload.

use std::fmt;

/// The reader refuses the whole payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonRefused {
    /// Line of the text, from 1; 0 where no place applies.
    pub line: usize,
    /// Column in bytes, from 1; the reader may be a token further.
    pub column: usize,
    /// The field being read, such as `collective_backend_config.is_sync`; empty for the root.
    pub path: String,
    /// What is wrong there.
    pub reason: JsonReason,
}

/// What makes a reader refuse a payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonReason {
    /// The contract has no message of this name.
    NoSuchMessage(String),
    /// The text is not JSON. C++ also takes single quotes, trailing commas and bare keys, which no
    /// writer produces.
    Syntax(String),
    /// A key that the message does not have.
    NoSuchField {
        /// Full name of the message.
        message: String,
        /// The key.
        name: String,
    },
    /// A name that the enum does not have.
    NoSuchValue {
        /// Full name of the enum.
        enumeration: String,
        /// The name.
        name: String,
    },
    /// A kind of JSON value that the field does not take.
    WrongKind {
        /// What it takes.
        expected: &'static str,
        /// What stands there.
        found: &'static str,
    },
    /// A number that the field's type does not hold, or that is none.
    Number(String),
    /// Text that is not base64.
    Base64,
    /// Another member of the oneof, or the same one, was set before.
    OneofSet(String),
    /// A key of a map twice.
    RepeatedKey(String),
    /// Objects and lists nest deeper than the reader's limit.
    TooDeep(usize),
    /// What would be held is larger than the caller's limit.
    TooLarge(usize),
    /// A well-known type whose own JSON form is not read here; no payload of XLA reaches it.
    NotModelled(String),
}

impl fmt::Display for JsonReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JsonReason::NoSuchMessage(name) => write!(f, "the contract has no message {name}"),
            JsonReason::Syntax(what) => write!(f, "not JSON: {what}"),
            JsonReason::NoSuchField { message, name } => {
                write!(f, "{message} has no field \"{}\"", short(name))
            }
            JsonReason::NoSuchValue { enumeration, name } => {
                write!(f, "{enumeration} has no value \"{}\"", short(name))
            }
            JsonReason::WrongKind { expected, found } => {
                write!(f, "expected {expected}, found {found}")
            }
            JsonReason::Number(text) => write!(f, "{} is no value of the field", short(text)),
            JsonReason::Base64 => f.write_str("not base64"),
            JsonReason::OneofSet(name) => write!(f, "the oneof {name} is already set"),
            JsonReason::RepeatedKey(key) => write!(f, "the key \"{}\" is repeated", short(key)),
            JsonReason::TooDeep(limit) => write!(f, "nested deeper than {limit}"),
            JsonReason::TooLarge(limit) => write!(f, "holding it takes more than {limit} bytes"),
            JsonReason::NotModelled(name) => write!(f, "the JSON form of {name} is not modelled"),
        }
    }
}

/// Names in hostile text may be long, and hold anything.
pub(super) fn short(text: &str) -> String {
    const SHOWN: usize = 80;
    let mut shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push_str("...");
    }
    shown
}

impl fmt::Display for JsonRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}, column {}: ", self.line, self.column)?;
        }
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        self.reason.fmt(f)
    }
}

impl std::error::Error for JsonRefused {}
