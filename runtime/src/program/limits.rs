//! How much a program may ask for.

use std::time::Duration;

/// Caps on what an artifact can make the runtime do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of all allocations of one device, and again of the values while a kernel is evaluated.
    pub memory: u64,
    /// Elements computed on one device.
    pub steps: u64,
    /// Iterations of one loop.
    pub iterations: u64,
    /// Devices, replicas times partitions.
    pub devices: usize,
    /// Thunks, those inside others included.
    pub thunks: usize,
    /// How long a device waits for others at a collective.
    pub rendezvous: Duration,
}

impl Default for Limits {
    /// 2 GiB, 10 billion elements, a million iterations, 16 devices, 100,000 thunks, 20 seconds.
    fn default() -> Self {
        Limits {
            memory: 2 << 30,
            steps: 10_000_000_000,
            iterations: 1_000_000,
            devices: 16,
            thunks: 100_000,
            rendezvous: Duration::from_secs(20),
        }
    }
}
