//! Goldens, executed through both contracts.

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use aotgate_runtime::program::Limits;
use prost::bytes::Bytes;

use super::super::look::open;
use super::super::names::aliases;
use super::{Asked, Gatherer, added};
use crate::change::Pairs;
use crate::error::Error;
use crate::finding::{CaseOutcome, Execution, Finding, NO_PROGRAM, Satisfaction, Triage};
use crate::golden::verify::Files;
use crate::golden::{Golden, Store};
use crate::pool::{cores, each};
use crate::semantics::{
    Job, Memory, Outcome, Ran, TIME_OF_NEW, Touches, Views, judge, limits_of_new, trusted_limits,
};
use crate::triage::checks::{golden_failed, semantics_changed};
use crate::view::LossKind;

/// Bytes that all running goldens may take together, as estimated; one that takes more runs alone.
const MEMORY: u64 = 2 << 30;

/// Checks that equal results can satisfy: where a value stands. Those about names and reused numbers are not among them,
/// since which construct is which is what a view presumes, and what it therefore cannot prove. Nor are those about another
/// type, label or presence: what has to be attested there is lost for some values only, and goldens hold a few.
const PROVABLE: [&str; 2] = ["field-moved-into-oneof", "field-moved-out-of-oneof"];

/// A golden that is to be executed.
pub(super) struct Pending<'a> {
    store: &'a Store<'a>,
    pub(super) golden: &'a Golden,
    pub(super) new: bool,
    /// Position of its case.
    case: usize,
    /// Which of the changed constructs it carries.
    carried: Vec<usize>,
    /// Which of the fields that only head has.
    pub(super) added: Vec<usize>,
}

impl<'a> Pending<'a> {
    pub(super) fn new(
        store: &'a Store<'a>,
        golden: &'a Golden,
        new: bool,
        case: usize,
        (carried, added): (Vec<usize>, Vec<usize>),
    ) -> Self {
        Pending { store, golden, new, case, carried, added }
    }
}

/// What execution told of the touched constructs, by position.
#[derive(Default)]
pub(super) struct Told {
    /// Those that some executed golden of base carries.
    pub(super) executed: BTreeSet<usize>,
    /// Those that one of these made the runtime read.
    pub(super) read: BTreeSet<usize>,
}

