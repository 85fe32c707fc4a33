//! Looking at anything that opens: as a tree, by the authoring rules, beside itself.
#![no_main]

use aotgate_fuzz::{check, mutate};
use aotgate_runtime::artifact::Limits;
use aotgate_runtime::artifact::diff::Diff;
use aotgate_runtime::artifact::lint::lint;
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| {
    if let Ok(artifact) = check::read(data) {
        check::inspect(&artifact);
        let _ = lint(&artifact, &Limits::default()).map_err(|error| check::explained(&error));
        match Diff::new(&artifact, &artifact) {
            Ok(diff) => assert!(diff.is_equal()),
            Err(error) => check::explained(&error),
        }
    }
});
