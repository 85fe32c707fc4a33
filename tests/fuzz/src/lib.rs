//! What the fuzz targets share.
//!
//! Bytes behind a hash or inside a compressed block are out of reach of a mutator that knows nothing of
//! them: [`mutate`] takes an artifact apart ([`node`]), changes one part of it and puts it together with
//! the hashes that it must have.

pub mod check;
pub mod contracts;
pub mod frame;
pub mod mutate;
pub mod node;

pub use mutate::mutate;
