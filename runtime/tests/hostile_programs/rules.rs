//! What a program is refused for: every message names the place, the field, the value and the bound.

use aotgate_runtime::proto::stream_executor::gpu::{TmaDescriptorProto, TmaMetadataProto};
use aotgate_runtime::proto::stream_executor::{
    BlockDimProto, ClusterDimProto, Dim3DProto, ThreadDimProto,
};
use aotgate_runtime::proto::xla::gemm_config_proto::MatrixLayout;
use aotgate_runtime::proto::xla::gpu::gpu_executable_proto::ConstantInfoProto;
use aotgate_runtime::proto::xla::gpu::thunk_proto::Impl;
use aotgate_runtime::proto::xla::gpu::{
    AsyncDoneThunkProto, AsyncStartThunkProto, ConditionalThunkProto, CublasLtMatmulThunkProto,
    CustomCallThunkProto, DenseDataIntermediateProto, DynamicSliceConfig,
    DynamicSliceFusionThunkProto, FftThunkProto, GemmThunkProto, GpuExecutableProto,
    KernelThunkProto, LaunchDimensionsProto, Memset32BitValueThunkProto, ReplicaIdThunkProto,
    ThunkProto, TriangularSolveThunkProto, cublas_lt_matmul_thunk_proto,
    dynamic_slice_fusion_thunk_proto,
};
use aotgate_runtime::proto::xla::hlo_input_output_alias_proto::AliasEntryProto;
use aotgate_runtime::proto::xla::{
    BufferAllocationProto, FftType, GemmConfigProto, LayoutProto, PrimitiveType, ShapeProto,
    TileProto, TriangularSolveOptions,
};

use crate::small::{
    array, attempt, copy, f32s, floats, kernel, program, refused, repeat, sequence, shaped, slice,
    thunk, tight,
};

/// A program with something wrong, and all that its error has to name.
fn case(change: impl FnOnce(&mut GpuExecutableProto), names: &[&str]) {
    let mut executable = program();
    change(&mut executable);
    let error = refused(executable);
    for name in names {
        assert!(error.contains(name), "{error}: no {name:?}");
    }
}

fn with(thunks: Vec<ThunkProto>, names: &[&str]) {
    case(|p| p.thunks = thunks, names);
}

fn allocation(p: &mut GpuExecutableProto, at: usize) -> &mut BufferAllocationProto {
    &mut p.buffer_allocations.as_mut().expect("set").values[at]
}

fn kernel_with(change: impl FnOnce(&mut KernelThunkProto)) -> Vec<ThunkProto> {
    let mut thunk = kernel();
    if let Some(Impl::KernelThunk(kernel)) = &mut thunk.r#impl {
        change(kernel);
    }
    vec![thunk]
}

#[test]
fn the_program_that_the_others_are_made_of_runs() {
    let (program, outputs) = attempt(program(), &tight()).expect("it runs");
    assert_eq!(outputs[0][0][..4], (-1.0_f32).to_le_bytes());
    assert!(program.warnings.is_empty(), "{:?}", program.warnings);
}

#[test]
fn allocations() {
    case(|p| allocation(p, 1).index = 5, &["allocation 1", "index", "5", "1"]);
    case(|p| allocation(p, 1).size = -1, &["allocation 1", "size is -1", "0 or more"]);
    case(
        |p| allocation(p, 1).size = i64::MAX,
        &["allocation 1", "9223372036854775839", "limit of 67108864"],
    );
    case(
        |p| allocation(p, 0).size = 31,
        &["allocation 0", "size is 31", "at least 32 for f32[8]{0}"],
    );
    case(
        |p| allocation(p, 0).parameter_number = 3,
        &["allocation 0", "parameter_number is 3", "0 to 0"],
    );
    case(
        |p| allocation(p, 0).parameter_shape_index = vec![1],
        &["allocation 0", "parameter_shape_index is 1"],
    );
    case(
        |p| allocation(p, 0).is_constant = true,
        &["allocation 0", "is_constant is true", "false for a parameter"],
    );
}

