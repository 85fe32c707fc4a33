//! A serialized executable.
#![no_main]

use aotgate_fuzz::check;
use aotgate_runtime::artifact::Form;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(artifact) = check::read(data) else { return };
    let _ = artifact.decode().map_err(|error| check::explained(&error));
    let plain = artifact.write(&Form::PLAIN).expect("writable");
    let split = artifact.write(&Form::SPLIT).expect("writable");
    if artifact.layers().len() == 1 && artifact.layers()[0].records.is_empty() {
        assert_eq!(plain, data);
    }
    assert_eq!(
        check::read(&split).expect("readable").write(&Form::SPLIT).expect("writable"),
        split
    );
});
