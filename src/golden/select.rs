//! Which goldens a run needs.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;

use super::boundary::boundary;
use super::{Golden, Layout};
use crate::rollout::windows::Length;

/// How many goldens are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// None.
    None,
    /// The edges of the promise; see [`select`].
    Boundary,
    /// Every one.
    All,
}

impl Selection {
    /// Takes [`TEST_ALL_VERSIONS`](super::TEST_ALL_VERSIONS) into account: where it is set to anything but `0`
    /// or nothing, `Boundary` becomes `All`.
    pub fn with_variable(self, value: Option<&str>) -> Self {
        match (self, value) {
            (Selection::Boundary, Some(value)) if !matches!(value, "" | "0") => Selection::All,
            _ => self,
        }
    }
}

/// Goldens that a run needs, in the order in which they are given; see [`select_usable`]. Whether an artifact can be
/// opened is not looked at.
pub fn select(
    goldens: &[Golden],
    selection: Selection,
    today: NaiveDate,
    backward: Length,
) -> Vec<&Golden> {
    select_usable(goldens, selection, today, backward, &|_| true)
}

/// Goldens that a run needs, in the order in which they are given.
///
/// `Boundary` takes
/// - of XLA's layout, per target, the versions of [`boundary`]: by position, whatever their dates, and the
///   newest, which golden verification covers there;
/// - of this tool's layout, per program, the oldest and the newest set that are evidence on `today`. Formats
///   change with releases, so everything between two releases that load is likely to load; `All` is for those
///   who want to know.
///
/// One that cannot run, or that `opens` says cannot be read, stands for no other one: where it is an end, the
/// next that can is taken as well.
pub fn select_usable<'g>(
    goldens: &'g [Golden],
    selection: Selection,
    today: NaiveDate,
    backward: Length,
    opens: &dyn Fn(&Golden) -> bool,
) -> Vec<&'g Golden> {
    match selection {
        Selection::None => Vec::new(),
        Selection::All => goldens.iter().collect(),
        Selection::Boundary => {
            let versions = boundary_versions(goldens);
            let ends = ends(goldens, today, backward, opens);
            let wanted = |golden: &&Golden| match &golden.layout {
                Layout::Upstream { root, target, version, .. } => {
                    versions.get(&(&**root, &**target)).is_some_and(|v| v.contains(version))
                }
                Layout::Store { .. } => ends.contains(&*golden.id),
            };
            goldens.iter().filter(wanted).collect()
        }
    }
}

/// Versions of each target (root and name) that the boundary takes.
fn boundary_versions(goldens: &[Golden]) -> BTreeMap<(&str, &str), BTreeSet<i32>> {
    let mut versions: BTreeMap<(&str, &str), BTreeSet<i32>> = BTreeMap::new();
    for golden in goldens {
        if let Layout::Upstream { root, target, version, .. } = &golden.layout {
            versions.entry((root, target)).or_default().insert(*version);
        }
    }
    for versions in versions.values_mut() {
        let all: Vec<i32> = versions.iter().copied().collect();
        if let Some(boundary) = boundary(&all, false) {
            *versions = boundary.backward.into_iter().chain([boundary.verification]).collect();
        }
    }
    versions
}

/// Ids of the oldest and the newest golden of each program that are evidence, and of the oldest and the newest
/// that can run.
fn ends<'g>(
    goldens: &'g [Golden],
    today: NaiveDate,
    backward: Length,
    opens: &dyn Fn(&Golden) -> bool,
) -> BTreeSet<&'g str> {
    let mut programs: BTreeMap<&str, Vec<(NaiveDate, &Golden)>> = BTreeMap::new();
    for golden in goldens {
        if let (Layout::Store { program, .. }, Some(date)) = (&golden.layout, golden.emitted_at())
            && golden.in_window(today, backward)
        {
            programs.entry(program).or_default().push((date, golden));
        }
    }
    let usable = |golden: &Golden| {
        let runs = golden.manifest.as_ref().is_none_or(|manifest| manifest.cannot_run.is_empty());
        runs && golden.problem.is_none() && opens(golden)
    };
    let mut ends = BTreeSet::new();
    for dated in programs.values_mut() {
        dated.sort_by(|one, two| (one.0, &one.1.id).cmp(&(two.0, &two.1.id)));
        let all = || dated.iter().map(|(_, golden)| *golden);
        let first = all().find(|golden| usable(golden));
        let last = first.and_then(|_| all().rfind(|golden| usable(golden)));
        let taken = [all().next(), all().next_back(), first, last];
        ends.extend(taken.into_iter().flatten().map(|golden| &*golden.id));
    }
    ends
}
