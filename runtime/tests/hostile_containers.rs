//! Damaged and hostile input: an error that names the place, never a panic, a hang or much memory.

#![allow(clippy::expect_used, clippy::panic, reason = "a test reports by panicking")]

mod common;

use aotgate_runtime::Error;
use aotgate_runtime::artifact::diff::Diff;
use aotgate_runtime::artifact::inspect::Inspection;
use aotgate_runtime::artifact::size::Breakdown;
use aotgate_runtime::artifact::{Artifact, Compression, Container, Encoding, Form, Limits};
use aotgate_runtime::proto::xla::gpu::{GpuExecutableProto, ThunkProto};
use aotgate_runtime::proto::xla::record::field_override_record::FieldPathPart;
use aotgate_runtime::proto::xla::record::field_override_record::field_path_part::Index;
use aotgate_runtime::proto::xla::record::{FieldOverrideRecord, ProtoMergeRecord, RecordType};
use aotgate_runtime::proto::xla::{ExecutableAndOptionsProto, Record, SplitProtoManifest};
use common::record_file::Chunk;
use common::{Random, Recorded, committed, record_file};
use prost::Message as _;
use prost::bytes::Bytes;
use riegeli::{CompressionType, RecordWriter, WriterOptions};

fn read(bytes: impl Into<Bytes>) -> Result<Artifact, Error> {
    Artifact::read(bytes)
}

/// The smallest committed artifact of a release.
fn smallest(release: &str) -> Recorded {
    let of_release = committed().into_iter().filter(|recorded| recorded.release == release);
    of_release.min_by_key(|recorded| recorded.bytes.len()).expect("committed")
}

/// A record file as the independent crate writes it.
fn written_by_riegeli(records: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    let options = WriterOptions::new().compression(CompressionType::None);
    let mut writer = RecordWriter::new(&mut file, options).expect("a writer");
    for record in records {
        writer.write_record(record).expect("written");
    }
    writer.flush().expect("flushed");
    drop(writer);
    file
}

fn split(message: &str, records: Vec<(RecordType, Vec<u8>)>) -> Vec<u8> {
    let (roles, mut contents): (Vec<_>, Vec<_>) = records.into_iter().unzip();
    let manifest = SplitProtoManifest {
        result_proto_type: message.to_owned(),
        records: roles.into_iter().map(|role| Record { record_type: Some(role) }).collect(),
    };
    contents.insert(0, manifest.encode_to_vec());
    written_by_riegeli(&contents)
}

fn merge() -> RecordType {
    RecordType::ProtoMergeRecord(ProtoMergeRecord {})
}

fn set(path: &[(i32, Option<Index>)]) -> RecordType {
    let part = |(field_number, index): &(i32, Option<Index>)| FieldPathPart {
        field_number: *field_number,
        index: index.clone(),
    };
    let field_path = path.iter().map(part).collect();
    RecordType::FieldOverrideRecord(FieldOverrideRecord { field_path, field_type: 1 })
}

const EXECUTABLE: &str = "xla.gpu.GpuExecutableProto";

fn executable() -> GpuExecutableProto {
    GpuExecutableProto { thunks: vec![ThunkProto::default()], ..Default::default() }
}

/// An error says in which layer, and at which byte of it; what is no container at all has no byte.
fn placed(error: &Error) {
    const LAYERS: [&str; 7] = [
        "input",
        "IFRT envelope",
        "payload of the IFRT envelope",
        "split proto",
        "serialized_executable",
        "plain ExecutableAndOptionsProto",
        "split ExecutableAndOptionsProto",
    ];
    let text = error.to_string();
    assert!(LAYERS.iter().any(|layer| text.starts_with(layer)), "{text}");
    assert!(text.contains("expected") || text.contains("not supported"), "{text}");
    let at = error.offset().map(|offset| format!(", byte {offset}: "));
    assert!(at.map_or(text.contains("no known container"), |at| text.contains(&at)), "{text}");
}

#[test]
fn every_truncation_is_an_error() {
    for release in ["0.10.1", "0.11.2", "0.12.0"] {
        let bytes = Bytes::from(smallest(release).bytes);
        let mut whole = 0;
        for length in 0..bytes.len() {
            match read(bytes.slice(0..length)) {
                Err(error) => {
                    placed(&error);
                    assert!(error.offset().is_none_or(|offset| offset <= length), "{error}");
                }
                // 0.10.1's serialized message ends after any field: without the last, the compile
                // options, it is still whole.
                Ok(artifact) => {
                    assert_eq!(release, "0.10.1", "{length} of {} bytes were read", bytes.len());
                    assert!(artifact.outer().expect("an outer layer").compile_options().is_empty());
                    whole += 1;
                }
            }
        }
        assert_eq!(whole, usize::from(release == "0.10.1"));
    }
}

