//! Executes goldens, several at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Condvar, Mutex, PoisonError};

use aotgate_runtime::program::Limits;
use prost::bytes::Bytes;

use super::{Golden, Store};
use crate::error::{Error, ErrorKind};
use crate::execute::{ArrayFile, Call, Execution, Opener, Output, Stop, execute, worst};

/// Workers have as much stack as a main thread, and more: debug builds evaluate nested calls deeply.
const STACK: usize = 64 << 20;

/// What became of a golden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It gave what it should.
    Passed,
    /// It came to its end, and nothing says what it should have given.
    Ran,
    /// It gave something else, or was refused.
    Failed,
    /// Something that it needs is missing here.
    Skipped,
    /// Its files cannot be read, so nothing can be said.
    Unreadable,
}

impl Outcome {
    /// Name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Ran => "ran",
            Outcome::Failed => "failed",
            Outcome::Skipped => "skipped",
            Outcome::Unreadable => "unreadable",
        }
    }
}

/// One golden's outcome.
#[derive(Debug)]
pub struct Case {
    /// The golden's id.
    pub golden: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Why it did not pass; of a difference the worst element.
    pub reason: Option<String>,
    /// The error behind the reason, where there is one.
    pub error: Option<Error>,
    /// Devices that it ran on; `None` where it did not run.
    pub devices: Option<usize>,
    /// The seed of its inputs, where it has none of its own.
    pub seed: Option<u64>,
    /// Its results.
    pub outputs: Vec<Output>,
}

/// How goldens are executed.
#[derive(Debug)]
pub struct Verify<'a> {
    /// Opens artifacts.
    pub opener: &'a Opener,
    /// Of each golden.
    pub limits: Limits,
    /// For inputs that are not given.
    pub seed: u64,
    /// Goldens at a time.
    pub jobs: usize,
    /// Bytes that all running goldens may take together, as estimated; one that takes more runs alone.
    pub memory: u64,
}

impl Verify<'_> {
    /// Executes goldens; the cases come in the order given. `done` is told how many have ended, by any thread.
    ///
    /// Files are read by the calling thread, as goldens are taken up, since a repository is not shared.
    pub fn run(
        &self,
        store: &Store<'_>,
        goldens: &[&Golden],
        done: &(dyn Fn(usize) + Sync),
    ) -> Vec<Case> {
        let jobs = self.jobs.clamp(1, goldens.len().max(1));
        let budget = Budget::new(self.memory);
        let (work, waiting) = sync_channel::<(usize, &Golden, Result<Files, Error>)>(jobs);
        let waiting = Mutex::new(waiting);
        let (finish, finished) = channel();
        let ended = Mutex::new(0_usize);
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                let (waiting, budget, ended) = (&waiting, &budget, &ended);
                let finish = finish.clone();
                let worker = move || {
                    self.work(waiting, budget, &finish, &|| {
                        let mut ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
                        *ended += 1;
                        done(*ended);
                    })
                };
                // Where no thread can be had, the others do the work; without any, every golden is lost, and said so.
                let _ = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, worker);
            }
            for (at, golden) in goldens.iter().enumerate() {
                if work.send((at, golden, Files::read(store, golden))).is_err() {
                    break;
                }
            }
            drop(work);
        });
        drop(finish);
        let mut cases: Vec<Option<Case>> = goldens.iter().map(|_| None).collect();
        for (at, case) in finished {
            cases[at] = Some(case);
        }
        let all = cases.into_iter().zip(goldens);
        all.map(|(case, golden)| case.unwrap_or_else(|| Case::lost(golden))).collect()
    }

    fn work(
        &self,
        waiting: &Mutex<Receiver<(usize, &Golden, Result<Files, Error>)>>,
        budget: &Budget,
        finish: &Sender<(usize, Case)>,
        ended: &dyn Fn(),
    ) {
        loop {
            let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok((at, golden, files)) = next else { break };
            // A panic would be a defect of the runtime; it must not take the other goldens along.
            let case = catch_unwind(AssertUnwindSafe(|| self.case(golden, files, budget)));
            let case = case.unwrap_or_else(|_| Case::lost(golden));
            ended();
            if finish.send((at, case)).is_err() {
                break;
            }
        }
    }

    fn case(&self, golden: &Golden, files: Result<Files, Error>, budget: &Budget) -> Case {
        let cannot_run = golden.manifest.iter().flat_map(|m| &m.cannot_run).next();
        let executed = files.map_err(Stop::Unreadable).and_then(|files| match cannot_run {
            // Says itself that it cannot, and why.
            Some(_) => Ok(None),
            None => self.execute(golden, files, budget).map(Some),
        });
        match executed {
            Ok(Some((devices, execution))) => Case::executed(golden, devices, execution),
            Ok(None) => {
                let reason = cannot_run.map(|reason| format!("cannot run: {reason}"));
                Case { reason, ..Case::new(golden, Outcome::Skipped) }
            }
            Err(stop) => Case::stopped(golden, stop),
        }
    }

    fn execute(
        &self,
        golden: &Golden,
        files: Files,
        budget: &Budget,
    ) -> Result<(usize, Execution), Stop> {
        let path = &golden.artifact;
        let arrays: u64 = files.arrays().map(|file| file.bytes.len() as u64).sum();
        let program = self.opener.program(path, &files.artifact, &self.limits)?;
        let devices = program.devices();
        if let Some(manifest) = &golden.manifest {
            let says = (manifest.program.devices() as usize, manifest.program.outputs.len());
            if says != (devices, program.outputs.len()) {
                let what = format!(
                    "{} devices and {} outputs, but the program has {devices} and {}",
                    says.0,
                    says.1,
                    program.outputs.len()
                );
                let help = "record the golden again: golden.toml has to describe its artifact";
                let path = golden.dir.clone();
                return Err(Stop::Unreadable(
                    ErrorKind::Golden { path, what, help: help.to_owned() }.into(),
                ));
            }
        }
        // Values are wider than in memory, and the arrays are held decoded beside the files.
        let _held = budget.take(program.memory().saturating_add(arrays).saturating_mul(3));
        let program_of = |manifest: &super::Manifest| manifest.program.tolerances();
        let call = Call {
            tolerances: golden.manifest.as_ref().map(program_of).unwrap_or_default(),
            inputs: files.inputs,
            expected: files.expected,
            seed: self.seed,
            exact: false,
        };
        Ok((devices, execute(path, &program, &call, &self.limits)?))
    }
}

