//! aotgate judges changes to the serialized-executable contract of XLA:GPU.
//!
//! Data flows one way: a [`revision`] gives files, [`descriptor`] makes a contract of them, [`change`]
//! compares two contracts, [`triage`] judges each change, and a report prints the [`finding`]s.
#![forbid(unsafe_code)]

pub mod change;
pub mod descriptor;
pub mod error;
pub mod finding;
pub mod report;
pub mod revision;
pub mod rollout;
pub mod triage;

pub use error::Error;
