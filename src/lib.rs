//! aotgate judges changes to the serialized-executable contract of XLA:GPU.
//!
//! Data flows one way: a [`revision`] gives files, [`descriptor`] makes a contract of them, [`change`]
//! compares two contracts, [`triage`] judges each change, and a [`report`] prints the [`finding`]s. [`gate`]
//! runs the whole of it. `execute` runs an artifact, and [`golden`] keeps those of released compilers.
#![forbid(unsafe_code)]

pub mod change;
pub mod cli;
#[cfg(feature = "runtime")]
pub mod compat;
pub mod container;
pub mod descriptor;
pub mod error;
#[cfg(feature = "runtime")]
pub mod evidence;
#[cfg(feature = "runtime")]
pub mod execute;
pub mod finding;
pub mod gate;
pub mod golden;
pub mod history;
#[cfg(feature = "runtime")]
mod pool;
pub mod report;
pub mod revision;
pub mod rollout;
#[cfg(feature = "runtime")]
pub mod semantics;
pub mod triage;
pub mod view;

pub use error::Error;
