//! History over random repositories: however it is put together, it is the same.
#![allow(clippy::panic, clippy::unwrap_used)]

mod cli;
mod index;
mod random;
mod repository;
mod reuses;

use aotgate::descriptor::{ContractSpec, RootSpec};

fn spec() -> ContractSpec {
    ContractSpec {
        roots: vec![RootSpec { message: "p.Root".into(), files: vec!["a/root.proto".into()] }],
        ..ContractSpec::default()
    }
}
