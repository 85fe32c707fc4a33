//! The containers of an artifact, told apart by their content and never by a name.
//!
//! One executable comes in several wrappings: JAX puts an IFRT envelope in front, PJRT wraps the executable
//! with its compile options, and either message is stored plain or as a split proto. [`Artifact::read`]
//! opens them all and keeps what is in every layer, so that the executable can be written into another
//! release's container ([`Artifact::write`], [`ContainerRules`]).

mod detect;
pub mod diff;
mod envelope;
mod field_path;
mod footprint;
pub mod inspect;
mod limits;
pub mod lint;
pub mod loader;
mod manifest;
mod outer;
mod reflect;
mod release;
mod riegeli;
mod rope;
pub mod size;
mod split_proto;
mod text;
mod wire;
mod write;

use prost::bytes::Bytes;
use serde::Serialize;

use self::detect::{Candidate, detect};
pub use self::envelope::{AbiVersion, Envelope};
pub use self::limits::Limits;
pub use self::outer::Outer;
pub use self::release::{ContainerRules, Refusal};
pub use self::riegeli::Compression;
pub use self::rope::{Rope, RopeReader};
pub use self::text::TextGolden;
pub use self::write::{Encoding, EnvelopeForm, Form};
use crate::deep::on_deep_stack;
use crate::error::{Error, ErrorKind};
use crate::proto::xla::gpu::GpuExecutableProto;
use limits::Budget;
pub(crate) use limits::check as check_limit;

/// Full name of the inner message.
const EXECUTABLE: &str = "xla.gpu.GpuExecutableProto";
/// Full name of the options' message.
const OPTIONS: &str = "xla.CompileOptionsProto";

/// What wraps what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Container {
    /// What JAX puts in front: a length and a metadata message.
    IfrtEnvelope,
    /// `xla.ExecutableAndOptionsProto`, serialized.
    PlainOuter,
    /// `xla.ExecutableAndOptionsProto` as a split proto.
    SplitOuter,
    /// `xla.gpu.GpuExecutableProto`, serialized.
    PlainExecutable,
    /// `xla.gpu.GpuExecutableProto` as a split proto.
    SplitExecutable,
    /// A golden in protobuf's text format.
    Text,
}

impl Container {
    /// What the container is called in messages.
    pub fn name(self) -> &'static str {
        match self {
            Container::IfrtEnvelope => envelope::LAYER,
            Container::PlainOuter => "plain ExecutableAndOptionsProto",
            Container::SplitOuter => "split ExecutableAndOptionsProto",
            Container::PlainExecutable => "plain GpuExecutableProto",
            Container::SplitExecutable => "split GpuExecutableProto",
            Container::Text => "text golden",
        }
    }
}

/// One layer that was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Layer {
    /// What it is.
    pub container: Container,
    /// Bytes it takes up, with all that is inside it.
    pub size: usize,
    /// Bytes of its message once records are put together and decompressed. For the envelope, of its
    /// metadata.
    pub message_size: usize,
    /// Versions that the layer states: what of, and which.
    pub versions: Vec<(String, String)>,
    /// The records of a split proto, the manifest first.
    pub records: Vec<RecordInfo>,
}

/// One record of a split proto.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecordInfo {
    /// What it is for.
    pub role: RecordRole,
    /// Its bytes, decompressed.
    pub size: usize,
}

/// What a record of a split proto is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordRole {
    /// Says what the others are.
    Manifest,
    /// Part of the message, merged in.
    Merge,
    /// Content of the field at this path: numbers joined by dots, an index or key in brackets.
    Override(String),
    /// A role that this version does not know; like XLA's reader it passes over the record.
    Unknown,
}

/// An opened artifact.
#[derive(Clone, Debug)]
pub struct Artifact {
    layers: Vec<Layer>,
    envelope: Option<Envelope>,
    outer: Option<Outer>,
    executable: Rope,
    /// Bytes that a decoded message may take.
    decoded: u64,
}

