//! The ledger: what the contract is and ever was, as text in the governed tree.
//!
//! One construct a line, sorted, so that a change of the contract touches the lines of what it changes and two branches
//! that change different things merge. A line is
//!
//! ```text
//! field xla.gpu.CopyThunkProto 2 size int64 optional implicit : 2025-10-31@0123456789ab..
//! ```
//!
//! kind, subject, properties, and the spans over which that was so. A span that lasts has no end; a line whose last span has
//! one is a tombstone. [`Stamp`] says how dates are written. Kinds:
//!
//! | kind | subject | properties |
//! |---|---|---|
//! | `root`, `json-root` | full name | none, and no dates: what is serialized on its own, and what travels as JSON |
//! | `message`, `enum` | scope | `open` or `closed`, `message-set`, `wire` and `json` where a root reaches it all its life, `in=` file |
//! | `name` | scope, full name | none: where it had another name, when it had which |
//! | `wire`, `json` | scope | none: when a root reached it, where that was not all its life |
//! | `extensions` | scope, numbers | none, and no dates: extension ranges |
//! | `reserved`, `reserved-name` | scope, numbers or name | none |
//! | `field` | scope, number, name | type, label, presence, `packed`, `utf8`, `delimited`, `closed`, `deprecated`, `oneof=`, `default=`, `json=`, `means=` |
//! | `value` | scope, number, name | `first`, `alias=`, `means=` |
//! | `entry`, `entry-field` | entry type of a map | as of a message and its fields; no dates |
//!
//! A scope is a message or an enum through all its moves and renames, written by its last name; `^1` and so on stand for
//! older ones that had the same last name. `means=NUMBER/NAME` joins a use to the earlier one that held the same data.
//! A tombstone of a field keeps type, label, presence and oneof. Whatever a name holds that means something here is written
//! `%XX`. Other surfaces will add kinds; a kind that a version does not know is an error, never passed over.
//!
//! Without a ledger's first line nothing is read, and nothing in it depends on anything but the lines that follow: no
//! counter and no hash that each change would touch.

mod difference;
mod escape;
mod gather;
mod govern;
mod merge;
mod parse;
mod read;
mod rebuild;
mod record;
mod stamp;

use std::sync::Arc;

use chrono::NaiveDate;

pub use difference::{Difference, DifferenceKind, differences};
pub use govern::{Breach, BreachKind, Change, breaches};
pub use stamp::{Stamp, Sure, Time};

use super::timeline::{Commit, Difference as ContractDifference};
use super::{Begin, Gap, Landed, Position, Scope, Span, Timeline};
use crate::descriptor::Contract;

/// The first line, without its end.
pub const HEADER: &str =
    "# aotgate ledger 1 (written by `aotgate ledger`; merge conflicts: run it again)";

/// A contract and its history, as a ledger keeps them.
#[derive(Debug, Clone)]
pub struct Ledger {
    contract: Arc<Contract>,
    timeline: Timeline,
    /// Of each position of the timeline.
    stamps: Vec<Stamp>,
}

/// How much a ledger holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages that are declared.
    pub messages: usize,
    /// Enums that are declared.
    pub enums: usize,
    /// Fields and values that are declared.
    pub uses: usize,
    /// Scopes, fields and values that were.
    pub tombstones: usize,
}

impl Ledger {
    /// What history shows up to a commit whose contract is `contract`.
    pub fn of_history(contract: Arc<Contract>, timeline: &Timeline) -> Self {
        let stamps = Stamp::of_history(timeline);
        let places: Vec<Position> = timeline.landed.iter().map(|landed| landed.position).collect();
        let mut timeline = timeline.clone();
        // What is not a place of the timeline does not occur in it.
        move_to(&mut timeline, |at| match places.binary_search(&at) {
            Ok(index) | Err(index) => position(index),
        });
        Ledger { contract, timeline, stamps }.settled()
    }

    /// What is known of a contract whose history is not: all of it is older than `today`.
    pub fn without_history(contract: Arc<Contract>, today: NaiveDate) -> Self {
        let mut timeline = Timeline::new(Begin::Cut);
        let empty = Contract::empty();
        let difference = ContractDifference::new(&empty, &contract);
        timeline.observe(landing(Position(0), today), difference);
        let stamps = vec![Stamp::day(Sure::Unknown, today, 0)];
        Ledger { contract, timeline, stamps }.settled()
    }

    /// The same with `now` as the contract; what differs has not landed, on no day before `today`.
    #[must_use]
    pub fn observe(mut self, now: &Arc<Contract>, today: NaiveDate) -> Self {
        let stamp = match self.stamps.last() {
            Some(last) if last.date >= today => {
                let turn = if last.sure == Sure::Pending { last.turn.saturating_add(1) } else { 0 };
                Stamp::day(Sure::Pending, last.date, turn)
            }
            _ => Stamp::day(Sure::Pending, today, 0),
        };
        let at = position(self.stamps.len());
        let difference = ContractDifference::new(&self.contract, now);
        self.timeline.observe(landing(at, stamp.date), difference);
        self.stamps.push(stamp);
        self.contract = now.clone();
        self.settled()
    }

