//! Real artifacts: read, written in other containers, read back.

#![allow(clippy::expect_used, clippy::panic, reason = "a test reports by panicking")]

mod common;

use aotgate_runtime::DESCRIPTOR_SET;
use aotgate_runtime::artifact::{
    Artifact, Compression, Container, ContainerRules, Encoding, EnvelopeForm, Form, RecordRole,
    Rope, TextGolden,
};
use aotgate_runtime::proto::stream_executor::kernel_loader_spec_proto::Payload;
use aotgate_runtime::proto::xla::CompileOptionsProto;
use aotgate_runtime::proto::xla::gpu::thunk_proto::Impl;
use aotgate_runtime::proto::xla::gpu::{GpuExecutableProto, ThunkProto};
use common::{Recorded, committed, recorded};
use prost::Message as _;
use prost::bytes::Bytes;
use prost_reflect::{DescriptorPool, DynamicMessage, ReflectMessage as _, Value};

fn read(recorded: &Recorded) -> Artifact {
    match Artifact::read(recorded.bytes.clone()) {
        Ok(artifact) => artifact,
        Err(error) => panic!("{}/{}: {error}", recorded.release, recorded.name),
    }
}

fn forms() -> Vec<Form> {
    let encodings =
        [Encoding::Plain, Encoding::Split(Compression::None), Encoding::Split(Compression::Snappy)];
    let mut forms = Vec::new();
    for envelope in [None, Some(EnvelopeForm::WithoutAbi), Some(EnvelopeForm::WithAbi)] {
        for outer in encodings.map(Some).into_iter().chain([None]) {
            for executable in encodings {
                if envelope.is_none() || outer.is_some() {
                    forms.push(Form { envelope, outer, executable });
                }
            }
        }
    }
    forms
}

/// Names of all fields in `message`, at any depth, that its schema lacks.
fn collect_unknown(message: &DynamicMessage, found: &mut Vec<String>) {
    let owner = message.descriptor().full_name().to_owned();
    found.extend(message.unknown_fields().map(|field| format!("{owner}.{}", field.number())));
    fn inside(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Message(message) => collect_unknown(message, found),
            Value::List(values) => values.iter().for_each(|value| inside(value, found)),
            Value::Map(entries) => entries.values().for_each(|value| inside(value, found)),
            _ => {}
        }
    }
    message.fields().for_each(|(_, value)| inside(value, found));
}

