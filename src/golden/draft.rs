//! A golden before it is in a store: what belongs together, checked against the program itself.

use std::collections::BTreeMap;

use aotgate_runtime::npz::Array;
use aotgate_runtime::proto::xla::gpu::GpuExecutableProto;
use aotgate_runtime::proto::xla::{HloModuleProto, PrimitiveType, ShapeProto};
use prost::bytes::Bytes;

use super::contents::Contents;
use super::manifest::{Device, MAX_DEVICES, Manifest, ManifestArray};
use super::shape::ArrayShape;
use crate::error::{Error, ErrorKind};
use crate::execute::{Opener, numbered};

/// Custom calls that need the process that compiled the program, by a part of their target.
const CALLS_BACK: [&str; 2] = ["python_gpu_callback", "python_cpu_callback"];

/// A manifest with the files that it names.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// What `golden.toml` is going to say.
    pub manifest: Manifest,
    /// Content of each file by name.
    pub files: BTreeMap<String, Bytes>,
}

/// What a program itself says of how it is called.
#[derive(Debug, Clone, PartialEq)]
pub struct Signature {
    /// Replicas, at least 1.
    pub replicas: u32,
    /// Partitions, at least 1.
    pub partitions: u32,
    /// Inputs of each device, in order; `None` where the artifact does not say.
    pub inputs: Option<Vec<ManifestArray>>,
    /// Leaves of the result, in order; `None` where the artifact does not say.
    pub outputs: Option<Vec<ManifestArray>>,
    /// GPU generation, such as `sm_90`.
    pub architecture: Option<String>,
    /// Parts that need the process that compiled it.
    pub cannot_run: Vec<String>,
}

impl Signature {
    /// Reads it off an artifact.
    ///
    /// # Errors
    /// What is no artifact.
    pub fn of(name: &str, bytes: &Bytes, opener: &Opener) -> Result<Signature, Error> {
        let failed = |error| {
            Error::from(ErrorKind::Artifact { path: name.to_owned(), error: Box::new(error) })
        };
        let artifact = opener.open(name, bytes)?;
        let message = artifact.decode().map_err(failed)?;
        let contents = Contents::of(&artifact).map_err(failed)?;
        let with_config = message.hlo_module_with_config.as_ref();
        let module = with_config.and_then(|both| both.hlo_module.as_ref());
        let config = with_config.and_then(|both| both.config.as_ref());
        let at_least_one = |count: Option<i64>| {
            u32::try_from(count.unwrap_or(1).max(1)).map_err(|_| {
                refused(name, "it has more devices than there are".to_owned(), "check the artifact")
            })
        };
        let shapes = Shapes::of(&message, module);
        let replicas = at_least_one(config.map(|config| config.replica_count))?;
        let partitions = at_least_one(config.map(|config| config.num_partitions))?;
        if replicas.checked_mul(partitions).is_none_or(|devices| devices > MAX_DEVICES) {
            let what = format!(
                "{replicas} replicas of {partitions} partitions: a golden has at most {MAX_DEVICES} devices"
            );
            return Err(refused(name, what, "check the artifact"));
        }
        Ok(Signature {
            replicas,
            partitions,
            inputs: shapes.inputs,
            outputs: shapes.outputs,
            architecture: architecture(&message),
            cannot_run: contents
                .custom_calls
                .iter()
                .filter(|target| CALLS_BACK.iter().any(|part| target.contains(part)))
                .map(|target| {
                    format!("custom call {target}: calls back into the process that compiled it")
                })
                .collect(),
        })
    }
}

struct Shapes {
    inputs: Option<Vec<ManifestArray>>,
    outputs: Option<Vec<ManifestArray>>,
}

impl Shapes {
    fn of(message: &GpuExecutableProto, module: Option<&HloModuleProto>) -> Shapes {
        let shape = message
            .program_shape
            .as_ref()
            .or_else(|| module.and_then(|module| module.host_program_shape.as_ref()));
        let plain = |shape: ArrayShape| ManifestArray { shape, donated: false, tolerance: None };
        let leaves = |shapes: &[ShapeProto]| -> Option<Vec<ManifestArray>> {
            let mut found = Vec::new();
            for shape in shapes {
                leaves_of(shape, &mut found)?;
            }
            Some(found.into_iter().map(plain).collect())
        };
        let mut inputs = shape.and_then(|shape| leaves(&shape.parameters));
        if let (Some(inputs), Some(shape)) = (&mut inputs, shape)
            && inputs.len() == shape.parameters.len()
        {
            for at in donated(module) {
                if let Some(input) = usize::try_from(at).ok().and_then(|at| inputs.get_mut(at)) {
                    input.donated = true;
                }
            }
        }
        let outputs = shape.and_then(|shape| leaves(shape.result.as_slice()));
        Shapes { inputs, outputs }
    }
}

/// Numbers of the parameters whose buffers the program may reuse.
fn donated(module: Option<&HloModuleProto>) -> Vec<i64> {
    let Some(module) = module else { return Vec::new() };
    let aliased = module.input_output_alias.iter().flat_map(|alias| &alias.entries);
    let given = module.buffer_donor.iter().flat_map(|donor| &donor.entries);
    let aliased = aliased.map(|entry| entry.parameter_number);
    aliased.chain(given.map(|entry| entry.parameter_number)).collect()
}

