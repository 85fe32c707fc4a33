//! Building a timeline, one contract after the other.

use std::collections::{HashMap, HashSet};

use chrono::NaiveDate;

use super::difference::{Declared, Facts, Shape};
use super::spans::{keep, open, reserve};
use super::{
    Begin, Difference, FieldShape, Gap, Landed, Position, Scope, ScopeId, ScopeKind, Span,
    Timeline, Titled, Undo, Use,
};
use crate::history::reverts;

/// A commit of the chain.
#[derive(Debug, Clone, Copy)]
pub struct Commit<'a> {
    /// Place on the chain; each commit's is one more than that of its first parent.
    pub position: Position,
    /// Full id.
    pub id: git2::Oid,
    /// The day on which it landed, see [`Moment::date`](super::Moment::date).
    pub date: NaiveDate,
    /// The whole message.
    pub message: &'a str,
}

impl Timeline {
    /// A timeline that has seen nothing yet.
    pub fn new(begin: Begin) -> Self {
        Timeline {
            begin,
            landed: Vec::new(),
            gaps: Vec::new(),
            scopes: Vec::new(),
            end: Position(0),
        }
    }

    /// The contract at a commit, by how it differs from the last one that was observed (an empty one, for the first).
    ///
    /// Commits come in order; those between which nothing changed may be left out.
    pub fn observe(&mut self, commit: Commit<'_>, difference: Difference) {
        let at = commit.position;
        let first = self.landed.is_empty();
        self.end = at;
        if let Some(gap) = self.gaps.last_mut().filter(|gap| gap.until.is_none()) {
            gap.until = Some(at);
        }
        let changed = self.enter(at, &difference.types);
        if changed || first {
            // What stands at the beginning of a chain is older, unless that is a root commit.
            let new = !first || (self.begin == Begin::Root && at == Position(0));
            self.land(commit, if new { difference } else { difference.without_changes() });
        }
    }

    /// A commit whose contract cannot be read.
    pub fn unreadable(&mut self, at: Position, reason: String) {
        self.end = at;
        if self.gaps.last().is_none_or(|gap| gap.until.is_some()) {
            self.gaps.push(Gap { from: at, until: None, reason });
        }
    }

    /// All commits up to this one have been seen.
    pub fn pass(&mut self, at: Position) {
        self.end = self.end.max(at);
    }

    /// How much there is: uses, reserved ranges and names, changes.
    pub(in crate::history) fn facts(&self) -> usize {
        let scope =
            |s: &Scope| 1 + s.uses.len() + s.reserved_numbers.len() + s.reserved_names.len();
        let landed = self.landed.iter().map(|landed| 1 + landed.changes.len());
        self.scopes.iter().map(scope).sum::<usize>() + landed.sum::<usize>()
    }

    fn land(&mut self, commit: Commit<'_>, difference: Difference) {
        let said = reverts::read(commit.message);
        let undoes: Vec<Undo> = said
            .undoes
            .iter()
            .map(|target| Undo {
                named: target.to_string(),
                position: target.find(&self.landed).map(|landed| landed.position),
            })
            .collect();
        let reverts_a_revert = undoes.iter().filter_map(|undo| self.landed_at(undo.position?));
        let relands = said.relands || reverts_a_revert.into_iter().any(|l| !l.undoes.is_empty());
        self.landed.push(Landed {
            position: commit.position,
            id: commit.id.to_string(),
            date: commit.date,
            subject: reverts::subject(commit.message).to_owned(),
            pull_request: said.pull_request,
            changelist: said.changelist,
            undoes,
            relands,
            changes: difference.changes,
        });
    }
}

impl Timeline {
    /// Whether anything changed.
    fn enter(&mut self, at: Position, types: &[Declared]) -> bool {
        let (ids, mut changed) = self.identify(types);
        let mut alive = vec![false; self.scopes.len()];
        for declared in types {
            let id = ids.get(&*declared.name).and_then(|id| usize::try_from(id.0).ok());
            let Some(index) = id else { continue };
            if let Some(alive) = alive.get_mut(index) {
                *alive = true;
            }
            if let (Some(facts), Some(scope)) = (&declared.facts, self.scopes.get_mut(index)) {
                changed |= scope.declare(&declared.name, facts, &ids, at);
            }
        }
        let gone = self.scopes.iter_mut().zip(alive).filter(|(_, alive)| !alive);
        for (scope, _) in gone.filter(|(scope, _)| open(&scope.life)) {
            scope.close(at);
            changed = true;
        }
        changed
    }

