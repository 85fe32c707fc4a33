//! Opening an artifact whatever its container.

use aotgate_runtime::artifact::{Artifact, Rope, TextGolden};
use prost::bytes::Bytes;

use super::text::Skipped;
use super::text::golden::{self, Parts};
use crate::descriptor::{Contract, ContractSpec, RootSpec, SourceClosure};
use crate::error::{Error, ErrorKind};

/// Full name of the inner message.
pub(super) const EXECUTABLE: &str = "xla.gpu.GpuExecutableProto";
/// The outer message of an artifact, and the files that declare it or once did.
pub(super) const OUTER: &str = "xla.ExecutableAndOptionsProto";
const OUTER_FILES: [&str; 2] =
    ["xla/pjrt/proto/compile_options.proto", "xla/pjrt/compile_options.proto"];

/// Opens an artifact: binary containers as they are, a text golden with `contract`, which should be that
/// of the golden's own time and have the outer message ([`opening_spec`]).
///
/// # Errors
/// Bytes in no known container, damaged ones, and text that C++ would refuse with this contract.
pub fn open(bytes: impl Into<Bytes>, contract: &Contract) -> Result<Artifact, Error> {
    open_reporting(bytes, contract).map(|opened| opened.artifact)
}

/// An opened artifact, and what its text had besides.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The artifact.
    pub artifact: Artifact,
    /// Fields of a text golden that were passed over because their names are reserved. C++ tells nobody;
    /// an older contract may have held them.
    pub skipped: Vec<Skipped>,
}

/// Like [`open`], and says which fields of a text golden were passed over.
///
/// # Errors
/// Those of [`open`].
pub fn open_reporting(bytes: impl Into<Bytes>, contract: &Contract) -> Result<Opened, Error> {
    let bytes = bytes.into();
    let text = match Artifact::read(bytes.clone()) {
        Ok(artifact) => return Ok(Opened { artifact, skipped: Vec::new() }),
        // Text is what the artifact crate cannot do.
        Err(error) => match TextGolden::detect(&Rope::from(bytes)) {
            Some(text) if error.is_unsupported() => text,
            _ => return Err(artifact(error)),
        },
    };
    let Parts { outer, executable, serialized, skipped } =
        golden::read(&text.text, text.message.as_deref(), contract)?;
    let executable = match (executable, serialized) {
        (Some(executable), _) => executable,
        (None, Some(serialized)) => {
            let inner = Artifact::read(serialized);
            inner.map_err(ErrorKind::SerializedExecutable)?.executable().to_bytes()
        }
        (None, None) => {
            return Err(ErrorKind::TextMessage {
                message: "the text golden holds no executable".to_owned(),
                help: "give `gpu_executable`, or `serialized_executable` of the outer message"
                    .to_owned(),
            }
            .into());
        }
    };
    let artifact = Artifact::from_text_parts(&text, outer, executable).map_err(artifact)?;
    Ok(Opened { artifact, skipped })
}

fn artifact(error: aotgate_runtime::Error) -> Error {
    ErrorKind::Artifact(error).into()
}

/// The specification of a contract that text goldens can be read with: that of the policy, and the outer
/// message. For opening artifacts only; what is governed stays as the policy says.
pub fn opening_spec(spec: &ContractSpec) -> ContractSpec {
    let mut spec = spec.clone();
    if spec.roots.iter().all(|root| root.message != OUTER) {
        let files = OUTER_FILES.iter().map(|file| (*file).to_owned()).collect();
        spec.roots.push(RootSpec { message: OUTER.to_owned(), files });
    }
    spec
}

/// The canonical contract, the one that the bundled runtime speaks, with what [`opening_spec`] adds.
///
/// # Errors
/// None unless the build is broken.
pub fn canonical_contract(spec: &ContractSpec) -> Result<Contract, Error> {
    SourceClosure::from_descriptor_set(aotgate_runtime::DESCRIPTOR_SET)?
        .contract(&opening_spec(spec))
}
