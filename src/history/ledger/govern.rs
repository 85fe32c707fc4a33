//! Whether a change keeps the ledger: head's against base's and against head's protos.
//!
//! Base's ledger is the evidence. What it says of the past stays, in head's, as it was or with dates that are known better;
//! what head's adds is of the change itself, or older than base's knows of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::NaiveDate;

use super::Ledger;
use super::difference::by_subject;
use super::record::Record;
use super::stamp::{Stamp, Time, lasts};
use crate::descriptor::Contract;

/// A change of the contract, and of its ledger.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// Base's ledger; `None` where there is none that can be read.
    pub base: Option<&'a Ledger>,
    /// Head's ledger.
    pub head: &'a Ledger,
    /// The contract in base.
    pub base_contract: &'a Arc<Contract>,
    /// The contract in head.
    pub head_contract: &'a Arc<Contract>,
    /// The day of base, where it has one.
    pub since: Option<NaiveDate>,
    /// What the change brings lands on this day.
    pub today: NaiveDate,
}

/// What is wrong with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BreachKind {
    /// Head's protos are otherwise, and the line is base's.
    Stale,
    /// The line is edited, and head's protos or base's ledger say otherwise.
    Contradicts,
    /// Something that base's ledger has of the past is gone or shorter.
    Dropped,
}

/// A line of head's ledger that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// What is wrong.
    pub kind: BreachKind,
    /// Full name of what the line is about.
    pub construct: String,
    /// The beginning of the line: kind and subject.
    pub subject: String,
    /// The line that should be there.
    pub expected: Option<String>,
    /// The line that is there.
    pub found: Option<String>,
    /// What is wrong with it, for people.
    pub why: &'static str,
}

type Lines = BTreeMap<String, Vec<Record>>;

/// Everything wrong with head's ledger, sorted by line.
pub fn breaches(change: &Change<'_>) -> Vec<Breach> {
    let found = by_subject(change.head);
    let Some(base) = change.base else {
        // Nothing is known of the past: it has to be what head's protos are.
        let expected = by_subject(&change.head.clone().observe(change.head_contract, change.today));
        let why = "head's protos say otherwise";
        return against(&expected, &found, |_| BreachKind::Contradicts, why);
    };
    let old = by_subject(base);
    let expected = by_subject(&base.clone().observe(change.head_contract, change.today));
    // What base left undone is not this change's fault.
    let inherited = by_subject(&base.clone().observe(change.base_contract, change.today));
    let inherited: BTreeSet<&String> =
        inherited.iter().filter(|(s, lines)| old.get(*s) != Some(*lines)).map(|(s, _)| s).collect();

    let known: BTreeSet<&Stamp> = base.stamps.iter().collect();
    let latest = change.since.or_else(|| base.stamps.last().map(|stamp| stamp.date));
    let rule = Rule { known, latest };
    let mut breaches = Vec::new();
    let mut subjects: Vec<&String> = expected.keys().chain(found.keys()).collect();
    subjects.sort();
    subjects.dedup();
    for subject in subjects {
        let (before, now) = (old.get(subject), found.get(subject));
        let wanted = expected.get(subject).map_or(&[][..], Vec::as_slice);
        // An untouched line can only be out of date.
        if before == now {
            if before.map_or(&[][..], Vec::as_slice) != wanted && !inherited.contains(subject) {
                let why = "head's protos say otherwise";
                breaches.push(breach(
                    BreachKind::Stale,
                    wanted.first(),
                    now.and_then(|n| n.first()),
                    why,
                ));
            }
            continue;
        }
        let mut left: Vec<&Record> = now.into_iter().flatten().collect();
        for record in wanted {
            let alike = left.iter().position(|other| same_properties(record, other));
            let other = alike.map(|at| left.remove(at));
            let kept = before.is_some_and(|before| before.contains(record));
            let has_past = kept || record.times.iter().any(|time| rule.known.contains(&time.from));
            let (kind, why) = match other {
                Some(other) => match rule.holds(&record.times, &other.times) {
                    Held::Yes => continue,
                    Held::Earlier => (
                        BreachKind::Contradicts,
                        "it claims an earlier date than base's ledger knows",
                    ),
                    Held::Shorter => (BreachKind::Dropped, "base's ledger knows a longer time"),
                },
                None if !lasts(&record.times) && kept => {
                    (BreachKind::Dropped, "base's ledger has it")
                }
                None if !lasts(&record.times) && has_past => (
                    BreachKind::Dropped,
                    "base's ledger has it as declared, and head's protos lack it",
                ),
                None => (BreachKind::Contradicts, "head's protos say otherwise"),
            };
            // One edited line is one breach.
            let other = other.or_else(|| (!left.is_empty()).then(|| left.remove(0)));
            breaches.push(breach(kind, Some(record), other, why));
        }
        for record in left {
            if record.times.is_empty() || lasts(&record.times) {
                let why = "head's protos do not declare it so";
                breaches.push(breach(BreachKind::Contradicts, None, Some(record), why));
            }
        }
    }
    breaches.sort_by(|a, b| (a.kind, &a.subject, &a.found).cmp(&(b.kind, &b.subject, &b.found)));
    breaches
}

