//! One small artifact per rule: the rule finds what it is for, and does not find the near miss.

#![allow(clippy::expect_used, clippy::panic, reason = "a test reports by panicking")]

use aotgate_runtime::artifact::lint::{Finding, Level, RULES, lint};
use aotgate_runtime::artifact::{Artifact, Limits};
use aotgate_runtime::proto::stream_executor::kernel_loader_spec_proto::Payload;
use aotgate_runtime::proto::stream_executor::{
    CudaComputeCapabilityProto, CudaCubinProto, CudaPtxProto, GpuComputeCapabilityProto,
    KernelLoaderSpecProto, gpu_compute_capability_proto::ComputeCapability,
};
use aotgate_runtime::proto::xla::buffer_assignment::BufferAllocationSliceProto;
use aotgate_runtime::proto::xla::ffi::ExecutionStateProto;
use aotgate_runtime::proto::xla::gpu::async_start_thunk_proto::ExecutionStreamId;
use aotgate_runtime::proto::xla::gpu::gpu_executable_proto::{
    ConstantInfoProto, OutputInfoMapEntry, OutputInfoProto, RepeatedBufferAllocations,
};
use aotgate_runtime::proto::xla::gpu::thunk_proto::Impl;
use aotgate_runtime::proto::xla::gpu::{
    AsyncDoneThunkProto, AsyncStartThunkProto, CopyThunkProto, CudnnThunkProto,
    CustomCallThunkProto, CustomKernelProto, CustomKernelThunkProto, DenseDataIntermediateProto,
    DynamicSliceFusionThunkProto, GpuExecutableProto, KernelThunkProto, MemzeroThunkProto,
    ThunkInfoProto, ThunkProto, ThunkSequenceProto,
};
use aotgate_runtime::proto::xla::{
    BufferAllocationProto, HloComputationProto, HloInstructionProto, HloModuleProto,
    HloModuleProtoWithConfig, LayoutProto, LiteralProto, PrimitiveType, ShapeProto,
    ShapedSliceProto,
};
use prost::Message as _;
use prost::bytes::Bytes;

fn findings(executable: &GpuExecutableProto) -> Vec<Finding> {
    of_bytes(executable.encode_to_vec())
}

fn of_bytes(bytes: Vec<u8>) -> Vec<Finding> {
    let artifact = Artifact::read(bytes).expect("read");
    lint(&artifact, &Limits::default()).expect("linted").findings
}

/// The findings of one rule; every other rule must be silent.
fn only(rule: &str, executable: &GpuExecutableProto) -> Vec<Finding> {
    let found = findings(executable);
    assert!(found.iter().all(|finding| finding.rule == rule), "{rule}: {found:#?}");
    found
}

fn silent(executable: &GpuExecutableProto) {
    assert_eq!(findings(executable), []);
}

fn one(rule: &str, executable: &GpuExecutableProto) -> Finding {
    let mut found = only(rule, executable);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.remove(0)
}

fn slice(index: i64, offset: i64, size: i64) -> BufferAllocationSliceProto {
    let element_type = PrimitiveType::Invalid.into();
    BufferAllocationSliceProto { offset, size, buffer_allocation_index: index, element_type }
}

fn shaped(slice: BufferAllocationSliceProto, elements: i64) -> ShapedSliceProto {
    let shape = ShapeProto {
        element_type: PrimitiveType::F32.into(),
        dimensions: vec![elements],
        ..Default::default()
    };
    ShapedSliceProto { slice: Some(slice), shape: Some(shape) }
}