    /// Which scope each type of the new contract is, by its name; whether there are new ones.
    fn identify<'d>(&mut self, types: &'d [Declared]) -> (HashMap<&'d str, ScopeId>, bool) {
        let mut living: HashMap<(ScopeKind, &str), ScopeId> = HashMap::new();
        let mut dead: HashMap<(ScopeKind, &str), ScopeId> = HashMap::new();
        for scope in &self.scopes {
            let Some(name) = scope.last_name() else { continue };
            let list = if open(&scope.life) { &mut living } else { &mut dead };
            list.insert((scope.kind, name), scope.id);
        }
        let mut ids = HashMap::new();
        let mut fresh = Vec::new();
        for declared in types {
            let kind = declared.kind;
            let before = declared.before.as_ref();
            let lived = before.and_then(|before| living.get(&(kind, &**before)));
            // What comes back under its name is what it was.
            match lived.or_else(|| dead.get(&(kind, &*declared.name))) {
                Some(id) => {
                    ids.insert(&*declared.name, *id);
                }
                None => fresh.push(declared),
            }
        }
        let any = !fresh.is_empty();
        for declared in fresh {
            let id = ScopeId(u32::try_from(self.scopes.len()).unwrap_or(u32::MAX));
            self.scopes.push(Scope::new(id, declared.kind));
            ids.insert(&*declared.name, id);
        }
        (ids, any)
    }
}

impl Scope {
    /// One that never was declared.
    pub(in crate::history) fn new(id: ScopeId, kind: ScopeKind) -> Self {
        Scope {
            id,
            kind,
            names: Vec::new(),
            life: Vec::new(),
            wire: Vec::new(),
            json: Vec::new(),
            uses: Vec::new(),
            reserved_numbers: Vec::new(),
            reserved_names: Vec::new(),
        }
    }

    /// Lets it be declared so from `at` on. Whether that was a change.
    fn declare(
        &mut self,
        name: &str,
        facts: &Facts,
        ids: &HashMap<&str, ScopeId>,
        at: Position,
    ) -> bool {
        let mut changed = keep(&mut self.life, true, at);
        changed |= title(&mut self.names, std::iter::once(name), at);
        changed |= keep(&mut self.wire, facts.reach.wire, at);
        changed |= keep(&mut self.json, facts.reach.json, at);
        let slots = facts.slots.iter().map(|slot| {
            (slot.number, &*slot.name, slot.field.as_ref().map(|field| shape(field, ids)))
        });
        let taken: HashSet<i32> =
            facts.slots.iter().filter(|slot| slot.taken).map(|slot| slot.number).collect();
        changed |= uses(&mut self.uses, slots.collect(), |number| taken.contains(&number), at);
        changed |= reserve(&mut self.reserved_numbers, &facts.reserved_numbers, at);
        let names = facts.reserved_names.iter().map(|name| &**name);
        changed | title(&mut self.reserved_names, names, at)
    }

    /// The name that it has, or had last.
    fn last_name(&self) -> Option<&str> {
        let last = |titled: &&Titled| titled.spans.last().map(|span| span.from);
        self.names.iter().max_by_key(last).map(|titled| &*titled.name)
    }

    /// Everything ends.
    fn close(&mut self, at: Position) {
        for spans in [&mut self.life, &mut self.wire, &mut self.json] {
            keep(spans, false, at);
        }
        for titled in self.names.iter_mut().chain(&mut self.reserved_names) {
            keep(&mut titled.spans, false, at);
        }
        for used in &mut self.uses {
            keep(&mut used.spans, false, at);
        }
        reserve(&mut self.reserved_numbers, &[], at);
    }
}

/// Lets exactly these names hold from `at` on. Whether that was a change.
fn title<'n>(titles: &mut Vec<Titled>, now: impl Iterator<Item = &'n str>, at: Position) -> bool {
    let now: Vec<&str> = now.collect();
    let wanted: HashSet<&str> = now.iter().copied().collect();
    let known: HashSet<String> = titles.iter().map(|titled| titled.name.clone()).collect();
    let mut changed = false;
    for titled in titles.iter_mut() {
        changed |= keep(&mut titled.spans, wanted.contains(&*titled.name), at);
    }
    for name in now.into_iter().filter(|name| !known.contains(*name)) {
        titles.push(Titled { name: name.to_owned(), spans: vec![Span { from: at, until: None }] });
        changed = true;
    }
    changed
}

