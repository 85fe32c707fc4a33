//! What XLA's loader puts up with is run, with a warning.

use aotgate_runtime::program::Program;
use aotgate_runtime::proto::xla::ffi::ExecutionStateProto;
use aotgate_runtime::proto::xla::gpu::thunk_proto::Impl;
use aotgate_runtime::proto::xla::gpu::{
    CustomCallThunkProto, DynamicSliceConfig, DynamicSliceFusionThunkProto, GpuExecutableProto,
    TriangularSolveThunkProto, dynamic_slice_fusion_thunk_proto,
};
use aotgate_runtime::proto::xla::{BufferAllocationProto, TriangularSolveOptions};

use crate::small::{
    attempt, copy, f32s, floats, program, repeat, sequence, shaped, slice, thunk, tight,
};

fn warnings(executable: GpuExecutableProto) -> Vec<String> {
    let program = Program::new(executable, &tight()).expect("valid");
    program.warnings.iter().map(ToString::to_string).collect()
}

fn one(executable: GpuExecutableProto, names: &[&str]) {
    let found = warnings(executable);
    assert_eq!(found.len(), 1, "{found:?}");
    for name in names {
        assert!(found[0].contains(name), "{}: no {name:?}", found[0]);
    }
}

#[test]
fn execution_state_is_never_loaded() {
    let with = |type_name: &str, state: &'static [u8]| {
        let state = ExecutionStateProto { type_name: type_name.into(), state: state.into() };
        let call = CustomCallThunkProto {
            target_name: "f".into(),
            execution_state: Some(state),
            ..Default::default()
        };
        let call = thunk("custom-call.1", 3, Impl::CustomCallThunk(call));
        GpuExecutableProto { thunks: vec![repeat(Some(1), vec![call])], ..program() }
    };
    one(
        with("xla.gpu.State", b"\x7fELF"),
        &[
            "thunks[0] (id 2, \"while.1\"): thunks[0] (id 3, \"custom-call.1\"): ",
            "\"xla.gpu.State\" (4 bytes) is not loaded",
            "code for the host",
        ],
    );
    one(
        with("", b"junk"),
        &["thunks[0] (id 3, \"custom-call.1\")", "4 bytes and no type_name", "ignored"],
    );
    assert!(warnings(with("", b"")).is_empty());
}

#[test]
fn a_loop_that_is_not_there_counts_as_its_first_iteration() {
    use dynamic_slice_fusion_thunk_proto::{ParameterProto, ResultProto};
    let with = |loop_index| {
        let config = DynamicSliceConfig {
            loop_index: Some(loop_index),
            byte_stride: 8,
            ..Default::default()
        };
        let part = |index| BufferAllocationProto { index, size: 32, ..Default::default() };
        let fusion = DynamicSliceFusionThunkProto {
            parameters: vec![ParameterProto { slice_config: Some(config), ..Default::default() }],
            results: vec![ResultProto::default()],
            parameter_buffers: vec![slice(2, 0, 64)],
            result_buffers: vec![slice(1, 0, 32)],
            slice_allocations: vec![part(0), part(1)],
            embedded_thunks: sequence(vec![copy(floats(0, 8), floats(1, 8), 32)]),
            ..Default::default()
        };
        let fusion = thunk("slice.1", 9, Impl::DynamicSliceFusionThunk(fusion));
        GpuExecutableProto { thunks: vec![repeat(Some(2), vec![fusion])], ..program() }
    };
    assert!(warnings(with(0)).is_empty());
    for index in [1, -1, i64::MAX] {
        let place = "thunks[0] (id 9, \"slice.1\")";
        one(
            with(index),
            &[place, &format!("loop_index is {index} inside 1 loops"), "first iteration"],
        );
        attempt(with(index), &tight()).expect("it runs");
    }
}

#[test]
fn an_unknown_transposition_is_none() {
    for transpose_a in [0, 77] {
        let options = TriangularSolveOptions { left_side: true, transpose_a, ..Default::default() };
        let solve = TriangularSolveThunkProto {
            options: Some(options),
            a_buffer: Some(shaped(slice(2, 0, 16), f32s(&[2, 2]))),
            b_buffer: Some(shaped(slice(2, 16, 16), f32s(&[2, 2]))),
            temp_buffer: None,
        };
        let solve = thunk("solve.1", 4, Impl::TriangularSolveThunk(solve));
        let executable = GpuExecutableProto { thunks: vec![solve], ..program() };
        one(
            executable,
            &["thunks[0] (id 4, \"solve.1\")", &format!("transpose_a is {transpose_a}")],
        );
    }
}

#[test]
fn the_first_of_two_entries_for_a_result_counts() {
    let mut twice = program();
    let mut other = twice.output_info_map[0].clone();
    other.output_info.as_mut().expect("set").allocation_index = 2;
    twice.output_info_map.push(other);
    one(twice.clone(), &["output []", "another entry"]);
    let (_, outputs) = attempt(twice, &tight()).expect("it runs");
    assert_eq!(outputs[0][0][..4], (-1.0_f32).to_le_bytes());
}
