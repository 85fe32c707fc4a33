//! Runs programs. The walker goes through the thunks; what differs between backends is behind `Device`.

mod budget;
mod collective;
pub mod reference;
mod rendezvous;
mod run;
mod seeded;
mod walker;

pub use run::{DeviceInputs, DeviceOutputs, HostArray, Run, run};
pub use seeded::seeded;

use crate::program::Result;
use crate::program::thunk::{Convolution, CustomCall, Fft, Kernel, Matmul, Step, TriangularSolve};

/// Bytes of a device's memory: part of one of the program's allocations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) allocation: usize,
    pub(crate) offset: usize,
    pub(crate) size: usize,
}

/// Translates the slices of a thunk into places.
pub(crate) type Resolve<'a> = &'a dyn Fn(&crate::program::Slice) -> Place;

/// Memory, kernels and libraries of one device.
pub(crate) trait Device {
    /// Copies bytes; the places may overlap.
    fn copy(&mut self, from: Place, to: Place, size: usize) -> Result<()>;
    /// Repeats a word over a place.
    fn fill(&mut self, to: Place, word: u32) -> Result<()>;
    /// The bytes of a place.
    fn read(&mut self, from: Place) -> Result<Vec<u8>>;
    /// Stores bytes at the beginning of a place.
    fn write(&mut self, to: Place, bytes: &[u8]) -> Result<()>;
    /// Launches a kernel.
    fn kernel(&mut self, step: &Step, kernel: &Kernel, resolve: Resolve<'_>) -> Result<()>;
    /// Runs a kernel that talks to the other devices of its group.
    fn collective_kernel(
        &mut self,
        step: &Step,
        collective: &crate::program::thunk::Collective,
        peers: &dyn collective::Peers,
        resolve: Resolve<'_>,
    ) -> Result<()>;
    /// Multiplies matrices.
    fn matmul(&mut self, matmul: &Matmul, resolve: Resolve<'_>) -> Result<()>;
    /// Transforms.
    fn fft(&mut self, fft: &Fft, resolve: Resolve<'_>) -> Result<()>;
    /// Solves.
    fn triangular_solve(&mut self, solve: &TriangularSolve, resolve: Resolve<'_>) -> Result<()>;
    /// Convolves.
    fn convolution(&mut self, convolution: &Convolution, resolve: Resolve<'_>) -> Result<()>;
    /// Calls a registered function.
    fn custom_call(&mut self, step: &Step, call: &CustomCall, resolve: Resolve<'_>) -> Result<()>;
}
