//! The gate: two revisions in, one judgement out.

mod containers;
#[cfg(feature = "runtime")]
mod goldens;
mod ledger;
mod past;
mod record;
mod rollouts;
mod watch;

pub use record::{Recorded, Recording};
pub(crate) use rollouts::landed;
pub use watch::Watch;

use std::rc::Rc;
use std::sync::Arc;

use chrono::NaiveDate;

use crate::descriptor::{Contract, ContractSpec, ParseCache, SourceClosure};
use crate::error::{Error, ErrorKind};
use crate::finding::{Evidence, Finding, Judgement, SideInfo, Triage};
use crate::golden::Selection;
use crate::history::Cache;
use crate::history::ledger::Ledger;
use crate::revision::{CommitInfo, Repository, Revision, RevisionSpec};
use crate::triage::policy::{self, Policy};
use crate::triage::{self, Attestation, EvidenceSource, InputFile, Loudness};

/// At most this many commit messages of a range are searched for attestations.
const MAX_MESSAGES: usize = 10_000;

/// A landed commit counts as no older than any of this many first-parent ancestors.
const DATED_ANCESTORS: usize = 100;

/// What a check is asked.
#[derive(Debug, Clone)]
pub struct Request {
    /// The older side.
    pub base: RevisionSpec,
    /// The newer side.
    pub head: RevisionSpec,
    /// The date that windows are measured against.
    pub today: NaiveDate,
    /// A policy file named by the user.
    pub policy: Option<PolicyFile>,
    /// Judge advisory classes and history like everything else.
    pub strict: bool,
    /// Which goldens are looked at.
    pub goldens: Selection,
    /// Directories with further goldens, outside the governed tree; trusted like base's.
    pub golden_stores: Vec<std::path::PathBuf>,
    /// Attestations given besides those in commit messages, with where they stand.
    pub attestations: Vec<(String, String)>,
}

/// A policy file named by the user.
#[derive(Debug, Clone)]
pub struct PolicyFile {
    /// Path inside the repository, if it lies there: then base's version counts.
    pub in_tree: Option<String>,
    /// Path as given.
    pub path: String,
    /// Content on disk.
    pub text: String,
}

/// Both sides of a comparison, read and resolved.
#[derive(Debug)]
pub struct Comparison {
    /// The older contract.
    pub base: Arc<Contract>,
    /// The newer contract.
    pub head: Arc<Contract>,
    /// What the older side is.
    pub base_info: SideInfo,
    /// What the newer side is.
    pub head_info: SideInfo,
}

/// Reads contracts; keeps parsed files, so that one session judges many commits quickly.
#[derive(Debug)]
pub struct Gate<'r> {
    repository: Option<&'r Repository>,
    cache: ParseCache,
    contracts: ContractCache,
    #[cfg_attr(not(feature = "runtime"), allow(dead_code, reason = "nothing is executed then"))]
    watch: Watch,
    past: Option<Rc<past::Past<'r>>>,
}

/// The contracts of the last checks: a commit's head is often the next one's base.
#[derive(Debug, Default)]
struct ContractCache {
    spec: ContractSpec,
    recent: Vec<(SourceClosure, Arc<Contract>, String)>,
}

impl ContractCache {
    const KEPT: usize = 2;

    fn get(&mut self, closure: SourceClosure, spec: &ContractSpec) -> Result<Arc<Contract>, Error> {
        if self.spec != *spec {
            *self = ContractCache { spec: spec.clone(), recent: Vec::new() };
        }
        if let Some((_, contract, _)) = self.recent.iter().find(|(c, ..)| c.same_blobs(&closure)) {
            return Ok(contract.clone());
        }
        let contract = Arc::new(closure.contract(spec)?);
        self.recent.truncate(Self::KEPT - 1);
        let fingerprint = contract.fingerprint();
        self.recent.insert(0, (closure, contract.clone(), fingerprint));
        Ok(contract)
    }

    fn fingerprint(&self, contract: &Arc<Contract>) -> String {
        let known = self.recent.iter().find(|(_, c, _)| Arc::ptr_eq(c, contract));
        known.map_or_else(|| contract.fingerprint(), |(_, _, fingerprint)| fingerprint.clone())
    }
}

