//! What differs between two ledgers, line by line.

use std::collections::BTreeMap;
use std::fmt;

use super::record::Record;
use super::stamp::{Time, lasts};
use super::{Ledger, gather};

/// What kind of difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DifferenceKind {
    /// A line is missing, of something that is declared.
    Missing,
    /// A line is missing, or has an end too few, of something that was.
    TombstoneDropped,
    /// A line says of something that is or was no such thing.
    Extra,
    /// A property differs.
    Property,
    /// A date differs.
    Date,
}

impl DifferenceKind {
    /// The name used in machine formats.
    pub fn name(self) -> &'static str {
        match self {
            DifferenceKind::Missing => "missing",
            DifferenceKind::TombstoneDropped => "tombstone-dropped",
            DifferenceKind::Extra => "extra",
            DifferenceKind::Property => "property",
            DifferenceKind::Date => "date",
        }
    }
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What kind of difference.
    pub kind: DifferenceKind,
    /// Full name of what it is about.
    pub construct: String,
    /// The beginning of the line: kind and subject.
    pub subject: String,
    /// The line that should be there.
    pub expected: Option<String>,
    /// The line that is there.
    pub found: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { kind, subject, .. } = self;
        match kind {
            DifferenceKind::Missing => write!(f, "no line `{subject}`"),
            DifferenceKind::TombstoneDropped => write!(f, "`{subject}` was, and is not kept"),
            DifferenceKind::Extra => write!(f, "`{subject}` is not so"),
            DifferenceKind::Property => write!(f, "`{subject}` has other properties"),
            DifferenceKind::Date => write!(f, "`{subject}` has other dates"),
        }
    }
}

/// The lines of a ledger by subject. One number and name of several types has as many lines.
pub(super) fn by_subject(ledger: &Ledger) -> BTreeMap<String, Vec<Record>> {
    let mut lines: BTreeMap<String, Vec<Record>> = BTreeMap::new();
    for record in gather::records(ledger) {
        lines.entry(record.subject()).or_default().push(record);
    }
    lines
}

/// What `found` says otherwise than `expected`; a vague date may stand for the exact one that it allows.
pub fn differences(expected: &Ledger, found: &Ledger) -> Vec<Difference> {
    let (expected, found) = (by_subject(expected), by_subject(found));
    let mut subjects: Vec<&String> = expected.keys().chain(found.keys()).collect();
    subjects.sort();
    subjects.dedup();
    let mut differences = Vec::new();
    for subject in subjects {
        let list = |lines: &BTreeMap<String, Vec<Record>>| lines.get(subject).cloned();
        let mut left = list(&found).unwrap_or_default();
        let mut open = Vec::new();
        for record in list(&expected).unwrap_or_default() {
            let properties = record.properties();
            match left.iter().position(|other| other.properties() == properties) {
                Some(at) => {
                    let other = left.remove(at);
                    // Each may know better than the other.
                    let agree =
                        allows(&other.times, &record.times) || allows(&record.times, &other.times);
                    if !agree {
                        differences.push(difference(Some(record), Some(other)));
                    }
                }
                None => open.push(record),
            }
        }
        for record in open {
            let other = (!left.is_empty()).then(|| left.remove(0));
            differences.push(difference(Some(record), other));
        }
        differences.extend(left.into_iter().map(|other| difference(None, Some(other))));
    }
    differences
}

fn difference(expected: Option<Record>, found: Option<Record>) -> Difference {
    let over = |record: &Record| !record.times.is_empty() && !lasts(&record.times);
    let kind = match (&expected, &found) {
        (Some(expected), None) if over(expected) => DifferenceKind::TombstoneDropped,
        (_, None) => DifferenceKind::Missing,
        (None, Some(_)) => DifferenceKind::Extra,
        (Some(expected), Some(found)) => {
            let ends = |record: &Record| record.times.iter().filter(|t| t.until.is_some()).count();
            if ends(found) < ends(expected) {
                DifferenceKind::TombstoneDropped
            } else if lasts(&expected.times) != lasts(&found.times) {
                DifferenceKind::Extra
            } else if expected.properties() != found.properties() {
                DifferenceKind::Property
            } else {
                DifferenceKind::Date
            }
        }
    };
    let any = expected.as_ref().or(found.as_ref());
    Difference {
        kind,
        construct: any.map_or(String::new(), Record::construct),
        subject: any.map_or(String::new(), Record::subject),
        expected: expected.as_ref().map(Record::line),
        found: found.as_ref().map(Record::line),
    }
}

/// Whether what is written may be what was.
pub(super) fn allows(written: &[Time], exact: &[Time]) -> bool {
    written.len() == exact.len()
        && written.iter().zip(exact).all(|(written, exact)| {
            written.from.allows(&exact.from)
                && match (&written.until, &exact.until) {
                    (Some(written), Some(exact)) => written.allows(exact),
                    (written, exact) => written.is_none() && exact.is_none(),
                }
        })
}
