//! Where the devices of a collective meet.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::program::{Fault, Invalid, Result};

/// Lets devices exchange bytes.
#[derive(Debug)]
pub(crate) struct Rendezvous {
    state: Mutex<State>,
    arrived: Condvar,
    patience: Duration,
}

#[derive(Debug, Default)]
struct State {
    meetings: HashMap<Key, Meeting>,
    /// Devices that have finished.
    finished: HashSet<usize>,
    /// A device gave up, so nobody waits any longer.
    broken: bool,
}

/// The devices that meet, and the how-manieth time it is.
type Key = (Vec<usize>, u64);

#[derive(Debug, Default)]
struct Meeting {
    brought: HashMap<usize, Arc<Vec<u8>>>,
    left: usize,
}

impl Rendezvous {
    pub(crate) fn new(patience: Duration) -> Self {
        Rendezvous { state: Mutex::default(), arrived: Condvar::new(), patience }
    }

    /// Brings `bytes`, waits for all of `group`, and takes what each brought, in the group's order.
    /// `count` is how often this device met this group before.
    pub(crate) fn exchange(
        &self,
        me: usize,
        group: &[usize],
        count: u64,
        bytes: Vec<u8>,
    ) -> Result<Vec<Arc<Vec<u8>>>> {
        let key: Key = (group.to_vec(), count);
        let start = Instant::now();
        // A time that never comes is none.
        let until = start.checked_add(self.patience);
        // A device that panicked left nothing half-done in here.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.meetings.entry(key.clone()).or_default().brought.insert(me, Arc::new(bytes));
        self.arrived.notify_all();
        loop {
            let meeting = state.meetings.entry(key.clone()).or_default();
            let all: Option<Vec<_>> =
                group.iter().map(|d| meeting.brought.get(d).cloned()).collect();
            if let Some(all) = all {
                meeting.left += 1;
                if meeting.left == group.len() {
                    state.meetings.remove(&key);
                }
                return Ok(all);
            }
            let missing: Vec<usize> =
                group.iter().filter(|d| !meeting.brought.contains_key(d)).copied().collect();
            let now = Instant::now();
            let late = until.is_some_and(|until| now >= until);
            // Who has finished does not come any more.
            let finished = missing.iter().any(|d| state.finished.contains(d));
            if state.broken || finished || late {
                let seconds = now.duration_since(start).as_secs();
                let who = missing.iter().map(|d| match state.finished.contains(d) {
                    true => format!("{d} (which has finished)"),
                    false => d.to_string(),
                });
                let who = format!("device {}", who.collect::<Vec<_>>().join(", "));
                return Err(Invalid { place: Vec::new(), fault: Fault::Missing { who, seconds } });
            }
            let left = until.map_or(Duration::from_secs(3600), |until| until - now);
            state =
                self.arrived.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// This device does not come any more, and what it sent stays valid.
    pub(crate) fn finish(&self, me: usize) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).finished.insert(me);
        self.arrived.notify_all();
    }

    /// Sends everyone who waits home: this device does not come any more.
    pub(crate) fn give_up(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).broken = true;
        self.arrived.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_gets_what_all_brought() {
        let meet = Rendezvous::new(Duration::from_secs(10));
        let results: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3_usize)
                .map(|me| {
                    let meet = &meet;
                    scope.spawn(move || {
                        let first = meet.exchange(me, &[2, 0, 1], 0, vec![me as u8]).unwrap();
                        let second = meet.exchange(me, &[2, 0, 1], 1, vec![10 + me as u8]).unwrap();
                        (first, second)
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        for (first, second) in results {
            assert_eq!(first.iter().map(|b| b[0]).collect::<Vec<_>>(), [2, 0, 1]);
            assert_eq!(second.iter().map(|b| b[0]).collect::<Vec<_>>(), [12, 10, 11]);
        }
        assert!(meet.state.lock().unwrap().meetings.is_empty());
    }

    #[test]
    fn says_who_is_missing() {
        let meet = Rendezvous::new(Duration::from_millis(20));
        let error = meet.exchange(0, &[0, 1, 2], 0, vec![]).unwrap_err();
        assert!(error.to_string().contains("device 1, 2"), "{error}");
    }
}