fn thunk(kind: Impl) -> ThunkProto {
    ThunkProto { thunk_info: None, r#impl: Some(kind) }
}

fn zero(buffer: BufferAllocationSliceProto) -> ThunkProto {
    let elements = buffer.size / 4;
    thunk(Impl::MemzeroThunk(MemzeroThunkProto { dest_buffer: Some(shaped(buffer, elements)) }))
}

fn allocation(index: i64, size: i64) -> BufferAllocationProto {
    BufferAllocationProto { index, size, ..Default::default() }
}

/// Two allocations of 64 bytes, which the first two thunks use whole.
fn executable(thunks: Vec<ThunkProto>) -> GpuExecutableProto {
    let mut all = vec![zero(slice(0, 0, 64)), zero(slice(1, 0, 64))];
    all.extend(thunks);
    let values = vec![allocation(0, 64), allocation(1, 64)];
    GpuExecutableProto {
        buffer_allocations: Some(RepeatedBufferAllocations { values }),
        gpu_compute_capability: Some(capability(9, 0)),
        thunks: all,
        ..Default::default()
    }
}

fn capability(major: i32, minor: i32) -> GpuComputeCapabilityProto {
    let cuda = CudaComputeCapabilityProto { major, minor, ..Default::default() };
    GpuComputeCapabilityProto {
        compute_capability: Some(ComputeCapability::CudaComputeCapability(cuda)),
    }
}

/// An ELF file for CUDA with one symbol, padded to be told from others.
fn cubin(sm: u8, symbol: &str, padding: u8) -> Bytes {
    let mut bytes = vec![0u8; 64];
    bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
    bytes[8] = 8; // the ABI version with the architecture in the second byte of the flags
    bytes[18] = 190;
    bytes[49] = sm;
    let put = |bytes: &mut Vec<u8>, at: usize, value: u64| {
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    };
    bytes.push(0);
    bytes.extend_from_slice(symbol.as_bytes());
    bytes.push(0);
    let names = (64, bytes.len() as u64 - 64);
    let symbols = bytes.len() as u64;
    bytes.extend_from_slice(&[0; 24]);
    let at = symbols as usize;
    bytes[at] = 1;
    let sections = bytes.len();
    bytes.resize(sections + 2 * 64, 0);
    bytes[sections + 4] = 2;
    put(&mut bytes, sections + 24, symbols);
    put(&mut bytes, sections + 32, 24);
    bytes[sections + 40] = 1;
    bytes[sections + 64 + 4] = 3;
    put(&mut bytes, sections + 64 + 24, names.0);
    put(&mut bytes, sections + 64 + 32, names.1);
    put(&mut bytes, 40, sections as u64);
    bytes[58] = 64;
    bytes[60] = 2;
    bytes.push(padding);
    bytes.into()
}

fn custom_kernel(payload: Payload, name: &str) -> ThunkProto {
    let spec = KernelLoaderSpecProto {
        payload: Some(payload),
        kernel_name: name.to_owned(),
        ..Default::default()
    };
    let kernel = CustomKernelProto { kernel_spec: Some(spec), ..Default::default() };
    thunk(Impl::CustomKernelThunk(CustomKernelThunkProto {
        custom_kernel: Some(kernel),
        ..Default::default()
    }))
}

fn with_code(data: Bytes) -> ThunkProto {
    custom_kernel(Payload::Cubin(CudaCubinProto { data }), "k")
}

fn module(computations: Vec<HloComputationProto>, entry: i64) -> Option<HloModuleProtoWithConfig> {
    let module = HloModuleProto { computations, entry_computation_id: entry, ..Default::default() };
    Some(HloModuleProtoWithConfig { hlo_module: Some(module), config: None })
}

fn computation(id: i64, instructions: Vec<HloInstructionProto>) -> HloComputationProto {
    let root_id = instructions.last().map_or(0, |instruction| instruction.id);
    HloComputationProto { id, name: format!("c{id}"), root_id, instructions, ..Default::default() }
}

fn instruction(id: i64, operands: &[i64], called: &[i64]) -> HloInstructionProto {
    HloInstructionProto {
        id,
        name: format!("i{id}"),
        opcode: "add".to_owned(),
        operand_ids: operands.to_vec(),
        called_computation_ids: called.to_vec(),
        ..Default::default()
    }
}

#[test]
fn a_sound_artifact_has_no_findings() {
    silent(&executable(vec![with_code(cubin(90, "k", 0))]));
}

#[test]
fn slices_stay_in_their_allocations() {
    for (index, offset, size) in
        [(2, 0, 4), (-1, 0, 4), (0, 64, 4), (0, -4, 4), (0, 4, -4), (0, i64::MAX, i64::MAX)]
    {
        let copy = |buffer| {
            let buffer = ShapedSliceProto { slice: Some(buffer), shape: None };
            let copy = CopyThunkProto { source_buffer: Some(buffer), ..Default::default() };
            executable(vec![thunk(Impl::CopyThunk(copy))])
        };
        let found = one("slice-out-of-bounds", &copy(slice(index, offset, size)));
        assert_eq!(found.path, "thunks[2].copy_thunk.source_buffer.slice");
        assert_eq!((found.level, found.thunk.as_deref()), (Level::Error, Some("copy")));
    }
    silent(&executable(vec![zero(slice(0, 64, 0)), zero(slice(1, 60, 4))]));
}

#[test]
fn slices_inside_a_thunk_count_in_its_own_allocations() {
    let fusion = |inner: BufferAllocationSliceProto, outer| {
        let thunks = Some(ThunkSequenceProto { thunks: vec![zero(inner)] });
        executable(vec![thunk(Impl::DynamicSliceFusionThunk(DynamicSliceFusionThunkProto {
            parameter_buffers: vec![outer],
            slice_allocations: vec![allocation(0, 8), allocation(1, 8), allocation(2, 8)],
            embedded_thunks: thunks,
            ..Default::default()
        }))])
    };
    silent(&fusion(slice(2, 0, 8), slice(1, 0, 64)));
    let found = one("slice-out-of-bounds", &fusion(slice(2, 4, 8), slice(1, 0, 64)));
    assert!(found.path.contains("embedded_thunks"), "{}", found.path);
    let found = one("slice-out-of-bounds", &fusion(slice(2, 0, 8), slice(2, 0, 8)));
    assert!(found.path.ends_with("parameter_buffers[0]"), "{}", found.path);
}

#[test]
fn a_shape_fits_its_slice() {
    let copy = |size, elements| {
        let source_buffer = Some(shaped(slice(0, 0, size), elements));
        let copy = CopyThunkProto { source_buffer, ..Default::default() };
        executable(vec![thunk(Impl::CopyThunk(copy))])
    };
    let found = one("shape-exceeds-slice", &copy(60, 16));
    assert_eq!(found.message, "the shape takes 64 bytes, the slice has 60");
    silent(&copy(64, 16));
    // Packed four-bit elements.
    let mut packed = copy(8, 16);
    let Some(Impl::CopyThunk(thunk)) = &mut packed.thunks[2].r#impl else { panic!("a copy") };
    let shape = thunk.source_buffer.as_mut().and_then(|buffer| buffer.shape.as_mut());
    let shape = shape.expect("a shape");
    shape.element_type = PrimitiveType::S4.into();
    let layout = LayoutProto { element_size_in_bits: 4, ..Default::default() };
    shape.layout = Some(Box::new(layout));
    silent(&packed);
}

#[test]
fn results_do_not_overlap() {
    let kernel = |first, second, written: [bool; 2]| {
        let mut thunk = with_code(cubin(90, "k", 0));
        let Some(Impl::CustomKernelThunk(kernel)) = &mut thunk.r#impl else { panic!("a kernel") };
        kernel.args = vec![shaped(first, 1), shaped(second, 1)];
        kernel.written = written.to_vec();
        executable(vec![thunk])
    };
    let overlapping = (slice(0, 0, 16), slice(0, 8, 16));
    let found = one("results-overlap", &kernel(overlapping.0, overlapping.1, [true, true]));
    assert_eq!(found.message, "args[0] and args[1] both write bytes 8 to 16 of allocation 0");
    silent(&kernel(overlapping.0, overlapping.1, [false, true]));
    silent(&kernel(slice(0, 0, 8), slice(0, 8, 8), [true, true]));
    silent(&kernel(slice(0, 0, 8), slice(1, 4, 8), [true, true]));
    // In place: the same slice as operand and as result.
    silent(&kernel(slice(0, 0, 8), slice(0, 0, 8), [true, true]));
}

#[test]
fn indices_of_allocations_exist() {
    let output = |allocation_index| {
        let output_info = Some(OutputInfoProto { allocation_index, ..Default::default() });
        let entry = OutputInfoMapEntry { shape_index: None, output_info };
        GpuExecutableProto { output_info_map: vec![entry], ..executable(vec![]) }
    };
    let found = one("allocation-dangling", &output(2));
    assert_eq!(found.path, "output_info_map[0].output_info");
    one("allocation-dangling", &output(-2));
    silent(&output(1));
    silent(&output(-1));
    let mut swapped = executable(vec![]);
    let values = &mut swapped.buffer_allocations.as_mut().expect("some").values;
    values[1].index = 7;
    one("allocation-dangling", &swapped);
}

#[test]
fn allocations_are_used() {
    let mut extra = executable(vec![]);
    extra.buffer_allocations.as_mut().expect("some").values.push(allocation(2, 4));
    let found = one("allocation-unused", &extra);
    assert_eq!((found.level, found.bytes), (Level::Note, Some(4)));
    let values = &mut extra.buffer_allocations.as_mut().expect("some").values;
    values[2].is_entry_computation_parameter = true;
    silent(&extra);
}

#[test]
fn starts_and_waits_pair() {
    let start = |id, stream| {
        thunk(Impl::AsyncStartThunk(AsyncStartThunkProto {
            async_execution_id: id,
            execution_stream_id: stream,
            ..Default::default()
        }))
    };
    let done = |id| thunk(Impl::AsyncDoneThunk(AsyncDoneThunkProto { async_execution_id: id }));
    let stream = Some(ExecutionStreamId::ComputationStreamId(0));
    silent(&executable(vec![start(3, stream), start(3, stream), done(3)]));
    let found = one("async-dangling", &executable(vec![start(3, stream), done(3), done(4)]));
    assert_eq!((found.level, found.path.as_str()), (Level::Error, "thunks[4].async_done_thunk"));
    assert_eq!(only("async-dangling", &executable(vec![done(3), start(3, stream)])).len(), 2);
    let found = one("async-dangling", &executable(vec![start(5, stream)]));
    assert_eq!(found.level, Level::Warning);
    let found = one("async-dangling", &executable(vec![start(5, None), done(5)]));
    assert!(found.message.contains("no stream"), "{}", found.message);
}

#[test]
fn kernels_are_in_their_code() {
    silent(&executable(vec![with_code(cubin(90, "k", 0))]));
    one("kernel-dangling", &executable(vec![with_code(cubin(90, "other", 0))]));
    let ptx = |text: &str| Payload::Ptx(CudaPtxProto { data: text.to_owned() });
    silent(&executable(vec![custom_kernel(ptx(".visible .entry k(\n)"), "k")]));
    one("kernel-dangling", &executable(vec![custom_kernel(ptx(".visible .entry k2()"), "k")]));
    // The module's own code.
    let kernel = KernelThunkProto { kernel_name: "k".to_owned(), ..Default::default() };
    let mut artifact = executable(vec![thunk(Impl::KernelThunk(kernel))]);
    one("kernel-dangling", &artifact);
    artifact.binary = cubin(90, "k", 0);
    silent(&artifact);
    artifact.binary = cubin(90, "other", 0);
    one("kernel-dangling", &artifact);
}

#[test]
fn code_is_an_elf_file_for_cuda() {
    for code in [Bytes::new(), Bytes::from_static(b"\x7fELF\x02\x01"), Bytes::from_static(b"PTX")] {
        one("code-not-elf", &executable(vec![with_code(code)]));
    }
    let mut rocm = executable(vec![with_code(Bytes::from_static(b"code object"))]);
    let other = ComputeCapability::RocmComputeCapability(Default::default());
    rocm.gpu_compute_capability =
        Some(GpuComputeCapabilityProto { compute_capability: Some(other) });
    silent(&rocm);
}

#[test]
fn code_is_for_the_target() {
    let found = one("code-wrong-target", &executable(vec![with_code(cubin(100, "k", 0))]));
    assert_eq!(
        (found.level, found.message.as_str()),
        (Level::Error, "code for sm_100 in an artifact for sm_90")
    );
    let mixed = executable(vec![with_code(cubin(90, "k", 0)), with_code(cubin(80, "k", 1))]);
    let levels: Vec<_> = only("code-wrong-target", &mixed).iter().map(|f| f.level).collect();
    assert_eq!(levels, [Level::Error, Level::Warning]);
    let mut older = executable(vec![with_code(cubin(80, "k", 0))]);
    older.gpu_compute_capability = Some(capability(8, 6));
    assert_eq!(one("code-wrong-target", &older).level, Level::Note);
}

#[test]
fn names_lead_somewhere() {
    let cudnn = CudnnThunkProto { fingerprint: "f".to_owned(), ..Default::default() };
    let mut artifact = executable(vec![thunk(Impl::CudnnThunk(cudnn))]);
    one("name-dangling", &artifact);
    artifact.dnn_compiled_graphs.insert("f".to_owned(), Bytes::from_static(b"{}"));
    silent(&artifact);
    let call =
        CustomCallThunkProto { called_computation: Some("c1".to_owned()), ..Default::default() };
    let mut artifact = executable(vec![thunk(Impl::CustomCallThunk(call))]);
    one("name-dangling", &artifact);
    artifact.hlo_module_with_config =
        module(vec![computation(1, vec![instruction(1, &[], &[])])], 1);
    silent(&artifact);
}

#[test]
fn ids_of_a_module_lead_somewhere() {
    let good = || {
        vec![
            computation(1, vec![instruction(1, &[], &[])]),
            computation(2, vec![instruction(1, &[], &[]), instruction(2, &[1], &[1])]),
        ]
    };
    let with = |computations, entry| GpuExecutableProto {
        hlo_module_with_config: module(computations, entry),
        ..executable(vec![])
    };
    silent(&with(good(), 2));
    let rule = "hlo-id-dangling";
    assert!(one(rule, &with(good(), 9)).message.contains("entry"));
    type Damage = fn(&mut Vec<HloComputationProto>);
    let cases: [(Damage, &str); 8] = [
        (|c| c[1].instructions[1].operand_ids = vec![7], "operand 7 of i2, which is not there"),
        (|c| c[1].instructions[0].operand_ids = vec![2], "operand 2 of i1, which comes later"),
        (|c| c[1].instructions[0].operand_ids = vec![1], "operand 1 of i1, which comes later"),
        (|c| c[1].instructions[1].called_computation_ids = vec![8], "which is not there"),
        (|c| c[1].instructions[1].called_computation_ids = vec![2], "before it is defined"),
        (|c| c[1].instructions[1].control_predecessor_ids = vec![5], "comes after instruction 5"),
        (|c| c[1].root_id = 6, "its root is instruction 6"),
        (|c| c[0].id = 2, "is that of another computation"),
    ];
    for (break_it, text) in cases {
        let mut computations = good();
        break_it(&mut computations);
        let found = only(rule, &with(computations, 2));
        assert!(found.iter().any(|f| f.message.contains(text)), "{text}: {found:#?}");
        assert!(found.iter().all(|f| f.path == "hlo_module_with_config.hlo_module"));
    }
    // Two computations that call one another.
    let cyclic = vec![
        computation(1, vec![instruction(1, &[], &[2])]),
        computation(2, vec![instruction(1, &[], &[1])]),
    ];
    assert!(one(rule, &with(cyclic, 2)).message.contains("before it is defined"));
}

#[test]
fn constants_have_a_value_that_fits() {
    let constant = |content: Option<&'static [u8]>| {
        let data = |bytes| DenseDataIntermediateProto { data: Bytes::from_static(bytes) };
        let constant = ConstantInfoProto {
            symbol_name: "buffer_for_constant_1".to_owned(),
            content: content.map(data),
            allocation_index: 0,
        };
        GpuExecutableProto { constants: vec![constant], ..executable(vec![]) }
    };
    let rule = "constant-mismatch";
    silent(&constant(Some(&[1; 64])));
    assert_eq!(one(rule, &constant(Some(&[1; 65]))).level, Level::Error);
    assert_eq!(one(rule, &constant(Some(&[1; 63]))).level, Level::Warning);
    one(rule, &constant(Some(&[])));
    one(rule, &constant(None));
    let mut in_binary = constant(Some(&[]));
    in_binary.binary = cubin(90, "buffer_for_constant_1", 0);
    silent(&in_binary);
    let mut in_hlo = constant(None);
    let mut value = HloInstructionProto {
        name: "constant.1".to_owned(),
        opcode: "constant".to_owned(),
        ..instruction(1, &[], &[])
    };
    in_hlo.hlo_module_with_config = module(vec![computation(1, vec![value.clone()])], 1);
    one(rule, &in_hlo);
    value.literal = Some(LiteralProto::default());
    in_hlo.hlo_module_with_config = module(vec![computation(1, vec![value])], 1);
    silent(&in_hlo);
}

