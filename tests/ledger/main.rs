//! The ledger: what is written is read, whatever the contract and its past; what is broken is refused; the command.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test reports by panicking")]

mod cli;
#[path = "../common/mod.rs"]
mod common;
mod govern;
mod hostile;
mod past;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../view/random.rs"]
mod random;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../view/schema.rs"]
mod schema;
mod whole;
