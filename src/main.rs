//! The `aotgate` command.
#![forbid(unsafe_code)]

fn main() {}
