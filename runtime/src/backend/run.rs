//! Runs a program on all its devices.

use std::collections::HashMap;

use super::budget::Budget;
use super::collective::Member;
use super::reference::Reference;
use super::rendezvous::Rendezvous;
use super::walker::Walker;
use super::{Device as _, Place};
use crate::array::{Array, decode, encode};
use crate::deep::DEEP_STACK;
use crate::error::Error;
use crate::program::shape::ArrayShape;
use crate::program::{At as _, Fault, Invalid, Limits, Program, Result, Shape};

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
    let results: Vec<Result<DeviceOutputs>> = std::thread::scope(|scope| {
        let threads: Vec<_> = inputs
            .iter()
            .enumerate()
            .map(|(at, inputs)| {
                let meet = &meet;
                let thread = std::thread::Builder::new()
                    .name(format!("aotgate-device-{at}"))
                    .stack_size(DEEP_STACK)
                    .spawn_scoped(scope, move || {
                        let mut presence = Presence { meet, device: at, finished: false };
                        let result = device(program, at, inputs, meet, limits);
                        presence.finished = result.is_ok();
                        result
                    });
                if thread.is_err() {
                    meet.give_up();
                }
                thread
            })
            .collect();
        threads.into_iter().map(joined).collect()
    });
    // Who only waited in vain is not the cause.
    let waited = |error: &Invalid| matches!(error.fault, Fault::Missing { .. });
    let mut errors: Vec<&Invalid> = results.iter().filter_map(|r| r.as_ref().err()).collect();
    errors.sort_by_key(|error| waited(error));
    if let Some(error) = errors.first() {
        return Err(Error::from((*error).clone()));
    }
    Ok(Run { outputs: results.into_iter().collect::<Result<_>>()? })
}

/// A device among those that may wait for it. When it is dropped, be it by a panic, the others know.
struct Presence<'r> {
    meet: &'r Rendezvous,
    device: usize,
    finished: bool,
}

impl Drop for Presence<'_> {
    fn drop(&mut self) {
        if self.finished {
            self.meet.finish(self.device);
        } else {
            self.meet.give_up();
        }
    }
}

fn joined(
    thread: std::io::Result<std::thread::ScopedJoinHandle<'_, Result<DeviceOutputs>>>,
) -> Result<DeviceOutputs> {
    match thread.map(std::thread::ScopedJoinHandle::join) {
        Ok(Ok(result)) => result,
        Ok(Err(_)) => {
            Err(Invalid::value("device", "ended by a panic", "a result; please report it"))
        }
        Err(error) => {
            Err(Invalid::value("thread of a device", error, "a thread; free some memory"))
        }
    }
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
    let budget = Budget::new(limits, program.devices());
    let mut memory = Reference::new(program, limits, budget.clone(), &member);
    load(program, inputs, &mut memory).at(at)?;
    let table: Vec<Place> = program
        .allocations
        .iter()
        .enumerate()
        .map(|(allocation, a)| Place { allocation, offset: 0, size: a.size })
        .collect();
    let mut walker = Walker::new(memory, member, limits, budget);
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
    let count: usize = program.parameters.iter().map(|p| p.leaves().len()).sum();
    if inputs.len() != count {
        return Err(Invalid::value(
            "inputs",
            inputs.len(),
            format!("{count}, one per array of the parameters"),
        ));
    }
    let mut numbers = HashMap::with_capacity(count);
    for (at, shape) in program.parameters.iter().enumerate() {
        number(shape, &mut vec![at], &mut numbers);
    }
    for (allocation, content) in program.allocations.iter().enumerate() {
        let Some((number, index)) = &content.parameter else { continue };
        let path: Vec<usize> = std::iter::once(number).chain(index).copied().collect();
        // Allocations of tuples hold pointers, which nothing here follows.
        let Some((leaf, shape)) = numbers.get(&path) else { continue };
        let mut bytes = vec![0; shape.bytes()];
        encode(&inputs[*leaf].0, shape, &mut bytes)
            .at(|| format!("input of parameter {number}"))?;
        memory.write(Place { allocation, offset: 0, size: content.size }, &bytes)?;
    }
    for constant in &program.constants {
        let size = program.allocations[constant.allocation].size;
        memory
            .write(Place { allocation: constant.allocation, offset: 0, size }, &constant.bytes)?;
    }
    Ok(())
}

/// Numbers the arrays of a parameter, by their path.
fn number<'s>(
    shape: &'s Shape,
    path: &mut Vec<usize>,
    numbers: &mut HashMap<Vec<usize>, (usize, &'s ArrayShape)>,
) {
    match shape {
        Shape::Array(array) => {
            numbers.insert(path.clone(), (numbers.len(), array));
        }
        Shape::Tuple(shapes) => {
            for (at, shape) in shapes.iter().enumerate() {
                path.push(at);
                number(shape, path, numbers);
                path.pop();
            }
        }
        Shape::Token => {}
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
