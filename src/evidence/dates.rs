//! When the goldens of a store were emitted.

use chrono::{Days, NaiveDate};

use crate::error::Error;
use crate::golden::{Emission, Layout, Store};
use crate::revision::{CommitInfo, FirstParents, Repository};
use crate::rollout::windows::Length;

/// History is read so many days back first: goldens of the last days need no more, and a whole window has thousands of
/// commits.
const FIRST: Days = Days::new(31);

/// Dates goldens of XLA's layout, which state none, by the commit that added them. Without a commit to start from they
/// stay without a date.
pub(super) fn date(
    store: &mut Store<'_>,
    history: Option<(&Repository, &CommitInfo)>,
    today: NaiveDate,
    backward: Length,
) -> Result<(), Error> {
    let upstream = |store: &Store<'_>, older: bool| {
        store.goldens().iter().any(|golden| {
            matches!(golden.layout, Layout::Upstream { .. })
                && (!older || matches!(golden.emission, Emission::Before(_)))
        })
    };
    let Some((repository, tip)) = history else { return Ok(()) };
    let window = backward.before(today);
    let near = today.checked_sub_days(FIRST).unwrap_or(window).max(window);
    let mut older = false;
    for back in [near, window] {
        if upstream(store, older) {
            let commits = FirstParents::list(repository, tip, back)?;
            store.date(&commits, today);
        }
        older = true;
    }
    Ok(())
}
