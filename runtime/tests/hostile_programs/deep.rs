//! Messages that nest very deep.

use aotgate_runtime::artifact::Artifact;
use aotgate_runtime::proto::xla::gpu::thunk_proto::Impl;
use aotgate_runtime::proto::xla::gpu::{GpuExecutableProto, SequentialThunkProto};
use prost::Message as _;

use crate::mutations::deeply;
use crate::small::{kernel, program, refused, repeat, sequence, thunk};

/// A field of a message, around what it holds.
fn wrapped(number: u32, inner: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(inner.len() + 12);
    prost::encoding::encode_key(number, prost::encoding::WireType::LengthDelimited, &mut out);
    prost::encoding::encode_varint(inner.len() as u64, &mut out);
    out.extend_from_slice(inner);
    out
}

#[test]
fn ten_thousand_levels_are_no_message() {
    // thunks = 1 in sequential_thunk = 2, again and again, in the executable's thunks = 13.
    let mut bytes = Vec::new();
    for _ in 0..10_000 {
        bytes = wrapped(2, &wrapped(1, &bytes));
    }
    let error = deeply({
        let bytes = wrapped(13, &bytes);
        move || GpuExecutableProto::decode(&bytes[..]).expect_err("too deep").to_string()
    });
    assert!(error.contains("recursion limit"), "{error}");
    let artifact = Artifact::read([program().encode_to_vec(), wrapped(13, &bytes)].concat());
    let error = artifact.and_then(|artifact| artifact.decode()).expect_err("too deep").to_string();
    assert!(error.contains("recursion limit") || error.contains("expected"), "{error}");
}

/// What a decoder lets through, and more, is read and run on this thread's stack.
#[test]
fn nested_thunks_are_counted() {
    let nest = |levels: usize, around: fn(_) -> _| {
        let mut executable = program();
        executable.thunks = (0..levels).fold(vec![kernel()], |thunks, _| vec![around(thunks)]);
        refused(executable)
    };
    let sequential = |thunks| thunk("", 0, Impl::SequentialThunk(SequentialThunkProto { thunks }));
    assert_eq!(nest(63, sequential), "it ran");
    for levels in [64, 100, 200] {
        let error = nest(levels, sequential);
        assert!(error.contains("nesting of thunks is 65, expected at most 64"), "{error}");
    }
    assert_eq!(nest(63, |thunks| repeat(Some(1), thunks)), "it ran");
    let error = nest(100, |thunks| {
        let start = aotgate_runtime::proto::xla::gpu::AsyncStartThunkProto {
            thunks: sequence(thunks),
            ..Default::default()
        };
        thunk("", 0, Impl::AsyncStartThunk(start))
    });
    assert!(error.contains("async_execution_id is 0"), "{error}");
}

/// Ten thousand levels made in memory, where no decoder counts them: refused, and given back, on a stack
/// that can hold the message at all.
#[test]
fn ten_thousand_levels_in_memory_are_refused() {
    let error = deeply(|| {
        let mut executable = program();
        executable.thunks = (0..10_000).fold(vec![kernel()], |thunks, _| {
            vec![thunk("", 0, Impl::SequentialThunk(SequentialThunkProto { thunks }))]
        });
        refused(executable)
    });
    assert!(error.contains("nesting of thunks is 65"), "{error}");
}
