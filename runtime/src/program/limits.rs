//! How much a program may ask for.

use std::time::Duration;

/// Caps on what an artifact can make the runtime do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes, shared evenly by the devices: of a device's allocations, again of its parameters and of its
    /// results outside of them, and again of the values while a kernel is evaluated.
    pub memory: u64,
    /// Elements computed, moved or compared on one device, in all of its kernels, copies and loops together.
    pub steps: u64,
    /// Iterations of one loop.
    pub iterations: u64,
    /// Devices, replicas times partitions.
    pub devices: usize,
    /// Thunks, those inside others included.
    pub thunks: usize,
    /// How long a device waits for others at a collective.
    pub rendezvous: Duration,
    /// How long one device may take.
    pub time: Duration,
}

impl Default for Limits {
    /// 2 GiB, 10 billion elements, a million iterations, 16 devices, 100,000 thunks, 20 seconds at a
    /// collective, a minute in all.
    fn default() -> Self {
        Limits {
            memory: 2 << 30,
            steps: 10_000_000_000,
            iterations: 1_000_000,
            devices: 16,
            thunks: 100_000,
            rendezvous: Duration::from_secs(20),
            time: Duration::from_secs(60),
        }
    }
}

impl Limits {
    /// A device's share of the memory.
    pub(crate) fn memory_of(&self, devices: usize) -> u64 {
        self.memory / devices.max(1) as u64
    }
}
