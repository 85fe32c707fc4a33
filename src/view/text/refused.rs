//! Why a text is refused.

use std::fmt;

use miette::{Diagnostic, LabeledSpan, SourceCode};

use super::excerpt::Excerpt;

/// A position in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Bytes before it.
    pub offset: usize,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in bytes.
    pub column: usize,
}

/// The reader refuses the whole text.
#[derive(Debug, Clone)]
pub struct TextRefused {
    /// Where.
    pub at: Position,
    /// The field being read, such as `gpu_executable.thunks[3].copy_thunk`; empty for the root.
    pub path: String,
    /// What is wrong there.
    pub reason: Reason,
    pub(super) excerpt: Box<Excerpt>,
}

/// What makes a reader refuse a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// A byte that no token has: a control character, or one outside ASCII and outside a string.
    Byte(u8),
    /// A malformed literal; what should stand there.
    Literal(&'static str),
    /// A string that its line does not end; where it begins.
    LineBreak(Box<Position>),
    /// A string that nothing ends; where it begins.
    Unterminated(Box<Position>),
    /// Another token was due.
    Expected {
        /// What was due.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// A name in brackets that is none, or not of the kind that was due.
    BracketedName(&'static str),
    /// The message has no such field and does not reserve the name.
    UnknownField {
        /// Message and field.
        name: String,
        /// A field of a similar name.
        similar: Option<String>,
    },
    /// No such extension of the message.
    UnknownExtension {
        /// The extension.
        name: String,
        /// The message.
        of: String,
    },
    /// A singular field is given a second time.
    GivenTwice(String),
    /// Another member of the oneof is given already.
    OneofTaken {
        /// The field.
        name: String,
        /// The oneof and the member that has it.
        by: String,
    },
    /// The enum has no such value.
    UnknownEnumValue {
        /// Enum and value.
        name: String,
        /// Whether the enum reserves it, which makes no difference.
        reserved: bool,
    },
    /// A number that its field's type cannot hold.
    OutOfRange {
        /// As written.
        literal: String,
        /// The field's type.
        ty: &'static str,
    },
    /// A string that must be UTF-8 is not.
    InvalidUtf8,
    /// The contract has no type of this name.
    NoSuchType(String),
    /// A message with `message_set_wire_format` whose items cannot be written.
    MessageSet(String),
    /// Messages nest deeper than the limit.
    TooDeep(usize),
    /// What would be held is larger than the limit.
    TooLarge(usize),
    /// Required fields are not set.
    RequiredMissing(Vec<String>),
    /// The text is in order, but its binary form would be refused.
    Binary(crate::view::Reason),
}

/// A reason and its position; the parser knows the path.
pub(super) type Failure = Box<(Position, Reason)>;

pub(super) fn fail<T>(at: Position, reason: Reason) -> Result<T, Failure> {
    Err(Box::new((at, reason)))
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Byte(byte @ 0..b' ') => {
                write!(f, "expected text, found control character {byte}")
            }
            Reason::Byte(byte) => {
                write!(f, "expected ASCII outside strings, found byte {byte:#04x}")
            }
            Reason::Literal(wanted) => write!(f, "expected {wanted}"),
            Reason::LineBreak(start) => {
                write!(
                    f,
                    "expected the end of the string that began in {}, found the end of the line",
                    start
                )
            }
            Reason::Unterminated(start) => {
                write!(
                    f,
                    "expected the end of the string that began in {}, found the end or NUL",
                    start
                )
            }
            Reason::Expected { expected, found } => write!(f, "expected {expected}, found {found}"),
            Reason::BracketedName(wanted) => write!(f, "expected {wanted} in the brackets"),
            Reason::UnknownField { name, .. } => write!(f, "the contract has no field {name}"),
            Reason::UnknownExtension { name, of } => {
                write!(f, "the contract has no extension {name} of {of}")
            }
            Reason::GivenTwice(name) => write!(f, "{name} is no list and is given a second time"),
            Reason::OneofTaken { name, by } => write!(f, "{name} is given, but {by} has the oneof"),
            Reason::UnknownEnumValue { name, .. } => {
                write!(f, "the contract has no enum value {name}")
            }
            Reason::OutOfRange { literal, ty } => write!(f, "{literal} is no {ty}: out of range"),
            Reason::InvalidUtf8 => f.write_str("expected a string in UTF-8, found other bytes"),
            Reason::NoSuchType(name) => write!(f, "the contract has no type {name}"),
            Reason::MessageSet(name) => {
                write!(f, "{name} is a message set, whose items are not supported")
            }
            Reason::TooDeep(limit) => write!(f, "messages nest deeper than {limit}"),
            Reason::TooLarge(limit) => write!(f, "holding it takes more than {limit} bytes"),
            Reason::RequiredMissing(names) => {
                write!(f, "required but not set: {}", names.join(", "))
            }
            Reason::Binary(reason) => write!(f, "its binary form would be refused: {reason}"),
        }
    }
}