#[test]
fn constants() {
    let constant = |index: i64, bytes: &'static [u8]| ConstantInfoProto {
        symbol_name: "c".into(),
        content: Some(DenseDataIntermediateProto { data: bytes.into() }),
        allocation_index: index,
    };
    let constants = |list: Vec<ConstantInfoProto>| {
        |p: &mut GpuExecutableProto| {
            allocation(p, 2).is_constant = true;
            p.constants = list;
        }
    };
    case(
        constants(vec![constant(7, b"x")]),
        &["constants[0] (\"c\")", "allocation_index is 7", "-1, or 0 to 2"],
    );
    case(constants(vec![constant(1, b"x")]), &["allocation_index is 1", "is_constant"]);
    case(
        constants(vec![constant(2, &[0; 65])]),
        &["constants[0]", "bytes is 65", "at most the 64"],
    );
    case(
        constants(vec![constant(2, b"x"), constant(2, b"y")]),
        &["constants[1]", "no other constant fills"],
    );
    case(
        constants(vec![constant(2, b"")]),
        &["symbol_name is \"c\"", "a constant in the HLO module"],
    );
    // One that nothing fills is no harm until something reads it.
    let mut unfilled = program();
    allocation(&mut unfilled, 2).is_constant = true;
    attempt(unfilled, &tight()).expect("it runs");
    case(
        |p| {
            allocation(p, 2).is_constant = true;
            p.thunks = vec![copy(floats(2, 8), floats(1, 8), 32)];
        },
        &[
            "thunks[0]",
            "source_buffer",
            "buffer_allocation_index is 2",
            "none of the constants fills it",
        ],
    );
}

#[test]
fn results() {
    case(|p| p.output_info_map.clear(), &["output []", "output_info_map is not set"]);
    case(
        |p| p.output_info_map[0].output_info.as_mut().expect("set").allocation_index = -1,
        &["output []", "allocation_index is -1", "0 to 2"],
    );
    case(
        |p| p.program_shape.as_mut().expect("set").result = Some(f32s(&[9])),
        &["output []", "size of f32[9]{0} is 36", "at most the 32 bytes of allocation 1"],
    );
    case(
        |p| p.output_info_map[0].output_info.as_mut().expect("set").passthrough = true,
        &["output []", "passthrough is true", "allocation 1 is no parameter"],
    );
    let alias =
        |number, kind| AliasEntryProto { parameter_number: number, kind, ..Default::default() };
    let aliased = |index: i64, alias: AliasEntryProto| {
        move |p: &mut GpuExecutableProto| {
            let info = p.output_info_map[0].output_info.as_mut().expect("set");
            (info.allocation_index, info.alias_config) = (index, Some(alias));
        }
    };
    case(
        aliased(1, alias(0, 1)),
        &["output []", "alias_config", "none, because allocation 1 is no parameter"],
    );
    case(aliased(0, alias(1, 1)), &["alias_config", "1 []", "0 [], which allocation 0 is for"]);
    case(aliased(0, alias(0, 0)), &["alias_config.kind is UNDEFINED_ALIAS"]);
    case(aliased(0, alias(0, 77)), &["alias_config.kind is 77", "a value of xla.Kind"]);
}

#[test]
fn shapes() {
    let shape = |shape: ShapeProto| kernel_with(|k| k.args_shape[1] = shape);
    with(
        shape(array(PrimitiveType::F32, &[-8])),
        &["thunks[0] (id 1, \"add.2\")", "args[1]", "dimension is -8"],
    );
    with(shape(f32s(&[i64::MAX, 0])), &["args[1]", "a size that fits into memory"]);
    with(shape(f32s(&[1 << 40, 1 << 40])), &["args[1]", "a size that fits into memory"]);
    with(shape(f32s(&[1; 65])), &["args[1]", "dimensions is 65", "at most 64"]);
    with(
        shape(f32s(&[9])),
        &["args[1]", "size of f32[9]{0} is 36", "at most the 32 bytes of its slice"],
    );
    let unknown = ShapeProto { element_type: 99, ..f32s(&[8]) };
    with(shape(unknown), &["args[1]", "element_type is 99", "a value of xla.PrimitiveType"]);
    let layout = |layout: LayoutProto| ShapeProto { layout: Some(layout.into()), ..f32s(&[8]) };
    let twice = LayoutProto { minor_to_major: vec![0, 0], ..Default::default() };
    with(shape(layout(twice)), &["args[1]", "minor_to_major", "[0, 0]", "each of 0..1 once"]);
    let tiled = LayoutProto { tiles: vec![TileProto::default()], ..Default::default() };
    with(shape(layout(tiled)), &["args[1]", "not supported: tiled layouts"]);
    let packed = LayoutProto { element_size_in_bits: 4, ..Default::default() };
    with(shape(layout(packed)), &["args[1]", "element_size_in_bits is 4", "0, 32"]);
    let padded = LayoutProto { tail_padding_alignment_in_elements: 64, ..Default::default() };
    with(shape(layout(padded)), &["args[1]", "not supported: layouts with metadata or padding"]);
    let nested = (0..40).fold(f32s(&[8]), |inner, _| ShapeProto {
        element_type: PrimitiveType::Tuple as i32,
        tuple_shapes: vec![inner],
        ..Default::default()
    });
    with(shape(nested), &["args[1]", "nesting of tuple shapes is 32", "below 32"]);
}

