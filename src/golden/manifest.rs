//! `golden.toml`: what a golden is, where its arrays lie, and what to compare them with.
//!
//! ```toml
//! artifact = "executable.bin"          # as the compiler serialized it
//! emitted_at = 2026-09-17              # release date of the compiler that made it
//! note = "..."                         # anything worth knowing
//! cannot_run = ["custom call x: ..."]  # parts that need the process that compiled it
//!
//! [producer]
//! name = "jaxlib"
//! version = "0.11.2"
//!
//! [target]
//! architecture = "sm_90"               # what the code was compiled for
//! device = "NVIDIA H200"               # where the expected outputs were computed
//!
//! [program]
//! replicas = 1                         # default 1
//! partitions = 1                       # default 1
//! options = { xla_gpu_enable_triton_gemm = false }   # compile options other than the defaults
//! inputs = [{ shape = "bf16[8,8]", donated = true }] # in parameter order, per device
//! outputs = [{ shape = "f32[8,8]", relative = 1e-5, absolute = 1e-8 }]
//!
//! [[device]]                           # one per device: replica * partitions + partition
//! inputs = "inputs.npz"                # arrays "0", "1", ... in parameter order
//! expected = "expected.npz"            # arrays "0", "1", ... in result order
//! ```
//!
//! Shapes are HLO's, without layouts: arrays in files are in C order. Types that NumPy lacks are stored as
//! unsigned integers of the same width ([`ArrayShape::stored_as`]). Tolerances are this golden's own; without
//! them the defaults of the backend hold. Unknown keys are errors.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::Deserialize;
use toml::Spanned;

use super::shape::ArrayShape;
use crate::error::{Error, ErrorKind};
use crate::triage::policy::{date, suggestion};

/// Name of the file.
pub const FILE_NAME: &str = "golden.toml";

/// Most devices of one program.
pub(super) const MAX_DEVICES: u32 = 1024;
/// Most inputs or outputs of one program.
const MAX_ARRAYS: usize = 10_000;
/// Largest tolerance: what is off by more than the whole value proves nothing.
const MAX_TOLERANCE: f64 = 1.0;

/// What `golden.toml` says.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest {
    /// File name of the artifact.
    pub artifact: String,
    /// Release date of the compiler that made it.
    pub emitted_at: NaiveDate,
    /// The compiler.
    pub producer: Producer,
    /// What it was compiled for.
    pub target: Target,
    /// How it is called.
    pub program: Program,
    /// Files per device, by device number; empty where there are none.
    pub devices: Vec<Device>,
    /// Parts that cannot run outside the process that compiled it, each with its reason.
    pub cannot_run: Vec<String>,
    /// Anything worth knowing.
    pub note: Option<String>,
}

/// The compiler.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Producer {
    /// Such as `jaxlib`.
    pub name: String,
    /// Such as `0.11.2`.
    pub version: String,
}

/// What an artifact was compiled for.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Such as `sm_90`.
    pub architecture: String,
    /// Where the expected outputs were computed.
    pub device: Option<String>,
}

/// How a program is called.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// Replicas, at least 1.
    pub replicas: u32,
    /// Partitions of each replica, at least 1.
    pub partitions: u32,
    /// Compile options other than the defaults, as text.
    pub options: BTreeMap<String, String>,
    /// Inputs of each device, in parameter order.
    pub inputs: Vec<ManifestArray>,
    /// Outputs of each device, in result order.
    pub outputs: Vec<ManifestArray>,
}

impl Program {
    /// Devices it runs on.
    pub fn devices(&self) -> u32 {
        self.replicas.saturating_mul(self.partitions)
    }

    /// Of each output the tolerance as a comparison takes it, where it has one of its own.
    #[cfg(feature = "runtime")]
    pub(crate) fn tolerances(&self) -> Vec<Option<aotgate_runtime::compare::Tolerance>> {
        let tolerance = |own: Tolerance| aotgate_runtime::compare::Tolerance {
            relative: own.relative,
            absolute: own.absolute,
            scaled: 0.0,
        };
        self.outputs.iter().map(|output| output.tolerance.map(tolerance)).collect()
    }
}

/// One input or output.
#[derive(Debug, Clone, PartialEq)]
pub struct ManifestArray {
    /// Type and dimensions.
    pub shape: ArrayShape,
    /// The program may overwrite this input.
    pub donated: bool,
    /// How far this output may be off.
    pub tolerance: Option<Tolerance>,
}

/// How far a float may be off: at most `absolute + relative * |expected|`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Share of the expected value.
    pub relative: f64,
    /// In the value's own unit.
    pub absolute: f64,
}