#[test]
fn payloads_are_stored_once() {
    let rule = "payload-stored-twice";
    // A constant beside its HLO literal, as floats and as integers.
    let values: Vec<i32> = (0..300).collect();
    let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let floats = values.iter().map(|value| f32::from_bits(value.cast_unsigned())).collect();
    for literal in [
        LiteralProto { s32s: values.clone(), ..Default::default() },
        LiteralProto { f32s: floats, ..Default::default() },
        LiteralProto { u8s: raw.clone().into(), ..Default::default() },
    ] {
        let value = HloInstructionProto { literal: Some(literal), ..instruction(1, &[], &[]) };
        let mut artifact = executable(vec![]);
        artifact.hlo_module_with_config = module(vec![computation(1, vec![value])], 1);
        silent(&artifact);
        artifact.constants.push(ConstantInfoProto {
            symbol_name: "c".to_owned(),
            content: Some(DenseDataIntermediateProto { data: raw.clone().into() }),
            allocation_index: -1,
        });
        let found = one(rule, &artifact);
        assert_eq!(found.bytes, Some(1200));
        assert_eq!(found.also, ["constants[0].content.data"]);
        // One byte makes another constant.
        let mut other = raw.clone();
        other[5] ^= 1;
        artifact.constants[0].content = Some(DenseDataIntermediateProto { data: other.into() });
        silent(&artifact);
    }
    // The same cubin in three kernels.
    let mut code = cubin(90, "k", 0).to_vec();
    code.resize(2000, 0);
    let code = Bytes::from(code);
    let found = one(rule, &executable(vec![with_code(code.clone()); 3]));
    assert_eq!((found.bytes, found.also.len()), (Some(4000), 2));
    silent(&executable(vec![with_code(code.slice(0..1023)); 3]));
}

