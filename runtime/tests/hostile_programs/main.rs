//! Damaged and hostile programs: an error that names the place, never a panic, a hang or much memory.

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
