//! An executable as a split proto: the manifest, merging, overrides.
#![no_main]

use aotgate_fuzz::{check, mutate};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| {
    let Ok(artifact) = check::read(data) else { return };
    let _ = artifact.decode().map_err(|error| check::explained(&error));
});