#[test]
fn slices() {
    let args = |index, offset, size| kernel_with(|k| k.args[1] = slice(index, offset, size));
    with(
        args(9, 0, 32),
        &["thunks[0]", "args[1]", "buffer_allocation_index is 9", "expected 0 to 2"],
    );
    with(args(-1, 0, 32), &["args[1]", "buffer_allocation_index is -1"]);
    with(args(1, -1, 32), &["args[1]", "offset is -1", "0 or more"]);
    with(args(1, 0, -1), &["args[1]", "size is -1", "0 or more"]);
    with(args(1, 1, 32), &["args[1]", "slice is 1+32", "inside the 32 bytes of allocation 1"]);
    with(
        args(1, i64::MAX, i64::MAX),
        &["args[1]", "slice is 9223372036854775807+9223372036854775807"],
    );
}

#[test]
fn kernels() {
    with(
        kernel_with(|k| k.written = vec![true]),
        &["thunks[0]", "written is 1", "2 entries, as args"],
    );
    with(
        kernel_with(|k| drop(k.args_shape.pop())),
        &["args_shape is 1", "2 entries, as args, or none"],
    );
    let zeroed = |list: &[i64]| kernel_with(|k| k.zeroed_output_buffer_indices = list.to_vec());
    with(zeroed(&[2]), &["zeroed_output_buffer_indices is 2", "0 to 1"]);
    with(zeroed(&[-1]), &["zeroed_output_buffer_indices is -1"]);
    with(zeroed(&[0]), &["zeroed_output_buffer_indices is 0", "an argument that is written"]);
    with(zeroed(&[1, 1]), &["zeroed_output_buffer_indices is 1 twice"]);
    with(kernel_with(|k| k.shmem_bytes = -1), &["shmem_bytes is -1", "0 to 2147483647"]);
    let dims = |x, y, z| Some(Dim3DProto { x, y, z });
    let grid = |blocks, threads| {
        kernel_with(|k| {
            k.launch_dimensions = Some(LaunchDimensionsProto {
                block_counts: Some(BlockDimProto { coordinates: blocks }),
                thread_counts_per_block: Some(ThreadDimProto { coordinates: threads }),
            });
        })
    };
    with(grid(dims(0, 1, 1), None), &["block_counts is 0x1x1", "1 to 2147483647, 65535 and 65535"]);
    with(grid(dims(1, 1 << 16, 1), None), &["block_counts is 1x65536x1"]);
    with(grid(None, dims(1024, 2, 1)), &["thread_counts_per_block is 1024x2x1", "1024 in all"]);
    with(grid(None, dims(i64::MIN, 2, 1)), &["thread_counts_per_block"]);
    let cluster = ClusterDimProto { coordinates: dims(8, 8, 1) };
    with(kernel_with(|k| k.cluster_dim = Some(cluster)), &["cluster_dim is 8x8x1", "16 in all"]);
    // Two results that share bytes.
    let overlap = kernel_with(|k| {
        k.args = vec![slice(2, 0, 32), slice(2, 16, 32)];
        k.written = vec![true, true];
    });
    with(overlap, &["args[1]", "written slice is 16+32", "apart from args[0]", "0+32"]);
}