/// Everything that must hold of one real artifact.
fn examine(recorded: &Recorded, schema: &DescriptorPool) {
    let name = format!("{}/{}", recorded.release, recorded.name);
    let artifact = read(recorded);
    let containers: Vec<_> = artifact.layers().iter().map(|layer| layer.container).collect();
    let outer =
        if recorded.release == "0.10.1" { Container::PlainOuter } else { Container::SplitOuter };
    assert_eq!(containers, [Container::IfrtEnvelope, outer, Container::SplitExecutable], "{name}");
    let envelope = artifact.envelope().expect("an envelope");
    assert_eq!(envelope.abi_version().is_some(), recorded.release != "0.10.1", "{name}");

    let message = artifact.decode().expect("decodes");
    let options = artifact.outer().expect("an outer layer").compile_options().clone();
    let options = CompileOptionsProto::decode(options).expect("decodes");
    assert!(options.executable_build_options.is_some(), "{name}");
    // The contract has every field of the message: nothing is lost by going through it.
    let schema = schema.get_message_by_name("xla.gpu.GpuExecutableProto").expect("declared");
    let dynamic = DynamicMessage::decode(schema, artifact.executable().reader()).expect("decodes");
    let mut unknown = Vec::new();
    collect_unknown(&dynamic, &mut unknown);
    assert!(unknown.is_empty(), "{name}: fields that the contract lacks: {unknown:?}");
    let encoded = message.encode_to_vec();
    let again = GpuExecutableProto::decode(&encoded[..]).expect("decodes");
    assert!(again.encode_to_vec() == encoded, "{name}");
    let abi = message.executable_abi_version.as_ref();
    if let Some(stated) = envelope.abi_version() {
        assert_eq!(Some(&stated.version), abi, "{name}: one ABI version in both layers");
    }

    for form in forms() {
        let written = artifact.write(&form).expect("written");
        assert!(artifact.write(&form).expect("written") == written, "{name} {form:?}");
        let again = match Artifact::read(written.clone()) {
            Ok(again) => again,
            Err(error) => panic!("{name} {form:?}: {error}"),
        };
        assert!(again.executable() == artifact.executable(), "{name} {form:?}");
        assert_eq!(again.outer().is_some(), form.outer.is_some(), "{name} {form:?}");
        if form.outer.is_some() {
            assert!(again.outer() == artifact.outer(), "{name} {form:?}");
        }
        assert_eq!(again.envelope().is_some(), form.envelope.is_some(), "{name} {form:?}");
        assert!(again.write(&form).expect("written") == written, "{name} {form:?}");
        // From 0.10.1's envelope to 0.11.2's and back, and the other way round.
        if form.envelope.is_some() {
            let back = Form {
                envelope: Some(if recorded.release == "0.10.1" {
                    EnvelopeForm::WithoutAbi
                } else {
                    EnvelopeForm::WithAbi
                }),
                ..form
            };
            let back = Artifact::read(again.write(&back).expect("written")).expect("read");
            assert_eq!(back.envelope(), artifact.envelope(), "{name} {form:?}");
        }
    }

    for rules in &ContainerRules::RELEASES {
        let refused = rules.accept(&artifact).err();
        let expected = (rules.release == "0.10.1") != (recorded.release == "0.10.1");
        assert_eq!(refused.is_some(), expected, "{name} in {}: {refused:?}", rules.release);
        let moved = Artifact::read(artifact.write(&rules.writes).expect("written")).expect("read");
        assert_eq!(rules.accept(&moved), Ok(()), "{name} moved into {}", rules.release);
    }
}

#[test]
fn committed_artifacts_survive_every_container() {
    let schema = DescriptorPool::decode(DESCRIPTOR_SET).expect("decodes");
    for recorded in committed() {
        examine(&recorded, &schema);
    }
}

#[test]
#[ignore = "reads all recorded artifacts: set AOTGATE_GOLDENS to their folder"]
fn all_recorded_artifacts_survive_every_container() {
    let schema = DescriptorPool::decode(DESCRIPTOR_SET).expect("decodes");
    for recorded in recorded() {
        examine(&recorded, &schema);
    }
}

#[test]
fn layers_tell_sizes_versions_and_records() {
    let recorded = committed().into_iter().find(|r| r.release == "0.12.0" && r.name == "constants");
    let recorded = recorded.expect("committed");
    let artifact = read(&recorded);
    let [envelope, outer, executable] = artifact.layers() else { panic!("three layers") };
    assert_eq!(envelope.size, recorded.bytes.len());
    assert!(envelope.versions.contains(&("cuda_toolkit".to_owned(), "13.0.0".to_owned())));
    assert!(outer.size < envelope.size && executable.size < outer.size);
    assert_eq!(executable.message_size, artifact.executable().len());
    let roles: Vec<_> = outer.records.iter().map(|record| &record.role).collect();
    assert_eq!(
        roles,
        [&RecordRole::Manifest, &RecordRole::Override("1".to_owned()), &RecordRole::Merge]
    );
    let constants = artifact.decode().expect("decodes").constants.len();
    assert_eq!(executable.records.len(), 5 + constants);
}