impl Case {
    fn new(golden: &Golden, outcome: Outcome) -> Case {
        Case {
            golden: golden.id.clone(),
            outcome,
            reason: None,
            error: None,
            devices: None,
            seed: None,
            outputs: Vec::new(),
        }
    }

    fn executed(golden: &Golden, devices: usize, execution: Execution) -> Case {
        let (outcome, reason) = if !execution.is_equal() {
            (Outcome::Failed, worst(&execution.outputs).map(difference))
        } else if execution.is_compared() {
            (Outcome::Passed, None)
        } else {
            (Outcome::Ran, Some("nothing says what it should give".to_owned()))
        };
        Case {
            reason,
            devices: Some(devices),
            seed: execution.seed,
            outputs: execution.outputs,
            ..Case::new(golden, outcome)
        }
    }

    fn stopped(golden: &Golden, stop: Stop) -> Case {
        let (outcome, reason) = match &stop {
            Stop::NotSupported { what, .. } => (Outcome::Skipped, format!("not supported: {what}")),
            Stop::Failed(error) => (Outcome::Failed, error.to_string()),
            Stop::Unreadable(error) => (Outcome::Unreadable, error.to_string()),
        };
        Case { reason: Some(reason), error: Some(stop.into_error()), ..Case::new(golden, outcome) }
    }

    fn lost(golden: &Golden) -> Case {
        let reason = "its thread ended early; this is a defect, please report it".to_owned();
        Case { reason: Some(reason), ..Case::new(golden, Outcome::Failed) }
    }
}

/// What is wrong with an output, in one line.
pub fn difference(output: &Output) -> String {
    let Some(comparison) = &output.comparison else { return String::new() };
    let Some(worst) = &comparison.worst else { return String::new() };
    format!(
        "output {} of device {} differs in {} of {} elements; at {:?} expected {}, found {}",
        output.index,
        output.device,
        comparison.beyond,
        comparison.elements,
        worst.index,
        worst.expected,
        worst.actual
    )
}

/// The files of one golden.
struct Files {
    artifact: Bytes,
    inputs: Vec<Option<ArrayFile>>,
    expected: Vec<Option<ArrayFile>>,
}

impl Files {
    fn read(store: &Store<'_>, golden: &Golden) -> Result<Files, Error> {
        if let Some(problem) = &golden.problem {
            // Errors cannot be copied, but their words can.
            let help = miette::Diagnostic::help(problem).map(|help| help.to_string());
            let help = help.unwrap_or_else(|| "see `aotgate golden list`".to_owned());
            let (path, what) = (golden.dir.clone(), problem.to_string());
            return Err(ErrorKind::Golden { path, what, help }.into());
        }
        let mut files =
            Files { artifact: store.read(golden)?, inputs: Vec::new(), expected: Vec::new() };
        for device in golden.manifest.iter().flat_map(|manifest| &manifest.devices) {
            let read = |name: &Option<String>| {
                let file = name.as_ref().map(|name| {
                    let bytes = store.read_beside(golden, name)?;
                    Ok::<_, Error>(ArrayFile { path: format!("{}/{name}", golden.dir), bytes })
                });
                file.transpose()
            };
            files.inputs.push(read(&device.inputs)?);
            files.expected.push(read(&device.expected)?);
        }
        Ok(files)
    }

    fn arrays(&self) -> impl Iterator<Item = &ArrayFile> {
        self.inputs.iter().chain(&self.expected).flatten()
    }
}

/// Memory that is shared out.
struct Budget {
    whole: u64,
    free: Mutex<u64>,
    returned: Condvar,
}

impl Budget {
    fn new(whole: u64) -> Self {
        Budget { whole, free: Mutex::new(whole), returned: Condvar::new() }
    }

    /// Waits until so much is free, or for all of it.
    fn take(&self, bytes: u64) -> Held<'_> {
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
struct Held<'b> {
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
}
