//! Staged rollouts: windows, what the policy's rollout file says, phases, and drafts of entries.
//!
//! Readers land first, writers follow after the forward window, and what they replace goes after the backward
//! window. Flags are flipped on, off and on again, so an entry keeps intervals, and every date rests on a commit
//! that history can confirm.

mod check;
mod file;
mod phase;
mod suggest;
pub mod windows;

pub use check::{Facts, Fault, faults};
pub use file::{Event, Interval, Rollout, Rollouts};
pub use phase::{Phase, Standing, standing};
pub use suggest::{Draft, suggest};
