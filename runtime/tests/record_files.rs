//! Record files against an independent implementation, crate `riegeli`.

#![allow(clippy::expect_used, clippy::panic, reason = "a test reports by panicking")]

mod common;

use std::io::Cursor;

use aotgate_runtime::artifact::{Artifact, Compression, Encoding, Form};
use aotgate_runtime::proto::xla::gpu::gpu_executable_proto::ConstantInfoProto;
use aotgate_runtime::proto::xla::gpu::{
    DenseDataIntermediateProto, GpuExecutableProto, ThunkProto,
};
use common::{Random, committed};
use prost::Message as _;
use riegeli::{CompressionType, ReaderOptions, RecordReader, RecordWriter, WriterOptions};

fn records(file: &[u8]) -> Vec<Vec<u8>> {
    let options = ReaderOptions::new();
    let mut reader = RecordReader::new(Cursor::new(file), options).expect("a record file");
    let mut records = Vec::new();
    while let Some(record) = reader.read_record().expect("a record") {
        records.push(record);
    }
    records
}

fn forms() -> [Form; 2] {
    [Compression::None, Compression::Snappy]
        .map(|compression| Form { executable: Encoding::Split(compression), ..Form::PLAIN })
}

/// A program with constants of the given sizes.
fn program(sizes: &[usize]) -> GpuExecutableProto {
    let mut random = Random(7);
    let constant = |size: &usize| {
        let data: Vec<u8> = (0..*size).map(|_| random.next().to_le_bytes()[0]).collect();
        ConstantInfoProto {
            content: Some(DenseDataIntermediateProto { data: data.into() }),
            ..Default::default()
        }
    };
    GpuExecutableProto {
        binary: b"binary".to_vec().into(),
        thunks: vec![ThunkProto::default()],
        constants: sizes.iter().map(constant).collect(),
        ..Default::default()
    }
}

#[test]
fn both_implementations_agree_at_every_block_boundary() {
    const BLOCK: usize = 1 << 16;
    // About 359 bytes are before the first constant's content: these sizes put every byte of what comes
    // after it, data, chunk header, and the cut between chunks, on a boundary.
    let mut cases: Vec<Vec<usize>> =
        (BLOCK - 480..BLOCK - 330).map(|size| vec![size, 10]).collect();
    cases.extend([vec![], vec![0, 0], vec![3 * BLOCK, 1, BLOCK, BLOCK]]);
    for sizes in cases {
        let program = program(&sizes);
        let artifact = Artifact::read(program.encode_to_vec()).expect("read");
        let mut by_form = Vec::new();
        for form in forms() {
            let ours = artifact.write(&form).expect("written");
            let theirs = records(&ours);
            assert_eq!(theirs.len(), 5 + sizes.len(), "{sizes:?}");
            let again = Artifact::read(ours).expect("read");
            assert!(again.decode().expect("decodes") == program, "{sizes:?}");
            by_form.push(theirs);
        }
        assert!(by_form[0] == by_form[1], "{sizes:?}");

        for compression in [CompressionType::None, CompressionType::Snappy] {
            let mut file = Vec::new();
            let options = WriterOptions::new().compression(compression);
            let mut writer = RecordWriter::new(&mut file, options).expect("a writer");
            for record in &by_form[0] {
                writer.write_record(record).expect("written");
            }
            writer.flush().expect("flushed");
            drop(writer);
            let read = Artifact::read(file).expect("read");
            assert!(read.decode().expect("decodes") == program, "{sizes:?}");
        }
    }
}

#[test]
fn records_of_nothing_are_padded() {
    // Compressed, thousands of empty records take less than a byte each: padding makes up for it.
    let mut program = program(&[]);
    program.constants = vec![ConstantInfoProto::default(); 10_000];
    let artifact = Artifact::read(program.encode_to_vec()).expect("read");
    for form in forms() {
        let ours = artifact.write(&form).expect("written");
        assert_eq!(records(&ours).len(), 10_005);
        assert!(Artifact::read(ours).expect("read").decode().expect("decodes") == program);
    }
}

#[test]
fn real_files_hold_the_same_records_for_both() {
    for recorded in committed() {
        let artifact = Artifact::read(recorded.bytes.clone()).expect("read");
        let envelope = artifact.envelope().expect("an envelope").metadata_bytes().len() + 2;
        let payload = &recorded.bytes[envelope..];
        if recorded.release == "0.10.1" {
            continue;
        }
        let sizes: Vec<usize> = records(payload).iter().map(Vec::len).collect();
        let ours: Vec<usize> = artifact.layers()[1].records.iter().map(|r| r.size).collect();
        assert_eq!(sizes, ours, "{}/{}", recorded.release, recorded.name);
        let sizes: Vec<usize> = records(&records(payload)[1]).iter().map(Vec::len).collect();
        let ours: Vec<usize> = artifact.layers()[2].records.iter().map(|r| r.size).collect();
        assert_eq!(sizes, ours, "{}/{}", recorded.release, recorded.name);
    }
}
