//! Record files: what is accepted has the same records for an independent implementation.
#![no_main]

use std::io::Cursor;

use aotgate_fuzz::{check, mutate};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use riegeli::{ReaderOptions, RecordReader};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| {
    let Ok(artifact) = check::read(data) else { return };
    let layer = &artifact.layers()[0];
    if layer.records.is_empty() {
        return;
    }
    let mut reader = RecordReader::new(Cursor::new(data), ReaderOptions::new()).expect("a file");
    let mut sizes = Vec::new();
    while let Some(record) = reader.read_record().expect("a record") {
        sizes.push(record.len());
    }
    assert!(sizes.iter().eq(layer.records.iter().map(|record| &record.size)));
});
