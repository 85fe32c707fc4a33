//! JSON payloads: alone, and in the instructions of a module.
#![no_main]

use aotgate::view::json::{self, payload_losses, payloads};
use aotgate::view::{Limits, decode};
use aotgate_fuzz::contracts::{ROOT, pairs, two};
use libfuzzer_sys::fuzz_target;

const MESSAGES: [&str; 5] = [
    "xla.gpu.GpuBackendConfig",
    "xla.WhileLoopBackendConfig",
    "xla.TriangularSolveOptions",
    "xla.SortOptions",
    "xla.xtile.Tile",
];

fuzz_target!(|data: &[u8]| {
    let Some(([choice, message], input)) = data.split_first_chunk() else { return };
    let (contract, reader) = two(*choice);
    let limits = Limits { memory: 64 << 20, ..Limits::default() };
    if let Some(message) = MESSAGES.get(usize::from(*message)) {
        match json::parse(input, contract, message, limits) {
            Ok(payload) => {
                let printed = json::print(&payload.held());
                let again = json::parse(printed.as_bytes(), contract, message, limits)
                    .expect("printed JSON is read");
                assert_eq!(json::print(&again.held()), printed);
            }
            Err(refused) => assert!(refused.to_string().len() < 8192),
        }
        let _ = json::parse(input, reader, message, limits);
        return;
    }
    let Ok(held) = decode(input, contract, ROOT, limits) else { return };
    let _ = payloads(&held);
    for loss in payload_losses(&held, reader, pairs(*choice)) {
        let _ = loss.to_string();
    }
    let canonical = json::canonical(&held);
    let again = decode(&canonical, contract, ROOT, limits).expect("canonical bytes decode");
    assert_eq!(json::canonical(&again), canonical);
});
