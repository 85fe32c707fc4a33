//! `aotgate artifact`: lint and compat, on the committed artifacts and released schemas.
#![cfg(feature = "runtime")]
#![allow(clippy::panic, clippy::unwrap_used)] // helpers of tests

#[path = "../common/mod.rs"]
mod common;

mod cli;
mod compat;
