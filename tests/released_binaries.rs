//! Released binaries as revisions: shared libraries and wheels with embedded descriptors.
#![allow(clippy::panic, clippy::print_stdout, clippy::unwrap_used)]

mod common;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use aotgate::Error;
use aotgate::descriptor::{Contract, ContractSpec, ParseCache, RootSpec};
use aotgate::revision::{Revision, RevisionSpec};
use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto};

fn root(message: &str) -> ContractSpec {
    ContractSpec {
        roots: vec![RootSpec { message: message.into(), files: Vec::new() }],
        ..ContractSpec::default()
    }
}

fn field(name: &str, number: i32, ty: &str) -> FieldDescriptorProto {
    FieldDescriptorProto {
        name: Some(name.into()),
        number: Some(number),
        label: Some(Label::Optional.into()),
        r#type: Some(if ty.is_empty() { Type::Int32 } else { Type::Message }.into()),
        type_name: (!ty.is_empty()).then(|| format!(".{ty}")),
        json_name: Some(name.into()),
        ..Default::default()
    }
}

fn file(name: &str, imports: &[&str], message: &str, fields: &[(&str, i32, &str)]) -> Vec<u8> {
    FileDescriptorProto {
        name: Some(name.into()),
        package: Some("p".into()),
        dependency: imports.iter().map(|i| (*i).to_owned()).collect(),
        message_type: vec![DescriptorProto {
            name: Some(message.into()),
            field: fields.iter().map(|&(name, number, ty)| field(name, number, ty)).collect(),
            ..Default::default()
        }],
        syntax: Some("proto3".into()),
        ..Default::default()
    }
    .encode_to_vec()
}

/// Something like a shared library: the descriptors between other bytes.
fn library(files: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x01\x01\0 odd \x0a bytes \x0a\x0cexample.proto".to_vec();
    for file in files {
        bytes.extend_from_slice(&[0; 13]);
        bytes.extend_from_slice(file);
    }
    bytes.extend_from_slice(b"\0.shstrtab\0");
    bytes
}

fn wheel(members: &[(&str, &[u8], bool)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut archive = rawzip::ZipArchiveWriter::new(&mut bytes);
    for (name, content, deflate) in members {
        let method = if *deflate {
            rawzip::CompressionMethod::DEFLATE
        } else {
            rawzip::CompressionMethod::STORE
        };
        let (mut entry, config) =
            archive.new_file(name).compression_method(method).start().unwrap();
        if *deflate {
            let encoder =
                flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::default());
            let mut writer = config.wrap(encoder);
            writer.write_all(content).unwrap();
            let (encoder, descriptor) = writer.finish().unwrap();
            encoder.finish().unwrap();
            entry.finish(descriptor).unwrap();
        } else {
            let mut writer = config.wrap(&mut entry);
            writer.write_all(content).unwrap();
            let (_, descriptor) = writer.finish().unwrap();
            entry.finish(descriptor).unwrap();
        }
    }
    archive.finish().unwrap();
    bytes
}

struct Dir(tempfile::TempDir);

impl Dir {
    fn new() -> Self {
        Dir(tempfile::tempdir().unwrap())
    }

    fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

fn contract(path: &Path, spec: &ContractSpec) -> Result<Contract, Error> {
    let revision = Revision::open(&RevisionSpec::ReleasedBinary(path.to_owned()), None)?;
    revision.closure(spec, &mut ParseCache::default())?.contract(spec)
}

fn message_of(error: &Error) -> String {
    error.to_string()
}

fn sample() -> Vec<Vec<u8>> {
    vec![
        file("p/b.proto", &["google/protobuf/any.proto"], "B", &[("x", 1, "")]),
        file("p/a.proto", &["p/b.proto"], "A", &[("b", 1, "p.B"), ("n", 2, "")]),
        file("q/other.proto", &["q/gone.proto"], "Other", &[("gone", 1, "p.Gone")]),
    ]
}

#[test]
fn library_and_wheel_say_the_same_as_the_descriptor_set() {
    let dir = Dir::new();
    let spec = root("p.A");
    let so = library(&sample());
    let from_so = contract(&dir.put("plugin.so", &so), &spec).unwrap();
    assert_eq!(
        from_so.messages.keys().map(|n| &**n).collect::<Vec<_>>(),
        ["google.protobuf.Any", "p.A", "p.B"]
    );
    assert_eq!(from_so.roots.len(), 1);

    for deflate in [false, true] {
        let bytes = wheel(&[
            ("pkg/__init__.py", b"\x0a\x09p/b.proto\x12\x01p\x1a\x01x", deflate),
            ("pkg/plugin.so", &so, deflate),
            ("pkg/empty.so", b"", deflate),
        ]);
        let path = dir.put("plugin.whl", &bytes);
        assert_eq!(contract(&path, &spec).unwrap().fingerprint(), from_so.fingerprint());
    }

    let mut set = Vec::new();
    for file in sample() {
        prost::encoding::bytes::encode(1, &file, &mut set);
    }
    let path = dir.put("set.fds", &set);
    let revision = Revision::open(&RevisionSpec::DescriptorSet(path), None).unwrap();
    let closure = revision.closure(&spec, &mut ParseCache::default()).unwrap();
    assert_eq!(closure.contract(&spec).unwrap().fingerprint(), from_so.fingerprint());
}

#[test]
fn files_outside_the_roots_do_not_matter() {
    let dir = Dir::new();
    let mut files = sample();
    // A later edition than this tool knows.
    let mut later = file("q/later.proto", &[], "Later", &[("x", 1, "")]);
    later.extend_from_slice(&[0x70, 0xe9, 0x07]); // edition = 1001
    let syntax = later.len() - 3 - 8;
    later.splice(syntax..syntax + 8, *b"\x62\x08editions");
    files.push(later);
    files.push(file("q/user.proto", &["q/later.proto"], "User", &[("later", 1, "p.Later")]));
    let path = dir.put("plugin.so", &library(&files));
    assert_eq!(contract(&path, &root("p.A")).unwrap().messages.len(), 3);

    let error = contract(&path, &root("p.User")).unwrap_err();
    assert_eq!(
        message_of(&error),
        "q/user.proto imports 'q/later.proto', which cannot be used: q/later.proto:1: edition \"2024\" is not supported"
    );
    let mut named = root("p.Later");
    named.roots[0].files.push("q/later.proto".into());
    let error = contract(&path, &named).unwrap_err();
    assert!(message_of(&error).starts_with("q/later.proto cannot be used: "), "{error}");
    let error = contract(&path, &root("p.Later")).unwrap_err();
    assert!(message_of(&error).starts_with("q/later.proto cannot be used: "), "{error}");
    let error = contract(&path, &root("p.Other")).unwrap_err();
    assert_eq!(
        message_of(&error),
        "q/other.proto imports 'q/gone.proto', which the set does not have"
    );
    let rendered = format!("{:?}", miette::Report::new(error));
    assert!(rendered.contains("--include_imports"), "{rendered}");
}

#[test]
fn an_import_without_a_needed_type_may_be_missing() {
    let dir = Dir::new();
    let files = [file("a.proto", &["gone.proto"], "A", &[("x", 1, "")])];
    let contract = contract(&dir.put("x.so", &library(&files)), &root("p.A")).unwrap();
    assert_eq!(contract.files.len(), 1);
    assert_eq!(contract.messages.len(), 1);
}

#[test]
fn what_cannot_be_read_is_an_error_with_a_way_out() {
    let dir = Dir::new();
    let spec = root("p.A");
    let wheel_bytes = wheel(&[("pkg/plugin.so", &library(&sample()), true)]);
    let mut corrupt = wheel_bytes.clone();
    corrupt[60] ^= 0x55;
    for (name, bytes, expected) in [
        ("empty.so", &b""[..], "no embedded file descriptor found in"),
        ("text.so", b"nothing here", "no embedded file descriptor found in"),
        ("cut.whl", &wheel_bytes[..wheel_bytes.len() / 2], "zip archive"),
        ("corrupt.whl", &corrupt, "corrupt.whl: "),
        ("python.whl", &wheel(&[("a.py", b"", true)]), "no embedded file descriptor found in"),
    ] {
        let error = contract(&dir.put(name, bytes), &spec).unwrap_err();
        assert!(message_of(&error).contains(expected), "{name}: {error}");
    }
    let error = contract(dir.0.path(), &spec).unwrap_err();
    assert!(message_of(&error).ends_with("is a directory, not a regular file"), "{error}");
    let error = contract(&dir.0.path().join("absent.so"), &spec).unwrap_err();
    assert!(message_of(&error).contains("absent.so"), "{error}");
}

/// A real wheel against the descriptor set that was taken from it.
#[test]
#[ignore = "needs AOTGATE_WHEEL (jax_cuda13_pjrt-0.10.1-*.whl)"]
fn a_real_wheel_equals_its_descriptor_set() {
    let Some(path) = std::env::var_os("AOTGATE_WHEEL") else {
        println!("skipped: set AOTGATE_WHEEL");
        return;
    };
    let spec = common::xla();
    let start = std::time::Instant::now();
    let wheel = contract(Path::new(&path), &spec).unwrap();
    println!("{:?}, {} files", start.elapsed(), wheel.files.len());
    let bytes = include_bytes!("data/released/0.10.1.fds");
    let set = aotgate::descriptor::SourceClosure::from_descriptor_set(bytes).unwrap();
    let set = set.contract(&spec).unwrap();
    let count = |c: &Contract| {
        (c.files.len(), c.messages.values().filter(|m| m.reach.any()).count(), c.fingerprint())
    };
    println!("wheel {:?}\nset   {:?}", count(&wheel), count(&set));
    assert_eq!(wheel.fingerprint(), set.fingerprint());
}
