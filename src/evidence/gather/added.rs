//! Fields that only head has: may older runtimes, which drop them, ignore them?

use super::super::losses::Place;
use super::execute::Pending;
use crate::finding::{Finding, Satisfaction, Triage};
use crate::golden::Golden;
use crate::semantics::{Outcome, Ran, Views};
use crate::triage::checks::field_added;

/// What execution with and without a field came to.
pub(super) enum Tried<'a> {
    /// Nothing carried it, or nothing that carried it could be executed and made the runtime read it.
    Untold,
    /// Every executed golden that carries it gave the same without it: those that made the runtime read it, sorted.
    Ignorable(Vec<String>),
    /// These golden run or are right only with it: what a runtime without it would do. `alone` is false where some of them
    /// carry other new fields too, so that it is not known which one it is.
    Needed {
        /// Each with what a runtime without the field would do.
        goldens: Vec<(&'a Golden, String)>,
        /// Whether it is this field for certain.
        alone: bool,
    },
}

/// Whether a finding is about a field that could turn out to be ignorable.
pub(super) fn concerns(finding: &Finding) -> bool {
    finding.surface == "proto"
        && finding.check == field_added::CHECK.id
        && finding.triage == Triage::NeedsRollout
}

/// What execution tells of the field at position `at` of those that only head has. A change is not its own evidence, so
/// goldens that head brings say nothing.
pub(super) fn tried<'a>(
    at: usize,
    construct: &str,
    pending: &[Pending<'a>],
    ran: &[Result<Ran, String>],
    views: &Views<'_>,
) -> Tried<'a> {
    let (mut equal, mut needed, mut alone, mut spoiled) = (Vec::new(), Vec::new(), true, false);
    for (pending, ran) in pending.iter().zip(ran) {
        let Ok(ran) = ran else { continue };
        if pending.new || !pending.added.contains(&at) {
            continue;
        }
        match &ran.outcome {
            // Where the canonical contract has no place for it, both views are the same and prove nothing.
            Outcome::Equal => {
                let read = ran.head_reads.as_ref().is_some_and(|r| r.have(construct, views, true));
                if read && !ran.unmodelled.contains(construct) {
                    equal.push(pending.golden.id.clone());
                }
            }
            Outcome::NotSupported(_) | Outcome::NoProgram(_) => {}
            Outcome::Needs(what) => {
                alone &= pending.added.len() == 1;
                needed.push((pending.golden, what.clone()));
            }
            Outcome::Differs(_)
            | Outcome::HeadRefuses(_)
            | Outcome::HeadFails(_)
            | Outcome::Unexpected(_) => spoiled = true,
        }
    }
    if !needed.is_empty() {
        return Tried::Needed { goldens: needed, alone };
    }
    if spoiled || equal.is_empty() {
        return Tried::Untold;
    }
    equal.sort();
    Tried::Ignorable(equal)
}

/// Puts it into the finding about the field.
pub(super) fn settle(
    construct: &str,
    tried: Tried<'_>,
    schema: &mut [Finding],
    place: impl Fn(&Golden) -> Place,
) {
    let about = |finding: &&mut Finding| concerns(finding) && finding.construct == construct;
    for finding in schema.iter_mut().filter(about) {
        match &tried {
            Tried::Untold => {}
            Tried::Ignorable(goldens) => field_added::ignorable(finding, goldens.len()),
            Tried::Needed { goldens, alone } => {
                field_added::needed(finding, *alone);
                let facts = goldens.iter().map(|(golden, what)| {
                    place(golden).evidence(&format!("carries it: older runtimes {what}"))
                });
                finding.evidence.extend(facts);
            }
        }
        if let Tried::Ignorable(goldens) = &tried
            && finding.satisfied_by.is_none()
        {
            finding.satisfied_by = Some(Satisfaction::Golden { goldens: goldens.clone() });
        }
    }
}
