//! When the goldens of a store were emitted.

use chrono::NaiveDate;

use crate::error::Error;
use crate::golden::{Layout, Store};
use crate::revision::{CommitInfo, FirstParents, Repository};
use crate::rollout::windows::Length;

/// Dates goldens of XLA's layout, which state none, by the commit that added them. Without a commit to start from they
/// stay without a date.
pub(super) fn date(
    store: &mut Store<'_>,
    history: Option<(&Repository, &CommitInfo)>,
    today: NaiveDate,
    backward: Length,
) -> Result<(), Error> {
    let upstream = |layout: &Layout| matches!(layout, Layout::Upstream { .. });
    let Some((repository, tip)) = history else { return Ok(()) };
    if store.goldens().iter().any(|golden| upstream(&golden.layout)) {
        let commits = FirstParents::list(repository, tip, backward.before(today))?;
        store.date(&commits, today);
    }
    Ok(())
}
