//! Functions of libraries on the reference backend.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::type_complexity)] // tests

mod convolutions;
mod linear;
mod program;
#[allow(dead_code, reason = "what other tests start from")]
#[path = "../hostile_programs/small.rs"]
mod small;
mod sorts;
mod top_k;
