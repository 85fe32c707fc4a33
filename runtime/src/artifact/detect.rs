//! Which containers accept given bytes.
//!
//! A container with a signature is known by it. A plain message has none: it is known by its shape, that
//! is, its top-level fields have the wire types of the schema and some field tells it from other
//! messages. Field numbers that no schema has are allowed. Nothing is parsed to find out.

mod other;

use super::rope::Rope;
use super::text::TextGolden;
use super::wire::{Field, Fields, Wire};
use super::{Container, envelope, split_proto};
use crate::error::{Error, ErrorKind};

/// What bytes can be before a split proto's manifest was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Candidate {
    Envelope,
    Split,
    PlainOuter,
    PlainExecutable,
    Text,
}

/// What an input may be, what an envelope may hold, and what the outer message may.
pub(super) const ALONE: &[Candidate] = &[
    Candidate::Envelope,
    Candidate::Split,
    Candidate::PlainOuter,
    Candidate::PlainExecutable,
    Candidate::Text,
];
pub(super) const IN_ENVELOPE: &[Candidate] = &[Candidate::Split, Candidate::PlainOuter];
pub(super) const IN_OUTER: &[Candidate] = &[Candidate::Split, Candidate::PlainExecutable];

impl Candidate {
    fn name(self) -> &'static str {
        match self {
            Candidate::Envelope => Container::IfrtEnvelope.name(),
            Candidate::Split => "split proto",
            Candidate::PlainOuter => Container::PlainOuter.name(),
            Candidate::PlainExecutable => Container::PlainExecutable.name(),
            Candidate::Text => Container::Text.name(),
        }
    }

    fn accepts(self, bytes: &Rope) -> bool {
        match self {
            Candidate::Envelope => envelope::detect(bytes),
            Candidate::Split => split_proto::detect(bytes),
            Candidate::PlainOuter => is_outer(bytes),
            Candidate::PlainExecutable => is_executable(bytes),
            Candidate::Text => TextGolden::detect(bytes).is_some(),
        }
    }
}

/// The one candidate that accepts `bytes`. None is an error, and so is more than one.
pub(super) fn detect(
    bytes: &Rope,
    candidates: &[Candidate],
    layer: &str,
) -> Result<Candidate, Error> {
    let accepting: Vec<Candidate> =
        candidates.iter().copied().filter(|candidate| candidate.accepts(bytes)).collect();
    match accepting.as_slice() {
        [only] => Ok(*only),
        [] => {
            let (found, help) = other::guess(bytes);
            Err(ErrorKind::Unrecognized {
                layer: layer.to_owned(),
                expected: names(candidates, " or "),
                found,
                help,
            }
            .into())
        }
        several => Err(ErrorKind::Ambiguous {
            layer: layer.to_owned(),
            containers: names(several, " and as "),
        }
        .into()),
    }
}

fn names(candidates: &[Candidate], separator: &str) -> String {
    candidates.iter().map(|candidate| candidate.name()).collect::<Vec<_>>().join(separator)
}

/// Whether bytes have the shape of a plain ExecutableAndOptionsProto around a known executable.
fn is_outer(bytes: &Rope) -> bool {
    let mut executable = None;
    let whole = walk(bytes, |field| match field.number {
        1 => {
            executable = Some(field.value.clone());
            field.wire == Wire::Length
        }
        2 | 3 => field.wire == Wire::Length,
        _ => true,
    });
    let executable = executable.and_then(|range| bytes.slice(range));
    whole && executable.is_some_and(|inner| split_proto::detect(&inner) || is_executable(&inner))
}

/// Whether bytes have the shape of a plain GpuExecutableProto.
fn is_executable(bytes: &Rope) -> bool {
    // Binary, compute capability, program shape, allocations, thunks: what runs, or for what.
    const TELLING: [u32; 5] = [4, 6, 9, 10, 13];
    let mut telling = false;
    let mut module = true;
    let whole = walk(bytes, |field| {
        telling |= TELLING.contains(&field.number);
        if field.number == 1 && field.wire == Wire::Length {
            module &= bytes.slice(field.value.clone()).is_some_and(|module| is_module(&module));
        }
        !matches!(field.number, 1..=6 | 8..=17) || field.wire == Wire::Length
    });
    whole && telling && module
}

/// Whether bytes have the shape of a HloModuleProtoWithConfig.
fn is_module(bytes: &Rope) -> bool {
    walk(bytes, |field| !matches!(field.number, 1 | 2) || field.wire == Wire::Length)
}

/// Whether bytes are whole fields that all satisfy `accept`.
fn walk(bytes: &Rope, mut accept: impl FnMut(&Field) -> bool) -> bool {
    let mut fields = Fields::new(bytes);
    loop {
        match fields.next_field() {
            Ok(None) => return true,
            Ok(Some(field)) if accept(&field) => {}
            Ok(Some(_)) | Err(_) => return false,
        }
    }
}