impl<'r> Gate<'r> {
    /// A gate on a repository; without one only descriptor sets can be compared.
    pub fn new(repository: Option<&'r Repository>) -> Self {
        Gate {
            repository,
            cache: ParseCache::default(),
            contracts: ContractCache::default(),
            watch: Watch::default(),
            past: None,
        }
    }

    /// Reads history where a check asks for it, with an index kept at `cache`; commits that claim to be later than
    /// `clock` do not move the dates of others; `watch` is told how many commits of how
    /// many have been walked.
    #[must_use]
    pub fn with_history(self, cache: Cache, clock: NaiveDate, watch: Watch) -> Self {
        let past = past::Past::new(self.repository, cache, clock, watch);
        Gate { past: Some(Rc::new(past)), ..self }
    }

    /// Tells `watch` how far execution has come.
    #[must_use]
    pub fn watched(self, watch: Watch) -> Self {
        Gate { watch, ..self }
    }

    /// Opens a revision.
    ///
    /// # Errors
    /// Those of [`Revision::open`].
    pub fn open(&self, spec: &RevisionSpec) -> Result<Revision<'r>, Error> {
        Revision::open(spec, self.repository)
    }

    /// The contract at one revision; an error if it has no root.
    ///
    /// # Errors
    /// Unreadable files, and no root message.
    pub fn contract(
        &mut self,
        revision: &Revision<'_>,
        policy: &Policy,
    ) -> Result<Arc<Contract>, Error> {
        let spec = &policy.contract;
        let contract = match revision.as_ledger() {
            Some(ledger) => Arc::new(governed(ledger, spec)),
            None => {
                let closure = revision.closure(spec, &mut self.cache)?;
                self.contracts.get(closure, spec)?
            }
        };
        if contract.roots.is_empty() {
            return Err(root_absent(policy, &revision.label, &revision.label));
        }
        Ok(contract)
    }

    /// What is judged when the user names no head: the working tree where it differs from `HEAD` in
    /// anything that the gate reads, else `HEAD`.
    ///
    /// Asking git for all changes would read every file of the repository.
    pub fn default_head(&mut self, named: Option<&PolicyFile>) -> RevisionSpec {
        // What cannot be read differs; judging it then says why.
        match self.has_uncommitted_work(named) {
            Ok(false) => RevisionSpec::Git("HEAD".to_owned()),
            Ok(true) | Err(_) => RevisionSpec::Worktree,
        }
    }

    fn has_uncommitted_work(&mut self, named: Option<&PolicyFile>) -> Result<bool, Error> {
        if self.repository.is_none_or(|repository| repository.workdir().is_none()) {
            return Ok(false);
        }
        let Ok(head) = self.open(&RevisionSpec::Git("HEAD".to_owned())) else {
            return Ok(false); // nothing is committed yet, which the base rules report
        };
        let worktree = self.open(&RevisionSpec::Worktree)?;
        let policy = self.policy(named, &head, &worktree)?;
        for (path, _) in input_files(&policy, named) {
            if head.read_file(path)? != worktree.read_file(path)? {
                return Ok(true);
            }
        }
        if head.ledger_bytes(&policy)? != worktree.ledger_bytes(&policy)? {
            return Ok(true);
        }
        if let Some(repository) = self.repository
            && repository.changed_below(&policy.goldens.places())
        {
            return Ok(true);
        }
        let committed = head.closure(&policy.contract, &mut self.cache)?;
        let uncommitted =
            worktree.closure_after(&policy.contract, &mut self.cache, Some(&committed))?;
        Ok(!committed.same_blobs(&uncommitted))
    }

    /// How documents name a revision and its contract.
    pub fn info(&self, revision: &Revision<'_>, contract: &Arc<Contract>) -> SideInfo {
        SideInfo {
            revision: revision.label.clone(),
            date: revision.date(),
            fingerprint: self.contracts.fingerprint(contract),
        }
    }

    /// Reads both sides.
    ///
    /// # Errors
    /// Unreadable files on either side, and no root message on both.
    pub fn compare(
        &mut self,
        base: &Revision<'_>,
        head: &Revision<'_>,
        policy: &Policy,
    ) -> Result<Comparison, Error> {
        let spec = &policy.contract;
        self.cache.advance();
        let base_closure = base.closure(spec, &mut self.cache)?;
        let head_closure = head.closure_after(spec, &mut self.cache, Some(&base_closure))?;
        let mut get = |revision: &Revision<'_>, closure| match revision.as_ledger() {
            Some(ledger) => Ok(Arc::new(governed(ledger, spec))),
            None => self.contracts.get(closure, spec),
        };
        let base_contract = get(base, base_closure)?;
        let head_contract = get(head, head_closure)?;
        if base_contract.roots.is_empty() && head_contract.roots.is_empty() {
            return Err(root_absent(policy, &base.label, &head.label));
        }
        let base_info = self.info(base, &base_contract);
        let head_info = self.info(head, &head_contract);
        Ok(Comparison { base: base_contract, head: head_contract, base_info, head_info })
    }

    /// The policy that judges: the named file, else base's own, else the built-in one where it governs base, else
    /// head's own, else the built-in one.
    ///
    /// A named file inside the repository is read from base too, so that a change cannot switch off its
    /// own gate.
    ///
    /// # Errors
    /// An unreadable or wrong policy.
    pub fn policy(
        &self,
        named: Option<&PolicyFile>,
        base: &Revision<'_>,
        head: &Revision<'_>,
    ) -> Result<Policy, Error> {
        if let Some(named) = named {
            let in_base = match &named.in_tree {
                Some(path) => base.read_file(path)?,
                None => None,
            };
            return match in_base {
                Some(bytes) => policy::parse(&named.path, &String::from_utf8_lossy(&bytes)),
                None => policy::parse(&named.path, &named.text),
            };
        }
        if let Some(policy) = policy::find(|path| base.read_file(path))? {
            return Ok(policy);
        }
        // A base that the built-in policy governs is governed by it: head cannot bring a milder one.
        let built_in = policy::built_in()?;
        for path in built_in.contract.candidates() {
            if base.read_file(&path).is_ok_and(|file| file.is_some()) {
                return Ok(built_in);
            }
        }
        match policy::find(|path| head.read_file(path))? {
            Some(policy) => Ok(policy),
            None => Ok(built_in),
        }
    }

    /// Judges a change.
    ///
    /// # Errors
    /// Anything that base or head needs and that cannot be read, and a wrong policy.
    pub fn check(
        &mut self,
        request: &Request,
        evidence: &dyn EvidenceSource,
    ) -> Result<Judgement, Error> {
        let base = self.open(&request.base)?;
        let head = self.open(&request.head)?;
        self.check_between(&base, &head, request, evidence)
    }

    /// Judges what is between two opened revisions; those that the request names do not count.
    ///
    /// # Errors
    /// Those of [`Gate::check`].
    pub fn check_between(
        &mut self,
        base: &Revision<'_>,
        head: &Revision<'_>,
        request: &Request,
        evidence: &dyn EvidenceSource,
    ) -> Result<Judgement, Error> {
        let policy = self.policy(request.policy.as_ref(), base, head)?;
        let comparison = self.compare(base, head, &policy)?;
        let (rollouts, unreadable) = rollouts::of_base(&policy, base)?;
        let evidence = &past::Known {
            given: evidence,
            rollouts,
            today: request.today,
            base,
            policy: &policy,
            past: self.past.clone(),
            looked: past::Looked::default(),
        };

        let mut findings = if Arc::ptr_eq(&comparison.base, &comparison.head) {
            Vec::new()
        } else {
            triage::judge(&triage::Input {
                base: &comparison.base,
                head: &comparison.head,
                policy: &policy,
                today: request.today,
                evidence,
                strict: request.strict,
            })
        };
        let loudness = Loudness { policy: &policy, today: request.today, strict: request.strict };
        let contracts = [&*comparison.base, &*comparison.head];
        findings.extend(self.container_messages(base, head, contracts, loudness, evidence)?);
        let eras = self.eras(&policy, request, base, head)?;
        if let Some(eras) = &eras {
            findings.extend(self.era_findings(eras, loudness));
        }
        #[cfg(feature = "runtime")]
        let goldens = {
            let asked = goldens::Asked {
                selection: request.goldens,
                stores: &request.golden_stores,
                loudness,
                eras: eras.as_ref(),
            };
            self.goldens(asked, base, head, contracts, &mut findings)
        };
        #[cfg(not(feature = "runtime"))]
        let goldens = crate::finding::Goldens::default();
        findings.extend(self.policy_findings(&policy, request, base, head)?);
        findings.extend(unreadable);
        let branch = self.branch(head);
        let old = &evidence.rollouts;
        findings.extend(rollouts::edited(
            &policy,
            request.today,
            [base, head],
            old,
            evidence,
            &branch,
        )?);
        if let Some(why) = evidence.missing() {
            note_missing_history(&mut findings, &why);
        }
        findings.extend(self.ledger_findings(base, head, &comparison, loudness)?);

        if findings.iter().any(|f| f.triage == Triage::NeedsAttestation) {
            triage::apply_attestations(&mut findings, &self.attestations(request, base, head));
            if self.repository.is_some_and(Repository::is_shallow) {
                note_missing_messages(&mut findings);
            }
        }
        if let Some(path) = &policy.waiver_file
            && let Some(bytes) = base.read_file(path)?
        {
            match policy::parse_waivers(path, &String::from_utf8_lossy(&bytes)) {
                Ok(waivers) => {
                    let expired = triage::apply_waivers(&mut findings, &waivers, request.today);
                    findings.extend(expired);
                }
                // No waiver holds then, and the change that repairs the file can still be judged.
                Err(error) => findings.push(triage::unreadable_waivers(path, &error.to_string())),
            }
        }
        #[cfg(feature = "runtime")]
        crate::evidence::follow(&mut findings);
        triage::sort(&mut findings);
        Ok(Judgement {
            base: comparison.base_info,
            head: comparison.head_info,
            subject: head.commit.as_ref().map(|c| c.subject.clone()),
            today: request.today,
            policy_source: policy.source,
            policy_hash: policy.hash,
            findings,
            goldens,
        })
    }

    /// Judges a landed commit against its first parent (nothing, for a root commit), as of its own date
    /// unless another is given; never as of a day after the request's.
    ///
    /// # Errors
    /// Those of [`Gate::check`], and commits that this clone lacks.
    pub fn check_commit(
        &mut self,
        rev: &str,
        today: Option<NaiveDate>,
        request: &Request,
        evidence: &dyn EvidenceSource,
    ) -> Result<Judgement, Error> {
        let repository = self
            .repository
            .ok_or_else(|| ErrorKind::NoRepository { dir: std::path::PathBuf::from(".") })?;
        let commit = repository.commit(rev)?;
        let parent = repository.first_parent(&commit)?;
        // Forged dates must not turn a change into history: dates do not run backwards.
        let date = repository.latest_date(&commit, DATED_ANCESTORS);
        let base = match parent {
            Some(parent) => RevisionSpec::Git(parent.id.to_string()),
            None => RevisionSpec::Empty,
        };
        let head = RevisionSpec::Git(commit.id.to_string());
        // Nor does a date that is to come close windows that are open.
        let today = today.unwrap_or_else(|| date.min(request.today));
        self.check(&Request { base, head, today, ..request.clone() }, evidence)
    }

    /// Looks up commits of the branch that `head` is on.
    fn branch(&self, head: &Revision<'_>) -> rollouts::Branch<'r> {
        // Uncommitted work is on top of HEAD.
        let checkout = || self.repository.filter(|_| head.is_checkout())?.head().ok();
        rollouts::Branch {
            repository: self.repository,
            head: head.commit.clone().or_else(checkout),
        }
    }

    /// Findings about edits of the policy and the waivers themselves.
    fn policy_findings(
        &self,
        policy: &Policy,
        request: &Request,
        base: &Revision<'_>,
        head: &Revision<'_>,
    ) -> Result<Vec<Finding>, Error> {
        let mut findings = Vec::new();
        for (path, kind) in input_files(policy, request.policy.as_ref()) {
            let (before, after) = (base.read_file(path)?, head.read_file(path)?);
            // A ledger has no files that could be edited.
            if before == after || base.is_empty() || base.as_ledger().is_some() {
                continue;
            }
            let (before, after) = (before.as_deref(), after.as_deref());
            findings.extend(triage::edited_input(kind, path, before, after)?);
        }
        Ok(findings)
    }

    /// Attestation lines in the messages of `base..head`, and those of the request.
    fn attestations(
        &self,
        request: &Request,
        base: &Revision<'_>,
        head: &Revision<'_>,
    ) -> Vec<Attestation> {
        let mut found = Vec::new();
        for (text, place) in &request.attestations {
            found.extend(triage::parse_attestations(text, place));
        }
        let tip = match (&head.commit, self.repository) {
            (Some(commit), _) => Some(commit.clone()),
            // Uncommitted work is on top of HEAD.
            (None, Some(repository)) if head.is_checkout() => repository.head().ok(),
            _ => None,
        };
        if let (Some(tip), Some(repository)) = (tip, self.repository) {
            let base = base.commit.as_ref().map(|c| c.id);
            if base != Some(tip.id) {
                for CommitInfo { message, author, id, .. } in
                    repository.messages(base, tip.id, MAX_MESSAGES)
                {
                    let short: String = id.to_string().chars().take(10).collect();
                    found.extend(triage::parse_attestations(
                        &message,
                        &format!("{author} ({short})"),
                    ));
                }
            }
        }
        found
    }
}