#[test]
fn an_uncompressed_payload_shares_the_memory_of_the_file() {
    let form = ContainerRules::of("0.12.0").expect("known").writes;
    let form = Form { executable: Encoding::Split(Compression::None), ..form };
    let recorded = committed().remove(0);
    let bytes = Bytes::from(read(&recorded).write(&form).expect("written"));
    let file = bytes.as_ptr_range();
    let artifact = Artifact::read(bytes.clone()).expect("read");
    for piece in artifact.executable().pieces().iter().filter(|piece| piece.len() > 100) {
        assert!(file.contains(&piece.as_ptr()));
    }
    let message = artifact.decode().expect("decodes");
    let cubins: Vec<_> = message.thunks.iter().filter_map(cubin).collect();
    assert!(!cubins.is_empty());
    for cubin in cubins {
        assert!(file.contains(&cubin.as_ptr()));
    }
}

fn cubin(thunk: &ThunkProto) -> Option<&Bytes> {
    let Some(Impl::CustomKernelThunk(thunk)) = &thunk.r#impl else { return None };
    match thunk.custom_kernel.as_ref()?.kernel_spec.as_ref()?.payload.as_ref()? {
        Payload::Cubin(cubin) => Some(&cubin.data),
        _ => None,
    }
}

#[test]
fn rules_name_what_a_loader_says() {
    let old = committed().into_iter().find(|r| r.release == "0.10.1").expect("committed");
    let new = committed().into_iter().find(|r| r.release == "0.12.0").expect("committed");
    let refusal = ContainerRules::of("0.11.2").expect("known").accept(&read(&old)).unwrap_err();
    assert_eq!(refusal.container, Container::PlainOuter);
    assert!(refusal.to_string().contains("Failed to parse message of type"), "{refusal}");
    let refusal = ContainerRules::of("0.10.1").expect("known").accept(&read(&new)).unwrap_err();
    assert_eq!(refusal.container, Container::IfrtEnvelope);
    assert!(refusal.to_string().contains("Proto deserialization failed"), "{refusal}");
    // Without the ABI entry, the split outer message is what stops it.
    let writes = ContainerRules::of("0.12.0").expect("known").writes;
    let form = Form { envelope: Some(EnvelopeForm::WithoutAbi), ..writes };
    let stripped = Artifact::read(read(&new).write(&form).expect("written")).expect("read");
    let refusal = ContainerRules::of("0.10.1").expect("known").accept(&stripped).unwrap_err();
    assert_eq!(refusal.container, Container::SplitOuter);
    assert!(ContainerRules::of("0.9.0").is_none());
}

#[test]
fn a_layer_that_is_missing_cannot_be_written() {
    let recorded = committed().remove(0);
    let bare = Artifact::read(read(&recorded).write(&Form::SPLIT).expect("written")).expect("read");
    let outer = Form { outer: Some(Encoding::Plain), ..Form::SPLIT };
    assert!(bare.write(&outer).unwrap_err().to_string().contains("compile options"));
    let envelope = Form { envelope: Some(EnvelopeForm::WithAbi), ..Form::SPLIT };
    assert!(bare.write(&envelope).is_err());
}

#[test]
fn text_goldens_are_told_and_left_to_a_parser() {
    let text = "# proto-file: x.proto\n# proto-message: xla.HumanReadableAotExecutable\n\n\
                executable_and_options {\n}\ngpu_executable { asm_text: \"x\" }\n";
    let error = Artifact::read(text.as_bytes().to_vec()).unwrap_err();
    assert!(error.is_unsupported());
    assert!(error.to_string().contains("xla.HumanReadableAotExecutable"), "{error}");

    let golden = TextGolden::detect(&Rope::from(text.as_bytes().to_vec())).expect("a golden");
    let executable = GpuExecutableProto { asm_text: "x".to_owned(), ..Default::default() };
    let bytes = Bytes::from(executable.encode_to_vec());
    let artifact = Artifact::from_text_parts(&golden, Some(Bytes::new()), bytes).expect("taken");
    assert_eq!(artifact.decode().expect("decodes"), executable);
    assert_eq!(artifact.layers()[0].container, Container::Text);
    let written = artifact.write(&Form::SPLIT).expect("written");
    let again = Artifact::read(written).expect("read");
    assert_eq!(again.decode().expect("decodes"), executable);
}