impl Artifact {
    /// Opens an artifact under the default [`Limits`].
    ///
    /// The executable and its payloads share the memory of `bytes` wherever no decompression is needed.
    pub fn read(bytes: impl Into<Bytes>) -> Result<Artifact, Error> {
        Artifact::read_with(bytes, &Limits::default())
    }

    /// Opens an artifact under given limits.
    pub fn read_with(bytes: impl Into<Bytes>, limits: &Limits) -> Result<Artifact, Error> {
        let bytes = Rope::from(bytes.into());
        let mut budget = Budget::new(limits);
        limits::check("input", 0, "bytes", bytes.len() as u64, limits.input, "input")?;
        let mut artifact = Artifact {
            layers: Vec::new(),
            envelope: None,
            outer: None,
            executable: Rope::default(),
            decoded: limits.decoded,
        };
        let candidate = detect(&bytes, detect::ALONE, "input")?;
        match candidate {
            Candidate::Envelope => {
                let (envelope, payload) = envelope::read(&bytes, &budget)?;
                artifact.layers.push(envelope_layer(&envelope, bytes.len()));
                artifact.envelope = Some(envelope);
                let layer = "payload of the IFRT envelope";
                match detect(&payload, detect::IN_ENVELOPE, layer)? {
                    Candidate::Split => {
                        let split = split_proto::read(&payload, layer, &mut budget)?;
                        let wanted = [outer::MESSAGE];
                        artifact.read_split(split, payload.len(), layer, &wanted, &mut budget)?;
                    }
                    _ => artifact.read_plain_outer(Container::PlainOuter, &payload, &mut budget)?,
                }
            }
            Candidate::Split => {
                let split = split_proto::read(&bytes, "split proto", &mut budget)?;
                let wanted = [outer::MESSAGE, EXECUTABLE];
                artifact.read_split(split, bytes.len(), "split proto", &wanted, &mut budget)?;
            }
            Candidate::PlainOuter => {
                artifact.read_plain_outer(Container::PlainOuter, &bytes, &mut budget)?
            }
            Candidate::PlainExecutable => {
                artifact.finish(layer(Container::PlainExecutable, bytes.len(), &bytes), bytes);
            }
            Candidate::Text => {
                let golden = TextGolden::detect(&bytes);
                let message = golden.and_then(|golden| golden.message);
                return Err(ErrorKind::Unsupported {
                    layer: Container::Text.name().to_owned(),
                    offset: 0,
                    what: format!(
                        "text format of {}",
                        message.as_deref().unwrap_or("a message that no header names")
                    ),
                    help: "parse it with the schema of its time and hand the parts to `Artifact::from_text_parts`",
                }
                .into());
            }
        }
        Ok(artifact)
    }

    /// An artifact from the two messages of a parsed text golden: the serialized
    /// `ExecutableAndOptionsProto` without its executable, if there is one, and the serialized
    /// `GpuExecutableProto`.
    pub fn from_text_parts(
        golden: &TextGolden,
        outer: Option<Bytes>,
        executable: Bytes,
    ) -> Result<Artifact, Error> {
        let executable = Rope::from(executable);
        wire::check(&executable).map_err(|error| error.in_layer("parsed text golden"))?;
        let outer = outer
            .map(|outer| Outer::from_rest(Rope::from(outer), "parsed text golden"))
            .transpose()?;
        let mut layer = layer(Container::Text, golden.text.len(), &executable);
        if let Some(message) = &golden.message {
            layer.versions.push(("proto-message".to_owned(), message.clone()));
        }
        let decoded = Limits::default().decoded;
        Ok(Artifact { layers: vec![layer], envelope: None, outer, executable, decoded })
    }

    /// The layers, outermost first.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The IFRT envelope, where there is one.
    pub fn envelope(&self) -> Option<&Envelope> {
        self.envelope.as_ref()
    }

    /// The layer with the compile options, where there is one.
    pub fn outer(&self) -> Option<&Outer> {
        self.outer.as_ref()
    }

    /// The serialized `xla.gpu.GpuExecutableProto`.
    pub fn executable(&self) -> &Rope {
        &self.executable
    }