#[test]
fn host_code_is_named() {
    let call = |state: &'static [u8]| {
        let state = ExecutionStateProto {
            type_name: if state.is_empty() { "" } else { "T" }.to_owned(),
            state: Bytes::from_static(state),
        };
        executable(vec![thunk(Impl::CustomCallThunk(CustomCallThunkProto {
            target_name: "f".to_owned(),
            execution_state: Some(state),
            ..Default::default()
        }))])
    };
    let found = one("host-code", &call(b"....BC\xc0\xde\x35...."));
    assert!(found.message.contains("LLVM bitcode"), "{}", found.message);
    assert_eq!(found.path, "thunks[2].custom_call_thunk.execution_state");
    silent(&call(b""));
    let opaque = |opaque: &'static [u8]| {
        let opaque = Bytes::from_static(opaque);
        executable(vec![thunk(Impl::CustomCallThunk(CustomCallThunkProto {
            opaque,
            ..Default::default()
        }))])
    };
    one("host-code", &opaque(b"\x80\x04\x95 a pickle"));
    silent(&opaque(b"just \x80\x04\x95 bytes"));
}

#[test]
fn thunk_ids_are_unique() {
    let with_id = |thunk_id| ThunkProto {
        thunk_info: Some(ThunkInfoProto { thunk_id, ..Default::default() }),
        ..zero(slice(0, 0, 4))
    };
    let found = one("thunk-id-repeated", &executable(vec![with_id(3), with_id(4), with_id(3)]));
    assert_eq!(found.also, ["thunks[4].thunk_info"]);
    silent(&executable(vec![with_id(0), with_id(0), with_id(1)]));
}

