//! Executes goldens, several at a time.

use std::collections::BTreeMap;

use aotgate_runtime::npz;
use aotgate_runtime::program::{ArrayShape as Shape, Limits, Program};
use prost::bytes::Bytes;

use super::{ArrayShape, Golden, Store};
use crate::error::{Error, ErrorKind};
use crate::execute::{ArrayFile, Call, Execution, Opener, Output, Stop, execute, worst};
use crate::pool::{Budget, each};

/// What became of a golden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It gave what it should.
    Passed,
    /// It came to its end, and nothing says what it should have given.
    Ran,
    /// It gave something else, or was refused.
    Failed,
    /// Something that it needs is missing here.
    Skipped,
    /// Its files cannot be read, so nothing can be said.
    Unreadable,
}

impl Outcome {
    /// Name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Ran => "ran",
            Outcome::Failed => "failed",
            Outcome::Skipped => "skipped",
            Outcome::Unreadable => "unreadable",
        }
    }
}

/// One golden's outcome.
#[derive(Debug)]
pub struct Case {
    /// The golden's id.
    pub golden: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Why it did not pass; of a difference the worst element.
    pub reason: Option<String>,
    /// The error behind the reason, where there is one.
    pub error: Option<Error>,
    /// Devices that it ran on; `None` where it did not run.
    pub devices: Option<usize>,
    /// The seed of its inputs, where it has none of its own.
    pub seed: Option<u64>,
    /// Its results.
    pub outputs: Vec<Output>,
}

/// How goldens are executed.
#[derive(Debug)]
pub struct Verify<'a> {
    /// Opens artifacts.
    pub opener: &'a Opener,
    /// Of each golden.
    pub limits: Limits,
    /// For inputs that are not given.
    pub seed: u64,
    /// Goldens at a time.
    pub jobs: usize,
    /// Bytes that all running goldens may take together, as estimated; one that takes more runs alone.
    pub memory: u64,
}

impl Verify<'_> {
    /// Executes goldens; the cases come in the order given. `done` is told how many have ended, by any thread.
    ///
    /// Files are read by the calling thread, as goldens are taken up, since a repository is not shared.
    pub fn run(
        &self,
        store: &Store<'_>,
        goldens: &[&Golden],
        done: &(dyn Fn(usize) + Sync),
    ) -> Vec<Case> {
        let budget = Budget::new(self.memory);
        let items = goldens.iter().map(|golden| (*golden, Files::read(store, golden)));
        let work = |(golden, files): (&Golden, _)| self.case(golden, files, &budget);
        let cases = each(self.jobs.min(goldens.len()), items, &work, done);
        let all = cases.into_iter().zip(goldens);
        all.map(|(case, golden)| case.unwrap_or_else(|| Case::lost(golden))).collect()
    }

    fn case(&self, golden: &Golden, files: Result<Files, Error>, budget: &Budget) -> Case {
        let cannot_run = golden.manifest.iter().flat_map(|m| &m.cannot_run).next();
        if golden.manifest.is_none() && files.as_ref().is_ok_and(|f| f.artifact.is_empty()) {
            let reason = Some(super::EMPTY.to_owned());
            return Case { reason, ..Case::new(golden, Outcome::Skipped) };
        }
        let executed = files.map_err(Stop::Unreadable).and_then(|files| match cannot_run {
            // Says itself that it cannot, and why.
            Some(_) => Ok(None),
            None => self.execute(golden, files, budget).map(Some),
        });
        match executed {
            Ok(Some((devices, execution))) => Case::executed(golden, devices, execution),
            Ok(None) => {
                let reason = cannot_run.map(|reason| format!("cannot run: {reason}"));
                Case { reason, ..Case::new(golden, Outcome::Skipped) }
            }
            Err(stop) => Case::stopped(golden, stop),
        }
    }

    fn execute(
        &self,
        golden: &Golden,
        files: Files,
        budget: &Budget,
    ) -> Result<(usize, Execution), Stop> {
        let path = &golden.artifact;
        let arrays = files.array_bytes();
        let program = self.opener.program(path, &files.artifact, &self.limits)?;
        let devices = program.devices();
        matches_manifest(golden, &program).map_err(Stop::Unreadable)?;
        // Values are wider than in memory, and the arrays are held decoded beside the files.
        let _held = budget.take(program.memory().saturating_add(arrays).saturating_mul(3));
        let call = files.call(golden, self.seed);
        Ok((devices, execute(path, &program, &call, &self.limits)?))
    }
}

impl Case {
    fn new(golden: &Golden, outcome: Outcome) -> Case {
        Case {
            golden: golden.id.clone(),
            outcome,
            reason: None,
            error: None,
            devices: None,
            seed: None,
            outputs: Vec::new(),
        }
    }

    fn executed(golden: &Golden, devices: usize, execution: Execution) -> Case {
        let (outcome, reason) = if !execution.is_equal() {
            (Outcome::Failed, worst(&execution.outputs).map(difference))
        } else if execution.is_compared() {
            (Outcome::Passed, None)
        } else {
            (Outcome::Ran, Some("nothing says what it should give".to_owned()))
        };
        Case {
            reason,
            devices: Some(devices),
            seed: execution.seed,
            outputs: execution.outputs,
            ..Case::new(golden, outcome)
        }
    }

