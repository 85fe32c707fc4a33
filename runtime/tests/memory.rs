//! What reading costs in memory: no payload is copied twice, and bombs stay below their caps.
//!
//! Counts allocations instead of asking the system, so that a figure is the same on every run.

#![allow(clippy::expect_used, clippy::panic, reason = "a test reports by panicking")]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use aotgate_runtime::artifact::{Artifact, Compression, Encoding, Form, Limits};
use aotgate_runtime::proto::xla::gpu::gpu_executable_proto::ConstantInfoProto;
use aotgate_runtime::proto::xla::gpu::{
    DenseDataIntermediateProto, GpuExecutableProto, ThunkProto,
};
use common::Random;
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

fn alone() -> impl Drop {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
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
