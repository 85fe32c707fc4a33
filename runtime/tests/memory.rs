//! What reading costs in memory: no payload is copied twice, and bombs stay below their caps.
//!
//! Counts allocations instead of asking the system, so that a figure is the same on every run.
#![allow(clippy::print_stdout)] // tells what it measured
#![allow(clippy::expect_used, clippy::panic, reason = "a test reports by panicking")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use aotgate_runtime::Error;
use aotgate_runtime::artifact::inspect::Inspection;
use aotgate_runtime::artifact::{Artifact, Compression, Encoding, Form, Limits};
use aotgate_runtime::proto::xla::ExecutableAndOptionsProto;
use aotgate_runtime::proto::xla::gpu::gpu_executable_proto::ConstantInfoProto;
use aotgate_runtime::proto::xla::gpu::{
    DenseDataIntermediateProto, GpuExecutableProto, ThunkProto,
};
use common::Random;
use common::record_file::{Chunk, file, records};
use prost::Message as _;
use prost::bytes::Bytes;

/// The system's allocator with a count of what is live, of the most that was, and of all that was taken.
struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static TAKEN: AtomicUsize = AtomicUsize::new(0);

fn taken(bytes: usize) {
    TAKEN.fetch_add(bytes, Ordering::Relaxed);
    let live = LIVE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(live, Ordering::Relaxed);
}

// SAFETY: hands every request on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        taken(size);
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What one piece of work took.
#[derive(Debug)]
#[allow(dead_code, reason = "for a person to read")]
struct Cost {
    /// Bytes at the worst moment, beyond what was there before.
    peak: usize,
    /// Bytes of all allocations together.
    taken: usize,
    time: Duration,
}

/// Runs one piece of work at a time: the counts are the process's.
fn cost<T>(work: impl FnOnce() -> T) -> (T, Cost) {
    let (before, taken) = (LIVE.load(Ordering::Relaxed), TAKEN.load(Ordering::Relaxed));
    PEAK.store(before, Ordering::Relaxed);
    let start = Instant::now();
    let result = work();
    let cost = Cost {
        peak: PEAK.load(Ordering::Relaxed).saturating_sub(before),
        taken: TAKEN.load(Ordering::Relaxed) - taken,
        time: start.elapsed(),
    };
    (result, cost)
}

static ALONE: Mutex<()> = Mutex::new(());

/// No other test counts, and what is set up once does not count.
fn alone() -> impl Drop {
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let small = Artifact::read(delimited(13, b"")).expect("read");
    Inspection::new(&small).expect("inspected");
    alone
}

const PAYLOAD: usize = 4 << 20;
/// What may be spent beside payloads.
const SMALL: usize = PAYLOAD / 16;

fn program(random: bool) -> GpuExecutableProto {
    let mut numbers = Random(3);
    let data: Vec<u8> = match random {
        true => (0..PAYLOAD).map(|_| numbers.next().to_le_bytes()[0]).collect(),
        false => (0..PAYLOAD).map(|at| (at / 64).to_le_bytes()[0]).collect(),
    };
    let content = Some(DenseDataIntermediateProto { data: data.into() });
    GpuExecutableProto {
        thunks: vec![ThunkProto::default()],
        constants: vec![ConstantInfoProto { content, ..Default::default() }],
        ..Default::default()
    }
}

fn written(program: &GpuExecutableProto, executable: Encoding) -> Bytes {
    let artifact = Artifact::read(program.encode_to_vec()).expect("read");
    artifact.write(&Form { executable, ..Form::PLAIN }).expect("written").into()
}