#[test]
fn thunks_have_a_known_kind() {
    let mut bytes = executable(vec![]).encode_to_vec();
    // A thunk with field 99 only.
    bytes.extend_from_slice(&[0x6a, 3, 0x9a, 0x06, 0]);
    let found = of_bytes(bytes);
    let rules: Vec<_> = found.iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, ["thunk-kind-unset", "unknown-field"]);
    assert!(found[0].message.ends_with("unknown fields: 99"), "{}", found[0].message);
    assert_eq!(found[1].path, "thunks[2].99");
    one("thunk-kind-unset", &executable(vec![ThunkProto::default()]));
}

#[test]
fn fields_are_known() {
    let mut bytes = executable(vec![]).encode_to_vec();
    // Field 77 twice, and field 15, which is a message, as a varint.
    bytes.extend_from_slice(&[0xea, 0x04, 2, 0, 0, 0xea, 0x04, 0, 0x78, 1]);
    // The detector reads the top level; below it anything goes.
    let artifact = Artifact::read(bytes.clone());
    assert!(artifact.is_err(), "a wire type that no GpuExecutableProto has at its top");
    bytes.truncate(bytes.len() - 2);
    let found = of_bytes(bytes);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!((found[0].count, found[0].bytes, found[0].path.as_str()), (2, Some(8), "77"));
    // A slice whose offset is a string.
    let mut bytes = executable(vec![]).encode_to_vec();
    let slice = [0x0a, 1, b'x'];
    let shaped = [&[0x0a, 3][..], &slice].concat();
    let zero = [&[0x0a, 5][..], &shaped].concat();
    let thunk = [&[0x9a, 0x01, 7][..], &zero].concat();
    bytes.extend([&[0x6a, u8::try_from(thunk.len()).expect("small")][..], &thunk].concat());
    let found = of_bytes(bytes);
    let unknown = found.iter().find(|finding| finding.rule == "unknown-field").expect("found");
    assert!(unknown.message.contains("another type"), "{}", unknown.message);
}

