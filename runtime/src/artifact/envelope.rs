//! The IFRT envelope: a length, a metadata message, then the payload.

use prost::Message as _;
use prost::bytes::{Buf as _, Bytes};
use prost::encoding::encode_varint;

use super::footprint::{self, Form};
use super::limits::{self, Budget};
use super::rope::Rope;
use super::wire::{Fields, push_field, varint};
use crate::deep::on_deep_stack;
use crate::error::{Error, ErrorKind};
use crate::proto::stream_executor::ExecutableAbiVersionProto;
use crate::proto::stream_executor::executable_abi_version_proto::PlatformSpecificVersion;
use crate::proto::xla::PjRtExecutableAbiVersionProto;
use crate::proto::xla::ifrt::{
    Serialized, SerializedXlaExecutableMetadata, SerializedXlaExecutableVersion,
};

/// What the name of the layer is in messages.
pub(super) const LAYER: &str = "IFRT envelope";

/// Full name of the metadata's message.
pub(super) const METADATA: &str = "xla.ifrt.SerializedXlaExecutableMetadata";
/// Name of the runtime that writes the envelope: the second field of its metadata.
const RUNTIME: &[u8] = b"pjrt_ifrt";
/// The only version of the metadata in the window.
const VERSION: i32 = 3;
/// Field of the metadata that names the runtime a payload needs.
const EXECUTABLE_VERSION: u32 = 9;
/// Type name of the ABI version of GPU executables.
const GPU_ABI_VERSION: &str = "xla::GpuXlaExecutableAbiVersion";
/// Hash of the CUDA platform's name, the same in every artifact of the window.
const CUDA_PLATFORM: u64 = 0x3ab2_a1e5_3d4a_80a1;

/// The envelope of an artifact.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    raw: Bytes,
    metadata: SerializedXlaExecutableMetadata,
    abi_version: Option<AbiVersion>,
}

/// The entry that states the ABI an executable needs; compilers of 0.11.2 and later write it.
#[derive(Clone, Debug, PartialEq)]
pub struct AbiVersion {
    /// Hash of the PJRT platform's name.
    pub platform_id: u64,
    /// Type of the entry, e.g. `xla::GpuXlaExecutableAbiVersion`.
    pub type_name: String,
    /// The versions of the platform's libraries.
    pub version: ExecutableAbiVersionProto,
}

impl Envelope {
    /// The metadata message.
    pub fn metadata(&self) -> &SerializedXlaExecutableMetadata {
        &self.metadata
    }

    /// The metadata message as it was written.
    pub fn metadata_bytes(&self) -> &Bytes {
        &self.raw
    }

    /// The ABI entry, where there is one.
    pub fn abi_version(&self) -> Option<&AbiVersion> {
        self.abi_version.as_ref()
    }

    /// The metadata with the ABI entry taken out, or put in from `version` where it is missing.
    pub(super) fn metadata_with_abi(
        &self,
        with_abi: bool,
        version: Option<&ExecutableAbiVersionProto>,
    ) -> Result<Rope, Error> {
        let raw = Rope::from(self.raw.clone());
        if with_abi == self.abi_version.is_some() {
            return Ok(raw);
        }
        let entry = if with_abi { abi_entry(version)? } else { Rope::default() };
        let mut result = Rope::default();
        let mut written = false;
        let mut fields = Fields::new(&raw);
        while let Some(field) = fields.next_field().map_err(|error| error.in_layer(LAYER))? {
            if field.number != EXECUTABLE_VERSION {
                result.append(&raw.slice(field.whole).unwrap_or_default());
            } else if !written {
                push_field(&mut result, EXECUTABLE_VERSION, &entry);
                written = true;
            }
        }
        if !written {
            push_field(&mut result, EXECUTABLE_VERSION, &entry);
        }
        Ok(result)
    }
}

fn abi_entry(version: Option<&ExecutableAbiVersionProto>) -> Result<Rope, Error> {
    let version = version.filter(|version| version.platform_name == "CUDA");
    let Some(version) = version else {
        return Err(ErrorKind::CannotWrite {
            what: "the envelope's ABI entry",
            why: "the executable does not state the ABI version of CUDA".to_owned(),
            help: "field executable_abi_version is what the entry is made from; write without it",
        }
        .into());
    };
    let pjrt = PjRtExecutableAbiVersionProto {
        platform: Some(CUDA_PLATFORM),
        version: Some(version.encode_to_vec().into()),
    };
    let serialized =
        Serialized { type_name: GPU_ABI_VERSION.to_owned(), data: pjrt.encode_to_vec().into() };
    let entry = SerializedXlaExecutableVersion {
        platform_id: CUDA_PLATFORM,
        runtime_abi_version: serialized.encode_to_vec().into(),
        ..Default::default()
    };
    Ok(entry.encode_to_vec().into())
}