/// In a record file every bit is covered by a hash or makes up one: none goes unnoticed, and the error
/// names a byte of the block's or the chunk's header that covers it.
#[test]
fn every_flipped_bit_of_a_record_file_is_noticed_and_placed() {
    let message = executable().encode_to_vec();
    let text =
        b"overridden, and long enough that Snappy finds overridden, and long enough".to_vec();
    let file = split(EXECUTABLE, vec![(merge(), message), (set(&[(3, None)]), text)]);
    for form in [Compression::None, Compression::Snappy] {
        let form = Form { executable: Encoding::Split(form), ..Form::PLAIN };
        let intact = read(file.clone()).expect("read").write(&form).expect("written");
        let chunks = chunk_positions(&intact);
        for bit in 0..intact.len() * 8 {
            let (at, mut bytes) = (bit / 8, intact.clone());
            bytes[at] ^= 1 << (bit % 8);
            let error = match read(bytes) {
                Err(error) => error,
                Ok(_) => panic!("bit {bit} went unnoticed"),
            };
            placed(&error);
            // Without its signature it is no record file.
            let Some(offset) = error.offset() else {
                assert!(at < 8, "bit {bit}: {error}");
                continue;
            };
            let begin = chunks.iter().rev().find(|begin| **begin <= at).expect("the first is 0");
            assert!((*begin..=at.max(begin + 24)).contains(&offset), "bit {bit}: {error}");
        }
    }
}

/// Where the chunks of a file of one block begin.
fn chunk_positions(file: &[u8]) -> Vec<usize> {
    let mut positions = vec![0];
    let mut header = 24;
    while let Some(size) = file.get(header + 8..header + 16) {
        let size = u64::from_le_bytes(size.try_into().expect("eight bytes"));
        header += 40 + usize::try_from(size).expect("fits");
        positions.push(header);
    }
    positions
}

#[test]
fn flipped_bits_are_noticed_wherever_a_hash_covers_them() {
    let mut random = Random(0x5eed);
    for release in ["0.10.1", "0.11.2", "0.12.0"] {
        let recorded = smallest(release);
        let intact = read(recorded.bytes.clone()).expect("read");
        let metadata = intact.envelope().expect("an envelope").metadata_bytes().len() + 2;
        let mut unnoticed = 0;
        for _ in 0..1000 {
            let mut bytes = recorded.bytes.clone();
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
            match read(bytes) {
                Err(error) => placed(&error),
                // Nothing hashes the envelope, nor 0.10.1's serialized outer message.
                Ok(artifact) => {
                    assert!(at < metadata || release == "0.10.1", "{release}: byte {at}");
                    assert!(artifact.executable() == intact.executable(), "{release}: byte {at}");
                    unnoticed += 1;
                }
            }
        }
        assert!(unnoticed < 750, "{release}: {unnoticed}");
    }
}

#[test]
fn flipped_bits_of_an_unhashed_container_do_no_harm() {
    let mut random = Random(0xf11b);
    let plain = Form { outer: Some(Encoding::Plain), ..Form::PLAIN };
    for recorded in committed() {
        let original = read(recorded.bytes).expect("read");
        let intact = original.write(&plain).expect("written");
        for round in 0..100 {
            let mut bytes = intact.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
            if let Ok(artifact) = read(bytes.clone()) {
                let _ = artifact.decode();
                let _ = artifact.write(&Form::SPLIT);
                let breakdown = Breakdown::read(bytes, &Limits::default()).expect("read again");
                let stored: usize = breakdown.parts.iter().map(|part| part.stored).sum();
                assert_eq!(stored, intact.len());
                let _ = Inspection::new(&artifact);
                if round % 10 > 0 {
                    continue;
                }
                let _ = Diff::new(&original, &artifact);
            }
        }
    }
}

