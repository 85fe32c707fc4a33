//! What one device may still do.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use crate::program::{Invalid, Limits, Result};

/// Counts a device's work against the limits, in all of its kernels, copies and loops together. Clones
/// count together.
#[derive(Debug, Clone)]
pub(crate) struct Budget(Rc<Counts>);

#[derive(Debug)]
struct Counts {
    steps: Cell<u64>,
    most_steps: u64,
    memory: u64,
    start: Instant,
    seconds: u64,
    late: Option<Instant>,
    /// Steps at which the clock is looked at again.
    look: Cell<u64>,
}

impl Budget {
    /// Work between two looks at the clock.
    const LOOK: u64 = 1 << 14;

    /// The budget of one of so many devices.
    pub(crate) fn new(limits: &Limits, devices: usize) -> Budget {
        let start = Instant::now();
        Budget(Rc::new(Counts {
            steps: Cell::new(0),
            most_steps: limits.steps,
            memory: limits.memory_of(devices),
            start,
            seconds: limits.time.as_secs(),
            // A time that never comes is none.
            late: start.checked_add(limits.time),
            look: Cell::new(0),
        }))
    }

    /// Counts work; a step takes some nanoseconds.
    pub(crate) fn steps(&self, count: u64) -> Result<()> {
        let counts = &*self.0;
        let steps = counts.steps.get().saturating_add(count);
        counts.steps.set(steps);
        if steps > counts.most_steps {
            return Err(Invalid::limit("steps", steps, counts.most_steps, "steps"));
        }
        if steps < counts.look.get() {
            return Ok(());
        }
        counts.look.set(steps.saturating_add(Self::LOOK));
        let now = Instant::now();
        if counts.late.is_some_and(|late| now >= late) {
            let taken = now.duration_since(counts.start).as_secs();
            return Err(Invalid::limit("seconds", taken, counts.seconds, "time"));
        }
        Ok(())
    }

    /// Counts moving bytes, which is cheap.
    pub(crate) fn moves(&self, bytes: usize) -> Result<()> {
        self.steps(1 + bytes as u64 / 16)
    }

    /// Whether so many bytes may be held at once.
    pub(crate) fn room(&self, bytes: u64) -> Result<()> {
        if bytes > self.0.memory {
            return Err(Invalid::limit("memory for values", bytes, self.0.memory, "memory"));
        }
        Ok(())
    }
}
