//! The semantic gate: a golden executed as base and as head understand it.
//!
//! An artifact's bytes are read with each side's contract and C++'s wire rules and then said in the words of the canonical
//! contract, the one that the bundled runtime speaks ([`Views`]). Where both sides say the same it is executed once, else
//! twice, on the same inputs and the same backend, and the results must be the same bit for bit ([`judge`]). That proves
//! something about descriptors only: none of the C++ that a change touches runs here.

mod judge;
mod reads;
mod views;

pub use judge::{Job, Memory, Outcome, Ran, Touches, judge};
pub use reads::Reads;
pub use views::{Side, View, Views};

use std::time::Duration;

use aotgate_runtime::program::Limits;

/// Limits for goldens that base has: what released compilers wrote, so generous.
pub fn trusted_limits() -> Limits {
    Limits { steps: 2_000_000_000, time: Duration::from_secs(120), ..Limits::default() }
}

/// How long all goldens together may take that a change brings.
pub const TIME_OF_NEW: Duration = Duration::from_secs(60);

/// Limits for goldens that a change brings, which may be anything.
pub fn limits_of_new() -> Limits {
    Limits {
        memory: 256 << 20,
        steps: 100_000_000,
        iterations: 50_000,
        thunks: 20_000,
        rendezvous: Duration::from_secs(5),
        time: Duration::from_secs(20),
        ..Limits::default()
    }
}
