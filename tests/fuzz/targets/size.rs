//! A file taken apart by its bytes: the parts make it up.
#![no_main]

use aotgate_fuzz::{check, mutate};
use aotgate_runtime::artifact::Limits;
use aotgate_runtime::artifact::size::Breakdown;
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| {
    let limits = Limits { decompressed: 64 << 20, walked_fields: 1 << 20, ..Limits::default() };
    match Breakdown::read(data.to_vec(), &limits) {
        Ok(breakdown) => {
            assert_eq!(breakdown.size, data.len());
            let stored: usize = breakdown.parts.iter().map(|part| part.stored).sum();
            assert_eq!(stored, data.len(), "every byte has one owner");
            assert!(serde_json::to_string(&breakdown).is_ok());
        }
        Err(error) => check::explained(&error),
    }
});
