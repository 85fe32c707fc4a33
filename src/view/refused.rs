//! Why a reader refuses bytes.

use std::fmt;

/// The reader refuses the whole message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Position in the bytes; their length for what only shows at the end.
    pub offset: usize,
    /// The field being read, such as `thunks.thunks[3].copy_thunk`; empty for the root.
    pub path: String,
    /// What is wrong there.
    pub reason: Reason,
}

/// What makes a reader refuse a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The contract has no message of this name.
    NoSuchMessage(String),
    /// The bytes end inside a value.
    Truncated,
    /// A varint of more than ten bytes, or a tag or length of more than five.
    VarintTooLong,
    /// A length of 2 GiB or more.
    LengthTooLarge,
    /// Field number 0.
    FieldNumberZero,
    /// Wire type 6 or 7.
    WireType(u8),
    /// An end-group tag that no open group has.
    EndGroup(u32),
    /// The bytes of a message end inside a group.
    GroupNotClosed(u32),
    /// The length of a packed list is no multiple of its element's size.
    PackedLength {
        /// Bytes of one element.
        element: usize,
        /// Bytes of the list.
        length: usize,
    },
    /// A string that must be UTF-8 is not.
    InvalidUtf8,
    /// Messages nest deeper than the reader's limit.
    TooDeep(usize),
    /// What would be held is larger than the caller's limit.
    TooLarge(usize),
    /// Required fields are not set.
    RequiredMissing(Vec<String>),
}

/// A reason and the position where it showed; the decoder knows the path.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) offset: usize,
    pub(super) reason: Reason,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::NoSuchMessage(name) => write!(f, "the contract has no message {name}"),
            Reason::Truncated => f.write_str("the bytes end inside a value"),
            Reason::VarintTooLong => f.write_str("a varint is too long"),
            Reason::LengthTooLarge => f.write_str("a length of 2 GiB or more"),
            Reason::FieldNumberZero => f.write_str("field number 0"),
            Reason::WireType(wire_type) => write!(f, "wire type {wire_type} does not exist"),
            Reason::EndGroup(number) => {
                write!(f, "end of group {number}, which is not the open one")
            }
            Reason::GroupNotClosed(number) => write!(f, "group {number} is not closed"),
            Reason::PackedLength { element, length } => {
                write!(f, "a packed list of {element}-byte elements has {length} bytes")
            }
            Reason::InvalidUtf8 => f.write_str("a string is not valid UTF-8"),
            Reason::TooDeep(limit) => write!(f, "messages nest deeper than {limit}"),
            Reason::TooLarge(limit) => write!(f, "holding it takes more than {limit} bytes"),
            Reason::RequiredMissing(names) => {
                write!(f, "required but not set: {}", names.join(", "))
            }
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            write!(f, "at byte {}: {}", self.offset, self.reason)
        } else {
            write!(f, "{} at byte {}: {}", self.path, self.offset, self.reason)
        }
    }
}

impl std::error::Error for Refused {}