#[test]
fn every_rule_is_tested_here() {
    let source = include_str!("lint.rs");
    for (rule, _) in RULES {
        assert!(source.contains(&format!("\"{}\"", rule.id)), "{}", rule.id);
    }
}

#[test]
fn hostile_artifacts_are_bounded() {
    // Many findings are counted, not kept.
    let artifact = executable(vec![zero(slice(9, 0, 4)); 5000]);
    let artifact = Artifact::read(artifact.encode_to_vec()).expect("read");
    let report = lint(&artifact, &Limits::default()).expect("linted");
    assert_eq!(report.findings.len(), 100);
    assert_eq!(report.omitted["slice-out-of-bounds"], 4900);
    assert_eq!(report.worst, Some(Level::Error));
    // Nesting past what loaders read.
    let mut deep = ThunkProto::default();
    for _ in 0..200 {
        let thunks = vec![deep];
        let sequence = aotgate_runtime::proto::xla::gpu::SequentialThunkProto { thunks };
        deep = thunk(Impl::SequentialThunk(sequence));
    }
    let bytes = executable(vec![deep]).encode_to_vec();
    let artifact = Artifact::read(bytes).expect("read");
    assert!(lint(&artifact, &Limits::default()).expect_err("too deep").is_limit());
    // Too many fields.
    let limits = Limits { walked_fields: 10, ..Limits::default() };
    let artifact = Artifact::read(executable(vec![]).encode_to_vec()).expect("read");
    assert!(lint(&artifact, &limits).expect_err("too many fields").is_limit());
}

#[test]
fn damage_anywhere_is_an_error_or_a_finding() {
    let whole = executable(vec![with_code(cubin(90, "k", 0))]).encode_to_vec();
    for at in 0..whole.len() {
        for change in [0xff, 0x80, 0x01] {
            let mut bytes = whole.clone();
            bytes[at] ^= change;
            if let Ok(artifact) = Artifact::read(bytes) {
                let _ = lint(&artifact, &Limits::default());
            }
        }
    }
}