    /// The contract, with the roots that it had when it was written.
    pub fn contract(&self) -> &Arc<Contract> {
        &self.contract
    }

    /// Its history. Commits have no subject and a short id, which is empty where the date is not a commit's.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// The moment that a place of the timeline stands for.
    pub fn stamp(&self, at: Position) -> Option<&Stamp> {
        self.stamps.get(usize::try_from(at.0).ok()?)
    }

    /// The text.
    pub fn write(&self) -> String {
        let mut text = format!("{HEADER}\n");
        for record in gather::records(self) {
            text.push_str(&record.line());
            text.push('\n');
        }
        text
    }

    /// How much there is.
    pub fn counts(&self) -> Counts {
        let scopes = &self.timeline.scopes;
        let gone = |spans: &[Span]| spans.last().is_some_and(|span| span.until.is_some());
        let uses = || scopes.iter().flat_map(|scope| &scope.uses);
        let over = uses().filter(|used| gone(&used.spans)).count();
        Counts {
            messages: self.contract.messages.values().filter(|m| !m.map_entry).count(),
            enums: self.contract.enums.len(),
            uses: uses().count() - over,
            tombstones: over + scopes.iter().filter(|scope| gone(&scope.life)).count(),
        }
    }

    /// Leaves moments out at which nothing begins or ends, and lets the timeline say of the others what the stamps do.
    fn settled(mut self) -> Self {
        let mut used: Vec<Position> = Vec::new();
        for_spans(&mut self.timeline.scopes, |span| {
            used.push(span.from);
            used.extend(span.until);
        });
        used.sort_unstable_by_key(|at| (self.stamp(*at).cloned(), *at));
        used.dedup_by(|next, before| self.stamp(*next) == self.stamp(*before));
        let stamps: Vec<Stamp> = used.iter().filter_map(|at| self.stamp(*at).cloned()).collect();
        let old = std::mem::take(&mut self.stamps);
        move_to(&mut self.timeline, |at| {
            let stamp = usize::try_from(at.0).ok().and_then(|at| old.get(at));
            let found = stamp.map(|stamp| stamps.partition_point(|other| other < stamp));
            found.map_or(at, position)
        });
        self.stamps = stamps;
        self.describe();
        self
    }

    /// The timeline's own account of its moments.
    fn describe(&mut self) {
        let first = self.stamps.first().map(|stamp| stamp.sure);
        self.timeline.begin = if first == Some(Sure::Assumed) { Begin::Since } else { Begin::Root };
        let at = |index: usize| position(index);
        self.timeline.landed = self
            .stamps
            .iter()
            .enumerate()
            .map(|(index, stamp)| Landed {
                position: at(index),
                id: stamp.commit.clone().unwrap_or_default(),
                date: stamp.date,
                subject: String::new(),
                pull_request: None,
                changelist: None,
                undoes: Vec::new(),
                relands: false,
                changes: Vec::new(),
            })
            .collect();
        let vague = self.stamps.iter().enumerate().filter(|(index, stamp)| match stamp.sure {
            Sure::Known => false,
            Sure::Assumed => *index > 0,
            Sure::Unknown | Sure::Pending => true,
        });
        self.timeline.gaps = vague
            .map(|(index, stamp)| Gap {
                from: at(index),
                until: Some(at(index)),
                reason: format!("the ledger says {stamp}"),
            })
            .collect();
        self.timeline.end = at(self.stamps.len().saturating_sub(1));
    }
}

/// A commit that is not known.
fn landing(position: Position, date: NaiveDate) -> Commit<'static> {
    Commit { position, id: git2::Oid::ZERO_SHA1, date, message: "" }
}

fn position(index: usize) -> Position {
    Position(u32::try_from(index).unwrap_or(u32::MAX))
}

/// Every span of some scopes.
fn for_spans(scopes: &mut [Scope], mut each: impl FnMut(&mut Span)) {
    for scope in scopes {
        let titled = scope.names.iter_mut().chain(&mut scope.reserved_names);
        let lists = titled.map(|titled| &mut titled.spans);
        let lists = lists.chain(scope.uses.iter_mut().map(|used| &mut used.spans));
        let lists = lists.chain([&mut scope.life, &mut scope.wire, &mut scope.json]);
        lists.flatten().for_each(&mut each);
        scope.reserved_numbers.iter_mut().for_each(|(_, _, span)| each(span));
    }
}

/// Puts everything at other places of a chain.
fn move_to(timeline: &mut Timeline, to: impl Fn(Position) -> Position) {
    for_spans(&mut timeline.scopes, |span| {
        span.from = to(span.from);
        span.until = span.until.map(&to);
    });
}
