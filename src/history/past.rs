//! What triage asks of a [`View`].

use super::{Moment, Period, Scope, Used, View};
use crate::triage::{Former, Seen};

/// Digits of a commit's id in reports.
const SHORT: usize = 10;

impl From<Moment<'_>> for Seen {
    fn from(moment: Moment<'_>) -> Self {
        Seen {
            // A ledger knows some days without a commit.
            commit: (!moment.commit.is_empty())
                .then(|| moment.commit.chars().take(SHORT).collect()),
            date: moment.date,
            confidence: moment.confidence,
        }
    }
}

impl View<'_> {
    /// What a number of a message or enum stood for and does no more, oldest first.
    pub fn number_before(&self, scope: &str, number: i32) -> Vec<Former> {
        let Some(scope) = self.scope_named(scope) else { return Vec::new() };
        former(self.uses_of_number(scope, number))
    }

    /// What a name in a message or enum stood for and does no more, oldest first.
    pub fn name_before(&self, scope: &str, name: &str) -> Vec<Former> {
        let Some(scope) = self.scope_named(scope) else { return Vec::new() };
        former(self.uses_of_name(scope, name))
    }

    /// Since when a construct is declared as it is, without a break: runtimes of the time before it came back, or before
    /// it got its number and type, do not read it.
    pub fn introduced(&self, construct: &str) -> Option<Seen> {
        if let Some(scope) = self.scope_named(construct) {
            return Some(self.life(scope).last()?.from.into());
        }
        let (owner, name) = construct.rsplit_once('.')?;
        let uses = self.uses_of_name(self.scope_named(owner)?, name);
        let last = uses.iter().filter_map(|used| used.periods.last());
        last.map(|period| period.from).max_by_key(|from| from.position).map(Seen::from)
    }

    /// Since when a number is reserved, where it still is.
    pub fn number_reserved_since(&self, scope: &str, number: i32) -> Option<Seen> {
        let scope = self.scope_named(scope)?;
        lasting(&self.number_reserved(scope, number))
    }

    /// Since when a name is reserved, where it still is.
    pub fn name_reserved_since(&self, scope: &str, name: &str) -> Option<Seen> {
        let scope: &Scope = self.scope_named(scope)?;
        lasting(&self.name_reserved(scope, name))
    }
}

fn lasting(periods: &[Period<'_>]) -> Option<Seen> {
    let last = periods.last()?;
    last.until.is_none().then(|| last.from.into())
}

fn former(uses: Vec<Used<'_>>) -> Vec<Former> {
    let over = uses.into_iter().filter_map(|Used { what, periods }| {
        let until = periods.last()?.until?;
        Some(Former {
            number: what.number,
            name: what.name.clone(),
            ty: what.field.as_ref().map(|field| field.ty.clone()),
            since: periods.first()?.from.into(),
            until: until.into(),
            meaning: what.meaning,
        })
    });
    let mut over: Vec<Former> = over.collect();
    over.sort_by_key(|former| former.until.date);
    over
}
