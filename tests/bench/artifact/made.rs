//! The artifacts that are measured.
#![allow(dead_code, reason = "each benchmark uses its part")]

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use aotgate_runtime::artifact::{Artifact, Compression, Encoding, Form};
use aotgate_runtime::proto::xla::ExecutableAndOptionsProto;
use aotgate_runtime::proto::xla::gpu::DenseDataIntermediateProto;
use aotgate_runtime::proto::xla::gpu::gpu_executable_proto::ConstantInfoProto;
use prost::Message as _;
use prost::bytes::Bytes;

pub(crate) const ROOT: &str = "xla.gpu.GpuExecutableProto";

/// Bytes of the constant.
const LARGE: usize = 64 << 20;

/// A real executable with a large constant in it.
#[derive(Clone, Copy)]
pub(crate) struct Made {
    container: Container,
    compression: Compression,
    constant: Constant,
}

#[derive(Clone, Copy, Debug)]
enum Container {
    Plain,
    Split,
    SplitInSplit,
    Enveloped,
}

#[derive(Clone, Copy, Debug)]
enum Constant {
    Incompressible,
    Compressible,
}

impl Made {
    pub(crate) const ALL: [Made; 8] = [
        Made::new(Container::Plain, Compression::None, Constant::Incompressible),
        Made::new(Container::Split, Compression::None, Constant::Incompressible),
        Made::new(Container::SplitInSplit, Compression::None, Constant::Incompressible),
        Made::new(Container::Enveloped, Compression::None, Constant::Incompressible),
        Made::new(Container::Split, Compression::None, Constant::Compressible),
        Made::new(Container::Split, Compression::Snappy, Constant::Incompressible),
        Made::new(Container::Split, Compression::Snappy, Constant::Compressible),
        Made::new(Container::Enveloped, Compression::Snappy, Constant::Compressible),
    ];

    const fn new(container: Container, compression: Compression, constant: Constant) -> Self {
        Made { container, compression, constant }
    }

    /// The artifact's bytes.
    pub(crate) fn artifact(self) -> Bytes {
        let base =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/artifacts/0.12.0/constants.bin");
        let base = Artifact::read(fs::read(base).unwrap()).unwrap();
        let mut message = base.decode().unwrap();
        message.constants.push(ConstantInfoProto {
            symbol_name: "large".to_owned(),
            content: Some(DenseDataIntermediateProto { data: self.constant.bytes().into() }),
            allocation_index: 0,
        });
        let plain = Artifact::read(message.encode_to_vec()).unwrap();
        let executable = Encoding::Split(self.compression);
        let split = Form { executable, ..Form::PLAIN };
        let bytes = match self.container {
            Container::Plain => plain.write(&Form::PLAIN).unwrap(),
            Container::Split => plain.write(&split).unwrap(),
            Container::SplitInSplit | Container::Enveloped => {
                let outer = ExecutableAndOptionsProto {
                    serialized_executable: plain.write(&split).unwrap().into(),
                    compile_options: None,
                    ..Default::default()
                };
                // As 0.12.0 stores it: the outer message uncompressed.
                let form =
                    Form { outer: Some(Encoding::Split(Compression::None)), executable, ..split };
                Artifact::read(outer.encode_to_vec()).unwrap().write(&form).unwrap()
            }
        };
        match self.container {
            Container::Enveloped => {
                let metadata = base.envelope().unwrap().metadata_bytes();
                let mut enveloped = Vec::with_capacity(bytes.len() + metadata.len() + 10);
                prost::encoding::encode_varint(metadata.len() as u64, &mut enveloped);
                enveloped.extend_from_slice(metadata);
                enveloped.extend_from_slice(&bytes);
                enveloped.into()
            }
            _ => bytes.into(),
        }
    }
}

impl Constant {
    fn bytes(self) -> Vec<u8> {
        let mut state = 0x5eed_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        match self {
            Constant::Incompressible => (0..LARGE / 8).flat_map(|_| next().to_le_bytes()).collect(),
            // As weights of few different values: about a third of the size.
            Constant::Compressible => {
                (0..LARGE / 4).flat_map(|_| ((next() % 16) as f32).to_le_bytes()).collect()
            }
        }
    }
}

impl fmt::Display for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Made { container, compression, constant } = self;
        write!(f, "{container:?} {compression:?} {constant:?}")
    }
}

/// The committed artifacts, or those in `AOTGATE_GOLDENS`: name and bytes.
pub(crate) fn real() -> Vec<(String, Bytes)> {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/artifacts");
    let root = std::env::var_os("AOTGATE_GOLDENS").map_or(committed, PathBuf::from);
    let mut found = Vec::new();
    collect(&root, &root, &mut found);
    found.sort();
    found
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<(String, Bytes)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "bin") {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            found.push((name, fs::read(&path).unwrap().into()));
        }
    }
}
