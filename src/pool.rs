//! Work on several threads, each piece under its share of memory.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Condvar, Mutex, PoisonError};

/// Workers have as much stack as a main thread, and more: debug builds evaluate nested calls deeply.
const STACK: usize = 64 << 20;

/// One worker per core.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}

/// Does `work` on all items with so many workers; the results come in the order of the items. `None` stands for work that
/// panicked, which is a defect and must not take the others along. `done` is told how many have ended, by any thread.
///
/// Items are made by the calling thread, as they are taken up: what they are read from need not be shared.
pub(crate) fn each<J: Send, R: Send>(
    workers: usize,
    items: impl Iterator<Item = J>,
    work: &(dyn Fn(J) -> R + Sync),
    done: &(dyn Fn(usize) + Sync),
) -> Vec<Option<R>> {
    let workers = workers.max(1);
    let ended = Mutex::new(0_usize);
    let one = |item: J| {
        let result = catch_unwind(AssertUnwindSafe(|| work(item))).ok();
        let mut ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
        *ended += 1;
        done(*ended);
        result
    };
    let (hand_out, waiting) = sync_channel::<(usize, J)>(workers);
    let waiting = Mutex::new(waiting);
    let (finish, finished) = channel();
    let mut count = 0;
    std::thread::scope(|scope| {
        let (one, waiting) = (&one, &waiting);
        let mut threads = 0;
        for _ in 0..workers {
            let finish = finish.clone();
            let worker = move || {
                loop {
                    let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((at, item)) = next else { break };
                    if finish.send((at, one(item))).is_err() {
                        break;
                    }
                }
            };
            let thread = std::thread::Builder::new().stack_size(STACK);
            threads += usize::from(thread.spawn_scoped(scope, worker).is_ok());
        }
        for (at, item) in items.enumerate() {
            count = at + 1;
            // Where no thread can be had, this one does the work.
            let sent = match threads {
                0 => finish.send((at, one(item))).is_ok(),
                _ => hand_out.send((at, item)).is_ok(),
            };
            if !sent {
                break;
            }
        }
        drop(hand_out);
    });
    drop(finish);
    let mut results: Vec<Option<R>> = (0..count).map(|_| None).collect();
    for (at, result) in finished {
        results[at] = result;
    }
    results
}

/// Memory that is shared out.
pub(crate) struct Budget {
    whole: u64,
    free: Mutex<u64>,
    returned: Condvar,
}

impl Budget {
    pub(crate) fn new(whole: u64) -> Self {
        Budget { whole, free: Mutex::new(whole), returned: Condvar::new() }
    }

    /// Waits until so much is free, or for all of it.
    pub(crate) fn take(&self, bytes: u64) -> Held<'_> {
        let bytes = bytes.min(self.whole);
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = self
            .returned
            .wait_while(free, |free| *free < bytes)
            .unwrap_or_else(PoisonError::into_inner);
        *free -= bytes;
        Held { budget: self, bytes }
    }
}

/// A share that goes back when it is dropped.
pub(crate) struct Held<'b> {
    budget: &'b Budget,
    bytes: u64,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        *self.budget.free.lock().unwrap_or_else(PoisonError::into_inner) += self.bytes;
        self.budget.returned.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_larger_than_all_waits_for_all_and_comes_back() {
        let budget = Budget::new(10);
        let small = budget.take(3);
        std::thread::scope(|scope| {
            let large = scope.spawn(|| drop(budget.take(1000)));
            drop(small);
            large.join().unwrap();
        });
        assert_eq!(*budget.free.lock().unwrap(), 10);
    }

    #[test]
    fn results_come_in_order_and_a_panic_loses_its_own_only() {
        let double = |item: u32| {
            assert_ne!(item, 3);
            item * 2
        };
        let results = each(4, 0..6, &double, &|_| {});
        assert_eq!(results, [Some(0), Some(2), Some(4), None, Some(8), Some(10)]);
    }
}