#[test]
fn no_payload_is_copied_twice() {
    let _alone = alone();
    for (encoding, random, reading, decoding) in [
        // Nothing is copied at all.
        (Encoding::Plain, true, 0, 0),
        // The file's block headers cut the payload up; decoding joins it.
        (Encoding::Split(Compression::None), true, 0, 1),
        // Decompression is the copy.
        (Encoding::Split(Compression::Snappy), false, 1, 0),
        (Encoding::Split(Compression::Snappy), true, 1, 0),
    ] {
        let bytes = written(&program(random), encoding);
        let (artifact, read) = cost(|| Artifact::read(bytes.clone()).expect("read"));
        assert!(read.taken < reading * PAYLOAD + SMALL, "{encoding:?} {random}: {read:?}");
        let (message, decode) = cost(|| artifact.decode().expect("decodes"));
        assert!(decode.taken < decoding * PAYLOAD + SMALL, "{encoding:?} {random}: {decode:?}");
        assert_eq!(message.constants, program(random).constants);
    }
}

const EXECUTABLE: &str = "xla.gpu.GpuExecutableProto";

/// A field with this content.
fn delimited(number: u32, content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    prost::encoding::encode_key(number, prost::encoding::WireType::LengthDelimited, &mut bytes);
    prost::encoding::encode_varint(content.len() as u64, &mut bytes);
    bytes.extend_from_slice(content);
    bytes
}

/// A manifest with these entries, encoded.
fn manifest(entries: &[u8]) -> Vec<u8> {
    [&delimited(1, EXECUTABLE.as_bytes()), entries].concat()
}

fn zeros(bytes: usize) -> Bytes {
    let program = GpuExecutableProto { binary: vec![0; bytes].into(), ..program(false) };
    written(&program, Encoding::Split(Compression::Snappy))
}

/// Refused at the named place, and with little memory beside what `allowed` says.
fn bomb(name: &str, allowed: usize, expected: &str, work: impl FnOnce() -> Result<(), Error>) {
    let (result, cost) = cost(work);
    println!("{name}: {cost:?}");
    let Err(error) = result else { panic!("{name} went through") };
    let text = error.to_string();
    assert!(text.contains(expected), "{name}: expected {expected}: {text}");
    assert!(cost.peak < allowed + SMALL, "{name}: {cost:?}");
}

fn read(bytes: &Bytes, limits: &Limits) -> Result<(), Error> {
    Artifact::read_with(bytes.clone(), limits).map(drop)
}

