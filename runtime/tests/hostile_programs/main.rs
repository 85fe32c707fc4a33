//! Damaged and hostile programs: an error that names the place, never a panic, a hang or much memory.
#![allow(clippy::print_stdout, clippy::type_complexity)] // a test that tells what it did
#![allow(clippy::expect_used, clippy::panic, reason = "a test reports by panicking")]

#[path = "../common/mod.rs"]
mod common;
mod deep;
mod limits;
mod mutations;
mod reads;
mod rules;
mod several;
mod small;
mod warnings;