fn against(
    expected: &Lines,
    found: &Lines,
    kind: impl Fn(&str) -> BreachKind,
    why: &'static str,
) -> Vec<Breach> {
    let mut subjects: Vec<&String> = expected.keys().chain(found.keys()).collect();
    subjects.sort();
    subjects.dedup();
    let differ = |subject: &&&String| expected.get(**subject) != found.get(**subject);
    let first = |lines: &Lines, subject: &str| lines.get(subject).and_then(|l| l.first()).cloned();
    subjects
        .iter()
        .filter(differ)
        .map(|subject| {
            let (wanted, now) = (first(expected, subject), first(found, subject));
            breach(kind(subject), wanted.as_ref(), now.as_ref(), why)
        })
        .collect()
}

fn breach(
    kind: BreachKind,
    expected: Option<&Record>,
    found: Option<&Record>,
    why: &'static str,
) -> Breach {
    let any = expected.or(found);
    Breach {
        kind,
        construct: any.map_or(String::new(), Record::construct),
        subject: any.map_or(String::new(), Record::subject),
        expected: expected.map(Record::line),
        found: found.map(Record::line),
        why,
    }
}

/// Whether two lines say the same but for dates; which earlier line one continues is told by history, which may know more.
fn same_properties(a: &Record, b: &Record) -> bool {
    let own = |record: &Record| -> Vec<String> {
        record.properties().into_iter().filter(|word| !word.starts_with("means=")).collect()
    };
    own(a) == own(b)
}

/// What dates may be.
struct Rule<'a> {
    /// Those of base's ledger.
    known: BTreeSet<&'a Stamp>,
    /// The day of base.
    latest: Option<NaiveDate>,
}

enum Held {
    Yes,
    Earlier,
    Shorter,
}

impl Rule<'_> {
    /// Whether a moment can be of this change.
    fn is_new(&self, stamp: &Stamp) -> bool {
        self.latest.is_none_or(|latest| latest <= stamp.date)
    }

    /// Whether `written` may stand for `moment`.
    fn fits(&self, moment: &Stamp, written: &Stamp) -> bool {
        if self.known.contains(moment) { moment.allows(written) } else { self.is_new(written) }
    }

    fn holds(&self, times: &[Time], written: &[Time]) -> Held {
        let mut rest = written.iter();
        for time in times {
            let Some(own) = rest.next() else { return Held::Shorter };
            if !self.fits(&time.from, &own.from) {
                let earlier = own.from.date <= time.from.date;
                return if earlier { Held::Earlier } else { Held::Shorter };
            }
            let ends = match (&time.until, &own.until) {
                (None, None) => true,
                // Within the change it went and came back.
                (None, Some(until)) => self.is_new(until),
                (Some(moment), Some(until)) => self.fits(moment, until),
                (Some(_), None) => false,
            };
            if !ends {
                return Held::Shorter;
            }
        }
        match rest.all(|time| self.is_new(&time.from)) {
            true if lasts(times) == lasts(written) => Held::Yes,
            _ => Held::Shorter,
        }
    }
}
