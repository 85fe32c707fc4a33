//! What an older ledger knows, with what history shows.
//!
//! History begins somewhere; what it shows after that is exact. What was before only the ledger knows: when a construct that
//! history had from its beginning came, and what was gone by then. A construct that the ledger has and history has not was
//! gone when history begins.

mod joint;
mod uses;

use std::collections::BTreeSet;

use super::gather::last_name;
use super::stamp::{Stamp, Sure};
use super::{Ledger, move_to, position};
use crate::history::timeline::FieldShape;
use crate::history::{Scope, Use};
use joint::Joint;
use uses::order;

impl Ledger {
    /// Counts the commits of the day with which history begins on from those that an older ledger knows.
    fn continue_day(&mut self, beginning: &Stamp, older: &Ledger) {
        let known = older.stamps.iter().filter(|s| s.date == beginning.date && s.commit.is_some());
        let known: Vec<&Stamp> = known.collect();
        let Some(mut last) = known.iter().map(|stamp| stamp.turn).max() else { return };
        for stamp in self.stamps.iter_mut().filter(|stamp| stamp.date == beginning.date) {
            if stamp.commit.is_none() {
                continue;
            }
            match known.iter().find(|other| other.commit == stamp.commit) {
                Some(other) => stamp.turn = other.turn,
                None => {
                    last = last.saturating_add(1);
                    stamp.turn = last;
                }
            }
        }
        // A ledger that contradicts history in the order of a day must not put the stamps out of order.
        let mut turn = None;
        for stamp in
            self.stamps.iter_mut().filter(|s| s.date == beginning.date && s.commit.is_some())
        {
            if turn.is_some_and(|before| stamp.turn <= before) {
                stamp.turn = turn.map_or(0, |before: u32| before.saturating_add(1));
            }
            turn = Some(stamp.turn);
        }
    }

    /// This ledger, which is of history, with what an older one adds.
    #[must_use]
    pub fn with_older(self, older: &Ledger) -> Self {
        let Some(beginning) = self.stamps.first().filter(|stamp| is_beginning(stamp)).cloned()
        else {
            return self; // history goes back to the root commit, or there is none
        };
        let mut older = older.clone();
        let mut newer = self;
        newer.continue_day(&beginning, &older);
        let shown: BTreeSet<Stamp> = newer.stamps.iter().cloned().collect();
        let stamps: Vec<Stamp> = shown
            .iter()
            .chain(&older.stamps)
            .cloned()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let place = |stamp: Option<&Stamp>| {
            let stamp = stamp.map(|stamp| stamps.partition_point(|other| other < stamp));
            position(stamp.unwrap_or(usize::MAX))
        };
        for ledger in [&mut newer, &mut older] {
            let own = std::mem::take(&mut ledger.stamps);
            move_to(&mut ledger.timeline, |at| {
                place(usize::try_from(at.0).ok().and_then(|at| own.get(at)))
            });
        }
        let start = place(Some(&beginning));
        let before = stamps
            .iter()
            .map(|stamp| {
                let same_day = stamp.date == beginning.date && !shown.contains(stamp);
                stamp.date < beginning.date || same_day
            })
            .collect();
        let joint = Joint { start, before };
        let scopes = std::mem::take(&mut older.timeline.scopes);
        newer.timeline.scopes = joint.scopes(std::mem::take(&mut newer.timeline.scopes), scopes);
        newer.stamps = stamps;
        newer.settled()
    }
}

impl Ledger {
    /// This ledger, with the past that another branch's has and this one lacks; what that branch declares counts for nothing.
    #[must_use]
    pub fn joined(mut self, other: &Ledger) -> Self {
        let stamps: Vec<Stamp> = self
            .stamps
            .iter()
            .chain(&other.stamps)
            .cloned()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let mut other = other.clone();
        for ledger in [&mut self, &mut other] {
            let own = std::mem::take(&mut ledger.stamps);
            move_to(&mut ledger.timeline, |at| {
                let stamp = usize::try_from(at.0).ok().and_then(|at| own.get(at));
                position(stamp.map_or(usize::MAX, |s| stamps.partition_point(|o| o < s)))
            });
        }
        for scope in &mut self.timeline.scopes {
            let name = last_name(scope).to_owned();
            let same = |theirs: &&Scope| {
                theirs.kind == scope.kind && theirs.names.iter().any(|titled| titled.name == name)
            };
            let Some(theirs) = other.timeline.scopes.iter().find(same) else { continue };
            for used in &theirs.uses {
                let over = used.spans.last().is_some_and(|span| span.until.is_some());
                let known = |own: &Use| own.number == used.number && own.name == used.name;
                if over && !scope.uses.iter().any(known) {
                    let meaning = position(scope.uses.len()).0;
                    // Its type is a scope of the other ledger.
                    let field = used.field.clone().map(|field| FieldShape { of: None, ..field });
                    scope.uses.push(Use { meaning, field, ..used.clone() });
                }
            }
            let meanings: Vec<usize> =
                scope.uses.iter().map(|u| usize::try_from(u.meaning).unwrap_or(0)).collect();
            scope.uses = order(std::mem::take(&mut scope.uses), &meanings);
        }
        self.stamps = stamps;
        self.settled()
    }
}

/// Whether nothing is known of what was before a moment.
fn is_beginning(stamp: &Stamp) -> bool {
    stamp.commit.is_none() && matches!(stamp.sure, Sure::Assumed | Sure::Unknown)
}
