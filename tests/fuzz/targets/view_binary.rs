//! The view: decoding, canonical bytes, losses between released contracts, translation.
#![no_main]

use std::sync::LazyLock;

use aotgate::change::Pairs;
use aotgate::descriptor::{Contract, SourceClosure};
use aotgate::triage::policy;
use aotgate::view::{Limits, decode, losses, translate};
use libfuzzer_sys::fuzz_target;

const ROOT: &str = "xla.gpu.GpuExecutableProto";

/// Two neighbours in time and the oldest and newest.
static CONTRACTS: LazyLock<[Contract; 3]> = LazyLock::new(|| {
    let spec = policy::built_in().expect("built in").contract;
    [
        &include_bytes!("../../data/released/0.10.0.fds")[..],
        include_bytes!("../../data/released/0.10.1.fds"),
        include_bytes!("../../data/released/0.12.0.fds"),
    ]
    .map(|set| {
        SourceClosure::from_descriptor_set(set).and_then(|c| c.contract(&spec)).expect("a contract")
    })
});

fuzz_target!(|data: &[u8]| {
    let Some((choice, bytes)) = data.split_first() else { return };
    let pick = |at: u8| &CONTRACTS[usize::from(at % 3)];
    let (writer, reader) = (pick(*choice), pick(*choice / 3));
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
    for loss in losses(bytes, writer, reader, ROOT) {
        let _ = loss.to_string();
    }
    let (translated, _) = translate(&held, reader, &Pairs::new(writer, reader));
    decode(&translated, reader, ROOT, limits).expect("a translation decodes");
});
