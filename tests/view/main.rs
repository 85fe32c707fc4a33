//! The view of an artifact agrees with C++ protobuf.

#[path = "../common/mod.rs"]
mod common;
mod lenient;
mod message;
mod oracle;
mod random;
mod schema;
mod text;
