//! The IFRT envelope.
#![no_main]

use aotgate_fuzz::{check, mutate};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| {
    let Ok(artifact) = check::read(data) else { return };
    let Some(envelope) = artifact.envelope() else { return };
    assert!(envelope.metadata_bytes().len() < data.len());
    if let Some(abi) = envelope.abi_version() {
        let _ = abi.library_versions();
    }
    // As it was, but for how the length is written.
    let form = aotgate_fuzz::check::forms()
        .into_iter()
        .filter(|form| form.envelope.is_some() && form.outer.is_some());
    for form in form.step_by(5) {
        if let Ok(bytes) = artifact.write(&form) {
            let again = check::read(&bytes).expect("what is written can be read");
            if again.envelope().is_some_and(|e| e.abi_version().is_some())
                == envelope.abi_version().is_some()
            {
                assert_eq!(again.envelope(), Some(envelope));
            }
        }
    }
});