#[test]
fn bombs_stay_below_their_caps() {
    let _alone = alone();
    let default = Limits::default();
    // 32 MiB of zeros in 1.5 MiB of Snappy, alone and inside what is compressed as well.
    let inner = zeros(32 << 20);
    let limits = Limits { decompressed: 8 << 20, ..Limits::default() };
    bomb("snappy", 0, "split proto, byte", || read(&inner, &limits));
    let outer =
        ExecutableAndOptionsProto { serialized_executable: inner.clone(), ..Default::default() };
    let outer = Artifact::read(outer.encode_to_vec()).expect("read");
    let snappy = Encoding::Split(Compression::Snappy);
    let nested = Form { outer: Some(snappy), executable: snappy, envelope: None };
    let nested: Bytes = outer.write(&nested).expect("written").into();
    // Enough for the one or the other, and not for both.
    let limits = Limits { decompressed: 33 << 20, ..Limits::default() };
    let once = inner.len();
    bomb("snappy in snappy", once, "serialized_executable, byte", || read(&nested, &limits));

    // A record file in a record file in a record file.
    let twice = records(&[
        [delimited(1, b"xla.ExecutableAndOptionsProto"), delimited(2, &delimited(2, b""))].concat(),
        delimited(1, &nested),
    ]);
    let expected = "expected xla.gpu.GpuExecutableProto, found \"xla.ExecutableAndOptionsProto\"";
    bomb("split in split in split", once, expected, || read(&twice.into(), &default));

    // Many records, of which the manifest knows nothing; many entries, for which there are no records.
    let many: Bytes = records(&vec![manifest(b""); 20_000]).into();
    let each = 200 * 20_000;
    bomb("records", each, "expected 0 as the manifest says, found 19999", || read(&many, &default));
    let limits = Limits { records: 10_000, ..Limits::default() };
    bomb("too many records", 0, "records: 20000 is over", || read(&many, &limits));
    let entries: Bytes = records(&[manifest(&delimited(2, b"").repeat(1 << 18))]).into();
    bomb("entries", 0, "expected 262144 as the manifest says", || read(&entries, &default));

    // A path of many steps.
    let path = delimited(2, &delimited(3, &delimited(1, b"").repeat(1 << 17)));
    let path: Bytes = records(&[manifest(&path), Vec::new()]).into();
    bomb("path", 0, "steps of a path: 131072", || read(&path, &default));

    // Messages of two bytes, in the executable, its options and the envelope.
    let wide = Artifact::read(delimited(13, b"").repeat(1 << 20)).expect("read");
    bomb("thunks", 0, "bytes of the decoded message", || wide.decode().map(drop));
    bomb("thunks, inspected", 0, "bytes of the decoded message", || {
        Inspection::new(&wide).map(drop)
    });
    let mut outer = delimited(1, &delimited(13, b""));
    outer.extend(delimited(2, &delimited(1, b"").repeat(1 << 17)));
    let limits = Limits { decoded: 64 << 20, ..Limits::default() };
    let wide = Artifact::read_with(outer, &limits).expect("read");
    bomb("options, inspected", 0, "bytes of the decoded message", || {
        Inspection::new(&wide).map(drop)
    });
    let mut metadata = b"\x08\x03\x12\x09pjrt_ifrt".to_vec();
    metadata.extend(delimited(5, b"").repeat(1 << 18));
    let mut envelope = Vec::new();
    prost::encoding::encode_varint(metadata.len() as u64, &mut envelope);
    envelope.extend_from_slice(&metadata);
    let limits = Limits { decoded: 64 << 20, ..Limits::default() };
    bomb("metadata", 0, "bytes of the decoded message", || read(&envelope.into(), &limits));
}

/// Lengths that nothing backs, behind right hashes.
#[test]
fn stated_lengths_take_no_memory() {
    let _alone = alone();
    let default = Limits::default();
    let data = || [&[0, 1, 5][..], b"hello"].concat();
    for (name, chunk, expected) in [
        (
            "data",
            Chunk { data_size: Some(1 << 60), ..Chunk::simple(1, 5, data()) },
            "byte 72: data of a chunk: expected 1152921504606846976 bytes, found 48",
        ),
        (
            "records",
            Chunk::simple((1 << 56) - 1, 5, data()),
            "byte 88: records of a chunk: expected 72057594037927935 bytes, found 48",
        ),
        (
            "decoded size",
            Chunk::simple(1, 1 << 63, data()),
            "bytes of a chunk's records: expected 9223372036854775808",
        ),
        (
            "size of a record",
            Chunk::simple(1, 5, [&[0, 10][..], &[255; 9], &[1], b"hello"].concat()),
            "size of a record: expected at most the 5 bytes that are left, found 18446744073709551615",
        ),
        (
            "record sizes",
            Chunk::simple(1, 5, [&[0][..], &[255; 9], &[1], b"hello"].concat()),
            "length of the record sizes: expected at most 5, found 18446744073709551615",
        ),
        (
            "decompressed size",
            Chunk::simple(1, 5, [b"s\x0a".as_slice(), &[255; 9], &[1], b"hello"].concat()),
            "decompressed size: expected at most 10 for 1 records, found 18446744073709551615",
        ),
        (
            "more than Snappy can yield",
            Chunk::simple(
                1,
                (1 << 28) - 1,
                b"s\x04\x01\x01\x00\x05\xff\xff\xff\x7f\xff\xff\xff\x7f\x00".to_vec(),
            ),
            "decompressed size: expected at most 22 from 1 bytes of Snappy, found 268435455",
        ),
    ] {
        let bytes = file(&[Chunk::signature(), chunk]).into();
        bomb(name, 0, expected, || read(&bytes, &default));
    }
}