/// Damage behind the hashes: the records of a file are replaced, the file itself is whole.
#[test]
fn damaged_records_do_no_harm() {
    let mut random = Random(0xbad);
    let manifest = SplitProtoManifest {
        result_proto_type: EXECUTABLE.to_owned(),
        records: [
            merge(),
            set(&[(3, None)]),
            set(&[(12, Some(Index::RepeatedFieldIndex(0))), (2, None)]),
        ]
        .map(|role| Record { record_type: Some(role) })
        .to_vec(),
    };
    let message = read(smallest("0.10.1").bytes).expect("read").executable().to_bytes().to_vec();
    let records = [manifest.encode_to_vec(), message, b"text".to_vec(), vec![10, 1, 7]];
    for _ in 0..500 {
        let mut records = records.clone().to_vec();
        for _ in 0..=random.below(3) {
            let which = random.below(records.len());
            let at = random.below(records[which].len());
            records[which][at] ^= 1 << random.below(8);
        }
        if let Ok(artifact) = read(written_by_riegeli(&records)) {
            let _ = artifact.decode();
        }
    }
}

#[test]
fn noise_and_nothing_are_told_apart() {
    let error = read(Vec::new()).unwrap_err();
    assert!(error.to_string().contains("found an empty file (no bytes)"), "{error}");
    let mut random = Random(1);
    for length in 1..2000 {
        let bytes: Vec<u8> = (0..length).map(|_| random.next().to_le_bytes()[0]).collect();
        assert!(read(bytes).is_err());
    }
    // Behind each container's own beginning.
    let real = smallest("0.12.0").bytes;
    for keep in [14, 100, 230, 300] {
        for _ in 0..500 {
            let mut bytes = real.get(..keep).expect("long enough").to_vec();
            bytes.extend((0..200).map(|_| random.next().to_le_bytes()[0]));
            assert!(read(bytes).is_err());
        }
    }
}

#[test]
fn what_two_containers_accept_is_not_guessed() {
    // An executable whose only telling field is known, inside an outer layer with a field that only an
    // executable has: it is the one and the other.
    let inner = GpuExecutableProto { binary: Bytes::from_static(b"x"), ..Default::default() };
    let outer = ExecutableAndOptionsProto {
        serialized_executable: inner.encode_to_vec().into(),
        ..Default::default()
    };
    let mut bytes = outer.encode_to_vec();
    assert_eq!(read(bytes.clone()).expect("read").layers()[0].container, Container::PlainOuter);
    bytes.extend_from_slice(&executable().encode_to_vec());
    let error = read(bytes).unwrap_err();
    assert!(error.is_ambiguous());
    let text = error.to_string();
    assert!(text.contains("ExecutableAndOptionsProto and as plain GpuExecutableProto"), "{text}");

    // Field 13 with 32 bytes, and a field `j` of text format.
    let bytes = b"j {                              }";
    assert_eq!(bytes.len(), 34);
    let error = read(bytes.to_vec()).unwrap_err();
    assert!(error.is_ambiguous(), "{error}");
}

#[test]
fn bombs_stop_before_memory_is_taken() {
    // 64 MiB of zeros in 3 MiB of Snappy, within and over a limit.
    let zeros = GpuExecutableProto { binary: vec![0; 64 << 20].into(), ..executable() };
    let snappy = Form { executable: Encoding::Split(Compression::Snappy), ..Form::PLAIN };
    let bomb = read(zeros.encode_to_vec()).expect("read").write(&snappy).expect("written");
    assert!(bomb.len() < 4 << 20);
    assert!(read(bomb.clone()).is_ok());
    let limits = Limits { decompressed: 32 << 20, ..Limits::default() };
    let error = Artifact::read_with(bomb.clone(), &limits).unwrap_err();
    assert!(error.is_limit());
    assert!(error.to_string().contains("limit of 33554432"), "{error}");

    let limits = Limits { input: 1000, ..Limits::default() };
    assert!(Artifact::read_with(bomb, &limits).unwrap_err().is_limit());

    // Ten thousand records of nothing.
    let many = vec![(merge(), Vec::new()); 10_000];
    let bomb = split(EXECUTABLE, many);
    let limits = Limits { records: 5000, ..Limits::default() };
    assert!(Artifact::read_with(bomb.clone(), &limits).unwrap_err().is_limit());
    let limits = Limits { metadata: 5000, ..Limits::default() };
    assert!(Artifact::read_with(bomb.clone(), &limits).unwrap_err().is_limit());
    assert!(read(bomb).is_ok());

    // A path without end, and many walks over many fields.
    let path = vec![(1, None); 1000];
    let error = read(split(EXECUTABLE, vec![(set(&path), vec![1])])).unwrap_err();
    assert!(error.is_limit(), "{error}");
    let mut records = vec![(merge(), [0x0a, 0].repeat(1000))];
    records.resize(1000, (set(&[(1, Some(Index::RepeatedFieldIndex(0)))]), vec![]));
    let limits = Limits { walked_fields: 100_000, ..Limits::default() };
    let bomb = split(EXECUTABLE, records);
    assert!(Artifact::read_with(bomb, &limits).unwrap_err().is_limit());

    // A length that nothing backs: the metadata of an envelope.
    let mut envelope = vec![0xff, 0xff, 0xff, 0x07];
    envelope.extend_from_slice(b"\x08\x03\x12\x09pjrt_ifrt");
    let error = read(envelope).unwrap_err();
    assert!(error.to_string().contains("expected 16777215 bytes, found 13"), "{error}");
}

