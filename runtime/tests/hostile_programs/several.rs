//! Several devices, of which one does not do its part.

use std::time::{Duration, Instant};

use aotgate_runtime::program::Limits;
use aotgate_runtime::proto::xla::gpu::GpuExecutableProto;
use aotgate_runtime::proto::xla::gpu::thunk_proto::Impl;
use aotgate_runtime::proto::xla::gpu::{
    AllGatherThunkProto, AllReduceThunkProto, AllToAllThunkProto, CollectiveBufferProto,
    CollectiveConfigProto, CollectivePermuteThunkProto, ConditionalThunkProto,
    ReduceScatterThunkProto, ReplicaIdThunkProto, ThunkProto,
};
use aotgate_runtime::proto::xla::{PrimitiveType, ReplicaGroup, SourceTarget};

use crate::small::{
    array, attempt, floats, kernel, program, refused, refused_within, repeat, sequence, shaped,
    slice, thunk, tight,
};

/// The small program on three replicas.
fn on_three(thunks: Vec<ThunkProto>) -> GpuExecutableProto {
    let mut program = program();
    let config =
        program.hlo_module_with_config.as_mut().and_then(|m| m.config.as_mut()).expect("set");
    config.replica_count = 3;
    program.thunks = thunks;
    program
}

fn config(groups: &[&[i64]]) -> CollectiveConfigProto {
    CollectiveConfigProto {
        operand_element_type: vec![PrimitiveType::F32 as i32],
        replica_groups: groups
            .iter()
            .map(|ids| ReplicaGroup { replica_ids: ids.to_vec() })
            .collect(),
        ..Default::default()
    }
}

fn buffer(count: i64, to: i64) -> CollectiveBufferProto {
    CollectiveBufferProto {
        element_count: count,
        source_buffer: Some(floats(0, 8)),
        destination_buffer: Some(floats(1, to)),
        ..Default::default()
    }
}

fn all_reduce(change: impl FnOnce(&mut AllReduceThunkProto)) -> ThunkProto {
    let mut reduce = AllReduceThunkProto {
        collective_config: Some(config(&[&[0, 1, 2]])),
        buffers: vec![buffer(8, 8)],
        reduction_kind: 1,
        ..Default::default()
    };
    change(&mut reduce);
    thunk("all-reduce.1", 20, Impl::AllReduceThunk(reduce))
}

fn case(thunk: ThunkProto, names: &[&str]) {
    let error = refused(on_three(vec![thunk]));
    for name in names {
        assert!(error.contains(name), "{error}: no {name:?}");
    }
}

/// One branch for the first replica, another one for the others.
fn by_replica(first: Vec<ThunkProto>, others: Vec<ThunkProto>) -> Vec<ThunkProto> {
    let id = ReplicaIdThunkProto { dest_buffer: Some(slice(2, 0, 4)) };
    let conditional = ConditionalThunkProto {
        branch_index_buffer: Some(shaped(slice(2, 0, 4), array(PrimitiveType::S32, &[]))),
        branch_thunks: vec![sequence(first).expect("some"), sequence(others).expect("some")],
    };
    vec![
        thunk("replica-id.1", 21, Impl::ReplicaIdThunk(id)),
        thunk("conditional.1", 22, Impl::ConditionalThunk(conditional)),
    ]
}

#[test]
fn all_of_them_meet() {
    let (_, outputs) = attempt(on_three(vec![all_reduce(|_| {})]), &tight()).expect("it runs");
    assert_eq!(outputs.len(), 3);
    assert_eq!(outputs[2][0][..4], (-1.5_f32).to_le_bytes());
}

#[test]
fn groups() {
    let groups = |ids: &[&[i64]]| all_reduce(|r| r.collective_config = Some(config(ids)));
    case(groups(&[]), &["it ran"]);
    case(groups(&[&[0], &[2, 1]]), &["it ran"]);
    case(
        groups(&[&[0, 3]]),
        &["thunks[0] (id 20, \"all-reduce.1\")", "replica_groups is 3", "0 to 2"],
    );
    case(groups(&[&[0, 1]]), &["replica_groups is [[0, 1]]", "a group with 2, which runs it too"]);
    case(groups(&[&[0, 1, 2], &[1]]), &["replica_groups is 1 twice", "each id once"]);
    case(groups(&[&[0, -1, 2]]), &["replica_ids is -1", "0 or more"]);
    case(all_reduce(|r| r.collective_config = None), &["collective_config is not set"]);
    case(
        all_reduce(|r| r.collective_config.as_mut().expect("set").group_mode = 9),
        &["group_mode is 9", "a value of xla.CollectiveOpGroupMode"],
    );
    case(all_reduce(|r| r.reduction_kind = 0), &["reduction_kind is not set"]);
    case(
        all_reduce(|r| r.reduction_kind = 9),
        &["reduction_kind is 9", "a value of xla.ReductionKindProto"],
    );
}