impl<'a> Gatherer<'a> {
    /// Executes what was put down, and turns it into cases, findings and satisfaction of `schema`.
    pub(super) fn execute(&mut self, asked: &Asked, pairs: &Pairs, schema: &mut [Finding]) -> Told {
        let Asked { touched, added } = asked;
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return Told::default();
        }
        let views = match Views::new(self.question.base_contract, self.question.head_contract) {
            Ok(views) => views,
            Err(error) => {
                self.goldens.unreadable.push(error.to_string());
                return Told::default();
            }
        };
        let ran = self.run(&pending, &views);
        let mut told = Told::default();
        let mut unmodelled = BTreeSet::new();
        for (pending, ran) in pending.iter().zip(&ran) {
            let ran = match ran {
                Ok(ran) => ran,
                Err(why) => {
                    self.not_executed(pending, why);
                    continue;
                }
            };
            unmodelled.extend(ran.unmodelled.iter().cloned());
            self.conclude(pending, ran, touched, schema);
            if ran.executed() && !pending.new {
                told.executed.extend(&pending.carried);
                let read = pending.carried.iter().filter(|at| {
                    touched.get(**at).is_some_and(|name| ran.reads.have(name, &views, false))
                });
                told.read.extend(read);
            }
        }
        self.goldens.unmodelled = unmodelled.into_iter().collect();
        let lost = self.lost_names(pairs);
        for (at, construct) in touched.iter().enumerate() {
            if lost.contains(construct) {
                continue;
            }
            if let Some(goldens) = shown(at, construct, &pending, &ran, &views) {
                satisfy(construct, goldens, schema);
            }
        }
        for (at, construct) in added.iter().enumerate() {
            let tried = added::tried(at, construct, &pending, &ran, &views);
            added::settle(construct, tried, schema, |golden| self.place(golden));
        }
        told
    }

    fn run(&self, pending: &[Pending<'a>], views: &Views<'_>) -> Vec<Result<Ran, String>> {
        let items = pending.iter().map(|pending| (pending.new, self.job(pending)));
        let memory = Memory::new(MEMORY);
        let (trusted, new) = (trusted_limits(), limits_of_new());
        let clock = Clock::new(TIME_OF_NEW);
        let work = |(is_new, job): (bool, Result<Job, Error>)| {
            let job = job.map_err(|error| error.to_string())?;
            if !is_new {
                return Ok(judge(&job, views, &trusted, &memory));
            }
            let time = clock.left()?.min(new.time);
            Ok(judge(&job, views, &Limits { time, ..new.clone() }, &memory))
        };
        let count = pending.len();
        let done = |done| self.question.watch.show(done, count);
        let ran = each(cores().min(count), items, &work, &done);
        self.question.watch.clear();
        let lost = || Err("its thread ended early; this is a defect, please report it".to_owned());
        ran.into_iter().map(|ran| ran.unwrap_or_else(lost)).collect()
    }

    /// Reads a golden's files; the artifact is opened here, as text needs a contract of its side.
    fn job(&self, pending: &Pending<'a>) -> Result<Job, Error> {
        let Pending { golden, new, .. } = pending;
        let files = Files::read(pending.store, golden)?;
        let executable = self.executable(&files.artifact, *new)?;
        let arrays = files.array_bytes();
        let cannot_run = golden.manifest.iter().flat_map(|manifest| &manifest.cannot_run).next();
        Ok(Job {
            path: golden.artifact.clone(),
            executable,
            arrays,
            cannot_run: cannot_run.cloned(),
            new: *new,
            touches: Touches {
                added: !pending.added.is_empty(),
                changed: !pending.carried.is_empty(),
            },
            call: files.call(golden, 0),
        })
    }

    fn executable(&self, bytes: &Bytes, new: bool) -> Result<Bytes, Error> {
        let artifact = match open(bytes, new) {
            Ok(Some(artifact)) => artifact,
            _ => self.question.text.parse(bytes, new)?,
        };
        Ok(artifact.executable().to_bytes())
    }

    /// What it comes to for one golden.
    fn conclude(
        &mut self,
        pending: &Pending<'a>,
        ran: &Ran,
        touched: &[String],
        schema: &mut [Finding],
    ) {
        let construct = pending.golden.construct();
        let place = self.place(pending.golden);
        let locations = vec![place.location.clone()];
        let (outcome, reason) = match &ran.outcome {
            Outcome::Equal => (CaseOutcome::Equal, None),
            Outcome::NotSupported(what) => {
                return self.not_executed(pending, &format!("not supported: {what}"));
            }
            Outcome::NoProgram(why) => {
                return self.not_executed(pending, &format!("{NO_PROGRAM}: {why}"));
            }
            Outcome::Needs(what) => {
                let reason = format!("without what head adds, runtimes {what}");
                (CaseOutcome::Differ, Some(reason))
            }
            Outcome::Differs(how) => {
                let evidence = vec![place.evidence(&format!("gives something else: {how}"))];
                blame(pending, touched, &evidence, schema);
                self.push(semantics_changed::finding(&construct, how, evidence, locations));
                (CaseOutcome::Differ, Some(how.clone()))
            }
            Outcome::HeadRefuses(why) | Outcome::HeadFails(why) => {
                if pending.new {
                    self.push(golden_failed::new(&construct, why, locations));
                } else {
                    let evidence = vec![place.evidence(&format!("runs no more: {why}"))];
                    blame(pending, touched, &evidence, schema);
                    self.push(golden_failed::broken(&construct, why, evidence, locations));
                }
                match ran.outcome {
                    Outcome::HeadRefuses(_) => (CaseOutcome::Refused, Some(why.clone())),
                    _ => (CaseOutcome::Failed, Some(why.clone())),
                }
            }
            Outcome::Unexpected(how) => {
                let finding = match pending.new {
                    true => golden_failed::new(&construct, how, locations),
                    false => golden_failed::unexpected(&construct, how, locations),
                };
                self.push(finding);
                let whose = if pending.new { "" } else { ", to base and head alike" };
                (CaseOutcome::Failed, Some(format!("not what was recorded{whose}: {how}")))
            }
        };
        let Some(case) = self.goldens.cases.get_mut(pending.case) else { return };
        case.execution = match outcome {
            CaseOutcome::Refused => Execution::Skipped,
            _ => Execution::Done,
        };
        case.worst_error = ran.worst_error;
        (case.outcome, case.reason) = (outcome, reason);
    }

    fn not_executed(&mut self, pending: &Pending<'a>, why: &str) {
        let Some(case) = self.goldens.cases.get_mut(pending.case) else { return };
        case.execution = Execution::Skipped;
        (case.outcome, case.reason) = (CaseOutcome::Skipped, Some(why.to_owned()));
    }

    /// Names of what goldens lose or what head refuses of them.
    fn lost_names(&self, pairs: &Pairs) -> BTreeSet<String> {
        let (base, head) = (self.question.base_contract, self.question.head_contract);
        let lost = self.lost.0.iter().filter(|(_, lost)| lost.kind != LossKind::Presence);
        let lost = lost.map(|(construct, _)| construct).chain(self.refused.keys());
        lost.flat_map(|construct| aliases(construct, base, head, pairs)).collect()
    }
}

