//! Executes one artifact and holds its results against what is expected.
//!
//! What the command line and the golden store share: open, check, feed, run, compare. Nothing here prints or reads
//! files.

use std::sync::OnceLock;

use aotgate_runtime::artifact::{self, Artifact};
use aotgate_runtime::backend::{self, DeviceInputs, DeviceOutputs, HostArray};
use aotgate_runtime::compare::{Comparison, Rule, Tolerance, compare, only_moves};
use aotgate_runtime::npz;
use aotgate_runtime::program::{ArrayShape, Limits, Program};
use prost::bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::descriptor::{Contract, ContractSpec};
use crate::error::{Error, ErrorKind};
use crate::view;

/// Why something was not executed to its end.
#[derive(Debug)]
pub enum Stop {
    /// Its files cannot be read, or do not belong together.
    Unreadable(Error),
    /// Nothing is wrong with it, but this runtime lacks something.
    NotSupported {
        /// What that is.
        what: String,
        /// The error with its place.
        error: Error,
    },
    /// It was refused, or did not come to an end.
    Failed(Error),
}

impl Stop {
    /// What an error of the runtime's means; `path` names the artifact.
    pub(crate) fn of(path: &str, error: aotgate_runtime::Error) -> Stop {
        match error.unsupported().map(str::to_owned) {
            Some(what) => Stop::NotSupported { what, error: failed(path, error) },
            None => Stop::Failed(failed(path, error)),
        }
    }

    /// The error, whichever kind it is.
    pub fn error(&self) -> &Error {
        match self {
            Stop::Unreadable(error) | Stop::Failed(error) | Stop::NotSupported { error, .. } => {
                error
            }
        }
    }

    /// The error, whichever kind it is.
    pub fn into_error(self) -> Error {
        match self {
            Stop::Unreadable(error) | Stop::Failed(error) | Stop::NotSupported { error, .. } => {
                error
            }
        }
    }
}

/// Opens artifacts in any container; text with the canonical contract, which is made once, when it is needed, unless
/// another one is given.
#[derive(Debug)]
pub struct Opener {
    spec: ContractSpec,
    limits: artifact::Limits,
    contract: OnceLock<Contract>,
}

impl Opener {
    /// `spec` says what the contract is.
    pub fn new(spec: &ContractSpec) -> Self {
        let limits = artifact::Limits::default();
        Opener { spec: spec.clone(), limits, contract: OnceLock::new() }
    }

    /// Unpacks artifacts to so many bytes, where that is given instead of the default.
    #[must_use]
    pub fn unpacking(mut self, bytes: Option<u64>) -> Self {
        self.limits.decompressed = bytes.unwrap_or(self.limits.decompressed);
        self
    }

    /// Opens text with this contract instead: that of the tree in which the text stands.
    #[must_use]
    pub fn reading_text_with(self, contract: Contract) -> Self {
        Opener { contract: OnceLock::from(contract), ..self }
    }

    /// The program of an artifact; `path` is for messages.
    ///
    /// # Errors
    /// [`Stop::Unreadable`] for what is no artifact, [`Stop::Failed`] for one that the runtime refuses.
    pub fn program(&self, path: &str, bytes: &Bytes, limits: &Limits) -> Result<Program, Stop> {
        let artifact = self.open(path, bytes).map_err(Stop::Unreadable)?;
        let executable =
            artifact.decode().map_err(|error| Stop::Unreadable(failed(path, error)))?;
        Program::new(executable, limits).map_err(|error| Stop::of(path, error))
    }

    /// The artifact; `path` is for messages.
    ///
    /// # Errors
    /// What is no artifact, and text that the contract does not allow.
    pub fn open(&self, path: &str, bytes: &Bytes) -> Result<Artifact, Error> {
        match Artifact::read_with(bytes.clone(), &self.limits) {
            // Text, unless what it looks like is not supported at all.
            Err(error) if error.is_unsupported() => {
                view::open(bytes.clone(), self.contract()?).map_err(|error| error.in_artifact(path))
            }
            other => other.map_err(|error| failed(path, error)),
        }
    }

