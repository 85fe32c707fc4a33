//! Programs that ask for too much are stopped, and soon.

use std::time::{Duration, Instant};

use aotgate_runtime::program::{Limits, Program};
use aotgate_runtime::proto::xla::gpu::GpuExecutableProto;
use aotgate_runtime::proto::xla::gpu::gpu_executable_proto::OutputInfoMapEntry;
use aotgate_runtime::proto::xla::gpu::thunk_proto::Impl;
use aotgate_runtime::proto::xla::gpu::{KernelThunkProto, Memset32BitValueThunkProto};
use aotgate_runtime::proto::xla::{
    DotDimensionNumbers, HloInstructionProto, HloModuleProto, LiteralProto, PrimitiveType,
    ShapeIndexProto, ShapeProto, Window, WindowDimension,
};

use crate::small::{
    array, computation, copy, f32s, floats, instruction, kernel, program, refused, refused_within,
    repeat, slice, thunk, tight,
};

fn soon(work: impl FnOnce()) {
    let start = Instant::now();
    work();
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
}

fn stopped(executable: GpuExecutableProto, names: &[&str]) {
    soon(|| {
        let error = refused(executable);
        for name in names {
            assert!(error.contains(name), "{error}: no {name:?}");
        }
    });
}

fn with(thunks: Vec<aotgate_runtime::proto::xla::gpu::ThunkProto>) -> GpuExecutableProto {
    GpuExecutableProto { thunks, ..program() }
}

fn module(p: &mut GpuExecutableProto) -> &mut HloModuleProto {
    p.hlo_module_with_config.as_mut().and_then(|m| m.hlo_module.as_mut()).expect("set")
}

/// The program with `root`, which takes the parameter (11), as what its kernel computes, and more computations.
fn computing(
    root: HloInstructionProto,
    before: Vec<HloInstructionProto>,
    more: Vec<aotgate_runtime::proto::xla::HloComputationProto>,
) -> GpuExecutableProto {
    let mut program = program();
    let id = root.id;
    let parameter = instruction(11, "parameter", f32s(&[8]), &[]);
    let instructions = [vec![parameter], before, vec![root]].concat();
    let module = module(&mut program);
    module.computations[0] = computation(2, id, instructions);
    module.computations.splice(0..0, more);
    program
}

#[test]
fn allocations_of_all_devices_share_the_memory() {
    let sized = |size, replicas| {
        let mut program = program();
        program.buffer_allocations.as_mut().expect("set").values[2].size = size;
        let config =
            program.hlo_module_with_config.as_mut().and_then(|m| m.config.as_mut()).expect("set");
        config.replica_count = replicas;
        program
    };
    stopped(sized((64 << 20) - 64, 1), &["it ran"]);
    stopped(
        sized((64 << 20) - 63, 1),
        &["allocation 2", "bytes of all allocations: 67108865", "limit of 67108864"],
    );
    stopped(sized((32 << 20) - 64, 2), &["it ran"]);
    stopped(sized((32 << 20) - 63, 2), &["allocation 2", "limit of 33554432"]);
    stopped(sized(64, 5), &["devices: 5 is over the limit of 4"]);
    stopped(sized(64, i64::MAX), &["devices: 9223372036854775807 is over the limit of 4"]);
    stopped(sized(64, -1), &["replica_count is -1"]);
}

#[test]
fn one_allocation_cannot_be_many_results() {
    let mut program = program();
    let shape = program.program_shape.as_mut().expect("set");
    let leaf = array(PrimitiveType::S8, &[32]);
    let count = 1_000_000;
    shape.result = Some(ShapeProto {
        element_type: PrimitiveType::Tuple as i32,
        tuple_shapes: vec![leaf; count],
        ..Default::default()
    });
    let info = program.output_info_map[0].output_info.clone();
    program.output_info_map = (0..count as i64)
        .map(|at| OutputInfoMapEntry {
            shape_index: Some(ShapeIndexProto { indexes: vec![at] }),
            output_info: info.clone(),
        })
        .collect();
    stopped(program, &["bytes of the results", "256000000", "limit of 67108864"]);
}

#[test]
fn loops_of_thunks() {
    // The condition never becomes false: byte 0 of the scratch is set by the memset.
    let set = Memset32BitValueThunkProto { dest_buffer: Some(slice(2, 0, 4)), value: 1 };
    let set = thunk("broadcast.1", 4, Impl::Memset32bitValueThunk(set));
    stopped(
        with(vec![set.clone(), repeat(None, vec![])]),
        &["while_thunk \"while.1\" (id 2)", "iterations: 10001", "10000"],
    );
    // Loops in loops, each within its own bound, and nothing in the innermost.
    let nested = (0..6).fold(vec![], |body, _| vec![repeat(Some(10_000), body)]);
    stopped(with(nested), &["while_thunk", "steps: 20000001 is over the limit of 20000000"]);
    let copies = vec![copy(floats(0, 8), floats(1, 8), 32); 100];
    stopped(with(vec![repeat(Some(10_000), vec![repeat(Some(10_000), copies)])]), &["steps"]);
    // Time is a bound of its own.
    let patient = Limits {
        steps: u64::MAX,
        iterations: u64::MAX,
        time: Duration::from_millis(300),
        ..tight()
    };
    soon(|| {
        let error = refused_within(with(vec![set, repeat(None, vec![])]), &patient);
        assert!(error.contains("seconds: 0 is over the limit of 0"), "{error}");
    });
}

