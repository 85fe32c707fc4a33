//! Artifacts compared with one another.

#![allow(clippy::expect_used, clippy::panic, reason = "a test reports by panicking")]

mod common;

use aotgate_runtime::artifact::diff::{Change, Diff, Section};
use aotgate_runtime::artifact::{Artifact, ContainerRules, EnvelopeForm};
use aotgate_runtime::proto::xla::gpu::GpuExecutableProto;
use common::committed;
use prost::Message as _;

fn artifact(release: &str, name: &str) -> Artifact {
    let mut all = committed().into_iter();
    let recorded = all.find(|r| r.release == release && r.name == name).expect("committed");
    Artifact::read(recorded.bytes).expect("read")
}

fn edited(artifact: &Artifact, edit: impl FnOnce(&mut GpuExecutableProto)) -> Artifact {
    let mut message = artifact.decode().expect("decodes");
    edit(&mut message);
    Artifact::read(message.encode_to_vec()).expect("read")
}

/// Path, what happened, before, after.
fn shown(diff: &Diff) -> Vec<(&str, Change, Option<&str>, Option<&str>)> {
    let fields = diff.fields.iter();
    fields.map(|f| (f.path.as_str(), f.change, f.a.as_deref(), f.b.as_deref())).collect()
}

#[test]
fn other_containers_are_no_difference() {
    let a = artifact("0.12.0", "add_mul");
    // The ABI entry goes with the container, because the executable says the same.
    let form = ContainerRules::of("0.10.1").expect("known").writes;
    assert_eq!(form.envelope, Some(EnvelopeForm::WithoutAbi));
    let b = Artifact::read(a.write(&form).expect("written")).expect("read");
    let diff = Diff::new(&a, &b).expect("compared");
    assert!(diff.is_equal() && !diff.same_containers, "{diff:?}");
    assert_eq!(diff.fields, []);
    // Fields and map entries in another order say the same.
    let reordered = edited(&a, |_| ());
    let diff = Diff::new(&a, &reordered).expect("compared");
    assert!(diff.same_executable && !diff.same_options && !diff.same_envelope);
    let present = Some("present");
    assert_eq!(
        shown(&diff),
        [("", Change::Removed, present, None), ("", Change::Removed, present, None)]
    );
    assert_eq!(
        (diff.fields[0].section, diff.fields[1].section),
        (Section::Envelope, Section::Options)
    );
}

#[test]
fn what_was_edited_is_what_differs() {
    let a = edited(&artifact("0.12.0", "pallas_add"), |_| ());
    let b = edited(&a, |message| {
        let mut second = message.thunks[0].clone();
        second.thunk_info.as_mut().expect("there").profile_annotation = "later.2".to_owned();
        message.thunks.insert(0, second);
        message.buffer_allocations.as_mut().expect("there").values[1].size = 99;
        let module = message.hlo_module_with_config.as_mut().expect("there");
        let options = module.config.as_mut().expect("there").debug_options.as_mut().expect("there");
        options.xla_gpu_enable_triton_gemm = Some(false);
        let computation = &mut module.hlo_module.as_mut().expect("there").computations[0];
        computation.instructions[1].opcode = "constant".to_owned();
    });
    let diff = Diff::new(&a, &b).expect("compared");
    assert!(!diff.same_executable);
    let paths: Vec<_> = diff.fields.iter().map(|f| (f.section, f.path.as_str())).collect();
    let [options, module, thunk, allocation] = paths.as_slice() else { panic!("{paths:?}") };
    assert_eq!(
        options,
        &(
            Section::DebugOptions,
            "hlo_module_with_config.config.debug_options.xla_gpu_enable_triton_gemm"
        )
    );
    assert_eq!(module.0, Section::Module);
    assert!(module.1.ends_with(".opcode"), "{module:?}");
    assert_eq!(thunk, &(Section::Thunks, "thunks[later.2]"));
    assert_eq!(diff.fields[2].change, Change::Added);
    assert_eq!(allocation, &(Section::Allocations, "buffer_allocations.values[1].size"));
    let [kernel] = diff.kernels.as_slice() else { panic!("{:?}", diff.kernels) };
    assert_eq!((kernel.name.as_str(), kernel.change), ("k #2", Change::Added));
    // The other way round, what was added is removed.
    let back = Diff::new(&b, &a).expect("compared");
    assert_eq!(back.fields[2].change, Change::Removed);
    assert_eq!(back.fields.len(), diff.fields.len());
}

#[test]
fn an_order_that_changed_is_said_once() {
    let a = edited(&artifact("0.12.0", "pallas_add"), |message| {
        for name in ["b", "c"] {
            let mut thunk = message.thunks[0].clone();
            thunk.thunk_info.as_mut().expect("there").profile_annotation = name.to_owned();
            message.thunks.push(thunk);
        }
    });
    let b = edited(&a, |message| message.thunks.swap(1, 2));
    let diff = Diff::new(&a, &b).expect("compared");
    assert_eq!(shown(&diff), [("thunks", Change::Reordered, None, Some("c comes earlier"))]);
}

#[test]
fn constants_are_compared_by_content() {
    let a = artifact("0.10.1", "constants");
    let b = edited(&a, |message| {
        let content = message.constants[0].content.as_mut().expect("there");
        let mut data = content.data.to_vec();
        data[5] ^= 1;
        content.data = data.into();
    });
    let diff = Diff::new(&a, &b).expect("compared");
    let [constant] = diff.constants.as_slice() else { panic!("{:?}", diff.constants) };
    assert_eq!(
        (constant.name.as_str(), constant.change),
        ("buffer_for_constant_1", Change::Changed)
    );
    let (a, b) = (constant.a.as_ref().expect("there"), constant.b.as_ref().expect("there"));
    assert_eq!(a.size, b.size);
    assert_ne!(a.sha256, b.sha256);
}

#[test]
fn nan_equals_itself_and_unknown_fields_count() {
    let a = edited(&artifact("0.12.0", "add_mul"), |message| {
        let module = message.hlo_module_with_config.as_mut().expect("there");
        let module = module.hlo_module.as_mut().expect("there");
        let instruction = &mut module.computations[0].instructions[0];
        instruction.literal = Some(aotgate_runtime::proto::xla::LiteralProto {
            f32s: vec![f32::NAN, 1.0],
            ..Default::default()
        });
    });
    assert!(Diff::new(&a, &edited(&a, |_| ())).expect("compared").same_executable);
    let longer = [&a.executable().to_bytes()[..], &[0xea, 0x04, 1, 1]].concat();
    let diff = Diff::new(&a, &Artifact::read(longer).expect("read")).expect("compared");
    assert_eq!(shown(&diff), [("", Change::Changed, None, Some("unknown fields 77"))]);
}

#[test]
fn two_releases_of_one_program_differ_in_every_section_that_they_may() {
    let diff = Diff::new(&artifact("0.10.1", "add_mul"), &artifact("0.12.0", "add_mul"));
    let diff = diff.expect("compared");
    assert!(!diff.same_executable && !diff.same_containers);
    for section in [Section::DebugOptions, Section::Thunks, Section::Allocations] {
        assert!(diff.fields.iter().any(|f| f.section == section), "{section:?}");
    }
}
