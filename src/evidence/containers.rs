//! Goldens' containers: what loaders refuse, and what head's goldens newly come in.

use std::collections::BTreeMap;

use super::losses::{Place, Shown};
use crate::container::{Containers, Era, Form};
use crate::finding::{Finding, SourceLocation};
use crate::triage::checks::{container_changed, container_refused};

/// What loaders read at base and at head.
#[derive(Debug, Clone, Copy)]
pub struct Eras<'a> {
    /// Base's declaration.
    pub containers: &'a Containers,
    /// Number of base's era in it.
    pub base: usize,
    /// Head's era.
    pub head: &'a Era,
}

impl Eras<'_> {
    /// Base's era.
    pub fn before(&self) -> Option<&Era> {
        self.containers.eras.get(self.base)
    }

    /// Whether loaders read something else at head.
    pub fn differ(&self) -> bool {
        self.before().is_none_or(|before| before.reads != self.head.reads)
    }
}

/// Goldens that head's loaders refuse, by form, and by whether base's do so too.
#[derive(Debug, Default)]
pub(super) struct Refusals(BTreeMap<(bool, Form), Shown>);

impl Refusals {
    /// Adds a golden; one that both refuse counts where `new` is set, because head brings it.
    pub(super) fn add(
        &mut self,
        eras: &Eras<'_>,
        forms: &[Form],
        place: &Place,
        new: bool,
    ) -> bool {
        let Some(form) = eras.containers.refused(eras.head, forms) else { return false };
        let before = eras.before().is_some_and(|era| !era.reads.contains(&form));
        if !before || new {
            self.0.entry((before, form)).or_default().add(place, format!("has {}", form.name()));
        }
        !before
    }

    pub(super) fn findings(self) -> impl Iterator<Item = Finding> {
        self.0.into_iter().map(|((before, form), shown)| {
            let count = shown.places.len();
            container_refused::finding(form, before, count, shown.evidence(), shown.locations())
        })
    }
}

/// The finding on a golden of head's whose container is not that of base's newest of the same program.
pub(super) fn changed(
    eras: Option<&Eras<'_>>,
    base: (&str, &[Form]),
    head: (&str, &[Form]),
    locations: Vec<SourceLocation>,
) -> Option<Finding> {
    let [(base_golden, base_forms), (head_golden, head_forms)] = [base, head];
    if base_forms.is_empty() || head_forms.is_empty() || base_forms == head_forms {
        return None;
    }
    let refused = eras.and_then(|eras| {
        let before = eras.before()?;
        let known = head_forms.iter().all(|form| eras.containers.declares(*form));
        known.then(|| eras.containers.refused(before, head_forms))
    });
    let contained = |golden, forms| container_changed::Contained { golden, forms };
    let (base, head) = (contained(base_golden, base_forms), contained(head_golden, head_forms));
    Some(container_changed::golden(&base, &head, refused, locations))
}
