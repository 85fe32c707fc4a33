//! Writes an artifact in any container.

use prost::bytes::Bytes;

use super::detect::{self, Candidate};
use super::riegeli::Compression;
use super::rope::Rope;
use super::split_proto::{self, Plan};
use super::{Artifact, EXECUTABLE, envelope, outer};
use crate::error::{Error, ErrorKind};

/// How XLA's writer splits a GpuExecutableProto: asm_text and binary, the compiled cuDNN graphs, each
/// constant, then the rest.
const EXECUTABLE_PLAN: Plan =
    Plan { message_type: EXECUTABLE, overrides: &[3, 4], together: Some(5), each: Some(12) };

/// How one message is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Serialized.
    Plain,
    /// As a split proto.
    Split(Compression),
}

/// Which envelope goes in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EnvelopeForm {
    /// Without the ABI entry, as 0.10.1 has it.
    WithoutAbi,
    /// With the ABI entry; made from the executable's own ABI version where the artifact had none.
    WithAbi,
}

/// The containers to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    /// The IFRT envelope; needs an outer layer.
    pub envelope: Option<EnvelopeForm>,
    /// The layer with the compile options.
    pub outer: Option<Encoding>,
    /// The executable.
    pub executable: Encoding,
}

impl Form {
    /// The executable alone, serialized.
    pub const PLAIN: Form = Form { envelope: None, outer: None, executable: Encoding::Plain };

    /// The executable alone, as a split proto.
    pub const SPLIT: Form = Form { executable: Encoding::Split(Compression::None), ..Form::PLAIN };
}

impl Artifact {
    /// The artifact in other containers.
    ///
    /// What a layer holds is kept as it was written, fields that no schema knows included; the order of
    /// fields may change. The same artifact and form always give the same bytes. A layer that the
    /// artifact lacks cannot be made up.
    pub fn write(&self, form: &Form) -> Result<Vec<u8>, Error> {
        let executable = match form.executable {
            Encoding::Plain => {
                let among = if form.outer.is_some() { detect::IN_OUTER } else { detect::ALONE };
                let bytes = self.executable.to_bytes();
                recognized(bytes, Candidate::PlainExecutable, among, "a serialized executable")?
            }
            Encoding::Split(compression) => {
                split_proto::write(&self.executable, &EXECUTABLE_PLAN, compression)?
            }
        };
        let payload = match form.outer {
            None => executable,
            Some(encoding) => {
                let outer = self.outer.as_ref().ok_or_else(|| {
                    missing("an ExecutableAndOptionsProto", "the artifact has no compile options")
                })?;
                let message = outer.with(executable);
                match encoding {
                    Encoding::Plain => {
                        let enveloped = form.envelope.is_some();
                        let among = if enveloped { detect::IN_ENVELOPE } else { detect::ALONE };
                        let what = "a serialized ExecutableAndOptionsProto";
                        recognized(message.to_bytes(), Candidate::PlainOuter, among, what)?
                    }
                    Encoding::Split(compression) => {
                        split_proto::write(&message, &outer::PLAN, compression)?
                    }
                }
            }
        };
        let Some(envelope_form) = form.envelope else { return Ok(payload) };
        if form.outer.is_none() {
            return Err(missing("an IFRT envelope", "it holds an ExecutableAndOptionsProto only"));
        }
        let envelope = self
            .envelope
            .as_ref()
            .ok_or_else(|| missing("an IFRT envelope", "the artifact has no metadata for it"))?;
        let metadata = match envelope_form {
            EnvelopeForm::WithoutAbi => envelope.metadata_with_abi(false, None)?,
            EnvelopeForm::WithAbi if envelope.abi_version().is_some() => {
                envelope.metadata_with_abi(true, None)?
            }
            EnvelopeForm::WithAbi => {
                let version = self.decode()?.executable_abi_version;
                envelope.metadata_with_abi(true, version.as_ref())?
            }
        };
        Ok(envelope::write(&metadata, &payload))
    }
}

/// The bytes, given that a reader takes them for what they are. Nothing in a serialized message says so: it
/// goes by the fields, and a split proto may have any.
fn recognized(
    bytes: Bytes,
    expected: Candidate,
    among: &[Candidate],
    what: &'static str,
) -> Result<Vec<u8>, Error> {
    match detect::detect(&Rope::from(bytes.clone()), among, what) {
        Ok(found) if found == expected => Ok(bytes.into()),
        _ => Err(ErrorKind::CannotWrite {
            what,
            why: "by its fields, a reader would not take it for one".to_owned(),
            help: "a split proto says what it is; write that",
        }
        .into()),
    }
}

fn missing(what: &'static str, why: &str) -> Error {
    ErrorKind::CannotWrite {
        what,
        why: why.to_owned(),
        help: "choose a form with the layers that the artifact has",
    }
    .into()
}
