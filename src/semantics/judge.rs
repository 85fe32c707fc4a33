//! One golden, executed as both sides understand it.

use std::collections::BTreeSet;

use aotgate_runtime::artifact::decode_executable;
use aotgate_runtime::compare::{Rule, compare};
use aotgate_runtime::program::{Limits, Program};
use prost::bytes::Bytes;

use super::{Reads, Side, Views};
use crate::execute::{Call, Execution, Stop, execute, furthest, worst};
use crate::golden::verify::difference;
use crate::pool::Budget;
use crate::view;

/// A golden to execute.
#[derive(Debug)]
pub struct Job {
    /// How messages name its artifact.
    pub path: String,
    /// The executable's bytes, out of their containers.
    pub executable: Bytes,
    /// What it is called with and held against.
    pub call: Call,
    /// Bytes of the arrays.
    pub arrays: u64,
    /// Why its recorder says that it cannot run.
    pub cannot_run: Option<String>,
    /// Head brings it: it is executed as head understands it only, since no promise says that base must.
    pub new: bool,
    /// What it carries of what the change touches.
    pub touches: Touches,
}

/// What a golden carries of a change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Touches {
    /// A field that only head has: base drops it.
    pub added: bool,
    /// Something that base has and head treats otherwise.
    pub changed: bool,
}

/// What came out.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The same on both sides, and what was expected, where anything was.
    Equal,
    /// Head gives something else than base: the first output that differs, the element that is off most, both values.
    Differs(String),
    /// It cannot be loaded as head understands it, although it could be executed as base did; of a golden that head brings,
    /// it cannot at all.
    HeadRefuses(String),
    /// It cannot be run to its end as head understands it, although it could as base did; of a golden that head brings, it
    /// cannot at all.
    HeadFails(String),
    /// Head runs it and gives what was recorded, and base does not for want of a field that only head has: what base does
    /// instead.
    Needs(String),
    /// The same on both sides, and not what was expected.
    Unexpected(String),
    /// This runtime lacks what it needs.
    NotSupported(String),
    /// It cannot be loaded or run even as base understands it, so it proves nothing.
    NoProgram(String),
}

/// What came out, and what was found on the way.
#[derive(Debug)]
pub struct Ran {
    /// What came out.
    pub outcome: Outcome,
    /// The largest error against what was expected.
    pub worst_error: Option<f64>,
    /// What was read.
    pub reads: Reads,
    /// What was read when it was executed a second time, as head understands it.
    pub head_reads: Option<Reads>,
    /// What a side reads of it and the runtime does not model.
    pub unmodelled: BTreeSet<String>,
}

impl Ran {
    /// Whether it was executed to its end as base understands it (as head does, where head brings it).
    pub fn executed(&self) -> bool {
        matches!(self.outcome, Outcome::Equal | Outcome::Differs(_) | Outcome::Unexpected(_))
    }
}

/// Executes a golden; `budget` is what all that run at the same time may take.
pub fn judge(job: &Job, views: &Views<'_>, limits: &Limits, budget: &Memory) -> Ran {
    let mut ran = Ran {
        outcome: Outcome::Equal,
        worst_error: None,
        reads: Reads::default(),
        head_reads: None,
        unmodelled: BTreeSet::new(),
    };
    ran.outcome = match &job.cannot_run {
        Some(why) => Outcome::NotSupported(why.clone()),
        None => outcome(job, views, limits, budget, &mut ran),
    };
    ran
}

/// Memory that goldens share.
pub struct Memory(Budget);

impl Memory {
    /// So many bytes for all.
    pub fn new(bytes: u64) -> Self {
        Memory(Budget::new(bytes))
    }
}

