//! The containers of an artifact, compared like the contract.

use super::{Gate, PolicyFile, Request};
use crate::container::{self, Era};
use crate::descriptor::{Contract, ContractSpec};
use crate::error::Error;
use crate::finding::Finding;
use crate::revision::{CommitInfo, Revision};
use crate::triage::checks::container_changed;
use crate::triage::policy::{self, Policy};
use crate::triage::{self, EvidenceSource, Loudness};

/// The era of base, by its number in the policy, and that of head.
#[derive(Debug)]
pub(super) struct Sides {
    pub(super) base: usize,
    pub(super) head: Era,
}

impl Gate<'_> {
    /// Findings on the messages of containers, other than types that the contract reaches as well.
    pub(super) fn container_messages(
        &mut self,
        base: &Revision<'_>,
        head: &Revision<'_>,
        contracts: [&Contract; 2],
        loudness: Loudness<'_>,
        evidence: &dyn EvidenceSource,
    ) -> Result<Vec<Finding>, Error> {
        let Loudness { policy, today, strict } = loudness;
        let messages = &policy.containers.messages;
        if messages.is_empty() {
            return Ok(Vec::new());
        }
        let spec = ContractSpec {
            roots: messages.iter().map(|message| message.root.clone()).collect(),
            opaque: Vec::new(),
            ..policy.contract.clone()
        };
        let before = base.closure(&spec, &mut self.cache)?;
        let after = head.closure_after(&spec, &mut self.cache, Some(&before))?;
        if before.same_blobs(&after) {
            return Ok(Vec::new());
        }
        let trees = base.has_files() && head.has_files();
        let (before, after) = match (before.contract(&spec), after.contract(&spec)) {
            (Ok(before), Ok(after)) => (before, after),
            // A descriptor set need not hold what wraps the root.
            _ if !trees => return Ok(Vec::new()),
            (Err(error), _) | (_, Err(error)) => return Err(error),
        };
        if before.roots.is_empty() || (after.roots.is_empty() && !trees) {
            return Ok(Vec::new());
        }
        let stop: Vec<&str> =
            messages.iter().flat_map(|message| &message.stop).map(String::as_str).collect();
        let elsewhere = |name: &str| {
            contracts.iter().any(|contract| {
                contract.message(name).is_some_and(|m| m.reach.any())
                    || contract.enumeration(name).is_some_and(|e| e.reach.any())
            })
        };
        let input = triage::Input { base: &before, head: &after, policy, today, evidence, strict };
        Ok(triage::judge_containers(&input, &stop, elsewhere))
    }

    /// Which eras base and head are in; `None` where nothing is declared for one of them.
    pub(super) fn eras(
        &self,
        policy: &Policy,
        request: &Request,
        base: &Revision<'_>,
        head: &Revision<'_>,
    ) -> Result<Option<Sides>, Error> {
        if base.is_empty() {
            return Ok(None);
        }
        let own = self.heads_policy(request.policy.as_ref(), head)?;
        let declared = own.as_ref().map_or(&policy.containers, |own| &own.containers);
        if policy.containers.eras.is_empty() || declared.eras.is_empty() {
            return Ok(None);
        }
        let at = |revision: &Revision<'_>, containers: &container::Containers| {
            let commit = self.commit_of(revision);
            let date = commit.as_ref().map_or(request.today, |commit| commit.date);
            containers.era_at(date, |id| {
                self.repository.zip(commit.as_ref()).and_then(|(r, tip)| r.contains(tip, id))
            })
        };
        let Some(before) = at(base, &policy.containers) else { return Ok(None) };
        // What the change itself declares is in force with it, whatever its day.
        let new = declared.eras.last().filter(|era| !policy.containers.eras.contains(era));
        let now = match new {
            Some(era) => Some(era),
            None => at(head, declared).and_then(|at| declared.eras.get(at)),
        };
        Ok(now.map(|era| Sides { base: before, head: era.clone() }))
    }

    /// Findings on what loaders read and compilers write.
    pub(super) fn era_findings(&self, sides: &Sides, loudness: Loudness<'_>) -> Vec<Finding> {
        let Loudness { policy, today, .. } = loudness;
        let changes =
            container::changes(&policy.containers, sides.base, &sides.head, today, &policy.windows);
        let form = |change| container_changed::form(change, today, &policy.windows);
        changes.iter().map(form).filter_map(|finding| loudness.settle(finding)).collect()
    }

    /// The commit that a revision is, or that uncommitted files are on top of.
    pub(super) fn commit_of(&self, revision: &Revision<'_>) -> Option<CommitInfo> {
        match (&revision.commit, self.repository) {
            (Some(commit), _) => Some(commit.clone()),
            (None, Some(repository)) if revision.is_checkout() => repository.head().ok(),
            _ => None,
        }
    }

    /// The policy that head has for itself, if any: it declares what head does, and judges nothing here.
    fn heads_policy(
        &self,
        named: Option<&PolicyFile>,
        head: &Revision<'_>,
    ) -> Result<Option<Policy>, Error> {
        match named {
            None => policy::find(|path| head.read_file(path)),
            Some(PolicyFile { in_tree: Some(path), .. }) => match head.read_file(path)? {
                Some(bytes) => policy::parse(path, &String::from_utf8_lossy(&bytes)).map(Some),
                None => Ok(None),
            },
            Some(_) => Ok(None),
        }
    }
}
