//! Which store a command works on.

use std::path::PathBuf;

use crate::cli::context::Context;
use crate::descriptor::{ContractSpec, ParseCache};
use crate::error::{Error, ErrorKind};
use crate::execute::Opener;
use crate::gate::Gate;
use crate::golden::{Golden, Layout, Store};
use crate::revision::{FirstParents, Repository, Revision, RevisionSpec};
use crate::rollout::windows::{Length, Windows};
use crate::triage::policy;
use crate::view;

/// An opened store with what its policy says.
pub(super) struct Opened<'a> {
    pub(super) revision: &'a Revision<'a>,
    pub(super) store: &'a Store<'a>,
    /// Length of the backward window.
    pub(super) backward: Length,
    pub(super) contract: ContractSpec,
}

impl Opened<'_> {
    /// Opens the store's artifacts.
    pub(super) fn opener(&self) -> Result<Opener, Error> {
        let upstream = |golden: &Golden| matches!(golden.layout, Layout::Upstream { .. });
        match opener(self.revision, &self.contract) {
            // Binary artifacts need no contract.
            Err(_) if !self.store.goldens().iter().any(upstream) => {
                Ok(Opener::new(&policy::built_in()?.contract))
            }
            opener => opener,
        }
    }
}

/// Opens the artifacts of a revision: text with the contract that stands beside it, or the built-in one where none does.
pub(super) fn opener(revision: &Revision<'_>, spec: &ContractSpec) -> Result<Opener, Error> {
    let built_in = policy::built_in()?.contract;
    let spec = if spec.roots.is_empty() { &built_in } else { spec };
    let opener = Opener::new(spec);
    let opening = view::opening_spec(spec);
    let closure = revision.closure(&opening, &mut ParseCache::default())?;
    let contract = closure.contract(&opening)?;
    let roots = spec.roots.iter().any(|root| contract.message(&root.message).is_some());
    Ok(if roots { opener.reading_text_with(contract) } else { opener })
}

/// Opens a directory, or the stores that the policy names at a revision (the working tree, in a bare repository
/// `HEAD`), and passes them on.
pub(super) fn with<T>(
    context: &Context,
    rev: Option<&RevisionSpec>,
    dir: Option<&PathBuf>,
    work: impl FnOnce(&Opened<'_>) -> miette::Result<T>,
) -> miette::Result<T> {
    if let Some(dir) = dir {
        if !dir.is_dir() {
            let error = std::io::Error::from(std::io::ErrorKind::NotADirectory);
            return Err(Error::from(ErrorKind::Io { path: dir.clone(), error }).into());
        }
        let revision = Revision::directory(dir);
        let store = Store::open_root(&revision)?;
        return work(&Opened {
            revision: &revision,
            store: &store,
            backward: Windows::default().backward,
            contract: policy::built_in()?.contract,
        });
    }
    let repository = context.repository()?;
    let spec = rev.cloned().unwrap_or_else(|| match repository.workdir() {
        Some(_) => RevisionSpec::Worktree,
        None => RevisionSpec::Git("HEAD".to_owned()),
    });
    let named = context.policy_file(Some(&repository))?;
    let gate = Gate::new(Some(&repository));
    let revision = gate.open(&spec)?;
    let policy = gate.policy(named.as_ref(), &revision, &revision)?;
    let mut store = Store::open(&revision, &policy.goldens)?;
    date(&mut store, &repository, &revision, policy.windows.backward, context)?;
    work(&Opened {
        revision: &revision,
        store: &store,
        backward: policy.windows.backward,
        contract: policy.contract.clone(),
    })
}

/// Dates the goldens that have no manifest by the repository's history.
fn date(
    store: &mut Store<'_>,
    repository: &Repository,
    revision: &Revision<'_>,
    backward: Length,
    context: &Context,
) -> Result<(), Error> {
    if store.goldens().iter().all(|golden| golden.emitted_at().is_some()) {
        return Ok(());
    }
    let tip = match &revision.commit {
        Some(commit) => commit.clone(),
        None => repository.head()?,
    };
    let today = context.today();
    let history = FirstParents::list(repository, &tip, backward.before(today))?;
    store.date(&history, today);
    Ok(())
}