fn outcome(
    job: &Job,
    views: &Views<'_>,
    limits: &Limits,
    budget: &Memory,
    ran: &mut Ran,
) -> Outcome {
    let first = if job.new { Side::Head } else { Side::Base };
    let mut read = view::Limits::default();
    if job.new {
        read.memory = read.memory.min(limits.memory as usize);
    }
    let view = match views.view(first, &job.executable, read) {
        Ok(view) => view,
        Err(why) if job.new => return Outcome::HeadRefuses(why),
        Err(why) => return Outcome::NoProgram(why),
    };
    ran.unmodelled.extend(view.unmodelled);
    let run = |bytes: Vec<u8>| -> Result<(Reads, Execution), Halt> {
        let program = load(&job.path, bytes, limits).map_err(Halt::Load)?;
        // Values are wider than in memory, and the arrays are held decoded beside the files.
        let bytes = program.memory().saturating_add(job.arrays).saturating_mul(3);
        let _held = budget.0.take(bytes);
        let execution = execute(&job.path, &program, &job.call, limits).map_err(Halt::Run)?;
        Ok((Reads::from(&program.reads), execution))
    };
    let bytes = view.bytes;
    let head = match job.new || views.same() {
        true => None,
        false => Some(views.view(Side::Head, &job.executable, read)),
    };
    // Bytes that are the same need no second run.
    let head = head.filter(|head| !head.as_ref().is_ok_and(|head| head.bytes == bytes));
    let (reads, base) = match run(bytes) {
        Ok(done) => done,
        Err(halt) => {
            let why = match halt.why() {
                Ok(why) => why,
                Err(what) => return Outcome::NotSupported(what),
            };
            return match (head, halt) {
                (Some(Ok(view)), _) if job.touches.added => {
                    ran.unmodelled.extend(view.unmodelled);
                    head_alone(why, run(view.bytes), ran)
                }
                (_, Halt::Load(_)) if job.new => Outcome::HeadRefuses(why),
                (_, Halt::Run(_)) if job.new => Outcome::HeadFails(why),
                _ => Outcome::NoProgram(why),
            };
        }
    };
    ran.reads = reads;
    ran.worst_error = worst_error(&base);
    let view = match head {
        None => {
            return match base.is_equal() {
                true => Outcome::Equal,
                false => Outcome::Unexpected(told(&base)),
            };
        }
        Some(Err(why)) => {
            ran.worst_error = None;
            return Outcome::HeadRefuses(why);
        }
        Some(Ok(view)) => view,
    };
    ran.unmodelled.extend(view.unmodelled);
    ran.worst_error = None;
    let (reads, head) = match run(view.bytes) {
        Ok(done) => done,
        Err(Halt::Load(stop)) => return Outcome::HeadRefuses(stop.error().to_string()),
        Err(Halt::Run(stop)) => return Outcome::HeadFails(stop.error().to_string()),
    };
    ran.head_reads = Some(reads);
    ran.worst_error = worst_error(&head);
    match first_difference(&base, &head) {
        // Head is right, and nothing but the new field can be why base is not.
        Some(how) if job.touches == Touches { added: true, changed: false } && right(&head) => {
            Outcome::Needs(format!("would give something else: {how}"))
        }
        Some(how) => Outcome::Differs(how),
        None if base.is_equal() => Outcome::Equal,
        None => Outcome::Unexpected(told(&base)),
    }
}

/// Why something was not executed to its end, by how far it came.
enum Halt {
    /// The runtime refused it.
    Load(Stop),
    /// It was running.
    Run(Stop),
}

impl Halt {
    /// The error in words; what is not supported is one of its own.
    fn why(&self) -> Result<String, String> {
        let (Halt::Load(stop) | Halt::Run(stop)) = self;
        match stop {
            Stop::NotSupported { what, .. } => Err(what.clone()),
            stop => Ok(stop.error().to_string()),
        }
    }
}

/// What it means that base cannot run a golden that carries a field that only head has.
fn head_alone(why_not: String, head: Result<(Reads, Execution), Halt>, ran: &mut Ran) -> Outcome {
    match head {
        Ok((reads, head)) if head.is_equal() => {
            ran.head_reads = Some(reads);
            ran.worst_error = worst_error(&head);
            Outcome::Needs(format!("would not run it: {why_not}"))
        }
        _ => Outcome::NoProgram(why_not),
    }
}

/// Whether it is known to be what it should be.
fn right(execution: &Execution) -> bool {
    execution.is_compared() && execution.is_equal()
}

fn told(execution: &Execution) -> String {
    worst(&execution.outputs).map(difference).unwrap_or_default()
}

fn load(path: &str, bytes: Vec<u8>, limits: &Limits) -> Result<Program, Stop> {
    let stop = |error| Stop::of(path, error);
    let executable = decode_executable(bytes).map_err(stop)?;
    Program::new(executable, limits).map_err(stop)
}

fn worst_error(execution: &Execution) -> Option<f64> {
    let comparison = furthest(&execution.outputs)?.comparison.as_ref()?;
    Some(comparison.furthest.as_ref().map_or(0.0, |furthest| furthest.error))
}

/// The first output that is not the same bit for bit.
fn first_difference(base: &Execution, head: &Execution) -> Option<String> {
    for (device, (before, after)) in base.arrays.iter().zip(&head.arrays).enumerate() {
        for (output, (before, after)) in before.iter().zip(after).enumerate() {
            let Ok(comparison) = compare(before, after, Rule::Exact) else {
                let (before, after) = (before.shape(), after.shape());
                return Some(format!(
                    "output {output} of device {device} has shape {before} at base and {after} at head"
                ));
            };
            let Some(worst) = comparison.worst.filter(|_| comparison.beyond > 0) else { continue };
            return Some(format!(
                "output {output} of device {device} differs in {} of {} elements; at {:?} base gives {}, head {}",
                comparison.beyond, comparison.elements, worst.index, worst.expected, worst.actual
            ));
        }
        if before.len() != after.len() {
            return Some(format!(
                "device {device} has {} outputs at base and {} at head",
                before.len(),
                after.len()
            ));
        }
    }
    let (before, after) = (base.arrays.len(), head.arrays.len());
    (before != after).then(|| format!("it runs on {before} devices at base and {after} at head"))
}
