//! An artifact's bytes as the runtime of a given revision would see them.
//!
//! [`decode`] reads a serialized message with one contract and C++ protobuf's rules, which XLA's loader
//! follows: a value whose wire type does not fit, or an unknown number of a closed enum, is no error
//! but goes to the unknown fields; a missing `required` field refuses the whole message. The result is
//! a tree, [`Held`], that encodes to canonical bytes. [`translate`] brings what is held into another
//! contract by name, and [`losses`] tells what a reader with another contract makes of the bytes.
//!
//! Messages with `message_set_wire_format` are read as ordinary messages, so that their items stay
//! unknown.

mod bits;
mod canonical;
mod compare;
mod convert;
mod cursor;
mod decode;
mod defaults;
mod element;
mod entry;
mod fields;
mod held;
pub mod json;
mod loss;
mod losses;
mod names;
#[cfg(feature = "runtime")]
mod open;
mod path;
mod refused;
mod required;
mod sink;
pub mod text;
mod translate;
mod types;
mod unknown;

pub use decode::{Limits, decode};
pub use held::{Held, Key, Node, Slot, Unknown, UnknownValue, Value};
pub use loss::{Loss, LossKind};
pub use losses::losses;
#[cfg(feature = "runtime")]
pub use open::{Opened, canonical_contract, open, open_reporting, opening_spec};
pub use refused::{Reason, Refused};
#[cfg(feature = "runtime")]
pub use text::golden::{print_artifact, write_text};
pub use translate::translate;