#[test]
fn tensor_memory_descriptors() {
    let good = TmaDescriptorProto {
        element_size: 4,
        global_dims: vec![8],
        box_dims: vec![8],
        element_strides: vec![1],
        ..Default::default()
    };
    let tma = |argument: i64, change: fn(&mut TmaDescriptorProto)| {
        let mut descriptor = good.clone();
        change(&mut descriptor);
        let map = [(argument, descriptor)].into();
        kernel_with(|k| k.tma_metadata = Some(TmaMetadataProto { arg_index_to_tma_info: map }))
    };
    with(tma(0, |_| {}), &["it ran"]);
    with(tma(5, |_| {}), &["tma_metadata", "arg_index_to_tma_info is 5", "0 to 1"]);
    with(
        tma(1, |d| d.element_size = 3),
        &["arg_index_to_tma_info[1]", "element_size is 3", "1, 2, 4 or 8"],
    );
    with(tma(1, |d| d.global_dims.clear()), &["global_dims is 0", "1 to 5 dimensions"]);
    with(tma(1, |d| d.global_dims[0] = -1), &["global_dims is -1", "1 to 4294967296"]);
    with(tma(1, |d| d.box_dims.clear()), &["box_dims is 0", "1 entries, by global_dims"]);
    with(tma(1, |d| d.box_dims[0] = 257), &["box_dims is 257", "1 to 256"]);
    with(tma(1, |d| d.element_strides[0] = 0), &["element_strides is 0", "1 to 8"]);
    with(tma(1, |d| d.swizzle = 9), &["swizzle is 9", "0 to 3"]);
    with(
        tma(1, |d| {
            (d.global_dims, d.global_strides, d.box_dims, d.element_strides) =
                (vec![8, 8], vec![8], vec![8, 8], vec![1, 1])
        }),
        &["global_strides is 8", "a multiple of 16"],
    );
}

#[test]
fn kernels_are_checked_against_their_instruction() {
    let mut renamed = kernel();
    renamed.thunk_info.as_mut().expect("set").profile_annotation = "absent.1".into();
    let without = |mut thunk: ThunkProto| {
        if let Some(Impl::KernelThunk(kernel)) = &mut thunk.r#impl {
            kernel.kernel_name = "absent".into();
        }
        thunk
    };
    // The symbol finds it, too.
    with(vec![renamed.clone()], &["it ran"]);
    with(
        vec![without(renamed)],
        &["kernel_thunk \"absent.1\" (id 1)", "\"absent.1\" and \"absent\""],
    );
    with(
        kernel_with(|k| k.written[1] = false),
        &["args[1]", "written is false", "true for a result"],
    );
    with(
        kernel_with(|k| k.args_shape[0] = f32s(&[4, 2])),
        &["args[0]", "shape is f32[4,2]{1,0}", "f32[8]{0}, as in \"add.2\""],
    );
    case(
        |p| {
            let module =
                p.hlo_module_with_config.as_mut().and_then(|m| m.hlo_module.as_mut()).expect("set");
            let twin = module.computations[1].instructions[1].clone();
            module.computations[1].instructions.push(twin);
            module.computations[1].instructions[2].id = 3;
        },
        &["name of an instruction", "\"add.2\", which several instructions have"],
    );
}

#[test]
fn copies_and_fills() {
    with(
        vec![copy(floats(0, 8), floats(1, 8), 33)],
        &["thunks[0] (id 1, \"copy.1\")", "mem_size is 33", "at most 32"],
    );
    with(vec![copy(floats(0, 8), floats(1, 8), -1)], &["mem_size is -1", "0 or more"]);
    with(
        vec![copy(floats(0, 8), floats(1, 7), 4)],
        &["size of f32[7]{0} in destination_buffer is 28", "32 bytes"],
    );
    let at = |offset| shaped(slice(2, offset, 32), f32s(&[8]));
    with(vec![copy(at(0), at(16), 32)], &["destination is 16+32", "apart from the source, 0+32"]);
    with(vec![copy(at(0), at(0), 32), kernel()], &["it ran"]);
    let fill = |size| {
        let fill = Memset32BitValueThunkProto { dest_buffer: Some(slice(2, 0, size)), value: 1 };
        vec![thunk("broadcast.1", 4, Impl::Memset32bitValueThunk(fill))]
    };
    with(
        fill(5),
        &["thunks[0] (id 4, \"broadcast.1\")", "dest_buffer.size is 5", "a multiple of 4"],
    );
    let id = ReplicaIdThunkProto { dest_buffer: Some(slice(2, 0, 8)) };
    with(vec![thunk("id.1", 5, Impl::ReplicaIdThunk(id))], &["dest_buffer.size is 8", "4"]);
    with(vec![ThunkProto::default()], &["thunks[0] (id 0, \"\")", "impl is not set"]);
}

