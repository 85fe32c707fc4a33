//! The contracts that views are fuzzed with.

use std::sync::LazyLock;

use aotgate::change::Pairs;
use aotgate::descriptor::{Contract, SourceClosure};
use aotgate::triage::policy;
use aotgate::view::opening_spec;

/// Full name of the message in an artifact.
pub const ROOT: &str = "xla.gpu.GpuExecutableProto";

/// Two neighbours in time, and the oldest and newest.
pub static RELEASED: LazyLock<[Contract; 3]> = LazyLock::new(|| {
    let spec = opening_spec(&policy::built_in().expect("built in").contract);
    let sets = [
        &include_bytes!("../../data/released/0.10.0.fds")[..],
        include_bytes!("../../data/released/0.10.1.fds"),
        include_bytes!("../../data/released/0.12.0.fds"),
    ];
    sets.map(|set| {
        SourceClosure::from_descriptor_set(set).and_then(|c| c.contract(&spec)).expect("a contract")
    })
});

static PAIRS: LazyLock<Vec<Pairs>> = LazyLock::new(|| {
    let pair = |choice| {
        let (writer, reader) = two(choice);
        Pairs::new(writer, reader)
    };
    (0..9).map(pair).collect()
});

/// The types of the two contracts, paired.
pub fn pairs(choice: u8) -> &'static Pairs {
    &PAIRS[usize::from(choice / 3 % 3) * 3 + usize::from(choice % 3)]
}

/// A writer's and a reader's contract, by the first byte of an input.
pub fn two(choice: u8) -> (&'static Contract, &'static Contract) {
    let pick = |at: u8| &RELEASED[usize::from(at % 3)];
    (pick(choice), pick(choice / 3))
}
