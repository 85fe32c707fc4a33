//! The view: decoding, canonical bytes, losses between released contracts, translation.
#![no_main]

use aotgate::view::{Limits, decode, losses, translate};
use aotgate_fuzz::contracts::{ROOT, pairs, two};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((choice, bytes)) = data.split_first() else { return };
    let (writer, reader) = two(*choice);
    let limits = Limits { memory: 256 << 20, ..Limits::default() };
    let held = match decode(bytes, writer, ROOT, limits) {
        Ok(held) => held,
        Err(refused) => {
            assert!(refused.offset <= bytes.len());
            assert!(refused.to_string().len() < 4096);
            return;
        }
    };
    for canonical in [held.canonical(), held.canonical_with_unknown()] {
        let again = decode(&canonical, writer, ROOT, limits).expect("canonical bytes decode");
        assert_eq!(again.canonical(), held.canonical());
        assert_eq!(again.canonical_with_unknown(), canonical);
    }
    // Pairing two contracts takes longer than all the rest: some inputs are enough.
    if bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)) % 8 == 0 {
        for loss in losses(bytes, writer, reader, ROOT) {
            let _ = loss.to_string();
        }
    }
    let (translated, _) = translate(&held, reader, pairs(*choice));
    decode(&translated, reader, ROOT, limits).expect("a translation decodes");
});