#[test]
fn nesting_ends_in_an_error() {
    // A sequential thunk in a sequential thunk, and so on: fields 13, then 2 and 1 by turns.
    let mut message = Vec::new();
    for depth in 0..4000u32 {
        let mut outer = vec![if depth % 2 == 0 { 0x0a } else { 0x12 }];
        prost::encoding::encode_varint(message.len() as u64, &mut outer);
        outer.append(&mut message);
        message = outer;
    }
    let mut whole = vec![0x6a];
    prost::encoding::encode_varint(message.len() as u64, &mut whole);
    whole.append(&mut message);
    let artifact = read(whole).expect("read");
    let error = artifact.decode().unwrap_err().to_string();
    assert!(error.contains("recursion limit"), "{error}");
    assert!(Inspection::new(&artifact).is_err());
    // Groups that no schema has.
    let mut groups = executable().encode_to_vec();
    groups.extend([0xcb, 0x06].repeat(50));
    groups.extend([0xcc, 0x06].repeat(50));
    assert!(read(groups.clone()).is_ok());
    groups.extend([0xcb, 0x06].repeat(5000));
    groups.extend([0xcc, 0x06].repeat(5000));
    assert!(read(groups).is_err());
}

#[test]
fn manifests_that_do_not_fit_are_named() {
    let message = executable().encode_to_vec();
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (split("xla.HloProto", vec![(merge(), message.clone())]), "found \"xla.HloProto\""),
        (split("", vec![(merge(), message.clone())]), "found \"\""),
        (split(EXECUTABLE, vec![(merge(), vec![0x6a, 5, 1])]), "record 1, byte 1"),
        (split(EXECUTABLE, vec![(set(&[]), vec![])]), "expected a step"),
        (split(EXECUTABLE, vec![(set(&[(0, None)]), vec![1])]), "expected a field number"),
        (
            split(EXECUTABLE, vec![(set(&[(12, Some(Index::RepeatedFieldIndex(4)))]), vec![])]),
            "expected element 4 of field 12, found 0 elements",
        ),
        (written_by_riegeli(&[b"\x0a\x05abc".to_vec()]), "expected a SplitProtoManifest"),
        (written_by_riegeli(&[]), "expected a manifest"),
        (split("xla.ExecutableAndOptionsProto", vec![(merge(), vec![])]), "found none"),
    ];
    for (bytes, expected) in cases {
        let error = read(bytes).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
    // More records than the manifest names, and fewer.
    let manifest = SplitProtoManifest {
        result_proto_type: EXECUTABLE.to_owned(),
        records: vec![Record { record_type: Some(merge()) }],
    };
    for count in [0, 2] {
        let mut records = vec![manifest.encode_to_vec()];
        records.resize(1 + count, message.clone());
        let file = written_by_riegeli(&records);
        let error = read(file).unwrap_err().to_string();
        assert!(error.contains(&format!("found {count}")), "{error}");
    }
    // A role that is not known yet is passed over, as XLA's reader does it.
    let manifest = SplitProtoManifest {
        result_proto_type: EXECUTABLE.to_owned(),
        records: vec![Record::default(), Record { record_type: Some(merge()) }],
    };
    let records = [manifest.encode_to_vec(), b"new".to_vec(), message];
    let artifact = read(written_by_riegeli(&records)).expect("read");
    assert_eq!(artifact.decode().expect("decodes"), executable());
}

