//! What was, by two accounts of it.

use std::collections::HashMap;

use super::uses::{join, order, same_shape};
use crate::history::ledger::gather::last_name;
use crate::history::ledger::position;
use crate::history::timeline::Titled;
use crate::history::timeline::spans::settle;
use crate::history::{Position, Scope, ScopeId, Span, Use};

/// The places of both ledgers on one chain.
pub(super) struct Joint {
    /// Where history begins.
    pub(super) start: Position,
    /// Of each place, whether it is before that.
    pub(super) before: Vec<bool>,
}

impl Joint {
    fn is_before(&self, at: Position) -> bool {
        usize::try_from(at.0).ok().and_then(|at| self.before.get(at)).copied().unwrap_or(false)
    }

    /// When something was.
    fn spans(&self, older: &[Span], newer: &[Span]) -> Vec<Span> {
        let mut spans = Vec::new();
        let mut held = None;
        for span in older.iter().filter(|span| self.is_before(span.from)) {
            match span.until.filter(|until| self.is_before(*until)) {
                Some(_) => spans.push(*span),
                None => held = Some(span.from),
            }
        }
        let (first, later) = match newer {
            [first, later @ ..] if first.from == self.start => (Some(first), later),
            later => (None, later),
        };
        match (held, first) {
            (Some(from), Some(first)) => spans.push(Span { from, until: first.until }),
            // By then it was gone.
            (Some(from), None) if from < self.start => {
                spans.push(Span { from, until: Some(self.start) });
            }
            (Some(_), None) | (None, None) => {}
            (None, Some(first)) => spans.push(*first),
        }
        spans.extend(later);
        // A forged date must not make a span end before it begins.
        spans.retain(|span| span.until.is_none_or(|until| span.from < until));
        spans
    }

    fn titles(&self, older: Vec<Titled>, newer: Vec<Titled>) -> Vec<Titled> {
        let mut titles = Vec::new();
        let mut newer = newer;
        for title in older {
            let same = newer.iter().position(|other| other.name == title.name);
            let own = same.map(|at| newer.remove(at).spans).unwrap_or_default();
            titles.push(Titled { spans: self.spans(&title.spans, &own), name: title.name });
        }
        titles.extend(newer);
        titles.retain(|title| !title.spans.is_empty());
        titles.sort_by_key(|title| title.spans.first().map(|span| span.from));
        titles
    }

    pub(super) fn scopes(&self, newer: Vec<Scope>, older: Vec<Scope>) -> Vec<Scope> {
        let mut taken: HashMap<ScopeId, ScopeId> = HashMap::new(); // older to newer
        let mut merged = newer;
        let mut free: Vec<bool> = vec![true; merged.len()];
        let mut rest = older.len();
        // The last name of the one that lives says most.
        let mut order: Vec<&Scope> = older.iter().collect();
        order.sort_by_key(|scope| (scope.life.last().is_none_or(|s| s.until.is_some()), scope.id));
        for scope in order {
            // A name that it had before says nothing: something else may have it by now.
            let name = last_name(scope);
            let first = |other: &Scope| {
                let titled = other.names.iter().find(|titled| titled.name == name)?;
                titled.spans.first().map(|span| span.from)
            };
            let counterpart = merged
                .iter()
                .enumerate()
                .filter(|(at, other)| free.get(*at) == Some(&true) && other.kind == scope.kind)
                .filter_map(|(at, other)| Some((first(other)?, at)))
                // What had the name first in history is what had it before.
                .min()
                .map(|(_, at)| at);
            if let Some(at) = counterpart {
                if let Some(free) = free.get_mut(at) {
                    *free = false;
                }
                taken.insert(scope.id, ScopeId(position(at).0));
            } else {
                let at = merged.len() + older.len() - rest;
                taken.insert(scope.id, ScopeId(position(at).0));
                rest -= 1;
            }
        }
        let known = merged.len();
        let mut added: Vec<Scope> = Vec::new();
        for scope in older {
            let Some(id) = taken.get(&scope.id).copied() else { continue };
            let index = usize::try_from(id.0).unwrap_or(usize::MAX);
            let empty = Scope::new(id, scope.kind);
            if index < known
                && let Some(own) = merged.get_mut(index)
            {
                *own = self.scope(scope, std::mem::replace(own, empty), &taken);
            } else {
                added.push(self.scope(scope, empty, &taken));
            }
        }
        merged.extend(added);
        merged.sort_by_key(|scope| scope.id);
        // What the older ledger has of the time that history shows, and history has not, never was.
        let never: Vec<bool> = merged.iter().map(|scope| scope.life.is_empty()).collect();
        renumber(&mut merged, &never);
        merged
    }

