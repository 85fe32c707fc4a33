//! Which steps that run beside others are waited for, and where.

use std::collections::BTreeMap;

use crate::program::{Invalid, Result};

/// The asynchronous steps met so far.
#[derive(Debug, Default)]
pub(super) struct Pairing {
    started: BTreeMap<u64, Start>,
    /// The bodies around the current step, outermost first.
    bodies: Vec<u64>,
    next_body: u64,
}

#[derive(Debug)]
struct Start {
    /// Where it starts.
    bodies: Vec<u64>,
    awaited: bool,
}

impl Pairing {
    /// What follows, until [`leave`](Self::leave), runs on a condition, repeatedly, or beside the rest.
    pub(super) fn enter(&mut self) {
        self.next_body += 1;
        self.bodies.push(self.next_body);
    }

    pub(super) fn leave(&mut self) {
        self.bodies.pop();
    }

    pub(super) fn start(&mut self, id: u64) -> Result<()> {
        let start = Start { bodies: self.bodies.clone(), awaited: false };
        match self.started.insert(id, start) {
            None => Ok(()),
            Some(_) => {
                Err(Invalid::value("async_execution_id", id, "an id that no other start has"))
            }
        }
    }

    /// An end has to come after its start, in the same body, and once: XLA's runtime would otherwise wait
    /// for an event that nothing recorded.
    pub(super) fn done(&mut self, id: u64) -> Result<()> {
        let bound = match self.started.get_mut(&id) {
            None => "the id of an async_start_thunk before it",
            Some(start) if start.awaited => "an id that is waited for once",
            Some(start) if start.bodies != self.bodies => {
                "the id of a start in the same loop, branch or asynchronous region"
            }
            Some(start) => {
                start.awaited = true;
                return Ok(());
            }
        };
        Err(Invalid::value("async_execution_id", id, bound))
    }

    /// Everything has to be waited for.
    pub(super) fn finish(&self) -> Result<()> {
        match self.started.iter().find(|(_, start)| !start.awaited) {
            None => Ok(()),
            Some((id, _)) => Err(Invalid::value(
                "async_execution_id",
                id,
                "one that an async_done_thunk waits for",
            )),
        }
    }
}
