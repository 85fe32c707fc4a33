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

/// Goldens that a run needs, in the order in which they are given.
///
/// `Boundary` takes
/// - of XLA's layout, per target, the versions of [`boundary`]: by position, whatever their dates, and the
///   newest, which golden verification covers there;
/// - of this tool's layout, per program, the oldest and the newest set that are evidence on `today`. Formats
///   change with releases, so everything between two releases that load is likely to load; `All` is for those
///   who want to know.
pub fn select(
    goldens: &[Golden],
    selection: Selection,
    today: NaiveDate,
    backward: Length,
) -> Vec<&Golden> {
    match selection {
        Selection::None => Vec::new(),
        Selection::All => goldens.iter().collect(),
        Selection::Boundary => {
            let versions = boundary_versions(goldens);
            let ends = ends(goldens, today, backward);
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

/// Ids of the oldest and the newest golden of each program that are evidence.
fn ends(goldens: &[Golden], today: NaiveDate, backward: Length) -> BTreeSet<&str> {
    let mut programs: BTreeMap<&str, Vec<(NaiveDate, &str)>> = BTreeMap::new();
    for golden in goldens {
        if let (Layout::Store { program, .. }, Some(date)) = (&golden.layout, golden.emitted_at())
            && golden.in_window(today, backward)
        {
            programs.entry(program).or_default().push((date, &golden.id));
        }
    }
    let ends = programs.values().flat_map(|dated| [dated.iter().min(), dated.iter().max()]);
    ends.flatten().map(|(_, id)| *id).collect()
}