    /// The executable as the contract's type. Payloads are shared, not copied, where they lie in one
    /// piece. Fields that the contract lacks are left out.
    pub fn decode(&self) -> Result<GpuExecutableProto, Error> {
        decoded(&self.executable, self.decoded)
    }
}

/// A serialized executable without any container as the contract's type; see [`Artifact::decode`].
///
/// # Errors
/// Bytes that are no such message.
pub fn decode_executable(bytes: impl Into<Bytes>) -> Result<GpuExecutableProto, Error> {
    decoded(&Rope::from(bytes.into()), Limits::default().decoded)
}

fn decoded(executable: &Rope, limit: u64) -> Result<GpuExecutableProto, Error> {
    footprint::check(executable, EXECUTABLE, footprint::Form::Typed, limit)?;
    on_deep_stack(|| {
        aotgate_contract::decode_executable(&mut executable.reader())
            .map_err(|error| ErrorKind::Decode { message: EXECUTABLE, error }.into())
    })
}

/// Reading, layer by layer.
impl Artifact {
    /// Goes on with a split proto that was put together.
    fn read_split(
        &mut self,
        split: split_proto::Split,
        size: usize,
        place: &str,
        wanted: &[&str],
        budget: &mut Budget<'_>,
    ) -> Result<(), Error> {
        if !wanted.contains(&split.message_type.as_str()) {
            return Err(ErrorKind::Malformed {
                layer: place.to_owned(),
                offset: 0,
                what: "message of a split proto".to_owned(),
                expected: wanted.join(" or "),
                found: format!("{:?}", split.message_type),
            }
            .into());
        }
        let container = if split.message_type == EXECUTABLE {
            Container::SplitExecutable
        } else {
            Container::SplitOuter
        };
        let mut layer = layer(container, size, &split.message);
        layer.records = split.records;
        if container == Container::SplitExecutable {
            self.finish(layer, split.message);
            return Ok(());
        }
        self.layers.push(layer);
        self.open_outer(container, &split.message, budget)
    }

    fn read_plain_outer(
        &mut self,
        container: Container,
        message: &Rope,
        budget: &mut Budget<'_>,
    ) -> Result<(), Error> {
        self.layers.push(layer(container, message.len(), message));
        self.open_outer(container, message, budget)
    }

    fn open_outer(
        &mut self,
        container: Container,
        message: &Rope,
        budget: &mut Budget<'_>,
    ) -> Result<(), Error> {
        let (outer, executable) = outer::read(message, container.name())?;
        self.outer = Some(outer);
        let place = "serialized_executable";
        match detect(&executable, detect::IN_OUTER, place)? {
            Candidate::Split => {
                let split = split_proto::read(&executable, place, budget)?;
                self.read_split(split, executable.len(), place, &[EXECUTABLE], budget)
            }
            _ => {
                let layer = layer(Container::PlainExecutable, executable.len(), &executable);
                self.finish(layer, executable);
                Ok(())
            }
        }
    }

    fn finish(&mut self, layer: Layer, message: Rope) {
        self.layers.push(layer);
        self.executable = message;
    }
}

fn layer(container: Container, size: usize, message: &Rope) -> Layer {
    Layer { container, size, message_size: message.len(), versions: vec![], records: vec![] }
}

fn envelope_layer(envelope: &Envelope, size: usize) -> Layer {
    let metadata = envelope.metadata();
    let mut versions =
        vec![("ifrt_version_number".to_owned(), metadata.ifrt_version_number.to_string())];
    if let Some(abi) = envelope.abi_version() {
        versions.push(("platform_id".to_owned(), format!("{:#018x}", abi.platform_id)));
        versions.push(("runtime_abi_version".to_owned(), abi.type_name.clone()));
        versions.extend(envelope::library_versions(&abi.version));
    }
    Layer {
        container: Container::IfrtEnvelope,
        size,
        message_size: envelope.metadata_bytes().len(),
        versions,
        records: vec![],
    }
}
