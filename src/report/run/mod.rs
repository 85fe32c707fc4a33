//! One executed artifact: the stable format `aotgate.run/1`, and text for people.

mod human;

pub use human::render;

use serde::Serialize;

use super::goldens::Problem;
use super::json::{Layout, to_text};
use super::output::OutputEntry;
use crate::execute::Output;

/// Name and version of the format.
pub const SCHEMA: &str = "aotgate.run/1";

/// What became of an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Everything is as expected.
    Equal,
    /// Something is not.
    Differs,
    /// Nothing was expected.
    Ran,
    /// The backend lacks something.
    NotSupported,
    /// It was refused, did not end, or cannot be read.
    Failed,
}

impl Outcome {
    /// Name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Equal => "equal",
            Outcome::Differs => "differs",
            Outcome::Ran => "ran",
            Outcome::NotSupported => "not-supported",
            Outcome::Failed => "failed",
        }
    }
}

/// A run.
#[derive(Debug)]
pub struct Report<'a> {
    /// The file.
    pub artifact: &'a str,
    /// Name of the module, where it was read.
    pub program: Option<&'a str>,
    /// Which backend.
    pub backend: &'static str,
    /// Devices of the program, where it was read.
    pub devices: Option<usize>,
    /// The seed of the inputs, where they were made from one.
    pub seed: Option<u64>,
    /// What became of it.
    pub outcome: Outcome,
    /// Why it did not run: what is missing, or the error.
    pub reason: Option<Problem>,
    /// Its results, device by device.
    pub outputs: &'a [Output],
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    artifact: &'a str,
    program: Option<&'a str>,
    backend: &'static str,
    devices: Option<usize>,
    seed: Option<u64>,
    outcome: &'static str,
    reason: Option<&'a Problem>,
    outputs: Vec<OutputEntry<'a>>,
}

/// The document.
pub fn json(report: &Report<'_>, layout: Layout) -> String {
    let document = Document {
        schema: SCHEMA,
        artifact: report.artifact,
        program: report.program,
        backend: report.backend,
        devices: report.devices,
        seed: report.seed,
        outcome: report.outcome.name(),
        reason: report.reason.as_ref(),
        outputs: report.outputs.iter().map(OutputEntry::of).collect(),
    };
    to_text(&document, layout)
}
