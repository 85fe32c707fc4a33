//! The IFRT envelope of real artifacts decodes, and encodes to the same bytes.

#![allow(clippy::expect_used, clippy::panic, reason = "a test reports by panicking")]

use aotgate_runtime::proto::stream_executor::ExecutableAbiVersionProto;
use aotgate_runtime::proto::stream_executor::executable_abi_version_proto::PlatformSpecificVersion;
use aotgate_runtime::proto::xla::PjRtExecutableAbiVersionProto;
use aotgate_runtime::proto::xla::ifrt::{
    PjRtLayoutProto, Serialized, SerializedXlaExecutableMetadata,
};
use prost::Message as _;

/// Envelope of a program `f32[64], f32[64] -> f32[64]` as jaxlib 0.12.0 wrote it on CUDA 13.
const ENVELOPE_0_12_0: &str = "08031209706a72745f696672742a160a030a01401202080b22066465766963653203\
    0a014032250a230a210a15786c613a3a696672743a3a506a52744c61796f757412080a060a010080010132250a230a21\
    0a15786c613a3a696672743a3a506a52744c61796f757412080a060a01008001013a0b6a69745f5f6c616d6264614a59\
    11a1804a3de5a1b23a1a4e0a1f786c613a3a477075586c6145786563757461626c6541626956657273696f6e122b08a1\
    81aaead3bca8d93a121f0a04435544411a170a0631332e302e301206392e31392e301a05332e322e30";

/// The same program's as jaxlib 0.10.1 wrote it: no ABI version.
const ENVELOPE_0_10_1: &str = "08031209706a72745f696672742a160a030a01401202080b22066465766963653203\
    0a014032250a230a210a15786c613a3a696672743a3a506a52744c61796f757412080a060a010080010132250a230a21\
    0a15786c613a3a696672743a3a506a52744c61796f757412080a060a01008001013a0b6a69745f5f6c616d6264614a00";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().map(|digit| digit.to_digit(16).expect("a digit")).collect();
    digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).expect("a byte")).collect()
}

#[test]
fn real_envelopes_survive() {
    for hex in [ENVELOPE_0_12_0, ENVELOPE_0_10_1] {
        let bytes = bytes(hex);
        let envelope = SerializedXlaExecutableMetadata::decode(bytes.as_slice()).expect("decodes");
        assert_eq!(envelope.encode_to_vec(), bytes);
        assert_eq!(envelope.ifrt_version_number, 3);
        assert_eq!(envelope.runtime_name, "pjrt_ifrt");
        assert_eq!(envelope.computation_name, "jit__lambda");
        assert_eq!(envelope.parameter_specs.len(), 2);
        assert_eq!(envelope.output_specs.len(), 1);
        let layout = envelope.parameter_specs[0].layout.clone().expect("a layout");
        let layout = layout.serialized_layout.expect("a serialized layout");
        assert_eq!(layout.type_name, "xla::ifrt::PjRtLayout");
        let layout = PjRtLayoutProto::decode(layout.data).expect("decodes");
        assert_eq!(layout.xla_layout.expect("a layout").minor_to_major, [0]);
    }
}

#[test]
fn the_abi_version_is_readable_to_the_bottom() {
    let envelope = bytes(ENVELOPE_0_12_0);
    let envelope = SerializedXlaExecutableMetadata::decode(envelope.as_slice()).expect("decodes");
    let version = envelope.executable_version.expect("a version");
    let outer = Serialized::decode(version.runtime_abi_version).expect("decodes");
    assert_eq!(outer.type_name, "xla::GpuXlaExecutableAbiVersion");
    let pjrt = PjRtExecutableAbiVersionProto::decode(outer.data).expect("decodes");
    assert_eq!(pjrt.platform, Some(version.platform_id));
    let abi = ExecutableAbiVersionProto::decode(pjrt.version.expect("a version")).expect("decodes");
    assert_eq!(abi.platform_name, "CUDA");
    let Some(PlatformSpecificVersion::CudaPlatformVersion(cuda)) = abi.platform_specific_version
    else {
        panic!("no CUDA versions");
    };
    assert_eq!(&cuda.cuda_toolkit_version[..], b"13.0.0");
    assert_eq!(&cuda.cudnn_version[..], b"9.19.0");
    assert_eq!(&cuda.cub_version[..], b"3.2.0");
}
