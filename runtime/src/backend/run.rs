//! Runs a program on all its devices.

use super::collective::Member;
use super::reference::Reference;
use super::rendezvous::Rendezvous;
use super::walker::Walker;
use super::{Device as _, Place};
use crate::array::{Array, decode, encode};
use crate::error::Error;
use crate::program::shape::ArrayShape;
use crate::program::{At as _, Fault, Invalid, Limits, Program, Result};

/// An array outside of any device: row-major, one element after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct HostArray(pub(crate) Array);

/// Arrays for one device: the leaves of all parameters in depth-first order.
pub type DeviceInputs = Vec<HostArray>;

/// Arrays of one device: the leaves of the result in depth-first order.
pub type DeviceOutputs = Vec<HostArray>;

/// What running a program gave.
#[derive(Debug)]
pub struct Run {
    /// Results per device.
    pub outputs: Vec<DeviceOutputs>,
}

impl HostArray {
    /// An array from its elements, row-major and little-endian; types below a byte take one each.
    ///
    /// # Errors
    /// Another number of bytes than the shape takes.
    pub fn new(shape: &ArrayShape, bytes: &[u8]) -> Result<HostArray, Error> {
        let row_major = ArrayShape::row_major(shape.ty, &shape.dims);
        if bytes.len() != row_major.bytes() {
            let bound = format!("{} for {row_major}", row_major.bytes());
            return Err(Invalid::value("bytes", bytes.len(), bound).into());
        }
        Ok(HostArray(decode(bytes, &row_major)?))
    }

    /// Its shape, row-major.
    pub fn shape(&self) -> ArrayShape {
        self.0.shape()
    }

    /// Its elements as [`HostArray::new`] takes them.
    pub fn bytes(&self) -> Vec<u8> {
        let shape = self.shape();
        let mut bytes = vec![0; shape.bytes()];
        // The shape is the array's own, so it fits.
        let _ = encode(&self.0, &shape, &mut bytes);
        bytes
    }
}

/// Runs a program on the reference backend, one thread per device.
///
/// # Errors
/// Inputs that do not fit the parameters; what nothing here can run ([`Error::is_unsupported`]); a limit;
/// devices that do not meet.
pub fn run(program: &Program, inputs: &[DeviceInputs], limits: &Limits) -> Result<Run, Error> {
    let devices = program.devices();
    if inputs.len() != devices {
        return Err(Invalid::value(
            "inputs",
            inputs.len(),
            format!("{devices}, one set per device"),
        )
        .into());
    }
    let meet = Rendezvous::new(limits.rendezvous);
    let results: Vec<Result<DeviceOutputs>> = if devices == 1 {
        vec![device(program, 0, &inputs[0], &meet, limits)]
    } else {
        std::thread::scope(|scope| {
            let threads: Vec<_> = inputs
                .iter()
                .enumerate()
                .map(|(at, inputs)| {
                    let meet = &meet;
                    scope.spawn(move || {
                        let result = device(program, at, inputs, meet, limits);
                        if result.is_err() {
                            meet.give_up();
                        }
                        result
                    })
                })
                .collect();
            let lost =
                || Err(Invalid::value("device", "ended by a panic", "a result; please report it"));
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| lost())).collect()
        })
    };
    // Who only waited in vain is not the cause.
    let waited = |error: &Invalid| matches!(error.fault, Fault::Missing { .. });
    let mut errors: Vec<&Invalid> = results.iter().filter_map(|r| r.as_ref().err()).collect();
    errors.sort_by_key(|error| waited(error));
    if let Some(error) = errors.first() {
        return Err(Error::from((*error).clone()));
    }
    Ok(Run { outputs: results.into_iter().collect::<Result<_>>()? })
}

/// Runs one device.
fn device(
    program: &Program,
    number: usize,
    inputs: &[HostArray],
    meet: &Rendezvous,
    limits: &Limits,
) -> Result<DeviceOutputs> {
    let member = Member::new(meet, number, program.replicas, program.partitions);
    let at = || format!("device {number}");
    let mut memory = Reference::new(program, limits, &member);
    load(program, inputs, &mut memory).at(at)?;
    let table: Vec<Place> = program
        .allocations
        .iter()
        .enumerate()
        .map(|(allocation, a)| Place { allocation, offset: 0, size: a.size })
        .collect();
    let mut walker = Walker::new(memory, member, limits);
    let walked = walker.steps(&program.steps, &table);
    let walked = if program.devices() > 1 { walked.at(at) } else { walked };
    walked?;
    program
        .outputs
        .iter()
        .map(|output| {
            let size = program.allocations[output.allocation].size;
            let bytes =
                walker.device.read(Place { allocation: output.allocation, offset: 0, size })?;
            decode(&bytes, &output.shape).map(HostArray)
        })
        .collect()
}

/// Fills the parameters' and constants' allocations.
fn load(program: &Program, inputs: &[HostArray], memory: &mut Reference<'_>) -> Result<()> {
    let leaves: Vec<Vec<&ArrayShape>> = program.parameters.iter().map(|p| p.leaves()).collect();
    let count: usize = leaves.iter().map(Vec::len).sum();
    if inputs.len() != count {
        return Err(Invalid::value(
            "inputs",
            inputs.len(),
            format!("{count}, one per array of the parameters"),
        ));
    }
    let mut first = 0;
    let mut starts = Vec::with_capacity(leaves.len());
    for leaves in &leaves {
        starts.push(first);
        first += leaves.len();
    }
    for (allocation, content) in program.allocations.iter().enumerate() {
        let Some((number, index)) = &content.parameter else { continue };
        // Allocations of tuples hold pointers, which nothing here follows.
        let Some(leaf) = leaf_number(&program.parameters[*number], index) else { continue };
        let (shape, input) = (leaves[*number][leaf], &inputs[starts[*number] + leaf]);
        let mut bytes = vec![0; shape.bytes()];
        encode(&input.0, shape, &mut bytes).at(|| format!("input of parameter {number}"))?;
        memory.write(Place { allocation, offset: 0, size: content.size }, &bytes)?;
    }
    for constant in &program.constants {
        let size = program.allocations[constant.allocation].size;
        memory
            .write(Place { allocation: constant.allocation, offset: 0, size }, &constant.bytes)?;
    }
    Ok(())
}

/// The number of the leaf at an index; `None` for what is no array.
fn leaf_number(shape: &crate::program::Shape, index: &[usize]) -> Option<usize> {
    use crate::program::Shape;
    match (shape, index) {
        (Shape::Array(_), []) => Some(0),
        (Shape::Tuple(shapes), [at, rest @ ..]) => {
            let before: usize = shapes.get(..*at)?.iter().map(|s| s.leaves().len()).sum();
            Some(before + leaf_number(shapes.get(*at)?, rest)?)
        }
        _ => None,
    }
}

impl HostArray {
    /// Its elements as `f64`, the real part of complex ones followed by the imaginary part.
    pub fn f64s(&self) -> Vec<f64> {
        use crate::array::Data;
        match &self.0.data {
            Data::Pred(v) => v.iter().map(|x| f64::from(u8::from(*x))).collect(),
            Data::Int(v) => v.iter().map(|x| *x as f64).collect(),
            Data::Uint(v) => v.iter().map(|x| *x as f64).collect(),
            Data::F32(v) => v.iter().map(|x| f64::from(*x)).collect(),
            Data::F64(v) => v.clone(),
            Data::C64(v) => v.iter().flat_map(|x| [f64::from(x.re), f64::from(x.im)]).collect(),
            Data::C128(v) => v.iter().flat_map(|x| [x.re, x.im]).collect(),
        }
    }
}