/// A ledger's contract under a policy; under its own roots where the policy's were not there.
fn governed(ledger: &Ledger, spec: &ContractSpec) -> Contract {
    let mut contract = (**ledger.contract()).clone();
    let (roots, json_roots) = (contract.roots.clone(), contract.json_roots.clone());
    contract.govern(spec);
    if contract.roots.is_empty() {
        contract.set_roots(roots, json_roots);
    }
    contract
}

/// A shallow clone may lack the commits whose messages attest.
fn note_missing_messages(findings: &mut [Finding]) {
    let unsatisfied = findings
        .iter_mut()
        .filter(|f| f.triage == Triage::NeedsAttestation && f.satisfied_by.is_none());
    for finding in unsatisfied {
        finding.evidence.push(Evidence {
            what: "this clone is shallow, so attestations in earlier commits of the change are not seen: fetch them with `git fetch --deepen=100`, or put the line into the pull request's body".to_owned(),
            commit: None,
            date: None,
            file: None,
            line: None,
        });
    }
}

/// What checks would have asked the past is unknown, and the conservative answer was taken.
fn note_missing_history(findings: &mut [Finding], why: &str) {
    let dated = |f: &&mut Finding| f.surface == "proto" && f.triage > Triage::Safe;
    for finding in findings.iter_mut().filter(dated) {
        finding.evidence.push(Evidence {
            what: why.to_owned(),
            commit: None,
            date: None,
            file: None,
            line: None,
        });
    }
}

/// Files of the tree that are the gate's own inputs.
fn input_files<'p>(policy: &'p Policy, named: Option<&'p PolicyFile>) -> Vec<(&'p str, InputFile)> {
    let mut paths: Vec<&str> = policy::LOCATIONS.to_vec();
    paths.extend(named.and_then(|p| p.in_tree.as_deref()));
    paths.sort_unstable();
    paths.dedup();
    let policies = paths.into_iter().map(|path| (path, InputFile::Policy));
    let waivers = policy.waiver_file.as_deref().map(|path| (path, InputFile::Waivers));
    let rollouts = policy.rollout_file.as_deref().map(|path| (path, InputFile::Rollouts));
    policies.chain(waivers).chain(rollouts).collect()
}

fn root_absent(policy: &Policy, base: &str, head: &str) -> Error {
    let spec = &policy.contract;
    let list = |items: Vec<&str>| items.join(", ");
    let revisions = if base == head { head.to_owned() } else { format!("{base} or {head}") };
    ErrorKind::RootAbsent {
        revisions,
        roots: list(spec.roots.iter().map(|r| &*r.message).collect()),
        files: spec.candidates().join(", "),
        policy: policy.source.clone(),
    }
    .into()
}
