//! What ever was.

use std::collections::{BTreeMap, HashMap};

use super::{Group, wrong};
use crate::descriptor::{Contract, Type};
use crate::history::ledger::gather::last_name;
use crate::history::ledger::position;
use crate::history::ledger::read::Wrong;
use crate::history::ledger::record::{FieldRecord, Item, Key, Record, TypeName, UseKey};
use crate::history::ledger::stamp::{Stamp, Time, lasts, shown};
use crate::history::timeline::{FieldShape, Titled};
use crate::history::{Begin, Position, Scope, ScopeId, ScopeKind, Span, Timeline, Use};

/// The timeline of all lines.
pub(super) fn timeline(
    groups: &BTreeMap<&Key, Group<'_>>,
    contract: &Contract,
    stamps: &[Stamp],
) -> Result<Timeline, Wrong> {
    // Scopes are counted in the order in which they appeared.
    let mut order: Vec<(&Key, &Group<'_>)> = groups.iter().map(|(k, group)| (*k, group)).collect();
    order.sort_by_key(|(key, group)| (group.life.first().map(|time| &time.from), *key));
    let ids: HashMap<&Key, ScopeId> =
        order.iter().enumerate().map(|(at, (key, _))| (*key, ScopeId(position(at).0))).collect();
    let mut timeline = Timeline::new(Begin::Root);
    for (key, group) in order {
        let id = ids.get(key).copied().unwrap_or(ScopeId(u32::MAX));
        let scope = Chronicle { stamps, ids: &ids, contract }.scope(id, key, group)?;
        if last_name(&scope) != key.name {
            let last = shown(last_name(&scope)).clone();
            return Err(wrong(group.line, format!("the last name is {last}")));
        }
        timeline.scopes.push(scope);
    }
    Ok(timeline)
}

struct Chronicle<'l> {
    stamps: &'l [Stamp],
    ids: &'l HashMap<&'l Key, ScopeId>,
    contract: &'l Contract,
}