/// Hashes are right, and what the headers of chunks state is not what Riegeli writes.
#[test]
fn chunks_that_state_nonsense_are_refused() {
    let manifest = SplitProtoManifest {
        result_proto_type: EXECUTABLE.to_owned(),
        records: vec![Record { record_type: Some(merge()) }],
    };
    let records = [manifest.encode_to_vec(), executable().encode_to_vec()];
    let mut data = vec![0, 2];
    data.extend(records.iter().map(|record| u8::try_from(record.len()).expect("small")));
    data.extend(records.concat());
    let size = data.len() as u64 - 4;
    let good = || vec![Chunk::signature(), Chunk::simple(2, size, data.clone())];
    let empty = |kind| Chunk { kind, ..Chunk::signature() };
    let with = |chunk| {
        let mut chunks = good();
        chunks.insert(1, chunk);
        read(record_file::file(&chunks)).map(drop).map_err(|error| error.to_string())
    };
    // Chunks without records say nothing, those of an unknown kind included.
    for kind in *b"smpx" {
        assert_eq!(with(empty(kind)), Ok(()));
    }
    assert_eq!(with(Chunk { data: b"meta".to_vec(), decoded_size: 9, ..empty(b'm') }), Ok(()));
    assert_eq!(with(Chunk { data: vec![0; 100], ..empty(b'p') }), Ok(()));
    for (chunk, expected) in [
        (Chunk { decoded_size: 1, ..empty(b's') }, "expected no records and no data"),
        (Chunk { data: vec![1], ..empty(b's') }, "expected no records and no data"),
        (Chunk { records: 1, ..empty(b'm') }, "expected no records, found 1 records"),
        (Chunk { records: 1, ..empty(b'p') }, "expected no records, found 1 records"),
        (Chunk { decoded_size: 1, ..empty(b'p') }, "found 0 records of 1 bytes"),
        (Chunk { records: 1, ..empty(b'x') }, "expected 'r', or another one without records"),
        (Chunk { records: 1, ..empty(b't') }, "a transposed chunk"),
    ] {
        let error = with(chunk).unwrap_err();
        assert!(error.starts_with("split proto, byte 64: "), "{error}");
        assert!(error.contains(expected), "{expected}: {error}");
    }
    // The first chunk too: found by comparing with crate `riegeli`.
    let mut chunks = good();
    chunks[0].decoded_size = 1;
    let error = read(record_file::file(&chunks)).unwrap_err().to_string();
    assert!(error.contains("split proto, byte 0: chunk of type 's'"), "{error}");
    // Numbers of more than 64 bits, and a Snappy stream that says more than 32.
    let mut long = vec![0];
    long.extend([&[0x82; 1], &[0x80; 8][..], &[2]].concat());
    long.extend_from_slice(&data[2..]);
    let snappy = [&b"s\x07"[..], &[2, 0x82, 0x80, 0x80, 0x80, 0x10, 0], &[0, 0]].concat();
    for (data, expected) in [
        (long, "length of the record sizes: expected a varint of 64 bits"),
        (snappy, "size of a Snappy stream: expected a varint of 32 bits"),
    ] {
        let chunks = [Chunk::signature(), Chunk::simple(2, size, data)];
        let error = read(record_file::file(&chunks)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(read(record_file::file(&good())).is_ok());
}

/// Found by fuzzing: a split proto holds any fields, and a serialized message is known by nothing else.
#[test]
fn what_no_reader_would_recognize_is_not_written() {
    let number = [0x18, 7].to_vec(); // `asm_text` with a number in it
    let artifact = read(split(EXECUTABLE, vec![(merge(), number)])).expect("read");
    let error = artifact.write(&Form::PLAIN).unwrap_err().to_string();
    assert!(error.contains("cannot write a serialized executable"), "{error}");
    assert!(read(artifact.write(&Form::SPLIT).expect("written")).is_ok());
    // An executable that also is an outer layer.
    let mut both = ExecutableAndOptionsProto {
        serialized_executable: executable().encode_to_vec().into(),
        ..Default::default()
    }
    .encode_to_vec();
    both.extend(executable().encode_to_vec());
    let artifact = read(split(EXECUTABLE, vec![(merge(), both)])).expect("read");
    assert!(artifact.write(&Form::PLAIN).is_err());
    // Nothing at all.
    let artifact = read(split(EXECUTABLE, vec![])).expect("read");
    assert!(artifact.write(&Form::PLAIN).is_err());
    assert!(read(artifact.write(&Form::SPLIT).expect("written")).is_ok());
}

#[test]
fn an_override_is_the_last_word() {
    let text = |text: &str| GpuExecutableProto { asm_text: text.to_owned(), ..executable() };
    let records = vec![
        (merge(), text("original").encode_to_vec()),
        (set(&[(3, None)]), b"overridden".to_vec()),
    ];
    let artifact = read(split(EXECUTABLE, records)).expect("read");
    assert_eq!(artifact.decode().expect("decodes"), text("overridden"));
    let records =
        vec![(merge(), text("original").encode_to_vec()), (set(&[(3, None)]), Vec::new())];
    let artifact = read(split(EXECUTABLE, records)).expect("read");
    assert_eq!(artifact.decode().expect("decodes"), executable());
}