impl From<crate::view::Reason> for Reason {
    fn from(reason: crate::view::Reason) -> Self {
        match reason {
            crate::view::Reason::RequiredMissing(names) => Reason::RequiredMissing(names),
            crate::view::Reason::TooLarge(limit) => Reason::TooLarge(limit),
            crate::view::Reason::TooDeep(limit) => Reason::TooDeep(limit),
            other => Reason::Binary(other),
        }
    }
}

impl Reason {
    /// The way out.
    fn help(&self) -> String {
        match self {
            Reason::Byte(_) | Reason::InvalidUtf8 => {
                "write other bytes as escapes (`\\033`, `\\xff`) inside a string; check that the file was not damaged or cut".into()
            }
            Reason::Literal(_) | Reason::Expected { .. } | Reason::BracketedName(_) => {
                "correct the text, or write the golden again from its binary".into()
            }
            Reason::LineBreak(_) | Reason::Unterminated(_) => {
                "close the string; a long one is written as several literals in a row".into()
            }
            Reason::UnknownField { similar: Some(similar), .. } => format!(
                "did you mean `{similar}`? A removed field is passed over only where its name is reserved; else read the text with the contract of its own time"
            ),
            Reason::UnknownField { .. } => {
                "a removed field is passed over only where its name is reserved; reserve the name, or read the text with the contract of its own time".into()
            }
            Reason::UnknownEnumValue { reserved: true, .. } => {
                "that the name is reserved does not help: C++ passes over reserved fields only; read the text with the contract of its own time, or write the number where the enum is open".into()
            }
            Reason::UnknownExtension { .. }
            | Reason::UnknownEnumValue { .. }
            | Reason::NoSuchType(_) => {
                "read the text with the contract of its own time, and with the files that declare it".into()
            }
            Reason::GivenTwice(_) | Reason::OneofTaken { .. } => {
                "keep the one that is meant".into()
            }
            Reason::OutOfRange { .. } => {
                "correct the number, or read the text with the contract of its own time".into()
            }
            Reason::Binary(_) => "split the message; no reader takes it whole".into(),
            Reason::MessageSet(_) => "take the item out of the text".into(),
            Reason::TooDeep(_) | Reason::TooLarge(_) => {
                "raise the limit if the text is trusted".into()
            }
            Reason::RequiredMissing(_) => {
                "set the fields: C++ refuses a message without them, in text and in binary".into()
            }
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

impl fmt::Display for TextRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TextRefused { at, path, reason, .. } = self;
        match path.as_str() {
            "" => write!(f, "{at}: {reason}"),
            path => write!(f, "{at}, in {path}: {reason}"),
        }
    }
}

impl std::error::Error for TextRefused {}

impl Diagnostic for TextRefused {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new("aotgate::text_format"))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.reason.help()))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&*self.excerpt)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(std::iter::once(LabeledSpan::new_with_span(
            Some("here".to_owned()),
            self.excerpt.span(),
        ))))
    }
}
