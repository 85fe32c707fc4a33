//! The kernel of top-k.

use aotgate_runtime::proto::xla::gpu::thunk_proto::Impl;
use aotgate_runtime::proto::xla::gpu::{CustomKernelProto, CustomKernelThunkProto};
use aotgate_runtime::proto::xla::{PrimitiveType, ShapeProto};

use crate::program::{evaluate_floats, f32s, place, program};
use crate::small;

#[test]
fn the_kernel_of_top_k_is_evaluated() {
    let (x, values, indices) = (f32s(&[4]), f32s(&[2]), small::array(PrimitiveType::S32, &[2]));
    let thunk = CustomKernelThunkProto {
        args: vec![
            place(0, &x),
            place(1, &values),
            small::shaped(small::slice(2, 0, 8), indices.clone()),
        ],
        written: vec![false, true, true],
        custom_kernel: Some(CustomKernelProto { name: "topk".into(), ..Default::default() }),
        ..Default::default()
    };
    let thunk = small::thunk("custom-call.2", 1, Impl::CustomKernelThunk(thunk));
    let mut executable = program(thunk, std::slice::from_ref(&x), values.clone());
    let result = ShapeProto {
        element_type: PrimitiveType::Tuple.into(),
        tuple_shapes: vec![values, indices],
        ..Default::default()
    };
    let mut call = small::instruction(2, "custom-call", result, &[1]);
    call.custom_call_target = "__gpu$TopK".into();
    let entry = vec![small::instruction(1, "parameter", x, &[]), call];
    let module = executable.hlo_module_with_config.as_mut().unwrap().hlo_module.as_mut().unwrap();
    module.computations = vec![small::computation(1, 2, entry)];
    let found = evaluate_floats(executable, &[&[1.0, 7.0, -3.0, 9.0]]).unwrap();
    assert_eq!(found, [9.0, 7.0]);
}
