//! What differs between two artifacts, whatever containers they are in.

mod fields;
mod named;

use serde::Serialize;

use self::fields::Comparison;
pub use self::named::{Change, NamedChange, Payload};
use super::inspect::Inspection;
use super::reflect::reflect;
use super::{Artifact, EXECUTABLE, Layer, envelope, outer};
use crate::deep::on_deep_stack;
use crate::error::Error;

/// What differs. Serializes as `aotgate.artifact-diff/1`.
///
/// Messages are compared as what they say: the order of fields and of map entries on the wire does not
/// count, nor does a NaN differ from itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// Always `aotgate.artifact-diff/1`.
    pub schema: &'static str,
    /// The executables say the same.
    pub same_executable: bool,
    /// The outer layers say the same: options, client. True where neither artifact has one.
    pub same_options: bool,
    /// The envelopes' metadata says the same, an ABI entry apart that only one has and that repeats what the
    /// executable says. True where neither artifact has an envelope.
    pub same_envelope: bool,
    /// Layers, encodings and versions are the same.
    pub same_containers: bool,
    /// The layers of the first, outermost first.
    pub a: Vec<Layer>,
    /// The layers of the second.
    pub b: Vec<Layer>,
    /// Kernels, by name.
    pub kernels: Vec<NamedChange>,
    /// Constants, by name.
    pub constants: Vec<NamedChange>,
    /// Everything, field by field.
    pub fields: Vec<FieldChange>,
    /// Differences beyond those in `fields`.
    pub omitted: usize,
}

/// Where a field belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Section {
    /// Metadata of the envelope.
    Envelope,
    /// The outer layer, debug options apart.
    Options,
    /// Debug options, of the compilation and of the HLO module.
    DebugOptions,
    /// Name, target, shapes, outputs, versions.
    Program,
    /// The HLO module and its configuration.
    Module,
    /// Thunks, with the kernels in them.
    Thunks,
    /// Allocations.
    Allocations,
    /// Constants.
    Constants,
    /// The rest of the executable.
    Other,
}

/// One field that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldChange {
    /// Where it belongs.
    pub section: Section,
    /// Names from the layer's message on, an element's name or number in brackets.
    pub path: String,
    /// Path of the innermost thunk it is in.
    pub thunk: Option<String>,
    /// What happened, seen from the first artifact.
    pub change: Change,
    /// Its value in the first, shortened.
    pub a: Option<String>,
    /// Its value in the second.
    pub b: Option<String>,
}

impl Diff {
    /// Compares two artifacts.
    pub fn new(a: &Artifact, b: &Artifact) -> Result<Diff, Error> {
        on_deep_stack(|| Diff::build(a, b))
    }

    /// Whether nothing differs but how it is stored.
    pub fn is_equal(&self) -> bool {
        self.same_executable && self.same_options && self.same_envelope
    }

    fn build(a: &Artifact, b: &Artifact) -> Result<Diff, Error> {
        let mut comparison = Comparison::default();
        let none = super::Rope::default();
        let limit = a.decoded.min(b.decoded);
        if let (Some(first), Some(second)) = (a.envelope(), b.envelope()) {
            // An ABI entry that says what the executable says belongs to the container.
            let implied = first.abi_version().is_some() != second.abi_version().is_some()
                && abi_is_implied(a)?
                && abi_is_implied(b)?;
            let metadata = |envelope: &envelope::Envelope| {
                let raw = super::Rope::from(envelope.metadata_bytes().clone());
                let raw = if implied { envelope.metadata_with_abi(false, None)? } else { raw };
                reflect(envelope::METADATA, &raw, limit)
            };
            comparison.messages(Section::Envelope, &metadata(first)?, &metadata(second)?);
        } else {
            comparison.layer(Section::Envelope, a.envelope().is_some(), b.envelope().is_some());
        }
        let envelope = comparison.total();
        if a.outer().is_some() && b.outer().is_some() {
            let message = |artifact: &Artifact| {
                let message = artifact.outer().map_or(&none, |outer| outer.message());
                reflect(outer::MESSAGE, message, limit)
            };
            comparison.messages(Section::Options, &message(a)?, &message(b)?);
        } else {
            comparison.layer(Section::Options, a.outer().is_some(), b.outer().is_some());
        }
        let options = comparison.total();
        // Byte for byte the same is the usual case of another container.
        if a.executable() != b.executable() {
            let (a, b) = (
                reflect(EXECUTABLE, a.executable(), limit)?,
                reflect(EXECUTABLE, b.executable(), limit)?,
            );
            comparison.messages(Section::Other, &a, &b);
        }
        let same_executable = comparison.total() == options;
        let (kernels, constants) = if same_executable {
            Default::default()
        } else {
            let (a, b) = (Inspection::new(a)?, Inspection::new(b)?);
            (named::kernels(&a, &b), named::constants(&a, &b))
        };
        let (fields, omitted) = comparison.finish();
        Ok(Diff {
            schema: "aotgate.artifact-diff/1",
            same_executable,
            same_options: options == envelope,
            same_envelope: envelope == 0,
            same_containers: form(a) == form(b),
            a: a.layers().to_vec(),
            b: b.layers().to_vec(),
            kernels,
            constants,
            fields,
            omitted,
        })
    }
}

/// Whether the envelope's ABI entry, if there is one, says no more than the executable.
fn abi_is_implied(artifact: &Artifact) -> Result<bool, Error> {
    let Some(entry) = artifact.envelope().and_then(|envelope| envelope.abi_version()) else {
        return Ok(true);
    };
    Ok(artifact.decode()?.executable_abi_version.as_ref() == Some(&entry.version))
}

/// What the containers are, sizes apart.
fn form(artifact: &Artifact) -> Vec<(super::Container, Vec<(String, String)>)> {
    let layers = artifact.layers().iter();
    layers.map(|layer| (layer.container, layer.versions.clone())).collect()
}
