//! Building a timeline, one contract after the other.

use std::collections::{HashMap, HashSet};

use chrono::NaiveDate;

use super::spans::{keep, open, reserve};
use super::{
    Begin, Difference, FieldShape, Gap, Landed, Position, Scope, ScopeId, ScopeKind, Span,
    Timeline, Titled, Undo, Use,
};
use crate::descriptor::{Contract, Enum, Field, Message, Name, Reach, Type};
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

    /// The contract at a commit, the one before it, and how they differ.
    ///
    /// `before` is the last contract that was observed, an empty one if there is none. Commits come in order; those
    /// between which nothing changed may be left out.
    pub fn observe(
        &mut self,
        commit: Commit<'_>,
        before: &Contract,
        after: &Contract,
        difference: Difference,
    ) {
        let at = commit.position;
        let first = self.landed.is_empty();
        self.end = at;
        if let Some(gap) = self.gaps.last_mut().filter(|gap| gap.until.is_none()) {
            gap.until = Some(at);
        }
        let changed =
            Observation { timeline: self, at, before, after, difference: &difference }.run();
        if changed || first {
            // What stands at the beginning of a chain is older, unless that is a root commit.
            let new = !first || (self.begin == Begin::Root && at == Position(0));
            self.land(commit, if new { difference } else { Difference::default() });
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

/// One contract being entered.
struct Observation<'a> {
    timeline: &'a mut Timeline,
    at: Position,
    before: &'a Contract,
    after: &'a Contract,
    difference: &'a Difference,
}

/// A type of the new contract.
#[derive(Clone, Copy)]
enum Declared<'a> {
    Message(&'a Message),
    Enum(&'a Enum),
}

impl<'a> Declared<'a> {
    fn name(self) -> &'a Name {
        match self {
            Declared::Message(message) => &message.name,
            Declared::Enum(enumeration) => &enumeration.name,
        }
    }

    fn reach(self) -> Reach {
        match self {
            Declared::Message(message) => message.reach,
            Declared::Enum(enumeration) => enumeration.reach,
        }
    }

    fn kind(self) -> ScopeKind {
        match self {
            Declared::Message(_) => ScopeKind::Message,
            Declared::Enum(_) => ScopeKind::Enum,
        }
    }
}

impl<'a> Observation<'a> {
    /// Whether anything changed.
    fn run(mut self) -> bool {
        let (ids, mut changed) = self.identify();
        let mut alive = vec![false; self.timeline.scopes.len()];
        for (name, id) in &ids {
            let at = usize::try_from(id.0).unwrap_or(usize::MAX);
            if let Some(alive) = alive.get_mut(at) {
                *alive = true;
            }
            if let Some(declared) = self.declared(name) {
                changed |= self.scope(at, declared, &ids);
            }
        }
        let gone = self.timeline.scopes.iter_mut().zip(alive).filter(|(_, alive)| !alive);
        for (scope, _) in gone.filter(|(scope, _)| open(&scope.life)) {
            scope.close(self.at);
            changed = true;
        }
        changed
    }

    fn declared(&self, name: &str) -> Option<Declared<'a>> {
        let message = self.after.message(name).filter(|m| !m.map_entry).map(Declared::Message);
        message.or_else(|| self.after.enumeration(name).map(Declared::Enum))
    }

    /// Which scope each type of the new contract is, by its name; whether there are new ones.
    fn identify(&mut self) -> (HashMap<&'a str, ScopeId>, bool) {
        let mut living: HashMap<(ScopeKind, &str), ScopeId> = HashMap::new();
        let mut dead: HashMap<(ScopeKind, &str), ScopeId> = HashMap::new();
        for scope in &self.timeline.scopes {
            let Some(name) = scope.last_name() else { continue };
            let list = if open(&scope.life) { &mut living } else { &mut dead };
            list.insert((scope.kind, name), scope.id);
        }
        let messages = self.after.messages.values().filter(|m| !m.map_entry);
        let enums = self.after.enums.values().map(Declared::Enum);
        let mut ids = HashMap::new();
        let mut fresh = Vec::new();
        for declared in messages.map(Declared::Message).chain(enums) {
            let name = declared.name();
            let pairs = &self.difference.pairs;
            let counterpart = match declared {
                Declared::Message(_) => pairs.message_in_base(name),
                Declared::Enum(_) => pairs.enum_in_base(name),
            };
            let lived = counterpart.and_then(|before| living.get(&(declared.kind(), &**before)));
            // What comes back under its name is what it was.
            match lived.or_else(|| dead.get(&(declared.kind(), &**name))) {
                Some(id) => {
                    ids.insert(&**name, *id);
                }
                None => fresh.push(declared),
            }
        }
        let any = !fresh.is_empty();
        for declared in fresh {
            let id = ScopeId(u32::try_from(self.timeline.scopes.len()).unwrap_or(u32::MAX));
            self.timeline.scopes.push(Scope::new(id, declared.kind()));
            ids.insert(&**declared.name(), id);
        }
        (ids, any)
    }

    fn scope(
        &mut self,
        index: usize,
        declared: Declared<'a>,
        ids: &HashMap<&str, ScopeId>,
    ) -> bool {
        let at = self.at;
        let repurposed = &self.difference.repurposed;
        let same = self.is_same(declared);
        let Some(scope) = self.timeline.scopes.get_mut(index) else { return false };
        if same && open(&scope.life) {
            return false;
        }
        let name = declared.name();
        let mut changed = keep(&mut scope.life, true, at);
        changed |= title(&mut scope.names, std::iter::once(&**name), at);
        changed |= keep(&mut scope.wire, declared.reach().wire, at);
        changed |= keep(&mut scope.json, declared.reach().json, at);
        let taken = |number: i32| repurposed.contains(&(name.clone(), number));
        let (numbers, names) = match declared {
            Declared::Message(message) => {
                let fields = message
                    .fields
                    .iter()
                    .map(|field| (field.number, &*field.name, Some(shape(self.after, field, ids))));
                changed |= uses(&mut scope.uses, fields.collect(), taken, at);
                (&message.reserved_numbers, &message.reserved_names)
            }
            Declared::Enum(enumeration) => {
                let values = enumeration.values.iter().map(|v| (v.number, &*v.name, None));
                changed |= uses(&mut scope.uses, values.collect(), taken, at);
                (&enumeration.reserved_numbers, &enumeration.reserved_names)
            }
        };
        changed |= reserve(&mut scope.reserved_numbers, numbers, at);
        changed | title(&mut scope.reserved_names, names.iter().map(|n| &**n), at)
    }

    /// Whether a type of this name declared the very same before.
    fn is_same(&self, declared: Declared<'_>) -> bool {
        match declared {
            Declared::Message(after) => self.before.message(&after.name).is_some_and(|before| {
                before.map_entry == after.map_entry
                    && before.reach == after.reach
                    && before.reserved_numbers == after.reserved_numbers
                    && before.reserved_names == after.reserved_names
                    && before.fields.len() == after.fields.len()
                    && before.fields.iter().zip(&after.fields).all(|(a, b)| self.same_field(a, b))
            }),
            Declared::Enum(after) => self.before.enumeration(&after.name).is_some_and(|before| {
                let pairs =
                    |e: &Enum| e.values.iter().map(|v| (v.number, v.name.clone())).collect();
                let (before_values, after_values): (Vec<_>, Vec<_>) = (pairs(before), pairs(after));
                before.reach == after.reach
                    && before.reserved_numbers == after.reserved_numbers
                    && before.reserved_names == after.reserved_names
                    && before_values == after_values
            }),
        }
    }

    fn same_field(&self, a: &Field, b: &Field) -> bool {
        let entry = |contract: &Contract, field: &Field| match &field.ty {
            Type::Message(name) => contract
                .message(name)
                .filter(|m| m.map_entry)
                .map(|m| m.fields.iter().map(|f| f.ty.clone()).collect::<Vec<_>>()),
            _ => None,
        };
        a.number == b.number
            && a.name == b.name
            && a.ty == b.ty
            && a.label == b.label
            && a.presence == b.presence
            && a.oneof == b.oneof
            && entry(self.before, a) == entry(self.after, b)
    }
}

impl Scope {
    fn new(id: ScopeId, kind: ScopeKind) -> Self {
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
fn shape(contract: &Contract, field: &Field, ids: &HashMap<&str, ScopeId>) -> FieldShape {
    let id = |ty: &Type| ids.get(&**ty.named()?).copied();
    let entry = match &field.ty {
        Type::Message(name) => contract.message(name).filter(|m| m.map_entry),
        _ => None,
    };
    let (ty, of) = match entry.map(|entry| &*entry.fields) {
        Some([key, value]) => (format!("map<{}, {}>", key.ty, value.ty), id(&value.ty)),
        _ => (field.ty.to_string(), id(&field.ty)),
    };
    FieldShape {
        ty,
        of,
        label: field.label,
        presence: field.presence,
        oneof: field.oneof.as_deref().map(str::to_owned),
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
type Slot<'s> = (i32, &'s str, Option<FieldShape>);

/// Lets exactly these slots be declared from `at` on. Whether that was a change.
///
/// `taken` says of a number that its holder is not what was there just before.
fn uses(
    uses: &mut Vec<Use>,
    now: Vec<Slot<'_>>,
    taken: impl Fn(i32) -> bool,
    at: Position,
) -> bool {
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
