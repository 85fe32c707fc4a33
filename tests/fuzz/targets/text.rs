//! Text format: what is read is printed and read again; goldens open.
#![no_main]

use aotgate::view::text::{parse, print};
use aotgate::view::{Limits, decode, open_reporting, write_text};
use aotgate_fuzz::contracts::{ROOT, two};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = data.split_first() else { return };
    let (contract, other) = two(*choice);
    let limits = Limits { memory: 64 << 20, ..Limits::default() };
    match parse(text, contract, ROOT, limits) {
        Ok(parsed) => {
            let held =
                decode(&parsed.bytes, contract, ROOT, limits).expect("canonical bytes decode");
            let printed = print(&held);
            let again = parse(printed.text.as_bytes(), contract, ROOT, limits)
                .expect("printed text is read");
            assert!(again.skipped.is_empty());
            if printed.left_out.is_empty() {
                assert_eq!(again.bytes, parsed.bytes);
            }
        }
        Err(refused) => assert!(refused.to_string().len() < 8192),
    }
    let _ = parse(text, other, ROOT, limits);
    if let Ok(opened) = open_reporting(text.to_vec(), contract)
        && let Ok(golden) = write_text(&opened.artifact, contract)
    {
        open_reporting(golden.into_bytes(), contract).expect("a written golden opens");
    }
});
