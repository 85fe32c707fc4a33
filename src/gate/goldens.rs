//! Goldens of both sides, looked at through both contracts.

use super::Gate;
use super::containers::Sides;
use crate::descriptor::Contract;
use crate::evidence::{Answer, Eras, Question, TextContracts, gather};
use crate::finding::{Finding, Goldens};
use crate::golden::Selection;
use crate::revision::Revision;
use crate::triage::Loudness;

/// Which goldens, and how they are judged.
pub(super) struct Asked<'a> {
    pub(super) selection: Selection,
    pub(super) loudness: Loudness<'a>,
    pub(super) eras: Option<&'a Sides>,
}

impl Gate<'_> {
    /// Adds what goldens show to the findings.
    pub(super) fn goldens(
        &mut self,
        asked: Asked<'_>,
        base: &Revision<'_>,
        head: &Revision<'_>,
        contracts: [&Contract; 2],
        findings: &mut Vec<Finding>,
    ) -> Goldens {
        let Asked { selection, loudness, eras } = asked;
        let tip = self.commit_of(base);
        let repository = self.repository;
        let cache = std::mem::take(&mut self.cache);
        let text = TextContracts::new(base, head, &loudness.policy.contract, cache);
        let containers = &loudness.policy.containers;
        let question = Question {
            base,
            head,
            base_contract: contracts[0],
            head_contract: contracts[1],
            loudness,
            selection,
            history: repository.zip(tip.as_ref()),
            eras: eras.map(|sides| Eras { containers, base: sides.base, head: &sides.head }),
            text: &text,
        };
        let Answer { findings: shown, goldens } = gather(&question, findings);
        self.cache = text.into_cache();
        findings.extend(shown);
        goldens
    }
}
