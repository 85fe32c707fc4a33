//! The view of an artifact agrees with C++ protobuf.
#![allow(clippy::panic, clippy::unwrap_used)] // helpers of tests are tests too

#[path = "../common/mod.rs"]
mod common;
mod hostile;
mod json_losses;
#[cfg(feature = "runtime")]
mod json_real;
mod json_rules;
mod lenient;
mod message;
mod oracle;
mod random;
mod rows;
mod schema;
mod table;
mod text;
#[cfg(feature = "runtime")]
mod text_golden;
mod text_hostile;
mod text_random;
mod text_rules;