/// The time that all goldens of head's have together; it runs from the first of them.
struct Clock {
    whole: Duration,
    started: OnceLock<Instant>,
}

impl Clock {
    fn new(whole: Duration) -> Self {
        Clock { whole, started: OnceLock::new() }
    }

    /// What is left, or why nothing is.
    fn left(&self) -> Result<Duration, String> {
        let taken = self.started.get_or_init(Instant::now).elapsed();
        self.whole.checked_sub(taken).filter(|left| !left.is_zero()).ok_or_else(|| {
            let seconds = self.whole.as_secs();
            format!("the goldens of one change may take {seconds} s together, which are over")
        })
    }
}

/// Puts what execution showed into the findings about the constructs that a golden carries.
fn blame(
    pending: &Pending<'_>,
    touched: &[String],
    evidence: &[crate::finding::Evidence],
    schema: &mut [Finding],
) {
    let carried: BTreeSet<&String> =
        pending.carried.iter().filter_map(|at| touched.get(*at)).collect();
    for finding in schema.iter_mut() {
        if finding.surface == "proto" && carried.contains(&finding.construct) {
            finding.evidence.extend_from_slice(evidence);
        }
    }
}

/// Goldens that show that a touched construct still means the same; `None` where one shows the opposite.
fn shown(
    at: usize,
    construct: &str,
    pending: &[Pending<'_>],
    ran: &[Result<Ran, String>],
    views: &Views<'_>,
) -> Option<Vec<String>> {
    let mut goldens = Vec::new();
    for (pending, ran) in pending.iter().zip(ran) {
        let Ok(ran) = ran else { continue };
        // A change is not its own evidence.
        if pending.new || !pending.carried.contains(&at) {
            continue;
        }
        match ran.outcome {
            Outcome::Equal if ran.reads.have(construct, views, true) => {
                goldens.push(pending.golden.id.clone());
            }
            Outcome::Equal | Outcome::NotSupported(_) | Outcome::NoProgram(_) => {}
            Outcome::Needs(_)
            | Outcome::Differs(_)
            | Outcome::HeadRefuses(_)
            | Outcome::HeadFails(_)
            | Outcome::Unexpected(_) => return None,
        }
    }
    goldens.sort();
    (!goldens.is_empty()).then_some(goldens)
}

/// Satisfies what has to be attested of a construct and execution can prove: where no value is lost, but the same value
/// might mean another step.
fn satisfy(construct: &str, goldens: Vec<String>, schema: &mut [Finding]) {
    for finding in schema.iter_mut().filter(|finding| {
        finding.surface == "proto"
            && finding.triage == Triage::NeedsAttestation
            && finding.construct == construct
            && PROVABLE.contains(&finding.check)
            && finding.wire.is_some_and(|wire| wire.is_safe())
            && finding.satisfied_by.is_none()
    }) {
        finding.satisfied_by = Some(Satisfaction::Golden { goldens: goldens.clone() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goldens_of_a_change_share_their_time() {
        let clock = Clock::new(Duration::from_millis(20));
        assert!(clock.left().is_ok_and(|left| left <= Duration::from_millis(20)));
        std::thread::sleep(Duration::from_millis(30));
        let why = clock.left().unwrap_err();
        assert!(why.contains("may take 0 s together"), "{why}");
    }
}