/// Files of one device.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Device {
    /// File name of its inputs; none for a program without parameters.
    pub inputs: Option<String>,
    /// File name of its expected outputs.
    pub expected: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ManifestFile {
    artifact: Spanned<String>,
    #[serde(deserialize_with = "date")]
    emitted_at: NaiveDate,
    producer: Producer,
    target: Target,
    program: Spanned<ProgramTable>,
    #[serde(default)]
    device: Vec<DeviceTable>,
    #[serde(default)]
    cannot_run: Vec<String>,
    note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProgramTable {
    #[serde(default = "one")]
    replicas: u32,
    #[serde(default = "one")]
    partitions: u32,
    #[serde(default)]
    options: BTreeMap<String, toml::Value>,
    #[serde(default)]
    inputs: Vec<InputTable>,
    #[serde(default)]
    outputs: Vec<OutputTable>,
}

fn one() -> u32 {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InputTable {
    shape: ArrayShape,
    #[serde(default)]
    donated: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OutputTable {
    shape: ArrayShape,
    relative: Option<Spanned<f64>>,
    absolute: Option<Spanned<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeviceTable {
    inputs: Option<Spanned<String>>,
    expected: Option<Spanned<String>>,
}

impl Manifest {
    /// Reads a manifest; `path` is for messages.
    ///
    /// # Errors
    /// Syntax errors, unknown or missing keys, file names that lead elsewhere, counts over the caps or that do
    /// not fit together; each with its place.
    pub fn parse(path: &str, text: &str) -> Result<Manifest, Error> {
        let place = Place { path, text };
        let file: ManifestFile = toml::from_str(text).map_err(|error| {
            let message = error.message().to_owned();
            place.error(error.span(), &message, suggestion(&message))
        })?;
        let span = file.program.span();
        let program = program(file.program.into_inner(), span.clone(), &place)?;
        let mut devices = Vec::new();
        for table in &file.device {
            let name = |written: &Option<Spanned<String>>| {
                written.as_ref().map(|written| place.file_name(written)).transpose()
            };
            devices.push(Device { inputs: name(&table.inputs)?, expected: name(&table.expected)? });
        }
        let count = program.devices();
        if !devices.is_empty() && u32::try_from(devices.len()) != Ok(count) {
            let message = format!(
                "{} `[[device]]` tables for {count} devices ({} replicas of {} partitions)",
                devices.len(),
                program.replicas,
                program.partitions
            );
            let help = "write one table per device, or none".to_owned();
            return Err(place.error(Some(span), &message, Some(help)));
        }
        Ok(Manifest {
            artifact: place.file_name(&file.artifact)?,
            emitted_at: file.emitted_at,
            producer: file.producer,
            target: file.target,
            program,
            devices,
            cannot_run: file.cannot_run,
            note: file.note,
        })
    }

    /// Every file that it names, the artifact first, each once.
    pub fn files(&self) -> Vec<&str> {
        let mut files = vec![&*self.artifact];
        for device in &self.devices {
            for name in [&device.inputs, &device.expected].into_iter().flatten() {
                if !files.contains(&&**name) {
                    files.push(name);
                }
            }
        }
        files
    }
}

fn program(
    table: ProgramTable,
    span: std::ops::Range<usize>,
    place: &Place<'_>,
) -> Result<Program, Error> {
    let devices = table.replicas.checked_mul(table.partitions);
    if !devices.is_some_and(|count| (1..=MAX_DEVICES).contains(&count)) {
        let message = format!(
            "{} replicas of {} partitions: a program has 1 to {MAX_DEVICES} devices",
            table.replicas, table.partitions
        );
        return Err(place.error(Some(span), &message, None));
    }
    if table.inputs.len() > MAX_ARRAYS || table.outputs.len() > MAX_ARRAYS {
        let message = format!("a program has at most {MAX_ARRAYS} inputs and outputs");
        return Err(place.error(Some(span), &message, None));
    }
    let input = |table: InputTable| ManifestArray {
        shape: table.shape,
        donated: table.donated,
        tolerance: None,
    };
    let mut outputs = Vec::new();
    for table in table.outputs {
        let given = table.relative.is_some() || table.absolute.is_some();
        let tolerance = Tolerance {
            relative: place.tolerance(table.relative)?,
            absolute: place.tolerance(table.absolute)?,
        };
        let tolerance = given.then_some(tolerance);
        outputs.push(ManifestArray { shape: table.shape, donated: false, tolerance });
    }
    let text = |value: toml::Value| match value {
        toml::Value::String(text) => text,
        other => other.to_string(),
    };
    Ok(Program {
        replicas: table.replicas,
        partitions: table.partitions,
        options: table.options.into_iter().map(|(name, value)| (name, text(value))).collect(),
        inputs: table.inputs.into_iter().map(input).collect(),
        outputs,
    })
}

/// Where a value stands.
struct Place<'a> {
    path: &'a str,
    text: &'a str,
}

impl Place<'_> {
    fn error(
        &self,
        span: Option<std::ops::Range<usize>>,
        message: &str,
        help: Option<String>,
    ) -> Error {
        // Listings show the message alone.
        let line = span.as_ref().map_or_else(String::new, |span| {
            let before = self.text.as_bytes().iter().take(span.start);
            format!(":{}", 1 + before.filter(|byte| **byte == b'\n').count())
        });
        ErrorKind::Manifest {
            message: format!("{}{line}: {message}", self.path),
            help,
            span: span.map(Into::into),
            source_code: miette::NamedSource::new(self.path, self.text.to_owned()),
        }
        .into()
    }

    /// The name of a file beside the manifest.
    fn file_name(&self, written: &Spanned<String>) -> Result<String, Error> {
        let name = written.get_ref();
        let odd = name.contains(['/', '\\', '\0']) || matches!(&**name, "" | "." | ".." | ".git");
        if odd || name == FILE_NAME {
            let message = format!("`{name}` is no file beside {FILE_NAME}");
            let help = "write a file name without a directory".to_owned();
            return Err(self.error(Some(written.span()), &message, Some(help)));
        }
        Ok(name.clone())
    }

    fn tolerance(&self, written: Option<Spanned<f64>>) -> Result<f64, Error> {
        let Some(written) = written else { return Ok(0.0) };
        let value = *written.get_ref();
        if !(0.0..=MAX_TOLERANCE).contains(&value) {
            let message = format!("{value} is no tolerance");
            let help = format!("write a number from 0 to {MAX_TOLERANCE}, such as 1e-5");
            return Err(self.error(Some(written.span()), &message, Some(help)));
        }
        Ok(value)
    }
}
