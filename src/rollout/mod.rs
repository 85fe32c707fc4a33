//! Windows, and (in later issues) phases and ledgers of staged rollouts.

pub mod windows;
