//! Protobuf's text format, read and written with a revision's own contract.
//!
//! [`parse`] follows C++'s `TextFormat::Parser`, which reads XLA's text goldens. What other readers do not
//! do: a removed field is passed over without a word where its name is reserved, whatever its value
//! is; one whose name is not reserved refuses the text, and so does the name of an enum value that is
//! gone, reserved or not. [`print`] writes what C++'s printer writes, and says what it had to leave out.

mod bracket;
mod draft;
mod excerpt;
mod field;
#[cfg(feature = "runtime")]
pub(super) mod golden;
mod literal;
mod names;
mod parse;
mod print;
mod refused;
mod skip;
mod spell;
mod token;
mod value;

pub use parse::{Parsed, Skipped, parse};
pub use print::{LeftOut, Printed, print};
pub use refused::{Position, Reason, TextRefused};
