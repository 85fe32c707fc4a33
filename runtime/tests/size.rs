//! Real artifacts taken apart by size.

#![allow(clippy::expect_used, clippy::panic, reason = "a test reports by panicking")]

mod common;

use aotgate_runtime::artifact::size::{Breakdown, PartKind};
use aotgate_runtime::artifact::{
    Artifact, Compression, Encoding, EnvelopeForm, Form, Limits, TextGolden,
};
use common::{Random, Recorded, committed, recorded};

fn forms() -> Vec<Form> {
    let encodings =
        [Encoding::Plain, Encoding::Split(Compression::None), Encoding::Split(Compression::Snappy)];
    let mut forms = Vec::new();
    for executable in encodings {
        forms.push(Form { envelope: None, outer: None, executable });
        for outer in encodings {
            let envelope = Some(EnvelopeForm::WithoutAbi);
            forms.push(Form { envelope, outer: Some(outer), executable });
        }
    }
    forms
}

fn breakdown(bytes: &[u8]) -> Breakdown {
    let breakdown = Breakdown::read(bytes.to_vec(), &Limits::default()).expect("read");
    let stored: usize = breakdown.parts.iter().map(|part| part.stored).sum();
    assert_eq!(stored, bytes.len(), "every byte has one owner");
    assert_eq!(breakdown.size, bytes.len());
    breakdown
}

fn unpacked(breakdown: &Breakdown, kind: PartKind) -> usize {
    breakdown.parts.iter().filter(|part| part.kind == kind).map(|part| part.unpacked).sum()
}

fn examine(recorded: &Recorded) {
    let artifact = Artifact::read(recorded.bytes.clone()).expect("read");
    let original = breakdown(&recorded.bytes);
    for form in forms() {
        let written = artifact.write(&form).expect("written");
        let moved = breakdown(&written);
        // What is in a part does not depend on the container.
        for kind in [
            PartKind::Kernel,
            PartKind::Constant,
            PartKind::HloLiteral,
            PartKind::HloComputations,
            PartKind::CudnnGraph,
            PartKind::BufferAssignment,
        ] {
            assert_eq!(unpacked(&moved, kind), unpacked(&original, kind), "{form:?} {kind:?}");
        }
    }
}

#[test]
fn parts_add_up_to_the_file_in_every_container() {
    committed().iter().for_each(examine);
}

#[test]
#[ignore = "reads all recorded artifacts: set AOTGATE_GOLDENS to their folder"]
fn all_recorded_artifacts_add_up() {
    recorded().iter().for_each(examine);
}

#[test]
fn parts_are_named_and_sorted() {
    let mut all = committed().into_iter();
    let recorded =
        all.find(|r| r.release == "0.12.0" && r.name == "pallas_add").expect("committed");
    let breakdown = breakdown(&recorded.bytes);
    assert!(breakdown.parts.is_sorted_by(|a, b| a.stored >= b.stored));
    let kernel = breakdown.parts.iter().find(|part| part.kind == PartKind::Kernel).expect("one");
    assert_eq!((kernel.name.as_str(), kernel.unpacked > 3944), ("k", true));
    assert!(kernel.stored < kernel.unpacked, "compressed");
    let container: usize = breakdown
        .parts
        .iter()
        .filter(|part| part.kind == PartKind::Container)
        .map(|part| part.stored)
        .sum();
    // Signature, chunk headers, manifest, twice.
    assert!((100..1000).contains(&container), "{container}");
}

#[test]
fn what_is_stored_twice_is_named() {
    let mut all = committed().into_iter();
    let recorded =
        all.find(|r| r.release == "0.12.0" && r.name == "pallas_add").expect("committed");
    let artifact = Artifact::read(recorded.bytes).expect("read");
    let mut message = artifact.decode().expect("decodes");
    message.thunks.push(message.thunks[0].clone());
    let written = prost::Message::encode_to_vec(&message);
    let breakdown = breakdown(&written);
    let [duplicate] = breakdown.duplicates.as_slice() else { panic!("{:?}", breakdown.duplicates) };
    assert_eq!(duplicate.places, ["kernel k", "kernel k"]);
    assert_eq!(duplicate.size, 3944);
}

#[test]
fn a_constant_that_the_module_holds_as_well_is_named() {
    let mut all = committed().into_iter();
    let recorded = all.find(|r| r.release == "0.10.1" && r.name == "constants").expect("committed");
    let breakdown = breakdown(&recorded.bytes);
    let [duplicate] = breakdown.duplicates.as_slice() else { panic!("{:?}", breakdown.duplicates) };
    assert_eq!(duplicate.size, 1024);
    assert_eq!(duplicate.places, ["constant buffer_for_constant_1", "literal of constant_1"]);
}

#[test]
fn unknown_fields_and_damage_inside_fields_are_counted() {
    let mut all = committed().into_iter();
    let artifact = Artifact::read(all.next().expect("committed").bytes).expect("read");
    let plain = artifact.write(&Form::PLAIN).expect("written");
    let longer = [&plain[..], &[0xea, 0x04, 3, 1, 2, 3]].concat();
    let unknown = unpacked(&breakdown(&longer), PartKind::UnknownFields);
    assert_eq!(unknown, 6);
    // Whatever is inside fields that nobody looked into.
    let mut random = Random(7);
    for _ in 0..300 {
        let mut bytes = plain.clone();
        for _ in 0..4 {
            let at = random.below(bytes.len());
            bytes[at] = random.next().to_le_bytes()[0];
        }
        if let Ok(breakdown) = Breakdown::read(bytes.clone(), &Limits::default()) {
            let stored: usize = breakdown.parts.iter().map(|part| part.stored).sum();
            assert_eq!(stored, bytes.len());
        }
    }
}

#[test]
fn a_text_golden_is_one_part() {
    let recorded = committed().remove(0);
    let artifact = Artifact::read(recorded.bytes).expect("read");
    let text = b"gpu_executable { module_name: \"x\" }".to_vec();
    let golden = TextGolden::detect(&text.clone().into()).expect("a golden");
    let executable = artifact.executable().to_bytes();
    let parsed = Artifact::from_text_parts(&golden, None, executable).expect("taken");
    let breakdown = Breakdown::of_text(&parsed).expect("taken apart");
    assert_eq!((breakdown.size, breakdown.parts[0].kind), (text.len(), PartKind::Text));
    assert_eq!(breakdown.parts[0].stored, text.len());
    assert!(unpacked(&breakdown, PartKind::HloComputations) > 0);
}