    fn contract(&self) -> Result<&Contract, Error> {
        if let Some(contract) = self.contract.get() {
            return Ok(contract);
        }
        let contract = view::canonical_contract(&self.spec)?;
        Ok(self.contract.get_or_init(|| contract))
    }
}

/// What a program is called with, and what its results are held against.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// Inputs of each device; none at all stands for seeded ones.
    pub inputs: Vec<Option<ArrayFile>>,
    /// Expected outputs of each device; those without are not compared.
    pub expected: Vec<Option<ArrayFile>>,
    /// Of each output the tolerance, where it has one of its own.
    pub tolerances: Vec<Option<Tolerance>>,
    /// Compare bit for bit, whatever the type.
    pub exact: bool,
    /// For seeded inputs.
    pub seed: u64,
}

/// An `.npz` file.
#[derive(Debug, Clone)]
pub struct ArrayFile {
    /// How messages name it.
    pub path: String,
    /// Its content.
    pub bytes: Bytes,
}

/// What came out.
#[derive(Debug)]
pub struct Execution {
    /// The seed, where inputs were made from it.
    pub seed: Option<u64>,
    /// The inputs of each device.
    pub inputs: Vec<DeviceInputs>,
    /// The results of each device.
    pub arrays: Vec<DeviceOutputs>,
    /// The same, described, device by device.
    pub outputs: Vec<Output>,
}

/// One array of the result on one device.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// The device.
    pub device: usize,
    /// Which leaf of the result.
    pub index: usize,
    /// Such as `f32[2,3]`.
    pub shape: String,
    /// First 16 hex digits of the SHA-256 of shape and content.
    pub digest: String,
    /// How it compares, where something was expected.
    pub comparison: Option<Comparison>,
}

impl Execution {
    /// Whether everything that was expected came out.
    pub fn is_equal(&self) -> bool {
        self.outputs.iter().filter_map(|o| o.comparison.as_ref()).all(Comparison::is_equal)
    }

    /// Whether anything was expected.
    pub fn is_compared(&self) -> bool {
        self.outputs.iter().any(|output| output.comparison.is_some())
    }
}

/// The output that is off by the largest part of what is admitted; the first one where none is off.
pub fn worst(outputs: &[Output]) -> Option<&Output> {
    let part = |output: &Output| {
        let worst = output.comparison.as_ref()?.worst.as_ref()?;
        Some((worst.part(), worst.error))
    };
    let compared = outputs.iter().filter(|output| output.comparison.is_some());
    compared.reduce(|one, two| if part(two) > part(one) { two } else { one })
}

/// The output with the largest error; the first one where none is off.
pub fn furthest(outputs: &[Output]) -> Option<&Output> {
    let error = |output: &Output| Some(output.comparison.as_ref()?.furthest.as_ref()?.error);
    let compared = outputs.iter().filter(|output| output.comparison.is_some());
    compared.reduce(|one, two| if error(two) > error(one) { two } else { one })
}

