//! What goldens lose, by construct.

use std::collections::BTreeMap;

use crate::finding::{Evidence, SourceLocation};
use crate::golden::Golden;
use crate::view::{Loss, LossKind};

/// So many goldens of one construct are described, and so many more named.
const DESCRIBED: usize = 3;
const NAMED: usize = 20;

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

    /// One fact a golden for the first few, one for the names of the others.
    pub(super) fn evidence(&self) -> Vec<Evidence> {
        let described = self.places.iter().take(DESCRIBED);
        let mut list: Vec<Evidence> = described.map(|(place, what)| place.evidence(what)).collect();
        let mut others = self.places.iter().skip(DESCRIBED).map(|(place, _)| &*place.golden);
        let named: Vec<&str> = others.by_ref().take(NAMED).collect();
        if !named.is_empty() {
            let more = match others.count() {
                0 => String::new(),
                count => format!(" and {count} more"),
            };
            let what = format!("so do {}{more}", named.join(", "));
            list.push(Evidence { what, commit: None, date: None, file: None, line: None });
        }
        list
    }

    pub(super) fn locations(&self) -> Vec<SourceLocation> {
        self.places.iter().take(DESCRIBED).map(|(place, _)| place.location.clone()).collect()
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
            let only = match loss.kind {
                LossKind::CompileOnly => ", where only compilers read it: it loads and runs",
                _ => "",
            };
            let what = format!("carries it {times}, first at {}{only}", loss.path);
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
        LossKind::Unnamed | LossKind::NotModelled | LossKind::CompileOnly => 1,
        LossKind::Dropped => 2,
        LossKind::Reinterpreted => 3,
        LossKind::Refused => 4,
    }
}
