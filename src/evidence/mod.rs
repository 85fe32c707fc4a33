//! Goldens as evidence: what recorded artifacts say about a change.
//!
//! Base's goldens inside the backward window, and those that head brings, are looked at through both contracts. What head
//! drops, misreads or refuses of them becomes findings, and stands as evidence in the findings about the schema. What can be
//! executed is, as each side understands it (see [`crate::semantics`]). Goldens are read only where contracts, containers or
//! goldens differ, or where the policy or the user wants them executed all the same.

mod attach;
mod carried;
mod containers;
mod dates;
mod gather;
mod kept;
mod look;
mod losses;
mod names;
mod text;

pub use attach::follow;
pub use containers::Eras;
pub use gather::{Answer, Question, gather};
pub use text::TextContracts;

/// Root message of what an artifact's containers hold.
const ROOT: &str = "xla.gpu.GpuExecutableProto";