impl Chronicle<'_> {
    fn spans(&self, times: &[Time]) -> Vec<Span> {
        let at = |stamp: &Stamp| -> Position {
            position(self.stamps.partition_point(|other| other < stamp))
        };
        let span = |time: &Time| Span { from: at(&time.from), until: time.until.as_ref().map(at) };
        times.iter().map(span).collect()
    }

    fn scope(&self, id: ScopeId, key: &Key, group: &Group<'_>) -> Result<Scope, Wrong> {
        let life = self.spans(group.life);
        let whole = |set: bool| if set { life.clone() } else { Vec::new() };
        let mut scope = Scope {
            id,
            kind: group.scope.kind,
            names: Vec::new(),
            wire: whole(group.scope.wire),
            json: whole(group.scope.json),
            uses: Vec::new(),
            reserved_numbers: Vec::new(),
            reserved_names: Vec::new(),
            life,
        };
        let ended = !lasts(group.life);
        let mut found: Vec<(UseKey, Option<&UseKey>, Use, usize)> = Vec::new();
        for line in &group.lines {
            let Record { item, times, .. } = &line.record;
            if ended && lasts(times) {
                return Err(wrong(line.number, "it lasts, and what it belongs to does not"));
            }
            let spans = self.spans(times);
            let titled = |name: &String| Titled { name: name.clone(), spans: self.spans(times) };
            let (number, name, field, means) = match item {
                Item::Name(name) => {
                    scope.names.push(titled(name));
                    continue;
                }
                Item::Wire | Item::Json => {
                    let list = if *item == Item::Wire { &mut scope.wire } else { &mut scope.json };
                    if !list.is_empty() {
                        return Err(wrong(line.number, "reach is written twice"));
                    }
                    *list = spans;
                    continue;
                }
                Item::Reserved(lo, hi) => {
                    scope.reserved_numbers.extend(spans.iter().map(|span| (*lo, *hi, *span)));
                    continue;
                }
                Item::ReservedName(name) => {
                    scope.reserved_names.push(titled(name));
                    continue;
                }
                Item::Field(record) if scope.kind == ScopeKind::Message => {
                    let shape = self.shape(key, record, lasts(times));
                    (record.number, &record.name, Some(shape), &record.means)
                }
                Item::Value(record) if scope.kind == ScopeKind::Enum => {
                    (record.number, &record.name, None, &record.means)
                }
                Item::Extensions(..) if scope.kind == ScopeKind::Message && !ended => continue,
                _ => return Err(wrong(line.number, "such a line does not belong here")),
            };
            let own = |found: &&(UseKey, Option<&UseKey>, Use, usize)| {
                found.2.number == number && found.2.name == *name
            };
            let nth = found.iter().rev().take_while(own).count();
            let nth = u32::try_from(nth).unwrap_or(u32::MAX);
            let own = UseKey { number, name: name.clone(), nth };
            let used = Use { number, name: name.clone(), field, meaning: 0, spans };
            found.push((own, means.as_ref(), used, line.number));
        }
        if scope.names.is_empty() {
            scope.names = vec![Titled { name: key.name.clone(), spans: scope.life.clone() }];
        }
        let first = |spans: &[Span]| spans.first().map(|span| span.from);
        scope.names.sort_by_key(|titled| first(&titled.spans));
        scope.reserved_names.sort_by_key(|titled| first(&titled.spans));
        scope.reserved_numbers.sort_by_key(|&(lo, hi, span)| (span, lo, hi));
        // Uses stand in the order in which they were first seen; lines are sorted by number and name.
        found.sort_by_key(|(.., used, _)| first(&used.spans));
        let places: HashMap<UseKey, u32> =
            found.iter().enumerate().map(|(at, (own, ..))| (own.clone(), position(at).0)).collect();
        for (at, (_, means, mut used, line)) in found.into_iter().enumerate() {
            let own = position(at).0;
            used.meaning = match means {
                None => own,
                Some(means) => match places.get(means).filter(|place| **place < own) {
                    Some(place) => *place,
                    None => {
                        let what =
                            format!("`means={}` names no earlier line", shown(&means.word()));
                        return Err(wrong(line, what));
                    }
                },
            };
            let root = scope.uses.get(usize::try_from(used.meaning).unwrap_or(usize::MAX));
            if root.is_some_and(|root| root.meaning != used.meaning) {
                return Err(wrong(line, "`means=` names the first line of that meaning"));
            }
            scope.uses.push(used);
        }
        Ok(scope)
    }

    /// What a field is besides number and name.
    fn shape(&self, key: &Key, record: &FieldRecord, lasts: bool) -> FieldShape {
        let declared = lasts
            .then(|| self.contract.message(&key.name)?.field(record.number))
            .flatten()
            .and_then(|field| match &field.ty {
                Type::Message(name) => self.contract.message(name).filter(|m| m.map_entry),
                _ => None,
            });
        let of = |ty: &TypeName| match ty {
            TypeName::Named(key) => self.ids.get(key).copied(),
            _ => None,
        };
        let text = |ty: &TypeName| match ty {
            TypeName::Named(key) => key.name.clone(),
            TypeName::Plain(text) => text.clone(),
            TypeName::Map(..) => String::new(),
        };
        let (ty, of) = match (declared.map(|entry| &*entry.fields), &record.ty) {
            (Some([key, value]), _) => {
                let of = value.ty.named().and_then(|name| self.ids.get(&Key::new(name)).copied());
                (format!("map<{}, {}>", key.ty, value.ty), of)
            }
            (_, TypeName::Map(key, value)) => (format!("map<{key}, {}>", text(value)), of(value)),
            (_, ty) => (text(ty), of(ty)),
        };
        FieldShape {
            ty,
            of,
            label: record.label,
            presence: record.presence,
            oneof: record.oneof.clone(),
        }
    }
}