    fn stopped(golden: &Golden, stop: Stop) -> Case {
        let (outcome, reason) = match &stop {
            Stop::NotSupported { what, .. } => (Outcome::Skipped, format!("not supported: {what}")),
            Stop::Failed(error) => (Outcome::Failed, error.to_string()),
            Stop::Unreadable(error) => (Outcome::Unreadable, error.to_string()),
        };
        Case { reason: Some(reason), error: Some(stop.into_error()), ..Case::new(golden, outcome) }
    }

    fn lost(golden: &Golden) -> Case {
        let reason = "its thread ended early; this is a defect, please report it".to_owned();
        Case { reason: Some(reason), ..Case::new(golden, Outcome::Failed) }
    }
}

/// What is wrong with an output, in one line.
pub fn difference(output: &Output) -> String {
    let Some(comparison) = &output.comparison else { return String::new() };
    let Some(worst) = &comparison.worst else { return String::new() };
    format!(
        "output {} of device {} differs in {} of {} elements; at {:?} expected {}, found {}",
        output.index,
        output.device,
        comparison.beyond,
        comparison.elements,
        worst.index,
        worst.expected,
        worst.actual
    )
}

/// The files of one golden.
pub(crate) struct Files {
    /// Its artifact.
    pub(crate) artifact: Bytes,
    inputs: Vec<Option<ArrayFile>>,
    expected: Vec<Option<ArrayFile>>,
}

impl Files {
    pub(crate) fn read(store: &Store<'_>, golden: &Golden) -> Result<Files, Error> {
        if let Some(problem) = &golden.problem {
            // Errors cannot be copied, but their words can.
            let help = miette::Diagnostic::help(problem).map(|help| help.to_string());
            let help = help.unwrap_or_else(|| "see `aotgate golden list`".to_owned());
            let (path, what) = (golden.dir.clone(), problem.to_string());
            return Err(ErrorKind::Golden { path, what, help }.into());
        }
        let mut files =
            Files { artifact: store.read(golden)?, inputs: Vec::new(), expected: Vec::new() };
        // Devices may share a file, which is held once.
        let mut held: BTreeMap<String, Bytes> = BTreeMap::new();
        let mut read = |name: &Option<String>| -> Result<Option<ArrayFile>, Error> {
            let Some(name) = name else { return Ok(None) };
            let bytes = match held.get(name) {
                Some(bytes) => bytes.clone(),
                None => store.read_beside(golden, name)?,
            };
            held.insert(name.clone(), bytes.clone());
            Ok(Some(ArrayFile { path: format!("{}/{name}", golden.dir), bytes }))
        };
        for device in golden.manifest.iter().flat_map(|manifest| &manifest.devices) {
            files.inputs.push(read(&device.inputs)?);
            files.expected.push(read(&device.expected)?);
        }
        Ok(files)
    }

    /// Bytes of all arrays' files, and of what is unpacked from them.
    pub(crate) fn array_bytes(&self) -> u64 {
        let arrays = self.inputs.iter().chain(&self.expected).flatten();
        let bytes = arrays.map(|file| {
            let unpacked = npz::contents(&file.bytes).map_or(0, |contents| contents.bytes);
            unpacked.saturating_add(file.bytes.len() as u64)
        });
        bytes.fold(0, u64::saturating_add)
    }

    /// How the golden is called, with its own tolerances.
    pub(crate) fn call(self, golden: &Golden, seed: u64) -> Call {
        let tolerances = golden.manifest.as_ref().map(|manifest| manifest.program.tolerances());
        Call {
            tolerances: tolerances.unwrap_or_default(),
            inputs: self.inputs,
            expected: self.expected,
            seed,
            exact: false,
        }
    }
}

/// Whether the program is what the manifest describes.
fn matches_manifest(golden: &Golden, program: &Program) -> Result<(), Error> {
    let Some(manifest) = &golden.manifest else { return Ok(()) };
    let differ = |what: String| {
        let help = "record the golden again: golden.toml has to describe its artifact".to_owned();
        Err(ErrorKind::Golden { path: golden.dir.clone(), what, help }.into())
    };
    let says = (manifest.program.devices() as usize, manifest.program.outputs.len());
    let (devices, outputs) = (program.devices(), program.outputs.len());
    if says != (devices, outputs) {
        let (of, of_outputs) = says;
        return differ(format!(
            "{of} devices and {of_outputs} outputs, but the program has {devices} and {outputs}"
        ));
    }
    let inputs: Vec<&Shape> = program.parameters.iter().flat_map(|p| p.leaves()).collect();
    if manifest.program.inputs.len() != inputs.len() {
        let says = manifest.program.inputs.len();
        return differ(format!("{says} inputs, but the program has {}", inputs.len()));
    }
    let outputs: Vec<&Shape> = program.outputs.iter().map(|output| &output.shape).collect();
    let own = [("input", &inputs), ("output", &outputs)];
    let said = [&manifest.program.inputs, &manifest.program.outputs];
    for ((what, own), said) in own.into_iter().zip(said) {
        for (at, (own, said)) in own.iter().zip(said).enumerate() {
            let own = ArrayShape {
                element: own.ty.as_str_name().to_ascii_lowercase(),
                dimensions: own.dims.iter().map(|size| *size as u64).collect(),
            };
            if own != said.shape {
                let said = &said.shape;
                return differ(format!("{what} {at} is {said}, but {own} in the program"));
            }
        }
    }
    Ok(())
}
