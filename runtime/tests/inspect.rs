//! What `Inspection` shows of real artifacts.

#![allow(clippy::expect_used, clippy::panic, reason = "a test reports by panicking")]

mod common;

use std::collections::BTreeMap;

use aotgate_runtime::artifact::Artifact;
use aotgate_runtime::artifact::inspect::{Inspection, KernelForm, Thunk};
use aotgate_runtime::proto::xla::gpu::{GpuExecutableProto, ThunkProto};
use common::{Recorded, committed, recorded};
use prost::Message as _;

fn inspect(recorded: &Recorded) -> Inspection {
    let artifact = Artifact::read(recorded.bytes.clone()).expect("read");
    Inspection::new(&artifact).expect("inspected")
}

fn flatten<'a>(thunks: &'a [Thunk], all: &mut Vec<&'a Thunk>) {
    for thunk in thunks {
        all.push(thunk);
        flatten(&thunk.thunks, all);
    }
}

#[test]
fn what_a_program_takes_and_gives_is_shown() {
    let mut all = committed().into_iter();
    let recorded =
        all.find(|r| r.release == "0.12.0" && r.name == "pallas_add").expect("committed");
    let inspection = inspect(&recorded);
    let program = inspection.program.clone().expect("stated");
    assert_eq!(program.parameters, ["f32[128]{0}", "f32[128]{0}"]);
    assert_eq!(program.result.as_deref(), Some("f32[128]{0}"));
    let outputs: Vec<_> =
        inspection.outputs.iter().map(|o| (o.index.len(), o.allocation)).collect();
    assert_eq!(outputs, [(0, 0)]);
    let hlo = inspection.hlo.clone().expect("there");
    assert!(hlo.scheduled && hlo.instructions == 3 && hlo.replicas == 1, "{hlo:?}");
    assert!(inspection.libraries.contains(&("cuda_toolkit".to_owned(), "13.0.0".to_owned())));
    assert_eq!(inspection.debug_options, [], "nothing was set");
    let json = serde_json::to_value(&inspection).expect("serializes");
    assert_eq!(json["schema"], "aotgate.inspect/1");
    assert_eq!(json["thunks"][0]["kernel"]["sha256"].as_str().map(str::len), Some(64));
}

#[test]
fn a_debug_option_that_no_release_has_by_default_is_shown() {
    let recorded = committed().remove(0);
    let artifact = Artifact::read(recorded.bytes).expect("read");
    let mut message = artifact.decode().expect("decodes");
    let module = message.hlo_module_with_config.as_mut().expect("there");
    let config = module.config.as_mut().expect("there");
    config.debug_options.as_mut().expect("there").xla_gpu_enable_triton_gemm = Some(false);
    let artifact = Artifact::read(message.encode_to_vec()).expect("read");
    let inspection = Inspection::new(&artifact).expect("inspected");
    let shown: Vec<_> = inspection
        .debug_options
        .iter()
        .map(|option| (option.name.as_str(), option.value.as_str()))
        .collect();
    assert_eq!(shown, [("xla_gpu_enable_triton_gemm", "false")]);
}

#[test]
fn fields_that_the_contract_lacks_are_counted() {
    let mut message =
        GpuExecutableProto { thunks: vec![ThunkProto::default()], ..Default::default() }
            .encode_to_vec();
    // A second thunk of a kind to come (field 99), and a field 77 of the message itself.
    message.extend_from_slice(&[0x6a, 3, 0x9a, 0x06, 0]);
    message.extend_from_slice(&[0xea, 0x04, 0, 0xea, 0x04, 0]);
    let inspection = Inspection::new(&Artifact::read(message).expect("read")).expect("inspected");
    let unknown: Vec<_> = inspection
        .unknown_fields
        .iter()
        .map(|field| (field.message.as_str(), field.number, field.count))
        .collect();
    let expected = [("xla.gpu.GpuExecutableProto", 77, 2), ("xla.gpu.ThunkProto", 99, 1)];
    assert_eq!(unknown, expected);
    let kinds: Vec<_> = inspection.thunks.iter().map(|thunk| thunk.kind.as_str()).collect();
    assert_eq!(kinds, ["none", "unknown 99"]);
}

#[test]
#[ignore = "reads all recorded artifacts: set AOTGATE_GOLDENS to their folder"]
fn all_recorded_artifacts_are_inspected() {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut architectures: BTreeMap<String, usize> = BTreeMap::new();
    let mut calls: BTreeMap<String, usize> = BTreeMap::new();
    for recorded in recorded() {
        let inspection = inspect(&recorded);
        let name = format!("{}/{}", recorded.release, recorded.name);
        assert!(inspection.unknown_fields.is_empty(), "{name}");
        assert_eq!(inspection.target.as_deref(), Some("9.0"), "{name}");
        let mut thunks = Vec::new();
        flatten(&inspection.thunks, &mut thunks);
        for thunk in thunks {
            *kinds.entry(thunk.kind.clone()).or_default() += 1;
            if let Some(kernel) = &thunk.kernel
                && kernel.form == KernelForm::Cubin
            {
                let architecture = kernel.architecture.clone().unwrap_or_default();
                *architectures.entry(architecture).or_default() += 1;
            }
        }
        for (target, count) in inspection.custom_calls {
            *calls.entry(target).or_default() += count;
        }
    }
    println!("{kinds:#?}\n{architectures:#?}\n{calls:#?}");
    assert!(kinds.keys().all(|kind| kind != "none" && !kind.starts_with("unknown")));
    assert_eq!(architectures.keys().collect::<Vec<_>>(), ["sm_90"]);
}
