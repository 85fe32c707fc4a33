//! JSON payloads: messages that travel as text inside an opaque field.
//!
//! XLA writes a message with C++ protobuf's JSON printer, using declared names and printing what has no
//! presence, into `HloInstructionProto.backend_config`. Later readers find fields by these names and
//! refuse names that they do not know; numbers do not matter.

mod base64;
mod escape;
mod lookup;
mod number;
mod object;
mod parse;
mod print;
mod refused;
mod scalar;
mod visit;

pub use parse::{Payload, parse};
pub use print::print;
pub use refused::{JsonReason, JsonRefused};
