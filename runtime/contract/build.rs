//! Compiles the contract under `proto/` into Rust types and one descriptor set, without protoc.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use prost::Message as _;

#[allow(clippy::print_stdout, reason = "this is how a build script talks to cargo")]
fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").ok_or("no manifest directory")?)
        .join("../../proto");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("no output directory")?);
    println!("cargo::rerun-if-changed={}", root.display());

    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();

    let mut compiler = protox::Compiler::new([&root])?;
    compiler.include_source_info(true).include_imports(true);
    compiler.open_files(&files)?;
    let with_comments = compiler.file_descriptor_set();

    let mut plain = with_comments.clone();
    for file in &mut plain.file {
        file.source_code_info = None;
    }
    fs::write(out.join("contract.binpb"), plain.encode_to_vec())?;

    prost_build::Config::new()
        .btree_map(["."])
        // Decoded from `bytes::Bytes`, a payload (constant, cubin) shares the artifact's memory.
        .bytes(["."])
        .include_file("contract.rs")
        .compile_fds(with_comments)?;
    Ok(())
}

/// Adds every `.proto` file under `dir`, at any depth.
fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "proto") {
            files.push(path);
        }
    }
    Ok(())
}
