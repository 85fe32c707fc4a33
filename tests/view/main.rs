//! The view of an artifact agrees with C++ protobuf.

#[path = "../common/mod.rs"]
mod common;
mod hostile;
mod lenient;
mod message;
mod oracle;
mod random;
mod rows;
mod schema;
mod text;
