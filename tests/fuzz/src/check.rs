//! What must hold of any input.

use aotgate_runtime::Error;
use aotgate_runtime::artifact::inspect::Inspection;
use aotgate_runtime::artifact::{Artifact, Compression, Encoding, EnvelopeForm, Form, Limits};

/// Opens an artifact with limits that a fuzzer's memory allows.
pub fn read(bytes: &[u8]) -> Result<Artifact, Error> {
    let limits = Limits { decompressed: 64 << 20, walked_fields: 1 << 20, ..Limits::default() };
    let result = Artifact::read_with(bytes.to_vec(), &limits);
    match &result {
        Ok(artifact) => {
            let layers = artifact.layers();
            assert!((1..=3).contains(&layers.len()));
            assert!(layers[0].size == bytes.len());
            assert_eq!(layers[layers.len() - 1].message_size, artifact.executable().len());
        }
        Err(error) => explained(error),
    }
    result
}

/// An error says where, and what.
pub fn explained(error: &Error) {
    let text = error.to_string();
    let kinds =
        ["expected", "limit", "not supported", "ambiguous", "does not decode", "cannot write"];
    assert!(kinds.iter().any(|kind| text.contains(kind)), "{text}");
    assert!(text.len() < 4096, "{} bytes of message", text.len());
}

/// Looks at all of it.
pub fn inspect(artifact: &Artifact) {
    match Inspection::new(artifact) {
        Ok(inspection) => {
            let text = inspection.to_string();
            assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
            assert!(serde_json::to_string(&inspection).is_ok());
        }
        Err(error) => explained(&error),
    }
}

/// Every combination of containers.
pub fn forms() -> Vec<Form> {
    let encodings =
        [Encoding::Plain, Encoding::Split(Compression::None), Encoding::Split(Compression::Snappy)];
    let mut forms = Vec::new();
    for envelope in [None, Some(EnvelopeForm::WithoutAbi), Some(EnvelopeForm::WithAbi)] {
        for outer in encodings.map(Some).into_iter().chain([None]) {
            for executable in encodings {
                forms.push(Form { envelope, outer, executable });
            }
        }
    }
    forms
}
