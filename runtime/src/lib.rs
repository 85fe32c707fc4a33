//! Reads and executes XLA:GPU serialized executables.
//!
//! [`artifact`] opens the containers that an executable is stored in, [`npz`] the arrays that a program is
//! called with; [`program`] checks an executable and [`backend`] runs it. The contract is here too: [`proto`] has the messages of an artifact as Rust types, and
//! [`DESCRIPTOR_SET`] describes them for code that works by reflection. Both come from the `.proto` files of
//! this repository, which state XLA's wire format as of release 0.12.0 and keep what older
//! releases of the backward window wrote.

mod array;
pub mod artifact;
pub mod backend;
mod deep;
mod error;
pub mod npz;
pub mod program;

pub use aotgate_contract::{DESCRIPTOR_SET, proto};
pub use error::Error;
