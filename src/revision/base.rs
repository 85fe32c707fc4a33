//! Which revision a change is compared with when `--base` is not given.

use super::git::{CommitInfo, Repository};
use super::spec::RevisionSpec;
use crate::error::{Error, ErrorKind};

/// Where a change is going to land.
const UPSTREAMS: [&str; 5] = ["origin/HEAD", "origin/main", "origin/master", "main", "master"];

/// Whether a commit is part of the upstream branch, as far as one is known: a merge commit of somebody's
/// branch is no merge ref of a pull request.
fn is_landed(repository: &Repository, commit: &CommitInfo) -> bool {
    let mut known = UPSTREAMS.iter().filter_map(|name| repository.commit(name).ok()).peekable();
    known.peek().is_none()
        || known.any(|tip| repository.merge_base(tip.id, commit.id) == Some(commit.id))
}

/// The base that the command line's rules give for a head:
///
/// 1. a merge commit checked out detached, as a pull request's merge ref is: its first parent, so that
///    a clone of depth 2 is enough and fields that landed meanwhile do not look deleted;
/// 2. else the merge base with the upstream branch (`origin/HEAD`, `origin/main`, `origin/master`,
///    `main`, `master`);
/// 3. on that branch itself the first parent, and where there is uncommitted work, `HEAD`.
///
/// # Errors
/// No commit to compare with, with the command that supplies one.
pub fn choose_base(repository: &Repository, head: &RevisionSpec) -> Result<RevisionSpec, Error> {
    let tip = match head {
        RevisionSpec::Worktree | RevisionSpec::Index => repository.head()?,
        RevisionSpec::Git(rev) if rev == "HEAD" => repository.head()?,
        RevisionSpec::Git(rev) => repository.commit(rev)?,
        _ => {
            return Err(ErrorKind::NoBase {
                why: "a descriptor set has no parent".to_owned(),
                help: "pass `--base FILE`".to_owned(),
            }
            .into());
        }
    };
    let uncommitted = matches!(head, RevisionSpec::Worktree | RevisionSpec::Index);
    let git = |commit: &CommitInfo| RevisionSpec::Git(commit.id.to_string());

    let detached = repository.branch().is_none();
    if detached
        && repository.parent_count(&tip) > 1
        && repository.head().is_ok_and(|h| h == tip)
        && let Some(parent) = repository.first_parent(&tip)?
        && is_landed(repository, &parent)
    {
        return Ok(git(&parent));
    }
    for upstream in UPSTREAMS {
        let Ok(upstream_tip) = repository.commit(upstream) else { continue };
        if upstream_tip.id == tip.id {
            break; // on that branch itself
        }
        match repository.merge_base(upstream_tip.id, tip.id) {
            Some(id) if id == tip.id => break, // behind it
            Some(id) => return Ok(RevisionSpec::Git(id.to_string())),
            None => {
                return Err(ErrorKind::NoBase {
                    why: format!("{} has no common ancestor with {upstream} in this clone", tip.short()),
                    help: "fetch more history (`git fetch --unshallow`, or `fetch-depth: 0`), or pass `--base REV`".to_owned(),
                }
                .into());
            }
        }
    }
    if uncommitted {
        return Ok(git(&tip));
    }
    match repository.first_parent(&tip)? {
        Some(parent) => Ok(git(&parent)),
        None => Err(ErrorKind::NoBase {
            why: format!("{} has no parent", tip.short()),
            help: "pass `--base REV`; `--base EMPTY` counts everything as added".to_owned(),
        }
        .into()),
    }
}
