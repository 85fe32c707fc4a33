//! Helpers of the integration tests.
#![allow(dead_code, unreachable_pub)] // each test binary uses some of them

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aotgate::Error;
use aotgate::descriptor::{
    Contract, ContractSpec, FileTree, OpaqueSpec, ParseCache, RootSpec, SourceClosure,
};

/// Files in memory.
#[derive(Default)]
pub struct Files(pub BTreeMap<String, Vec<u8>>);

impl Files {
    pub fn new(files: &[(&str, &str)]) -> Self {
        Files(files.iter().map(|(n, c)| ((*n).to_owned(), c.as_bytes().to_vec())).collect())
    }

    pub fn contract(&self, spec: &ContractSpec) -> Result<Contract, Error> {
        SourceClosure::read(self, spec, &mut ParseCache::default())?.contract(spec)
    }
}

impl FileTree for Files {
    fn find(&self, path: &str) -> Result<Option<git2::Oid>, Error> {
        let hash = |c: &Vec<u8>| git2::Oid::hash_object(git2::ObjectType::Blob, c).unwrap();
        Ok(self.0.get(path).map(hash))
    }

    fn read(&self, path: &str, _blob: git2::Oid) -> Result<Vec<u8>, Error> {
        Ok(self.0[path].clone())
    }
}

/// Every `.proto` file below a directory, read into memory.
pub fn directory(dir: &Path) -> Files {
    fn walk(root: &Path, dir: &Path, files: &mut Files) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, files);
            } else if path.extension().is_some_and(|e| e == "proto") {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                files.0.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    let mut files = Files::default();
    walk(dir, dir, &mut files);
    files
}

/// A contract with these entry files and every message as a root.
pub fn everything(files: impl IntoIterator<Item = String>) -> ContractSpec {
    ContractSpec {
        roots: vec![RootSpec { message: "*".into(), files: files.into_iter().collect() }],
        ..ContractSpec::default()
    }
}

/// The contract of XLA:GPU, as in `policy/xla-gpu.toml`.
pub fn xla() -> ContractSpec {
    let root = |message: &str, file: &str| RootSpec {
        message: message.to_owned(),
        files: vec![file.to_owned()],
    };
    let opaque = |message: &str, file: &str| OpaqueSpec {
        field: "xla.HloInstructionProto.backend_config".to_owned(),
        message: message.to_owned(),
        file: file.to_owned(),
    };
    ContractSpec {
        roots: vec![
            root("xla.gpu.GpuExecutableProto", "xla/service/gpu/gpu_executable.proto"),
            root("xla.gpu.ThunkProto", "xla/backends/gpu/runtime/thunk.proto"),
        ],
        opaque: vec![
            opaque("xla.gpu.GpuBackendConfig", "xla/service/gpu/backend_configs.proto"),
            opaque("xla.WhileLoopBackendConfig", "xla/xla_data.proto"),
        ],
        include: vec![String::new(), "third_party/tsl".to_owned()],
        prefixes: vec![String::new(), "third_party/xla".to_owned()],
    }
}
