//! An outer message as a split proto.
#![no_main]

use aotgate_fuzz::{check, mutate};
use aotgate_runtime::artifact::Container;
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use prost::Message as _;

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate(data, size, max_size, seed)
});

fuzz_target!(|data: &[u8]| {
    let Ok(artifact) = check::read(data) else { return };
    if artifact.layers().iter().all(|layer| layer.container != Container::SplitOuter) {
        return;
    }
    let outer = artifact.outer().expect("the layer was read");
    let _ = (outer.client_name(), outer.message().len());
    let _ =
        aotgate_runtime::proto::xla::CompileOptionsProto::decode(outer.compile_options().clone());
    let _ = artifact.decode().map_err(|error| check::explained(&error));
});