#[test]
fn loops_and_branches() {
    let mut wide = repeat(Some(1), vec![]);
    if let Some(Impl::WhileThunk(repeat)) = &mut wide.r#impl {
        repeat.condition_result_buffer_index = Some(slice(2, 0, 4));
    }
    with(
        vec![wide],
        &["thunks[0] (id 2, \"while.1\")", "condition_result_buffer_index.size is 4", "1"],
    );
    with(vec![repeat(Some(-1), vec![])], &["trip_count is -1", "0 or more"]);
    with(
        vec![repeat(Some(i64::MAX), vec![])],
        &["trip_count: 9223372036854775807", "limit of 10000"],
    );
    let branch = |ty, dims: &[i64], count| {
        let size = if ty == PrimitiveType::Pred { 1 } else { 4 };
        let conditional = ConditionalThunkProto {
            branch_index_buffer: Some(shaped(slice(2, 0, size), array(ty, dims))),
            branch_thunks: vec![Default::default(); count],
        };
        vec![thunk("conditional.1", 6, Impl::ConditionalThunk(conditional))]
    };
    with(branch(PrimitiveType::Pred, &[], 3), &["branch_thunks is 3", "2 for a predicate"]);
    with(branch(PrimitiveType::S32, &[], 0), &["branch_thunks is 0", "at least 1"]);
    with(
        branch(PrimitiveType::F32, &[], 2),
        &["branch_index_buffer.shape is f32[]{}", "pred[] or s32[]"],
    );
    with(branch(PrimitiveType::S32, &[1], 2), &["branch_index_buffer.shape is s32[1]{0}"]);
}

#[test]
fn asynchronous_steps_are_paired() {
    let start = |id, thunks| {
        let start = AsyncStartThunkProto {
            async_execution_id: id,
            thunks: sequence(thunks),
            ..Default::default()
        };
        thunk("start", 7, Impl::AsyncStartThunk(start))
    };
    let done =
        |id| thunk("done", 8, Impl::AsyncDoneThunk(AsyncDoneThunkProto { async_execution_id: id }));
    with(vec![start(3, vec![kernel()]), done(3)], &["it ran"]);
    with(
        vec![done(3)],
        &["thunks[0] (id 8, \"done\")", "async_execution_id is 3", "async_start_thunk before it"],
    );
    with(vec![start(3, vec![])], &["async_execution_id is 3", "an async_done_thunk waits for"]);
    with(vec![start(3, vec![]), start(3, vec![]), done(3)], &["thunks[1]", "no other start has"]);
    with(vec![start(3, vec![]), done(3), done(3)], &["thunks[2]", "waited for once"]);
    let inside = repeat(Some(2), vec![start(3, vec![])]);
    with(vec![inside, done(3)], &["thunks[1]", "async_execution_id is 3", "the same loop"]);
    with(
        vec![start(3, vec![]), repeat(Some(2), vec![done(3)])],
        &["body_thunk_sequence", "thunks[0]", "the same loop"],
    );
    with(vec![start(3, vec![done(3)])], &["thunks: thunks[0]", "the same loop"]);
}

