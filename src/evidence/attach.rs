//! Golden findings beside those about the schema.

use super::losses::{LostConstruct, Shown};
use super::names::aliases;
use crate::change::Pairs;
use crate::descriptor::Contract;
use crate::finding::{Finding, Level, Satisfaction, Triage};
use crate::triage::checks::golden_lost_data::{self, Lost, Told};
use crate::triage::{Firm, Loudness};
use crate::view::LossKind;

/// What golden findings are made with.
pub(super) struct Desk<'a> {
    pub(super) base: &'a Contract,
    pub(super) head: &'a Contract,
    pub(super) pairs: &'a Pairs,
    pub(super) loudness: Loudness<'a>,
    pub(super) firm: &'a Firm,
}

impl Desk<'_> {
    /// Findings about the schema of a construct that base calls so.
    fn related<'f>(&self, construct: &str, schema: &'f mut [Finding]) -> Vec<&'f mut Finding> {
        let names = aliases(construct, self.base, self.head, self.pairs);
        schema.iter_mut().filter(|f| schematic(f) && names.contains(&f.construct)).collect()
    }

    /// Puts the goldens into the findings about the schema.
    pub(super) fn attach(&self, construct: &str, shown: &Shown, schema: &mut [Finding]) {
        for finding in self.related(construct, schema) {
            finding.evidence.extend(shown.evidence());
        }
    }

    /// The finding on a construct that goldens lose, as loud as what is said about the schema leaves it to be.
    pub(super) fn lost(
        &self,
        construct: &str,
        lost: &LostConstruct,
        schema: &mut [Finding],
    ) -> Option<Finding> {
        self.attach(construct, &lost.shown, schema);
        let related = self.related(construct, schema);
        let worst = related.iter().max_by_key(|finding| (finding.triage, finding.level));
        let told = match worst {
            None => Told::Nothing,
            Some(f) if f.triage == Triage::BreaksBackward => Told::Break(f.check),
            Some(f) => Told::Milder(f.check, f.triage),
        };
        let what = Lost {
            construct,
            presence: lost.kind == LossKind::Presence,
            how: &lost.how,
            goldens: lost.shown.places.len(),
        };
        let finding =
            golden_lost_data::finding(&what, told, lost.shown.evidence(), lost.shown.locations());
        let mut finding = self.loudness.settle(finding)?;
        // What is advice in the schema is advice here.
        match worst {
            Some(schema) => {
                if let Some(why) = &schema.capped {
                    self.loudness.cap(&mut finding, schema.level, why);
                }
            }
            None => self.advise(&mut finding),
        }
        Some(finding)
    }

    /// Caps a finding on a construct of base's that is advice by name or by who reaches it.
    pub(super) fn advise(&self, finding: &mut Finding) {
        let construct = finding.construct.clone();
        let owner = construct.rsplit_once('.').map_or(&*construct, |(owner, _)| owner);
        let classes = &self.loudness.policy.classes;
        let (cap, why) = match self.loudness.policy.class_of(owner, &construct) {
            Some(class) => (class.cap, format!("advisory class {}: {}", class.name, class.reason)),
            None if self.firm.contains(owner) => return,
            None => {
                let Some(cap) = classes.iter().map(|class| class.cap).max() else { return };
                (cap, "reachable through advisory classes only".to_owned())
            }
        };
        self.loudness.cap(finding, cap, &why);
    }
}

/// Whether a finding is about the contract itself.
fn schematic(finding: &Finding) -> bool {
    matches!(finding.surface, "proto" | "json-payload")
}

/// Golden findings follow those about the schema of the same construct, once attestations and waivers are known: where
/// all that say something of it are satisfied, so is what the goldens show.
pub fn follow(findings: &mut [Finding]) {
    let golden =
        |f: &Finding| f.surface == "golden" && f.satisfied_by.is_none() && f.triage > Triage::Safe;
    let places: Vec<usize> = (0..findings.len()).filter(|at| golden(&findings[*at])).collect();
    for at in places {
        let Some(finding) = findings.get(at) else { continue };
        let about = |f: &&Finding| {
            schematic(f)
                && f.triage > Triage::Safe
                && (f.construct == finding.construct
                    // The same place in the same golden.
                    || f.evidence.iter().any(|e| e.file.is_some() && finding.evidence.contains(e)))
        };
        let mut schema = findings.iter().filter(about).peekable();
        if schema.peek().is_none() {
            continue;
        }
        let mut satisfied: Option<&Satisfaction> = None;
        let all = schema.all(|f| {
            satisfied = satisfied.or(f.satisfied_by.as_ref());
            f.satisfied_by.is_some()
        });
        let Some(satisfied) = satisfied.filter(|_| all).cloned() else { continue };
        if let Some(finding) = findings.get_mut(at) {
            // Vouching satisfies warnings only.
            if matches!(satisfied, Satisfaction::Attestation { .. }) {
                finding.level = finding.level.min(Level::Warning);
            }
            finding.satisfied_by = Some(satisfied);
        }
    }
}
