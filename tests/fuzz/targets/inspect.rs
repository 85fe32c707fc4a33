//! Looking at anything that opens.
#![no_main]

use aotgate_fuzz::{check, mutate};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| {
    if let Ok(artifact) = check::read(data) {
        check::inspect(&artifact);
    }
});