/// Runs a program on the reference backend; `path` names its artifact in messages.
///
/// # Errors
/// See [`Stop`].
pub fn execute(
    path: &str,
    program: &Program,
    call: &Call,
    limits: &Limits,
) -> Result<Execution, Stop> {
    let parameters: Vec<&ArrayShape> = program.parameters.iter().flat_map(|p| p.leaves()).collect();
    let results: Vec<&ArrayShape> = program.outputs.iter().map(|output| &output.shape).collect();
    let devices = program.devices();
    for (what, files) in [("inputs", &call.inputs), ("expected outputs", &call.expected)] {
        if !files.is_empty() && files.len() != devices {
            let what = format!("{} files with {what} for {devices} devices", files.len());
            let help = "give one for each device, in their order";
            return Err(Stop::Unreadable(odd(path, what, help)));
        }
    }
    let given = call.inputs.iter().any(Option::is_some);
    let seed = (!given && !parameters.is_empty()).then_some(call.seed);
    let inputs = if given {
        let device = |file: &Option<ArrayFile>| match file {
            Some(file) => arrays(file, "input", &parameters),
            None if parameters.is_empty() => Ok(Vec::new()),
            None => {
                Err(odd(path, "a device has no inputs".to_owned(), "give them for every device"))
            }
        };
        call.inputs.iter().map(device).collect::<Result<_, _>>().map_err(Stop::Unreadable)?
    } else {
        backend::seeded(program, call.seed, limits).map_err(|error| Stop::of(path, error))?
    };
    // Before the work, so that a mistake shows at once.
    let expected: Vec<Option<Vec<HostArray>>> = call
        .expected
        .iter()
        .map(|file| file.as_ref().map(|file| arrays(file, "output", &results)).transpose())
        .collect::<Result<_, _>>()
        .map_err(Stop::Unreadable)?;
    let run = backend::run(program, &inputs, limits).map_err(|error| Stop::of(path, error))?;
    let moves = only_moves(program);
    let mut outputs = Vec::new();
    for (device, arrays) in run.outputs.iter().enumerate() {
        for (index, array) in arrays.iter().enumerate() {
            let shape = array.shape();
            let own = call.tolerances.get(index).copied().flatten();
            let rule = match own {
                _ if call.exact => Rule::Exact,
                Some(tolerance) => Rule::Within(tolerance),
                None if moves => Rule::Exact,
                None => Rule::of(shape.ty),
            };
            let expected = expected.get(device).and_then(|d| d.as_ref()?.get(index));
            let comparison = expected.map(|expected| compare(expected, array, rule)).transpose();
            let shape = plain(&shape);
            outputs.push(Output {
                device,
                index,
                digest: digest(&shape, array),
                shape,
                comparison: comparison.map_err(|error| Stop::of(path, error))?,
            });
        }
    }
    Ok(Execution { seed, inputs, arrays: run.outputs, outputs })
}

/// The arrays of a file in the given shapes.
fn arrays(file: &ArrayFile, what: &str, shapes: &[&ArrayShape]) -> Result<Vec<HostArray>, Error> {
    let failed = |error| failed(&file.path, error);
    let stored = |shape: &&ArrayShape| {
        let size = npz::stored_as(shape.ty).map_or(0, |element| u64::from(element.size()));
        (shape.elements() as u64).saturating_mul(size)
    };
    let bytes = shapes.iter().map(stored).fold(0, u64::saturating_add);
    let wanted = format!("{} {what}s of the program", shapes.len());
    let arrays = numbered(&file.path, &file.bytes, &wanted, (shapes.len(), bytes))?;
    let pairs = arrays.iter().zip(shapes).enumerate();
    pairs
        .map(|(at, (array, shape))| {
            HostArray::from_npz(&format!("{what} {at}"), array, shape).map_err(failed)
        })
        .collect()
}

/// The arrays "0", "1", ... of a file. `wanted` says how many and with how many bytes of elements, and for what: an
/// archive that says it has more is not unpacked.
pub(crate) fn numbered(
    path: &str,
    bytes: &Bytes,
    what: &str,
    wanted: (usize, u64),
) -> Result<Vec<npz::Array>, Error> {
    let failed = |error| failed(path, error);
    let held = npz::contents(bytes).map_err(failed)?;
    if held.arrays != wanted.0 {
        let what = format!("{} arrays for {what}", held.arrays);
        return Err(odd(path, what, "write arrays \"0\", \"1\", ... in order"));
    }
    let limits = npz::Limits::exactly(wanted.0, wanted.1);
    if held.bytes > limits.arrays {
        let what =
            format!("{} bytes once unpacked for {what}, which take {}", held.bytes, wanted.1);
        return Err(odd(path, what, "write the arrays in the shapes that the program has"));
    }
    npz::read_with(bytes.clone(), &limits).and_then(npz::numbered).map_err(failed)
}

/// A shape without its layout, which arrays outside of a device do not have.
fn plain(shape: &ArrayShape) -> String {
    let text = shape.to_string();
    text.split_once('{').map_or(text.clone(), |(plain, _)| plain.to_owned())
}

fn digest(shape: &str, array: &HostArray) -> String {
    let hash = Sha256::new().chain_update(shape).chain_update(array.bytes()).finalize();
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn failed(path: &str, error: aotgate_runtime::Error) -> Error {
    ErrorKind::Artifact { path: path.to_owned(), error: Box::new(error) }.into()
}

fn odd(path: &str, what: String, help: &str) -> Error {
    ErrorKind::Golden { path: path.to_owned(), what, help: help.to_owned() }.into()
}