    fn scope(&self, older: Scope, newer: Scope, taken: &HashMap<ScopeId, ScopeId>) -> Scope {
        let mut ranges: Vec<(i32, i32)> = older
            .reserved_numbers
            .iter()
            .chain(&newer.reserved_numbers)
            .map(|r| (r.0, r.1))
            .collect();
        ranges.sort_unstable();
        ranges.dedup();
        let of = |list: &[(i32, i32, Span)], range: (i32, i32)| -> Vec<Span> {
            // Written as another range it is still reserved.
            let mut spans: Vec<Span> =
                list.iter().filter(|r| r.0 <= range.0 && range.1 <= r.1).map(|r| r.2).collect();
            spans.sort_unstable();
            spans.dedup_by(|next, before| {
                let touches = before.until.is_none_or(|until| next.from <= until);
                if touches && before.until.is_some_and(|u| next.until.is_none_or(|n| n > u)) {
                    before.until = next.until;
                }
                touches
            });
            spans
        };
        let mut reserved: Vec<(i32, i32, Span)> = Vec::new();
        for range in atoms(&ranges) {
            let spans = self
                .spans(&of(&older.reserved_numbers, range), &of(&newer.reserved_numbers, range));
            reserved.extend(spans.into_iter().map(|span| (range.0, range.1, span)));
        }
        settle(&mut reserved);
        Scope {
            id: newer.id,
            kind: newer.kind,
            names: self.titles(older.names, newer.names),
            life: self.spans(&older.life, &newer.life),
            wire: self.spans(&older.wire, &newer.wire),
            json: self.spans(&older.json, &newer.json),
            uses: self.uses(older.uses, newer.uses, taken),
            reserved_numbers: reserved,
            reserved_names: self.titles(older.reserved_names, newer.reserved_names),
        }
    }

    fn uses(
        &self,
        older: Vec<Use>,
        newer: Vec<Use>,
        taken: &HashMap<ScopeId, ScopeId>,
    ) -> Vec<Use> {
        let count = newer.len();
        // Of each older use the place in the list of all; the newer ones come first.
        let mut places: Vec<usize> = Vec::new();
        let mut uses = newer;
        let mut meanings: Vec<usize> =
            uses.iter().map(|used| usize::try_from(used.meaning).unwrap_or(0)).collect();
        for mut used in older {
            if let Some(shape) = &mut used.field {
                shape.of = shape.of.and_then(|of| taken.get(&of).copied());
            }
            let same = uses.iter().take(count).position(|other| {
                other.number == used.number
                    && other.name == used.name
                    && same_shape(other.field.as_ref(), used.field.as_ref())
            });
            let meaning = usize::try_from(used.meaning).unwrap_or(0);
            let at = same.unwrap_or(uses.len());
            places.push(at);
            let root = places.get(meaning).copied().unwrap_or(at);
            match same.and_then(|at| uses.get_mut(at)) {
                Some(own) => own.spans = self.spans(&used.spans, &own.spans),
                None => {
                    used.spans = self.spans(&used.spans, &[]);
                    meanings.push(uses.len());
                    uses.push(used);
                }
            }
            join(&mut meanings, at, root);
        }
        order(uses, &meanings)
    }
}

/// The parts that ranges have in common or alone, sorted.
fn atoms(ranges: &[(i32, i32)]) -> Vec<(i32, i32)> {
    let mut cuts: Vec<i64> =
        ranges.iter().flat_map(|&(lo, hi)| [i64::from(lo), i64::from(hi) + 1]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let narrow = |n: i64| i32::try_from(n).unwrap_or(i32::MAX);
    cuts.windows(2).map(|pair| (narrow(pair[0]), narrow(pair[1] - 1))).collect()
}

/// Leaves scopes out, and counts the others anew.
fn renumber(scopes: &mut Vec<Scope>, out: &[bool]) {
    let mut ids: HashMap<ScopeId, ScopeId> = HashMap::new();
    let mut kept: Vec<&Scope> =
        scopes.iter().zip(out).filter(|(_, out)| !**out).map(|(scope, _)| scope).collect();
    kept.sort_by_key(|scope| (scope.life.first().map(|span| span.from), scope.id));
    for (at, scope) in kept.into_iter().enumerate() {
        ids.insert(scope.id, ScopeId(position(at).0));
    }
    scopes.retain(|scope| ids.contains_key(&scope.id));
    for scope in scopes.iter_mut() {
        scope.id = ids.get(&scope.id).copied().unwrap_or(scope.id);
        for shape in scope.uses.iter_mut().filter_map(|used| used.field.as_mut()) {
            shape.of = shape.of.and_then(|of| ids.get(&of).copied());
        }
    }
    scopes.sort_by_key(|scope| scope.id);
}
