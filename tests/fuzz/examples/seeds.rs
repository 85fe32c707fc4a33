//! Writes the seed corpora, made from the artifacts in `tests/data/artifacts` (or the folder given):
//!
//! ```sh
//! cargo run --manifest-path tests/fuzz/Cargo.toml --example seeds
//! ```
//!
//! Every artifact in every container that it can be written in, each into the corpora of the targets
//! that open it.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use aotgate::view::json::payloads;
use aotgate::view::text::print;
use aotgate::view::{Limits, decode, write_text};
use aotgate_fuzz::check::forms;
use aotgate_fuzz::contracts;
use aotgate_runtime::artifact::{Artifact, Encoding, Form};

fn main() -> Result<(), Box<dyn Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let artifacts = std::env::args().nth(1).map_or(here.join("../data/artifacts"), PathBuf::from);
    let corpus = here.join("corpus");
    let seed = |target: &str, name: &str, bytes: &[u8]| -> Result<(), std::io::Error> {
        let folder = corpus.join(target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(name), bytes)
    };
    for file in binaries(&artifacts)? {
        let name = file.strip_prefix(&artifacts)?.to_string_lossy().replace('/', "-");
        let artifact = Artifact::read(fs::read(&file)?)?;
        for (number, form) in forms().iter().enumerate() {
            let Ok(bytes) = artifact.write(form) else { continue };
            let name = format!("{name}-{number}");
            seed("inspect", &name, &bytes)?;
            seed("size", &name, &bytes)?;
            seed("rewrite", &name, &bytes)?;
            let target = match form {
                Form { envelope: Some(_), .. } => "envelope",
                Form { outer: Some(Encoding::Plain), .. } => "outer_plain",
                Form { outer: Some(Encoding::Split(_)), .. } => "outer_split",
                Form { executable: Encoding::Plain, .. } => "plain_executable",
                Form { executable: Encoding::Split(_), .. } => "split_executable",
            };
            seed(target, &name, &bytes)?;
            if bytes.starts_with(&aotgate_fuzz::frame::SIGNATURE) {
                seed("riegeli", &name, &bytes)?;
            }
        }
        let message = artifact.write(&Form::PLAIN)?;
        for choice in 0..9 {
            seed("view_binary", &format!("{name}-{choice}"), &[&[choice], &message[..]].concat())?;
        }
    }
    let contract = &contracts::RELEASED[2];
    for file in binaries(&artifacts)? {
        let name = file.strip_prefix(&artifacts)?.to_string_lossy().replace('/', "-");
        let artifact = Artifact::read(fs::read(&file)?)?;
        let message = artifact.write(&Form::PLAIN)?;
        seed("json", &name, &[&[8, 99], &message[..]].concat())?;
        let held = decode(&message, contract, contracts::ROOT, Limits::default())?;
        seed("text", &name, &[&[8], print(&held).text.as_bytes()].concat())?;
        let golden = write_text(&artifact, contract)?;
        seed("text", &format!("{name}-golden"), &[&[8], golden.as_bytes()].concat())?;
        for (number, found) in payloads(&held).iter().enumerate() {
            let Some(text) = found.text else { continue };
            seed("json", &format!("{name}-{number}"), &[&[8, 0], text].concat())?;
        }
    }
    for (number, text) in TEXTS.iter().enumerate() {
        seed("text", &number.to_string(), &[&[8], text.as_bytes()].concat())?;
        seed("text_detect", &number.to_string(), &[&[3], text.as_bytes()].concat())?;
    }
    // An override deep in the message, which no compiler writes.
    seed("split_executable", "path", &path())?;
    seed("riegeli", "path", &path())?;
    Ok(())
}

const TEXTS: [&str; 5] = [
    "# proto-file: x.proto\n# proto-message: xla.HumanReadableAotExecutable\n\nexecutable_and_options {\n}\n",
    "gpu_executable < asm_text: \"x\" >",
    "a: 1",
    "# a comment\n",
    "j {                              }",
];

fn path() -> Vec<u8> {
    use aotgate_fuzz::frame::Chunk;
    use aotgate_fuzz::node::{Node, Part};
    use aotgate_runtime::proto::xla::gpu::{GpuExecutableProto, ThunkProto};
    use aotgate_runtime::proto::xla::record::field_override_record::FieldPathPart;
    use aotgate_runtime::proto::xla::record::field_override_record::field_path_part::Index;
    use aotgate_runtime::proto::xla::record::{FieldOverrideRecord, ProtoMergeRecord, RecordType};
    use aotgate_runtime::proto::xla::{Record, SplitProtoManifest};
    use prost::Message as _;

    let step = |field_number, index| FieldPathPart { field_number, index };
    let set = |field_path| {
        Some(RecordType::FieldOverrideRecord(FieldOverrideRecord { field_path, field_type: 1 }))
    };
    let roles = [
        Some(RecordType::ProtoMergeRecord(ProtoMergeRecord {})),
        set(vec![step(12, Some(Index::RepeatedFieldIndex(0))), step(2, None), step(1, None)]),
        set(vec![step(5, Some(Index::StringMapKey("g".to_owned())))]),
        set(vec![step(3, None)]),
    ];
    let manifest = SplitProtoManifest {
        result_proto_type: "xla.gpu.GpuExecutableProto".to_owned(),
        records: roles.map(|record_type| Record { record_type }).to_vec(),
    };
    let mut message =
        GpuExecutableProto { thunks: vec![ThunkProto::default()], ..Default::default() };
    message.constants.push(Default::default());
    message.dnn_compiled_graphs.insert("g".to_owned(), prost::bytes::Bytes::from_static(b"graph"));
    let records = [
        manifest.encode_to_vec(),
        message.encode_to_vec(),
        b"data".to_vec(),
        b"new".to_vec(),
        b"text".to_vec(),
    ];
    let records = records.map(Node::Leaf).to_vec();
    let signature = Chunk { kind: b's', records: 0, decoded_size: 0, data: Vec::new() };
    Node::File(vec![Part::Raw(signature), Part::Records { snappy: false, records }]).write()
}

fn binaries(folder: &Path) -> Result<Vec<PathBuf>, std::io::Error> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.append(&mut binaries(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "bin") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
