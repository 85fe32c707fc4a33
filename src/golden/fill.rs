//! Inputs and outputs that nobody recorded: made from a seed, and computed here.

use std::collections::BTreeMap;

use aotgate_runtime::backend::HostArray;
use aotgate_runtime::npz;
use aotgate_runtime::program::Limits;
use prost::bytes::Bytes;

use super::draft::Draft;
use crate::error::{Error, ErrorKind};
use crate::execute::{ArrayFile, Call, Execution, Opener, Stop, execute};

/// Names of the files with what a program is called with and what it gave, per device.
pub(super) struct Computed {
    pub(super) inputs: Vec<String>,
    pub(super) expected: Vec<String>,
}

/// Runs the artifact among `contents` on the reference backend and adds what is missing there: inputs, unless there
/// are some, and expected outputs.
pub(super) fn fill(
    artifact: &str,
    inputs: &[String],
    seed: u64,
    contents: &mut BTreeMap<String, Bytes>,
    opener: &Opener,
) -> Result<Computed, Error> {
    let limits = Limits::default();
    let bytes = contents.get(artifact).cloned().unwrap_or_default();
    let program = opener.program(artifact, &bytes, &limits).map_err(Stop::into_error)?;
    let call = Call { inputs: files(inputs, contents), seed, ..Call::default() };
    let execution = execute(artifact, &program, &call, &limits).map_err(Stop::into_error)?;
    let mut add = |stem: &str, devices: &[Vec<HostArray>]| -> Result<Vec<String>, Error> {
        let mut names = Vec::new();
        for (at, arrays) in devices.iter().enumerate() {
            let one = devices.len() == 1;
            let name = if one { format!("{stem}.npz") } else { format!("{stem}.{at}.npz") };
            let arrays: Vec<npz::Array> = arrays.iter().map(HostArray::to_npz).collect();
            let bytes = npz::write(&arrays).map_err(|error| ErrorKind::Artifact {
                path: name.clone(),
                error: Box::new(error),
            })?;
            contents.insert(name.clone(), bytes.into());
            names.push(name);
        }
        Ok(names)
    };
    let expected = add("expected", &execution.arrays)?;
    let inputs = match execution.seed {
        Some(_) => add("inputs", &execution.inputs)?,
        None => inputs.to_vec(),
    };
    Ok(Computed { inputs, expected })
}

fn files(names: &[String], contents: &BTreeMap<String, Bytes>) -> Vec<Option<ArrayFile>> {
    let file = |name: &String| {
        contents.get(name).map(|bytes| ArrayFile { path: name.clone(), bytes: bytes.clone() })
    };
    names.iter().map(file).collect()
}

impl Draft {
    /// Executes it as `golden verify` will.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn execute(&self, limits: &Limits, opener: &Opener) -> Result<Execution, Stop> {
        let manifest = &self.manifest;
        let name = &manifest.artifact;
        let bytes = self.files.get(name).cloned().unwrap_or_default();
        let program = opener.program(name, &bytes, limits)?;
        let of = |names: Vec<Option<String>>| -> Vec<Option<ArrayFile>> {
            let file = |name: Option<String>| files(&[name?], &self.files).pop().flatten();
            names.into_iter().map(file).collect()
        };
        let devices = &manifest.devices;
        let call = Call {
            inputs: of(devices.iter().map(|device| device.inputs.clone()).collect()),
            expected: of(devices.iter().map(|device| device.expected.clone()).collect()),
            tolerances: manifest.program.tolerances(),
            ..Call::default()
        };
        execute(name, &program, &call, limits)
    }
}