/// Whether `bytes` begins like an envelope: a length, then the metadata's version and runtime.
pub(super) fn detect(bytes: &Rope) -> bool {
    let mut reader = bytes.reader();
    if varint(&mut reader, "").is_err() || reader.byte() != Some(0x08) {
        return false;
    }
    if varint(&mut reader, "").is_err() || reader.byte() != Some(0x12) {
        return false;
    }
    reader.byte() == u8::try_from(RUNTIME.len()).ok()
        && reader.copy_to_bytes(RUNTIME.len()) == RUNTIME
}

/// Splits an envelope into its metadata and the payload.
pub(super) fn read(bytes: &Rope, budget: &Budget<'_>) -> Result<(Envelope, Rope), Error> {
    let mut reader = bytes.reader();
    let length = varint(&mut reader, "length of the metadata").map_err(|e| e.in_layer(LAYER))?;
    let at = reader.position();
    limits::check(LAYER, 0, "metadata", length, budget.limits.metadata, "metadata")?;
    let end = usize::try_from(length).ok().and_then(|length| at.checked_add(length));
    let parts = end.and_then(|end| Some((bytes.slice(at..end)?, bytes.slice(end..bytes.len())?)));
    let Some((raw, payload)) = parts else {
        return Err(ErrorKind::Truncated {
            layer: LAYER.to_owned(),
            offset: at,
            what: "metadata".to_owned(),
            expected: length,
            found: reader.remaining() as u64,
        }
        .into());
    };
    super::wire::check(&raw).map_err(|mut error| {
        error.offset += at;
        error.in_layer(LAYER)
    })?;
    footprint::check(&raw, METADATA, Form::Typed, budget.limits.decoded)?;
    let raw = raw.to_bytes();
    let metadata = on_deep_stack(|| {
        SerializedXlaExecutableMetadata::decode(raw.clone()).map_err(|error| {
            malformed(at, "metadata", "a SerializedXlaExecutableMetadata", &error.to_string())
        })
    })?;
    if metadata.ifrt_version_number != VERSION {
        return Err(ErrorKind::Unsupported {
            layer: LAYER.to_owned(),
            offset: at,
            what: format!("version {} of the metadata", metadata.ifrt_version_number),
            help: "version 3 is known; a newer JAX may have written this",
        }
        .into());
    }
    let abi_version = abi_version(&metadata, at)?;
    Ok((Envelope { raw, metadata, abi_version }, payload))
}

fn abi_version(
    metadata: &SerializedXlaExecutableMetadata,
    at: usize,
) -> Result<Option<AbiVersion>, Error> {
    let Some(entry) = &metadata.executable_version else { return Ok(None) };
    if entry.runtime_abi_version.is_empty() {
        return Ok(None);
    }
    let bad = |message, error: prost::DecodeError| {
        malformed(at, "the ABI entry of the metadata", message, &error.to_string())
    };
    let outer = Serialized::decode(entry.runtime_abi_version.clone())
        .map_err(|error| bad("a Serialized", error))?;
    let pjrt = PjRtExecutableAbiVersionProto::decode(outer.data)
        .map_err(|error| bad("a PjRtExecutableAbiVersionProto", error))?;
    let version = ExecutableAbiVersionProto::decode(pjrt.version.unwrap_or_default())
        .map_err(|error| bad("an ExecutableAbiVersionProto", error))?;
    Ok(Some(AbiVersion { platform_id: entry.platform_id, type_name: outer.type_name, version }))
}

fn malformed(offset: usize, what: &str, expected: &str, found: &str) -> Error {
    ErrorKind::Malformed {
        layer: LAYER.to_owned(),
        offset,
        what: what.to_owned(),
        expected: expected.to_owned(),
        found: found.to_owned(),
    }
    .into()
}

/// Puts `payload` behind `metadata`.
pub(super) fn write(metadata: &Rope, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(payload.len() + metadata.len() + 10);
    encode_varint(metadata.len() as u64, &mut bytes);
    for piece in metadata.pieces() {
        bytes.extend_from_slice(piece);
    }
    bytes.extend_from_slice(payload);
    bytes
}

/// The versions of the platform's libraries: what of, and which.
pub(super) fn library_versions(version: &ExecutableAbiVersionProto) -> Vec<(String, String)> {
    let mut versions = vec![("platform".to_owned(), version.platform_name.clone())];
    if let Some(PlatformSpecificVersion::CudaPlatformVersion(cuda)) =
        &version.platform_specific_version
    {
        for (name, version) in [
            ("cuda_toolkit", &cuda.cuda_toolkit_version),
            ("cudnn", &cuda.cudnn_version),
            ("cub", &cuda.cub_version),
        ] {
            if !version.is_empty() {
                versions.push((name.to_owned(), String::from_utf8_lossy(version).into_owned()));
            }
        }
    }
    versions
}