#[test]
fn parts_of_buffers() {
    use dynamic_slice_fusion_thunk_proto::{ParameterProto, ResultProto};
    let fusion = |change: fn(&mut DynamicSliceFusionThunkProto)| {
        let part = |index, size| BufferAllocationProto { index, size, ..Default::default() };
        let config = DynamicSliceConfig { byte_offset: i64::MAX, ..Default::default() };
        let mut fusion = DynamicSliceFusionThunkProto {
            parameters: vec![ParameterProto { slice_config: Some(config), ..Default::default() }],
            results: vec![ResultProto::default()],
            parameter_buffers: vec![slice(2, 0, 64)],
            result_buffers: vec![slice(1, 0, 32)],
            slice_allocations: vec![part(0, 32), part(1, 32)],
            embedded_thunks: sequence(vec![copy(floats(0, 8), floats(1, 8), 32)]),
            ..Default::default()
        };
        change(&mut fusion);
        vec![thunk("slice.1", 9, Impl::DynamicSliceFusionThunk(fusion))]
    };
    with(fusion(|_| {}), &["it ran"]);
    with(
        fusion(|f| drop(f.slice_allocations.pop())),
        &["slice_allocations is 1", "2, one per parameter and result"],
    );
    with(
        fusion(|f| f.slice_allocations[1].index = 0),
        &["results[0]", "slice_allocations.index is 0", "1"],
    );
    with(
        fusion(|f| f.slice_allocations[0].size = 65),
        &["parameters[0]", "is 65", "at most the 64 bytes"],
    );
    with(fusion(|f| f.parameters[0].parameter_number = -1), &["parameters[0]", "is -1", "0 to 0"]);
    with(fusion(|f| f.results[0].result_number = 1), &["results[0]", "is 1", "0 to 0"]);
    with(
        fusion(|f| f.results[0].parameter_number = Some(0)),
        &["results[0]", "parameter_number is 0", "same buffer"],
    );
    with(
        fusion(|f| f.slice_allocations[0].size = 16),
        &[
            "embedded_thunks",
            "thunks[0] (id 1, \"copy.1\")",
            "source_buffer",
            "inside the 16 bytes of allocation 0",
        ],
    );
}

#[test]
fn matrix_products() {
    let layout = |rows, columns| MatrixLayout {
        order: 1,
        num_rows: rows,
        num_cols: columns,
        batch_size: 1,
        leading_dim_stride: columns,
        dtype: PrimitiveType::F32 as i32,
        ..Default::default()
    };
    let config = GemmConfigProto {
        lhs_layout: Some(layout(2, 4)),
        rhs_layout: Some(layout(4, 2)),
        c_layout: Some(layout(2, 2)),
        output_layout: Some(layout(2, 2)),
        alpha_real: 1.0,
        ..Default::default()
    };
    let gemm = |change: fn(&mut GemmConfigProto)| {
        let mut config = config;
        change(&mut config);
        let gemm = GemmThunkProto {
            gemm_config: Some(config),
            lhs_buffer: Some(slice(0, 0, 32)),
            rhs_buffer: Some(slice(0, 0, 32)),
            output_buffer: Some(slice(1, 0, 16)),
            ..Default::default()
        };
        vec![thunk("gemm.1", 10, Impl::GemmThunk(gemm))]
    };
    with(gemm(|_| {}), &["it ran"]);
    fn lhs(c: &mut GemmConfigProto) -> &mut MatrixLayout {
        c.lhs_layout.as_mut().expect("set")
    }
    fn output(c: &mut GemmConfigProto) -> &mut MatrixLayout {
        c.output_layout.as_mut().expect("set")
    }
    with(
        gemm(|c| lhs(c).num_rows = 3),
        &["thunks[0] (id 10, \"gemm.1\")", "lhs_layout", "bytes is 48", "at most the 32"],
    );
    with(gemm(|c| lhs(c).leading_dim_stride = i64::MAX), &["lhs_layout", "bytes is too large"]);
    with(gemm(|c| lhs(c).num_cols = 3), &["sizes is 2x3 * 4x2", "sizes that go together"]);
    with(gemm(|c| lhs(c).order = 0), &["lhs_layout", "order is not set"]);
    with(gemm(|c| lhs(c).order = 9), &["lhs_layout", "order is 9"]);
    with(
        gemm(|c| lhs(c).transpose = 9),
        &["lhs_layout", "transpose is 9", "xla.BlasTransposeProto"],
    );
    with(gemm(|c| lhs(c).dtype = 99), &["lhs_layout", "dtype", "is 99"]);
    with(
        gemm(|c| lhs(c).batch_size = 3),
        &["lhs_layout.batch_size is 3", "1, or 1 as in output_layout"],
    );
    with(
        gemm(|c| output(c).leading_dim_stride = 1),
        &["output_layout", "leading_dim_stride is 1", "at least 2"],
    );
    with(gemm(|c| output(c).batch_size = 2), &["output_layout", "batch_stride is 0", "at least 4"]);
    // Every matrix lies in one place, and there are very many.
    with(
        gemm(|c| {
            for layout in
                [&mut c.lhs_layout, &mut c.rhs_layout, &mut c.c_layout, &mut c.output_layout]
            {
                let layout = layout.as_mut().expect("set");
                (layout.num_rows, layout.num_cols, layout.batch_size) = (0, 0, i64::MAX);
            }
        }),
        &["it ran"],
    );
    let lt = |epilogue, bias| {
        let side = |index, size, dims: &[i64]| Some(shaped(slice(index, 0, size), f32s(dims)));
        let matmul = CublasLtMatmulThunkProto {
            r#impl: Some(cublas_lt_matmul_thunk_proto::Impl::GemmConfig(config)),
            epilogue,
            a: side(0, 32, &[2, 4]),
            b: side(0, 32, &[4, 2]),
            c: side(1, 16, &[2, 2]),
            d: side(1, 16, &[2, 2]),
            bias,
            ..Default::default()
        };
        vec![thunk("lt.1", 11, Impl::CublasLtMatmulThunk(matmul))]
    };
    with(lt(2, None), &["thunks[0] (id 11, \"lt.1\")", "bias is not set", "EPILOGUE_BIAS"]);
    with(lt(0, Some(floats(0, 2))), &["bias is set", "none for EPILOGUE_DEFAULT"]);
    with(lt(99, None), &["epilogue is 99", "a value of xla.BlasLtEpilogueProto"]);
}

