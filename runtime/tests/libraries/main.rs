//! Functions of libraries on the reference backend.

mod convolutions;
mod linear;
mod program;
#[allow(dead_code, reason = "what other tests start from")]
#[path = "../hostile_programs/small.rs"]
mod small;
mod sorts;
mod top_k;
