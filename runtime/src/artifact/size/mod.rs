//! What takes up the bytes of an artifact's file.

mod cover;
mod message;
mod parts;
mod record_file;
mod snappy;

use prost::bytes::Bytes;
use serde::Serialize;

use self::cover::Cover;
use self::message::Walker;
use self::parts::Parts;
pub use self::parts::{Duplicate, Part, PartKind};
use super::limits::Budget;
use super::rope::Rope;
use super::split_proto;
use super::wire::Fields;
use super::{Artifact, Container, EXECUTABLE, Limits, RecordRole, envelope, outer};
use crate::deep::on_deep_stack;
use crate::error::Error;

/// An artifact's file by part. Serializes as `aotgate.size/1`.
///
/// Every byte of the file belongs to exactly one part, so `stored` of all parts adds up to the file's
/// size. Compressed bytes belong to the part that they stand for: literals to what they are, a copy of
/// earlier bytes to the part that repeats them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Breakdown {
    /// Always `aotgate.size/1`.
    pub schema: &'static str,
    /// Bytes of the file.
    pub size: usize,
    /// Bytes of all parts, decompressed.
    pub unpacked: usize,
    /// The containers, outermost first.
    pub containers: Vec<Container>,
    /// The parts, largest first.
    pub parts: Vec<Part>,
    /// Payloads that are stored more than once, those that waste most first.
    pub duplicates: Vec<Duplicate>,
}

impl Breakdown {
    /// Opens an artifact and takes its file apart.
    ///
    /// A text golden has to be parsed before; see [`of_text`](Breakdown::of_text).
    pub fn read(bytes: impl Into<Bytes>, limits: &Limits) -> Result<Breakdown, Error> {
        let bytes = bytes.into();
        let artifact = Artifact::read_with(bytes.clone(), limits)?;
        on_deep_stack(|| Breakdown::of_file(bytes.into(), &artifact, limits))
    }

    /// A parsed text golden: its text is one part, and of the others only the unpacked size is known.
    pub fn of_text(artifact: &Artifact) -> Result<Breakdown, Error> {
        on_deep_stack(|| {
            let mut parts = Parts::default();
            let mut walker = Walker { parts: &mut parts };
            walker.executable(artifact.executable())?;
            if let Some(outer) = artifact.outer() {
                walker.outer(outer.message(), &Cover::default())?;
            }
            let text = parts.id(PartKind::Text, "");
            let size = artifact.layers().first().map_or(0, |layer| layer.size);
            parts.stored(text, size);
            Ok(Breakdown::finish(parts, artifact, size))
        })
    }

    fn of_file(file: Rope, artifact: &Artifact, limits: &Limits) -> Result<Breakdown, Error> {
        let mut parts = Parts::default();
        let mut layers = Layers { parts: &mut parts, budget: Budget::new(limits) };
        let containers: Vec<Container> =
            artifact.layers().iter().map(|layer| layer.container).collect();
        let cover = layers.cover(&file, &containers)?;
        for (part, length) in cover.runs() {
            parts.stored(*part, *length);
        }
        Ok(Breakdown::finish(parts, artifact, file.len()))
    }

    fn finish(parts: Parts, artifact: &Artifact, size: usize) -> Breakdown {
        let (parts, duplicates) = parts.finish();
        Breakdown {
            schema: "aotgate.size/1",
            size,
            unpacked: parts.iter().map(|part| part.unpacked).sum(),
            containers: artifact.layers().iter().map(|layer| layer.container).collect(),
            parts,
            duplicates,
        }
    }
}

struct Layers<'a> {
    parts: &'a mut Parts,
    budget: Budget<'a>,
}

impl Layers<'_> {
    /// Covers the bytes of a container that was opened before, with all that is inside it.
    fn cover(&mut self, bytes: &Rope, containers: &[Container]) -> Result<Cover, Error> {
        let Some((container, inside)) = containers.split_first() else {
            return Ok(Cover::of(self.parts.id(PartKind::Container, ""), bytes.len()));
        };
        match container {
            Container::IfrtEnvelope => {
                let (envelope, payload) = envelope::read(bytes, &self.budget)?;
                let part = self.parts.id(PartKind::Envelope, "");
                self.parts.unpacked(part, envelope.metadata_bytes().len());
                let mut cover = Cover::of(part, bytes.len() - payload.len());
                cover.append(&self.cover(&payload, inside)?);
                Ok(cover)
            }
            Container::PlainOuter => self.outer(bytes, inside),
            Container::PlainExecutable => Walker { parts: self.parts }.executable(bytes),
            Container::SplitOuter => self.split(bytes, *container, inside),
            Container::SplitExecutable => self.split(bytes, *container, inside),
            Container::Text => Ok(Cover::of(self.parts.id(PartKind::Text, ""), bytes.len())),
        }
    }

    /// Covers a piece of the outer message.
    fn outer(&mut self, bytes: &Rope, inside: &[Container]) -> Result<Cover, Error> {
        let mut executable = Rope::default();
        let mut fields = Fields::new(bytes);
        while let Ok(Some(field)) = fields.next_field() {
            if field.number == 1 {
                executable = bytes.slice(field.value).unwrap_or_default();
            }
        }
        let inner =
            if executable.is_empty() { Cover::default() } else { self.cover(&executable, inside)? };
        Walker { parts: self.parts }.outer(bytes, &inner)
    }

    fn split(
        &mut self,
        file: &Rope,
        container: Container,
        inside: &[Container],
    ) -> Result<Cover, Error> {
        let layer = container.name();
        let overhead = self.parts.id(PartKind::Container, layer);
        let message = if container == Container::SplitOuter { outer::MESSAGE } else { EXECUTABLE };
        let mut covers = Vec::new();
        let split = split_proto::read(file, layer, &mut self.budget)?;
        for (record, data) in split.records.iter().zip(&split.data) {
            covers.push(match &record.role {
                RecordRole::Manifest | RecordRole::Unknown => Cover::of(overhead, data.len()),
                RecordRole::Merge if message == EXECUTABLE => {
                    Walker { parts: self.parts }.executable(data)?
                }
                RecordRole::Merge => self.outer(data, inside)?,
                RecordRole::Override(path) if message == outer::MESSAGE && path == "1" => {
                    self.cover(data, inside)?
                }
                RecordRole::Override(path) => {
                    Walker { parts: self.parts }.field(message, path, data)
                }
            });
        }
        record_file::cover(file, layer, &covers, overhead)
    }
}