#[test]
fn loops_and_calls_inside_of_kernels() {
    let pred = || array(PrimitiveType::Pred, &[]);
    let always = LiteralProto { shape: Some(pred()), preds: vec![true], ..Default::default() };
    let mut yes = instruction(22, "constant", pred(), &[]);
    yes.literal = Some(always);
    let body = computation(3, 20, vec![instruction(20, "parameter", f32s(&[8]), &[])]);
    let condition = computation(4, 22, vec![instruction(21, "parameter", f32s(&[8]), &[]), yes]);
    let mut endless = instruction(12, "while", f32s(&[8]), &[11]);
    endless.called_computation_ids = vec![3, 4];
    stopped(
        computing(endless, vec![], vec![body, condition]),
        &["while \"while.12\"", "iterations: 10001"],
    );
    stopped(ladder(60), &["steps: ", "limit of 20000000"]);
    // Entering a computation takes longer than making an element: these are 2047 calls with three instructions each.
    let limits = Limits { steps: 30_000, ..tight() };
    let error = refused_within(ladder(11), &limits);
    assert!(error.contains("limit of 30000"), "{error}");
}

/// So many computations, each of which calls the next one twice.
fn ladder(levels: i64) -> GpuExecutableProto {
    let mut ladder = Vec::new();
    for level in 0..levels {
        let (id, base) = (100 + level, 1000 + 10 * level);
        let mut calls = [
            instruction(base + 1, "call", f32s(&[8]), &[base]),
            instruction(base + 2, "call", f32s(&[8]), &[base + 1]),
        ];
        for call in &mut calls {
            call.called_computation_ids = vec![id - 1];
        }
        let parameter = instruction(base, "parameter", f32s(&[8]), &[]);
        ladder.push(match level {
            0 => computation(id, base, vec![parameter]),
            _ => computation(id, base + 2, [vec![parameter], calls.to_vec()].concat()),
        });
    }
    let mut call = instruction(12, "call", f32s(&[8]), &[11]);
    call.called_computation_ids = vec![99 + levels];
    computing(call, vec![], ladder)
}

#[test]
fn references_in_circles() {
    let mut own = instruction(12, "call", f32s(&[8]), &[11]);
    own.called_computation_ids = vec![2];
    stopped(
        computing(own, vec![], vec![]),
        &["HLO module", "computation \"computation.2\"", "called_computation_ids is a cycle"],
    );
    let circle = vec![instruction(13, "add", f32s(&[8]), &[12, 11])];
    stopped(
        computing(instruction(12, "add", f32s(&[8]), &[13, 11]), circle, vec![]),
        &["HLO module", "computation \"computation.2\"", "operand_ids is a cycle"],
    );
    let mut twice = program();
    module(&mut twice).computations[1].id = 2;
    stopped(twice, &["computation \"computation.1\"", "id is 2", "an id of its own"]);
    let mut absent = program();
    module(&mut absent).computations[1].instructions[1].called_computation_ids = vec![77];
    stopped(absent, &["add.2", "called computation is 77"]);
    // Two hundred calls, one inside the other.
    let chain = (0..200_i64).map(|level| {
        let base = 1000 + 10 * level;
        let mut root = instruction(base + 1, "call", f32s(&[8]), &[base]);
        root.called_computation_ids = vec![100 + level - 1];
        let parameter = instruction(base, "parameter", f32s(&[8]), &[]);
        match level {
            0 => computation(100, base, vec![parameter]),
            _ => computation(100 + level, base + 1, vec![parameter, root]),
        }
    });
    let mut call = instruction(12, "call", f32s(&[8]), &[11]);
    call.called_computation_ids = vec![299];
    stopped(computing(call, vec![], chain.collect()), &["depth of calls is 65", "at most 64"]);
}