#[test]
fn buffers_hold_what_is_sent_and_received() {
    case(
        all_reduce(|r| r.buffers = vec![buffer(9, 8)]),
        &["buffers[0]", "element_count is 9", "at most the 8 of f32[8]"],
    );
    case(all_reduce(|r| r.buffers = vec![buffer(-1, 8)]), &["buffers[0]", "element_count is -1"]);
    case(
        all_reduce(|r| r.buffers = vec![buffer(8, 4)]),
        &["buffers[0]", "receives is 8", "at most the 4 of f32[4]"],
    );
    case(
        all_reduce(|r| r.collective_config.as_mut().expect("set").operand_element_type.clear()),
        &["operand_element_type is 0", "1 entries, as buffers"],
    );
    case(
        all_reduce(|r| r.collective_config.as_mut().expect("set").operand_element_type = vec![5]),
        &["operand_element_type[0] is 5", "11 for f32[8]{0}"],
    );
    let collective = Some(config(&[&[0, 1, 2]]));
    let gather = |count, to| AllGatherThunkProto {
        collective_config: collective.clone(),
        buffers: vec![buffer(count, to)],
        ..Default::default()
    };
    case(thunk("g", 1, Impl::AllGatherThunk(gather(2, 8))), &["it ran"]);
    case(
        thunk("g", 1, Impl::AllGatherThunk(gather(3, 8))),
        &["buffers[0]", "receives is 9", "at most the 8"],
    );
    let scatter = |count, to| ReduceScatterThunkProto {
        collective_config: collective.clone(),
        buffers: vec![buffer(count, to)],
        reduction_kind: 1,
    };
    case(thunk("s", 1, Impl::ReduceScatterThunk(scatter(6, 2))), &["it ran"]);
    case(
        thunk("s", 1, Impl::ReduceScatterThunk(scatter(6, 1))),
        &["receives is 2", "at most the 1"],
    );
    case(
        thunk("s", 1, Impl::ReduceScatterThunk(scatter(8, 8))),
        &["element_count is 8", "a multiple of the 3 devices"],
    );
    let all_to_all = |split, count| AllToAllThunkProto {
        collective_config: collective.clone(),
        buffers: vec![buffer(count, 8)],
        has_split_dimension: split,
        ..Default::default()
    };
    case(thunk("a", 1, Impl::AllToAllThunk(all_to_all(true, 6))), &["it ran"]);
    case(thunk("a", 1, Impl::AllToAllThunk(all_to_all(true, 7))), &["a multiple of the 3 devices"]);
    case(
        thunk("a", 1, Impl::AllToAllThunk(all_to_all(false, 6))),
        &["buffers is 1", "3, one per device"],
    );
    let permute = |pairs: &[(i64, i64)]| {
        let pairs =
            pairs.iter().map(|(source, target)| SourceTarget { source: *source, target: *target });
        let permute = CollectivePermuteThunkProto {
            collective_config: collective.clone(),
            buffers: vec![buffer(8, 8)],
            source_target_pairs: pairs.collect(),
            ..Default::default()
        };
        thunk("p", 1, Impl::CollectivePermuteThunk(permute))
    };
    case(permute(&[(0, 1), (1, 2)]), &["it ran"]);
    case(permute(&[(0, 3)]), &["source_target_pairs.target is 3", "0 to 2"]);
    case(permute(&[(0, 1), (2, 1)]), &["source_target_pairs.target is 1 twice"]);
    case(permute(&[(0, 1), (0, 2)]), &["source_target_pairs.source is 0 twice"]);
    case(permute(&[(i64::MIN, 1)]), &["source_target_pairs", "source is -9223372036854775808"]);
}

#[test]
fn one_that_finishes_without_the_others_is_named_at_once() {
    let patient = Limits { rendezvous: Duration::from_secs(600), ..tight() };
    let start = Instant::now();
    let error =
        refused_within(on_three(by_replica(vec![kernel()], vec![all_reduce(|_| {})])), &patient);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    for name in [
        "all_reduce_thunk \"all-reduce.1\" (id 20)",
        "device 0 (which has finished)",
        "did not arrive",
    ] {
        assert!(error.contains(name), "{error}: no {name:?}");
    }
}

#[test]
fn one_that_is_late_is_named_after_the_time() {
    let long = repeat(Some(10_000), vec![repeat(Some(10_000), vec![])]);
    let limits = Limits { steps: u64::MAX, time: Duration::from_secs(2), ..tight() };
    let error = refused_within(on_three(by_replica(vec![long], vec![all_reduce(|_| {})])), &limits);
    // What keeps the first one is the cause, if its time runs out as well.
    assert!(error.contains("device 0") || error.contains("seconds"), "{error}");
    // They meet in groups that do not fit together.
    let mixed = by_replica(
        vec![all_reduce(|r| r.collective_config = Some(config(&[&[0, 1, 2]])))],
        vec![all_reduce(|r| r.collective_config = Some(config(&[&[2, 1, 0]])))],
    );
    let error = refused(on_three(mixed));
    assert!(error.contains("did not arrive"), "{error}");
}

#[test]
fn one_that_fails_lets_the_others_go_and_is_the_cause() {
    let patient = Limits { rendezvous: Duration::from_secs(600), ..tight() };
    let endless = repeat(Some(10_000), vec![repeat(Some(10_000), vec![])]);
    let start = Instant::now();
    let error =
        refused_within(on_three(by_replica(vec![endless], vec![all_reduce(|_| {})])), &patient);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert!(error.contains("device 0: conditional_thunk") && error.contains("steps"), "{error}");
}
