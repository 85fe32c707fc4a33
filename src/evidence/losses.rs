//! What goldens lose, by construct.

use std::collections::BTreeMap;

use crate::finding::{Evidence, SourceLocation};
use crate::golden::Golden;
use crate::view::{Loss, LossKind};

/// At most this many goldens are named for one construct.
const NAMED: usize = 10;

/// Where a golden stands.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// `golden:<id>`.
    pub(super) golden: String,
    /// When it was emitted.
    pub(super) date: Option<chrono::NaiveDate>,
    /// Its file, in head where it is there, else in base.
    pub(super) location: SourceLocation,
}

impl Place {
    pub(super) fn new(golden: &Golden, location: SourceLocation) -> Self {
        Place { golden: golden.construct(), date: golden.emitted_at(), location }
    }

    /// What it shows, as a dated fact.
    pub(super) fn evidence(&self, what: &str) -> Evidence {
        Evidence {
            what: format!("{} {what}", self.golden),
            commit: None,
            date: self.date,
            file: Some(self.location.location.file.to_string()),
            line: None,
        }
    }
}

/// Goldens that show the same.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) places: Vec<(Place, String)>,
}

impl Shown {
    pub(super) fn add(&mut self, place: &Place, what: String) {
        self.places.push((place.clone(), what));
    }

    /// One fact a golden, the first few.
    pub(super) fn evidence(&self) -> Vec<Evidence> {
        let named = self.places.iter().take(NAMED);
        let mut list: Vec<Evidence> = named.map(|(place, what)| place.evidence(what)).collect();
        if let Some(more) = self.places.len().checked_sub(NAMED + 1)
            && let Some(last) = list.last_mut()
        {
            last.what = format!("{}; and {} more goldens", last.what, more + 1);
        }
        list
    }

    pub(super) fn locations(&self) -> Vec<SourceLocation> {
        self.places.iter().take(NAMED).map(|(place, _)| place.location.clone()).collect()
    }
}

/// All that is lost of one construct.
#[derive(Debug)]
pub(super) struct LostConstruct {
    /// What the worst loss is.
    pub(super) kind: LossKind,
    /// What head makes of it, in words.
    pub(super) how: String,
    pub(super) shown: Shown,
}

/// Losses of all goldens, by base's name of the construct.
#[derive(Debug, Default)]
pub(super) struct LostConstructs(pub(super) BTreeMap<String, LostConstruct>);

impl LostConstructs {
    pub(super) fn add(&mut self, place: &Place, losses: &[Loss]) {
        let mut of_golden: BTreeMap<&str, (&Loss, usize)> = BTreeMap::new();
        for loss in losses.iter().filter(|loss| !loss.construct.is_empty()) {
            let entry = of_golden.entry(&loss.construct).or_insert((loss, 0));
            entry.1 += loss.count;
            if weight(loss.kind) > weight(entry.0.kind) {
                entry.0 = loss;
            }
        }
        for (construct, (loss, count)) in of_golden {
            let how = match loss.detail.as_str() {
                "" => loss.why.to_owned(),
                detail => format!("{} ({detail})", loss.why),
            };
            let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
            let what = format!("carries it {times}, first at {}", loss.path);
            let known = self.0.entry(construct.to_owned()).or_insert_with(|| LostConstruct {
                kind: loss.kind,
                how: how.clone(),
                shown: Shown::default(),
            });
            if weight(loss.kind) > weight(known.kind) {
                (known.kind, known.how) = (loss.kind, how);
            }
            known.shown.add(place, what);
        }
    }
}

fn weight(kind: LossKind) -> u8 {
    match kind {
        LossKind::Presence => 0,
        LossKind::Unnamed | LossKind::NotModelled => 1,
        LossKind::Dropped => 2,
        LossKind::Reinterpreted => 3,
        LossKind::Refused => 4,
    }
}
