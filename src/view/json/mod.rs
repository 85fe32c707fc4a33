//! JSON payloads: messages that travel as text inside an opaque field.
//!
//! XLA writes a message with C++ protobuf's JSON printer, using declared names and printing what has no
//! presence, into `HloInstructionProto.backend_config`, or since mid-2026 into the module's `payloads`, to
//! which `backend_config_payload` refers. Later readers find fields by these names and refuse names that
//! they do not know; numbers do not matter. [`parse`] and [`print()`] read and write one text, [`payloads`]
//! finds all of an artifact and tells which message each is, [`payload_losses`] says what another reader
//! makes of them, and [`canonical`] encodes an artifact so that spelling makes no difference.

mod base64;
mod compare;
mod content;
mod escape;
mod lookup;
mod losses;
mod memo;
mod number;
mod object;
mod parse;
mod print;
mod refused;
mod rewrite;
mod scalar;
mod tally;
mod visit;
mod walk;

pub use content::{Content, Found, payloads};
pub use losses::payload_losses;
pub use parse::{Payload, parse};
pub use print::print;
pub use refused::{JsonReason, JsonRefused};
pub use rewrite::canonical;
pub(super) use rewrite::translated;
