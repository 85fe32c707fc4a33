//! Tables of the operations: operands, attributes, what comes out, from XLA's operation semantics.
//!
//! A case reads as HLO does: `add(s32[2] 1 2, s32[2] 3 4) = s32[2] 4 6`. The notation is `text.rs`'s.

mod case;
mod text;

mod compare;
mod complex;
mod control;
mod convert;
mod convolution;
mod dot;
mod float;
mod hostile;
mod indexed;
mod integer;
mod layout;
mod moving;
mod reduce;
mod slicing;
mod sort;
mod source;
mod window;

use std::collections::BTreeSet;

use case::Case;

/// One table for each file.
const TABLES: [fn() -> Vec<Case>; 16] = [
    compare::cases,
    complex::cases,
    control::cases,
    convert::cases,
    convolution::cases,
    dot::cases,
    float::cases,
    indexed::cases,
    integer::cases,
    layout::cases,
    moving::cases,
    reduce::cases,
    slicing::cases,
    sort::cases,
    source::cases,
    window::cases,
];

#[test]
fn every_opcode_has_a_case_that_succeeds() {
    let accepted: BTreeSet<&str> =
        super::FAMILIES.iter().flat_map(|family| family.opcodes).copied().collect();
    let tables: Vec<Case> = TABLES.iter().flat_map(|cases| cases()).collect();
    let covered: BTreeSet<&str> = tables
        .iter()
        .filter(|case| case.fails.is_none())
        .map(|case| case.opcode.as_str())
        .collect();
    let missing: Vec<_> = accepted.difference(&covered).collect();
    // A kernel's collective needs other devices: tests of the backend have it.
    assert_eq!(missing, [&"all-reduce"], "opcodes without a table");
    let unknown: Vec<_> = covered.difference(&accepted).collect();
    assert!(unknown.is_empty(), "tables of opcodes that are not accepted: {unknown:?}");
}

#[test]
fn no_opcode_is_in_two_families() {
    let all: Vec<&str> =
        super::FAMILIES.iter().flat_map(|family| family.opcodes).copied().collect();
    assert_eq!(all.len(), all.iter().collect::<BTreeSet<_>>().len());
}

/// The rest of XLA's opcodes, as of release 0.12.0. None of them is what a kernel is compiled from: they are
/// thunks, or rewritten before.
const NOT_HERE: &[&str] = &[
    "all-gather",
    "all-gather-done",
    "all-gather-start",
    "all-reduce-done",
    "all-reduce-start",
    "all-to-all",
    "async-done",
    "async-start",
    "async-update",
    "batch-norm-grad",
    "batch-norm-inference",
    "batch-norm-training",
    "cholesky",
    "collective-broadcast",
    "collective-permute",
    "collective-permute-done",
    "collective-permute-start",
    "dynamic-reshape",
    "infeed",
    "outfeed",
    "ragged-all-to-all",
    "ragged-dot",
    "recv",
    "recv-done",
    "reduce-scatter",
    "rng",
    "rng-bit-generator",
    "rng-get-and-update-state",
    "scaled-dot",
    "scan",
    "send",
    "send-done",
    "set-dimension-size",
    "stochastic-convert",
    "triangular-solve",
];

#[test]
fn what_is_not_here_is_named() {
    for opcode in NOT_HERE.iter().chain(&["no-such-thing"]) {
        Case::new(&format!("{opcode}(f32[] 1) = f32[] 1"))
            .fails(&format!("{opcode} \"op\" in \"main\": not supported: opcode {opcode}"))
            .check()
            .unwrap();
    }
    let accepted: usize = super::FAMILIES.iter().map(|family| family.opcodes.len()).sum();
    // XLA's `HloOpcode` has so many; `parameter` is the computation's own.
    assert_eq!(accepted + NOT_HERE.len() + 1, 133);
}