#[test]
fn values_inside_of_kernels() {
    // 4 TiB from eight floats, and more elements than a number of bytes can count.
    for dims in [vec![8, 1 << 37], vec![8, 1 << 55]] {
        let mut wide = instruction(13, "broadcast", f32s(&dims), &[11]);
        wide.dimensions = vec![0];
        let slice = instruction(12, "reshape", f32s(&[8]), &[13]);
        stopped(
            computing(slice, vec![wide], vec![]),
            &["broadcast \"broadcast.13\"", "over the limit"],
        );
    }
    // An outer product that says it is small.
    let mut vector = instruction(13, "broadcast", f32s(&[8, 100_000]), &[11]);
    vector.dimensions = vec![0];
    let flat = instruction(14, "reshape", f32s(&[800_000]), &[13]);
    let mut dot = instruction(12, "dot", f32s(&[8]), &[14, 14]);
    dot.dot_dimension_numbers = Some(DotDimensionNumbers::default());
    stopped(computing(dot, vec![vector, flat], vec![]), &["dot \"dot.12\"", "f32[8]{0}"]);
    // A window of as many points as there are numbers.
    let dimension = WindowDimension {
        size: i64::MAX,
        stride: 1,
        window_dilation: 1,
        base_dilation: 1,
        ..Default::default()
    };
    let scalar = || f32s(&[]);
    let sum = computation(
        3,
        22,
        vec![
            HloInstructionProto {
                parameter_number: 0,
                ..instruction(20, "parameter", scalar(), &[])
            },
            HloInstructionProto {
                parameter_number: 1,
                ..instruction(21, "parameter", scalar(), &[])
            },
            instruction(22, "add", scalar(), &[20, 21]),
        ],
    );
    let mut zero = instruction(13, "constant", scalar(), &[]);
    zero.literal =
        Some(LiteralProto { shape: Some(scalar()), f32s: vec![0.0], ..Default::default() });
    let mut window = instruction(12, "reduce-window", f32s(&[8]), &[11, 13]);
    window.window = Some(Window { dimensions: vec![dimension] });
    window.called_computation_ids = vec![3];
    stopped(computing(window, vec![zero], vec![sum]), &["reduce-window \"reduce-window.12\""]);
}

#[test]
fn very_many_thunks() {
    let mut many = with(vec![kernel(); 10_001]);
    stopped(many.clone(), &["thunks[10000]", "thunks: 10001 is over the limit of 10000"]);
    // A million of them, allowed, is a matter of seconds.
    let fill = Memset32BitValueThunkProto { dest_buffer: Some(slice(2, 0, 4)), value: 1 };
    many.thunks = vec![thunk("", 0, Impl::Memset32bitValueThunk(fill)); 1_000_000];
    soon(|| {
        let program = Program::new(many, &Limits { thunks: 1_000_000, ..tight() });
        assert_eq!(program.expect("valid").steps.len(), 1_000_000);
    });
}

#[test]
fn very_many_of_everything_else() {
    // As many instructions, each used by the next; parameters of a tuple; arguments of a kernel.
    let mut long = program();
    let chain = (13..100_000).map(|id| instruction(id, "add", f32s(&[8]), &[id - 1, id - 1]));
    let mut instructions = vec![
        instruction(11, "parameter", f32s(&[8]), &[]),
        instruction(12, "copy", f32s(&[8]), &[11]),
    ];
    instructions.extend(chain);
    module(&mut long).computations[0] = computation(2, 99_999, instructions);
    stopped(long, &["it ran"]);
    let mut wide = program();
    let count = 100_000;
    let leaf = f32s(&[]);
    let tuple = ShapeProto {
        element_type: PrimitiveType::Tuple as i32,
        tuple_shapes: vec![leaf; count],
        ..Default::default()
    };
    wide.program_shape.as_mut().expect("set").parameters = vec![tuple];
    let values = &mut wide.buffer_allocations.as_mut().expect("set").values;
    values[0].parameter_shape_index = vec![0];
    for at in 3..count as i64 {
        let mut more = values[0].clone();
        (more.index, more.size, more.parameter_shape_index) = (at, 4, vec![at]);
        values.push(more);
    }
    stopped(wide, &["it ran"]);
    let mut calls = program();
    let callee = computation(3, 20, vec![instruction(20, "parameter", f32s(&[8]), &[])]);
    let mut entry = vec![instruction(30, "parameter", f32s(&[8]), &[])];
    for id in 31..50_000 {
        let mut call = instruction(id, "call", f32s(&[8]), &[id - 1]);
        call.called_computation_ids = vec![3];
        entry.push(call);
    }
    module(&mut calls).computations.extend([callee, computation(4, 49_999, entry)]);
    stopped(calls, &["it ran"]);
    let arguments = with(vec![thunk(
        "add.2",
        1,
        Impl::KernelThunk(KernelThunkProto {
            args: vec![slice(2, 0, 4); count],
            written: vec![true; count],
            zeroed_output_buffer_indices: (0..count as i64).collect(),
            ..Default::default()
        }),
    )]);
    stopped(arguments, &["args is 100000", "1 operands and 1 results"]);
}

#[test]
fn messages_stay_short() {
    let mut long = program();
    long.thunks[0].thunk_info.as_mut().expect("set").profile_annotation = "x".repeat(10 << 20);
    if let Some(Impl::KernelThunk(kernel)) = &mut long.thunks[0].r#impl {
        kernel.kernel_name = "é".repeat(10 << 20);
    }
    let error = refused(long);
    assert!(error.len() < 2000, "{} bytes", error.len());
}