/// What a field is besides number and name.
fn shape(shape: &Shape, ids: &HashMap<&str, ScopeId>) -> FieldShape {
    FieldShape {
        ty: shape.ty.clone(),
        of: shape.of.as_ref().and_then(|name| ids.get(&**name)).copied(),
        label: shape.label,
        presence: shape.presence,
        oneof: shape.oneof.clone(),
    }
}

impl FieldShape {
    /// Whether the types are one, whatever it was called at the time.
    pub fn same_type(&self, other: &FieldShape) -> bool {
        // The key of a map, and that it is one.
        let key = |shape: &'_ FieldShape| {
            let (key, _) = shape.ty.strip_prefix("map<")?.split_once(',')?;
            Some(key.to_owned())
        };
        match (self.of, other.of) {
            (Some(a), Some(b)) => a == b && key(self) == key(other),
            (None, None) => self.ty == other.ty,
            _ => false,
        }
    }

    fn same(&self, other: &FieldShape) -> bool {
        self.same_type(other)
            && self.label == other.label
            && self.presence == other.presence
            && self.oneof == other.oneof
    }
}

/// Number, name and the rest of what is declared now.
type Now<'s> = (i32, &'s str, Option<FieldShape>);

/// Lets exactly these slots be declared from `at` on. Whether that was a change.
///
/// `taken` says of a number that its holder is not what was there just before.
fn uses(uses: &mut Vec<Use>, now: Vec<Now<'_>>, taken: impl Fn(i32) -> bool, at: Position) -> bool {
    let same_type = |a: &Option<FieldShape>, b: &Option<FieldShape>| match (a, b) {
        (Some(a), Some(b)) => a.same_type(b),
        (a, b) => a.is_none() && b.is_none(),
    };
    let same = |a: &Option<FieldShape>, b: &Option<FieldShape>| match (a, b) {
        (Some(a), Some(b)) => a.same(b),
        (a, b) => a.is_none() && b.is_none(),
    };
    let mut by_number: HashMap<i32, Vec<usize>> = HashMap::new();
    for (index, used) in uses.iter().enumerate() {
        by_number.entry(used.number).or_default().push(index);
    }
    let before: Vec<bool> = uses.iter().map(|used| open(&used.spans)).collect();
    let lasted = |index: usize| before.get(index).copied().unwrap_or(false);
    let mut declared = vec![false; uses.len()];
    let mut fresh = Vec::new();
    for (number, name, field) in now {
        let earlier = by_number.get(&number).map_or(&[][..], Vec::as_slice);
        let known = |index: &&usize| {
            uses.get(**index).is_some_and(|used| used.name == name && same(&used.field, &field))
        };
        match earlier.iter().find(known) {
            Some(&index) => {
                if let Some(declared) = declared.get_mut(index) {
                    *declared = true;
                }
            }
            None => fresh.push((number, name, field)),
        }
    }
    let mut added = Vec::new();
    for (number, name, field) in fresh {
        let earlier = by_number.get(&number).map_or(&[][..], Vec::as_slice);
        let at_number = || earlier.iter().filter_map(|&index| Some((index, uses.get(index)?)));
        let identical =
            at_number().rfind(|(_, used)| used.name == name && same_type(&used.field, &field));
        let in_place = || at_number().rfind(|(index, _)| lasted(*index) && !taken(number));
        let renumbered = || {
            uses.iter().enumerate().find(|(index, used)| {
                lasted(*index) && used.name == name && same_type(&used.field, &field)
            })
        };
        let continued = identical.or_else(in_place).or_else(renumbered);
        let index = uses.len() + added.len();
        let meaning = continued
            .map_or_else(|| u32::try_from(index).unwrap_or(u32::MAX), |(_, used)| used.meaning);
        let spans = vec![Span { from: at, until: None }];
        added.push(Use { number, name: name.to_owned(), field, meaning, spans });
    }
    let mut changed = !added.is_empty();
    for (used, declared) in uses.iter_mut().zip(declared) {
        changed |= keep(&mut used.spans, declared, at);
    }
    uses.extend(added);
    changed
}
