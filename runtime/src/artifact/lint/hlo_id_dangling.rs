//! An HLO module refers to an instruction or computation that is not there.
//!
//! ## What it flags
//!
//! In every HLO module of the artifact: operands, control predecessors, roots and schedules that name an
//! instruction which its computation does not have; called computations and entries that the module does
//! not have; ids that occur twice; operands and called computations that come later than what uses them.
//! As loaders do, a computation may be called only after it was defined, so that cycles are found too.
//!
//! ## Why it matters
//!
//! A loader parses the module, and refuses the artifact when an id leads nowhere.
//!
//! ## What to do
//!
//! Serialize a module as a whole after the last pass, and do not edit ids in the proto.

use std::collections::{BTreeMap, BTreeSet};

use prost_reflect::MessageDescriptor;

use super::finding::{Draft, Level};
use super::hlo::{Computation, Instruction, MODULE, Module};
use super::rule::{At, Rule, RuleInfo};
use super::subject::Subject;
use crate::artifact::rope::Rope;

pub(super) static RULE: RuleInfo = RuleInfo { id: "hlo-id-dangling", level: Level::Error };

pub(super) struct Check;

impl Check {
    pub(super) fn new(_: &Subject) -> Self {
        Check
    }
}

impl Rule for Check {
    fn enter(&mut self, at: &mut At<'_>, message: &MessageDescriptor, bytes: &Rope) {
        if message.full_name() != MODULE {
            return;
        }
        // What is malformed stops the walk, which reports it.
        let Ok(module) = Module::read(bytes) else { return };
        check(at, &module);
    }
}

fn check(at: &mut At<'_>, module: &Module) {
    let mut report = |text: String| at.report(&RULE, Draft::new(text));
    let mut defined = BTreeSet::new();
    let all: BTreeSet<i64> = module.computations.iter().map(|computation| computation.id).collect();
    for computation in &module.computations {
        let name = computation.name.escape_ascii();
        instructions(computation, &mut report);
        for instruction in &computation.instructions {
            for id in instruction.called.iter().filter(|id| !defined.contains(*id)) {
                let when =
                    if all.contains(id) { "before it is defined" } else { "which is not there" };
                let caller = shown(instruction);
                report(format!("{name}: {caller} calls computation {id}, {when}"));
            }
        }
        if !defined.insert(computation.id) {
            report(format!("{name}: its id {} is that of another computation", computation.id));
        }
    }
    match module.entry {
        Some(entry) if !all.contains(&entry) => {
            report(format!("the entry is computation {entry}, which is not there"));
        }
        None if !module.computations.is_empty() && !all.contains(&0) => {
            report("the module names no entry".to_owned());
        }
        _ => {}
    }
    let by_id: BTreeMap<i64, &Computation> =
        module.computations.iter().map(|c| (c.id, c)).collect();
    for (id, sequence) in &module.schedule {
        let Some(computation) = by_id.get(id) else {
            report(format!("the schedule has computation {id}, which is not there"));
            continue;
        };
        let known: BTreeSet<i64> = computation.instructions.iter().map(|i| i.id).collect();
        for id in sequence.iter().filter(|id| !known.contains(id)) {
            let name = computation.name.escape_ascii();
            report(format!("{name}: the schedule has instruction {id}, which is not there"));
        }
    }
}

/// Ids inside one computation.
fn instructions(computation: &Computation, report: &mut impl FnMut(String)) {
    let name = computation.name.escape_ascii();
    let all: BTreeSet<i64> = computation.instructions.iter().map(|i| i.id).collect();
    let mut defined = BTreeSet::new();
    for instruction in &computation.instructions {
        for id in instruction.operands.iter().filter(|id| !defined.contains(*id)) {
            let when = if all.contains(id) { "which comes later" } else { "which is not there" };
            report(format!("{name}: operand {id} of {}, {when}", shown(instruction)));
        }
        for id in instruction.predecessors.iter().filter(|id| !all.contains(id)) {
            let after = shown(instruction);
            report(format!("{name}: {after} comes after instruction {id}, which is not there"));
        }
        if !defined.insert(instruction.id) {
            let other = shown(instruction);
            report(format!("{name}: {other} has the id {} of another", instruction.id));
        }
    }
    if !computation.instructions.is_empty() && !all.contains(&computation.root) {
        report(format!("{name}: its root is instruction {}, which is not there", computation.root));
    }
}

fn shown(instruction: &Instruction) -> String {
    instruction.name.escape_ascii().to_string()
}