#[test]
fn transforms_and_solvers() {
    let fft = |kind, lengths: &[i64], input: ShapeProto, output: ShapeProto| {
        let fft = FftThunkProto {
            fft_type: kind,
            fft_length: lengths.to_vec(),
            input_buffer: Some(slice(2, 0, 64)),
            output_buffer: Some(slice(2, 0, 64)),
            input_shape: Some(input),
            output_shape: Some(output),
        };
        vec![thunk("fft.1", 12, Impl::FftThunk(fft))]
    };
    let c64 = |dims: &[i64]| array(PrimitiveType::C64, dims);
    with(fft(0, &[8], c64(&[8]), c64(&[8])), &["it ran"]);
    with(fft(FftType::Rfft as i32, &[8], f32s(&[8]), c64(&[5])), &["it ran"]);
    with(
        fft(9, &[8], c64(&[8]), c64(&[8])),
        &["thunks[0] (id 12, \"fft.1\")", "fft_type is 9", "xla.FftType"],
    );
    with(fft(0, &[], c64(&[8]), c64(&[8])), &["fft_length is []", "1 to 3 of the 1 dimensions"]);
    with(fft(0, &[-8], c64(&[8]), c64(&[8])), &["fft_length is -8"]);
    with(
        fft(0, &[i64::MAX], c64(&[8]), c64(&[8])),
        &["input_shape is c64[8]{0}", "[9223372036854775807]"],
    );
    with(fft(0, &[8], c64(&[8]), c64(&[4])), &["output_shape is c64[4]{0}", "dimensions [8]"]);
    with(
        fft(0, &[8], f32s(&[8]), c64(&[8])),
        &["input_shape and output_shape", "types that FFT has"],
    );
    let solve = |a: ShapeProto, b: ShapeProto| {
        let whole = |shape| Some(shaped(slice(2, 0, 64), shape));
        let options =
            TriangularSolveOptions { left_side: true, transpose_a: 1, ..Default::default() };
        let solve = TriangularSolveThunkProto {
            options: Some(options),
            a_buffer: whole(a),
            b_buffer: whole(b),
            temp_buffer: None,
        };
        vec![thunk("solve.1", 13, Impl::TriangularSolveThunk(solve))]
    };
    with(solve(f32s(&[2, 2]), f32s(&[2, 3])), &["it ran"]);
    with(solve(f32s(&[4]), f32s(&[2, 3])), &["a_buffer.shape is f32[4]{0}", "a matrix"]);
    with(solve(f32s(&[2, 3]), f32s(&[2, 3])), &["a_buffer.shape", "square matrices"]);
    with(
        solve(f32s(&[2, 2]), f32s(&[3, 2])),
        &["b_buffer.shape is f32[3,2]", "right-hand sides for f32[2,2]"],
    );
    let ints = array(PrimitiveType::S32, &[2, 2]);
    with(solve(ints.clone(), ints), &["a_buffer.shape", "f32, f64, c64 or c128"]);
    let call = CustomCallThunkProto {
        target_name: "f".into(),
        called_computation: Some("absent".into()),
        ..Default::default()
    };
    with(
        vec![thunk("call.1", 14, Impl::CustomCallThunk(call))],
        &["called_computation is \"absent\"", "HLO module"],
    );
}
