//! Telling text goldens, however the bytes are cut up.
#![no_main]

use aotgate_fuzz::check;
use aotgate_runtime::artifact::{Rope, TextGolden};
use libfuzzer_sys::fuzz_target;
use prost::bytes::Bytes;

fuzz_target!(|data: &[u8]| {
    let (cut, data) =
        data.split_first().map_or((1, data), |(cut, rest)| (usize::from(*cut) + 1, rest));
    let whole = TextGolden::detect(&Rope::from(data.to_vec()));
    let mut rope = Rope::default();
    for piece in data.chunks(cut) {
        rope.push(Bytes::copy_from_slice(piece));
    }
    assert_eq!(TextGolden::detect(&rope), whole);
    match (check::read(data), whole) {
        (Ok(artifact), whole) => assert!(whole.is_none(), "{:?}", artifact.layers()),
        (Err(error), Some(golden)) => {
            assert!(error.is_unsupported() || error.is_ambiguous(), "{error}");
            assert_eq!(golden.text, data);
        }
        (Err(_), None) => {}
    }
});