/// Arrays in a shape, tuples taken apart; `None` for what is no array, such as a token.
fn leaves_of(shape: &ShapeProto, found: &mut Vec<ArrayShape>) -> Option<()> {
    let element = shape.element_type();
    if element == PrimitiveType::Tuple {
        return shape.tuple_shapes.iter().try_for_each(|inner| leaves_of(inner, found));
    }
    let sizes: Result<Vec<u64>, _> =
        shape.dimensions.iter().map(|size| u64::try_from(*size)).collect();
    let element = element.as_str_name().to_ascii_lowercase();
    let shape = ArrayShape { element, dimensions: sizes.ok()? };
    (!shape.stored_as().is_empty()).then(|| found.push(shape))
}

fn architecture(message: &GpuExecutableProto) -> Option<String> {
    use aotgate_runtime::proto::stream_executor::gpu_compute_capability_proto::ComputeCapability;
    match message.gpu_compute_capability.as_ref()?.compute_capability.as_ref()? {
        ComputeCapability::CudaComputeCapability(cuda) => {
            Some(format!("sm_{}{}", cuda.major, cuda.minor))
        }
        ComputeCapability::RocmComputeCapability(rocm) => Some(rocm.gcn_arch_name.clone()),
        ComputeCapability::OneapiComputeCapability(_) => Some("oneapi".to_owned()),
    }
}

impl Draft {
    /// Holds the manifest against the program and the arrays against the manifest.
    ///
    /// # Errors
    /// Files that are missing or cannot be read, and counts, shapes and types that do not fit.
    pub fn validate(&self, opener: &Opener) -> Result<(), Error> {
        let manifest = &self.manifest;
        let artifact = &manifest.artifact;
        let signature = Signature::of(artifact, self.file(artifact)?, opener)?;
        let program = &manifest.program;
        let counts = (program.replicas, program.partitions);
        if counts != (signature.replicas, signature.partitions) {
            let what = format!(
                "it was compiled for {} replicas of {} partitions, not {} of {}",
                signature.replicas, signature.partitions, counts.0, counts.1
            );
            return Err(refused(artifact, what, "say how often it was compiled to run"));
        }
        for (what, own, given) in [
            ("input", &signature.inputs, &program.inputs),
            ("output", &signature.outputs, &program.outputs),
        ] {
            if let Some(own) = own {
                same_shapes(artifact, what, own, given)?;
            }
        }
        for (at, device) in manifest.devices.iter().enumerate() {
            self.validate_device(at, device)?;
        }
        Ok(())
    }

    fn validate_device(&self, at: usize, device: &Device) -> Result<(), Error> {
        let program = &self.manifest.program;
        match &device.inputs {
            Some(name) => self.arrays(name, &program.inputs)?,
            None if program.inputs.is_empty() => {}
            None => {
                let what = format!("device {at} has no inputs for {}", count(&program.inputs));
                return Err(refused(&self.manifest.artifact, what, "pass `--inputs FILE.npz`"));
            }
        }
        match &device.expected {
            Some(name) => self.arrays(name, &program.outputs),
            None => Ok(()),
        }
    }

    /// Whether a file holds exactly the wanted arrays.
    fn arrays(&self, name: &str, wanted: &[ManifestArray]) -> Result<(), Error> {
        let stored = |array: &ManifestArray| array.shape.stored_bytes().unwrap_or(u64::MAX);
        let bytes = wanted.iter().map(stored).fold(0, u64::saturating_add);
        let arrays = numbered(name, self.file(name)?, &count(wanted), (wanted.len(), bytes))?;
        for (at, (array, wanted)) in arrays.iter().zip(wanted).enumerate() {
            fits(name, at, array, &wanted.shape)?;
        }
        Ok(())
    }

    fn file(&self, name: &str) -> Result<&Bytes, Error> {
        self.files.get(name).ok_or_else(|| {
            refused(name, "there is no such file".to_owned(), "name one that exists")
        })
    }
}

fn fits(name: &str, at: usize, array: &Array, wanted: &ArrayShape) -> Result<(), Error> {
    if array.shape == wanted.dimensions && array.element.descr() == wanted.stored_as() {
        return Ok(());
    }
    let found = ArrayShape { element: array.element.descr(), dimensions: array.shape.clone() };
    let what = format!("array {at} is {found}, but {wanted} is stored as {}", wanted.stored_as());
    Err(refused(name, what, "types that NumPy lacks are unsigned integers of the same width"))
}

fn same_shapes(
    name: &str,
    what: &str,
    own: &[ManifestArray],
    given: &[ManifestArray],
) -> Result<(), Error> {
    if own.len() != given.len() {
        let what = format!("the program has {} {what}s, not {}", own.len(), given.len());
        return Err(refused(name, what, "list every parameter and every leaf of the result"));
    }
    for (at, (own, given)) in own.iter().zip(given).enumerate() {
        if own.shape != given.shape || own.donated != given.donated {
            let donated = |array: &ManifestArray| if array.donated { " (donated)" } else { "" };
            let what = format!(
                "{what} {at} of the program is {}{}, not {}{}",
                own.shape,
                donated(own),
                given.shape,
                donated(given)
            );
            return Err(refused(name, what, "say what the program was compiled for"));
        }
    }
    Ok(())
}

fn count(arrays: &[ManifestArray]) -> String {
    match arrays.len() {
        1 => "1 parameter or result".to_owned(),
        many => format!("{many} parameters or results"),
    }
}

fn refused(path: &str, what: String, help: &str) -> Error {
    ErrorKind::Golden { path: path.to_owned(), what, help: help.to_owned() }.into()
}
