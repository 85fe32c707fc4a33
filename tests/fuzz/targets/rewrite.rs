//! Read, written in other containers, read: the same executable.
#![no_main]

use aotgate_fuzz::{check, mutate};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| {
    let Ok(artifact) = check::read(data) else { return };
    // A few of the forms, so that an input takes little time: which ones depends on the input.
    let start =
        data.iter().fold(0usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(*byte)))
            % 12;
    for form in check::forms().into_iter().skip(start).step_by(12) {
        let bytes = match artifact.write(&form) {
            Ok(bytes) => bytes,
            Err(error) => {
                check::explained(&error);
                continue;
            }
        };
        let again = match check::read(&bytes) {
            Ok(again) => again,
            Err(error) => panic!("{form:?}: {error}"),
        };
        assert_eq!(again.write(&form).expect("writable"), bytes, "{form:?}");
        let same = match (artifact.decode(), again.decode()) {
            (Ok(before), Ok(after)) => before == after,
            (before, after) => before.is_err() == after.is_err(),
        };
        assert!(same, "{form:?}");
    }
});
