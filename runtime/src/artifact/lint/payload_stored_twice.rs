//! The same payload is stored more than once.
//!
//! ## What it flags
//!
//! Equal bytes of at least 1 KiB in two places of one artifact: constants, HLO literals, device code, PTX, graphs,
//! host code and other bytes. Values of HLO literals count as they lie in memory, so that a constant in
//! `constants` and the same constant in the HLO module are found. `bytes` is what the copies take
//! beyond the first.
//!
//! ## Why it matters
//!
//! Constants and kernels are most of an artifact. Stored twice they double what is shipped, loaded and held.
//!
//! ## What to do
//!
//! Store the payload once and refer to it.

use std::collections::HashMap;

use highway::{HighwayHash as _, HighwayHasher, Key};
use prost::bytes::Buf as _;
use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};

use super::finding::{Draft, Level, Sink};
use super::rule::{At, Rule, RuleInfo};
use super::subject::Subject;
use crate::artifact::rope::Rope;
use crate::artifact::wire::{Fields, Wire, varint};

pub(super) static RULE: RuleInfo = RuleInfo { id: "payload-stored-twice", level: Level::Warning };

const LITERAL: &str = "xla.LiteralProto";
const PTX: &str = "stream_executor.CudaPtxProto.data";
const ASM_TEXT: &str = "xla.gpu.GpuExecutableProto.asm_text";
/// Payloads are larger than this.
const SMALLEST: usize = 1024;
/// Further places that are named.
const NAMED: usize = 10;

#[derive(Default)]
pub(super) struct Check {
    seen: HashMap<([u64; 2], u64), usize>,
    payloads: Vec<Payload>,
}

struct Payload {
    path: String,
    thunk: Option<String>,
    also: Vec<String>,
    copies: u64,
    size: u64,
}

impl Check {
    pub(super) fn new(_: &Subject) -> Self {
        Check::default()
    }

    fn add(&mut self, at: &At<'_>, digest: ([u64; 2], u64)) {
        if digest.1 < SMALLEST as u64 {
            return;
        }
        let next = self.payloads.len();
        let index = *self.seen.entry(digest).or_insert(next);
        let Some(payload) = self.payloads.get_mut(index) else {
            let (path, thunk) = (at.path(), at.thunk());
            self.payloads.push(Payload { path, thunk, also: vec![], copies: 0, size: digest.1 });
            return;
        };
        payload.copies += 1;
        if payload.also.len() < NAMED {
            payload.also.push(at.path());
        }
    }
}

impl Rule for Check {
    fn enter(&mut self, at: &mut At<'_>, message: &MessageDescriptor, bytes: &Rope) {
        if message.full_name() == LITERAL
            && let Some(digest) = literal(message, bytes)
        {
            self.add(at, digest);
        }
    }

    fn content(&mut self, at: &mut At<'_>, field: &FieldDescriptor, bytes: &Rope) {
        let payload = field.kind() == Kind::Bytes || matches!(field.full_name(), PTX | ASM_TEXT);
        let literal = field.parent_message().full_name() == LITERAL;
        if payload && !literal && bytes.len() >= SMALLEST {
            let mut hasher = hasher();
            bytes.pieces().iter().for_each(|piece| hasher.append(piece));
            self.add(at, (hasher.finalize128(), bytes.len() as u64));
        }
    }

    fn finish(&mut self, sink: &mut Sink) {
        for payload in std::mem::take(&mut self.payloads) {
            if payload.copies == 0 {
                continue;
            }
            let (size, times) = (payload.size, payload.copies + 1);
            let waste = usize::try_from(size.saturating_mul(payload.copies)).unwrap_or(usize::MAX);
            let draft = Draft::new(format!("the same {size} bytes are stored {times} times"));
            let draft = draft.bytes(waste).also(payload.also);
            sink.add(&RULE, || (payload.path, payload.thunk), draft);
        }
    }
}

fn hasher() -> HighwayHasher {
    // Any key does: a collision that somebody makes gives them a wrong warning.
    HighwayHasher::new(Key([1, 2, 3, 4]))
}

/// Hash and length of a literal's values as they lie in memory; `None` where it has none.
fn literal(message: &MessageDescriptor, bytes: &Rope) -> Option<([u64; 2], u64)> {
    let mut hasher = hasher();
    let mut length = 0u64;
    let mut fields = Fields::new(bytes);
    while let Ok(Some(field)) = fields.next_field() {
        let known = message.get_field(field.number)?;
        let width = match (known.name(), known.kind()) {
            ("sparse_indices" | "dynamic_sizes", _) | (_, Kind::Message(_)) => continue,
            (_, Kind::Bool) => Some(1),
            (_, Kind::Int32 | Kind::Uint32) => Some(4),
            (_, Kind::Int64 | Kind::Uint64) => Some(8),
            // Bytes as they are; packed floats are little endian.
            _ => None,
        };
        let value = bytes.slice(field.value.clone())?;
        let mut add = |bytes: &[u8]| {
            hasher.append(bytes);
            length += bytes.len() as u64;
        };
        match width {
            None => value.pieces().iter().for_each(|piece| add(piece)),
            Some(width) => {
                let mut reader = value.reader();
                while reader.has_remaining() {
                    let number = match field.wire {
                        Wire::Length => varint(&mut reader, "a value").ok()?,
                        _ => field.scalar,
                    };
                    add(number.to_le_bytes().get(..width)?);
                    if field.wire != Wire::Length {
                        break;
                    }
                }
            }
        }
    }
    (length > 0).then(|| (hasher.finalize128(), length))
}
