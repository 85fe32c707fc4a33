//! From lines to the contract and the timeline that they were made of.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::gather::{camel_case, last_name, usual_default};
use super::parse::scalar;
use super::read::{Line, Wrong};
use super::record::{FieldRecord, Item, Key, Record, ScopeRecord, TypeName, UseKey, ValueRecord};
use super::stamp::{Stamp, Time, lasts, shown};
use super::{Ledger, position};
use crate::descriptor::{
    Contract, Enum, EnumValue, Field, Message, Name, Oneof, ParsedFile, Place, Type,
};
use crate::history::timeline::{FieldShape, Titled};
use crate::history::{Begin, Position, Scope, ScopeId, ScopeKind, Span, Timeline, Use};

/// The largest field number.
const MAX_NUMBER: i32 = (1 << 29) - 1;

/// The lines of one scope.
struct Group<'l> {
    line: usize,
    scope: &'l ScopeRecord,
    life: &'l [Time],
    lines: Vec<&'l Line>,
}

/// The lines of one map's entry type.
struct Entry<'l> {
    line: usize,
    file: &'l str,
    fields: Vec<(usize, &'l FieldRecord)>,
}

/// Puts a ledger together.
pub(super) fn ledger(lines: Vec<Line>) -> Result<Ledger, Wrong> {
    let mut groups: BTreeMap<&Key, Group<'_>> = BTreeMap::new();
    let mut entries: BTreeMap<&Key, Entry<'_>> = BTreeMap::new();
    let mut roots: [Vec<Name>; 2] = Default::default();
    let mut stamps: BTreeSet<&Stamp> = BTreeSet::new();
    for line in &lines {
        let Line { number, record } = line;
        let Record { scope, item, times } = record;
        for time in times {
            stamps.insert(&time.from);
            stamps.extend(&time.until);
        }
        match item {
            Item::Root => roots[0].push((&*scope.name).into()),
            Item::JsonRoot => roots[1].push((&*scope.name).into()),
            Item::Scope(record) => {
                let group = Group { line: *number, scope: record, life: times, lines: Vec::new() };
                // Two kinds of one name have one order, so that they are told apart by `^1`.
                groups.insert(scope, group);
            }
            Item::Entry(file) => {
                entries.insert(scope, Entry { line: *number, file, fields: Vec::new() });
            }
            Item::EntryField(field) => {
                let entry = entries.get_mut(scope).ok_or_else(|| orphan(line))?;
                entry.fields.push((*number, field));
            }
            _ => groups.get_mut(scope).ok_or_else(|| orphan(line))?.lines.push(line),
        }
    }
    let stamps: Vec<Stamp> = stamps.into_iter().cloned().collect();
    let contract = contract(&groups, &entries, roots)?;
    let timeline = timeline(&groups, &contract, &stamps)?;
    let mut ledger = Ledger { contract: Arc::new(contract), timeline, stamps };
    ledger.describe();
    Ok(ledger)
}

fn wrong(line: usize, what: impl Into<String>) -> Wrong {
    Wrong { line, what: what.into() }
}

fn orphan(line: &Line) -> Wrong {
    let scope = shown(&line.record.scope.name);
    wrong(line.number, format!("no line in front of it declares {scope}"))
}

/// Files by import name, in order, with the index of each.
#[derive(Default)]
struct Files<'l>(BTreeMap<&'l str, usize>);

impl Files<'_> {
    fn place(&self, file: Option<&str>) -> Place {
        let index = file.and_then(|file| self.0.get(file)).copied();
        Place { file: index.unwrap_or(usize::MAX), path: Vec::new() }
    }
}

/// What is declared now.
fn contract(
    groups: &BTreeMap<&Key, Group<'_>>,
    entries: &BTreeMap<&Key, Entry<'_>>,
    [roots, json_roots]: [Vec<Name>; 2],
) -> Result<Contract, Wrong> {
    let mut contract = Contract::empty();
    let mut files = Files::default();
    let named = groups.values().filter_map(|group| group.scope.file.as_deref());
    for file in named.chain(entries.values().map(|entry| entry.file)) {
        files.0.entry(file).or_default();
    }
    for (at, index) in files.0.values_mut().enumerate() {
        *index = at;
    }
    contract.files =
        files.0.keys().map(|name| Arc::new(ParsedFile::without_declarations(name))).collect();

    let mut kinds: HashMap<&str, ScopeKind> = HashMap::new();
    for (key, group) in groups {
        if lasts(group.life) && key.older == 0 {
            kinds.insert(&key.name, group.scope.kind);
        } else if lasts(group.life) {
            return Err(wrong(
                group.line,
                "what has an older namesake's name is gone, yet it lasts",
            ));
        }
        if lasts(group.life) != group.scope.file.is_some() {
            return Err(wrong(group.line, "`in=` is there as long as a type is, and no longer"));
        }
    }
    for (key, entry) in entries {
        if kinds.insert(&key.name, ScopeKind::Message).is_some() {
            return Err(wrong(entry.line, format!("{} is declared twice", shown(&key.name))));
        }
    }
    for (key, group) in groups.iter().filter(|(_, group)| lasts(group.life)) {
        let place = files.place(group.scope.file.as_deref());
        match group.scope.kind {
            ScopeKind::Message => {
                let message = message(key, group, place, &kinds)?;
                contract.messages.insert(message.name.clone(), message);
            }
            ScopeKind::Enum => {
                let enumeration = enumeration(key, group, place)?;
                contract.enums.insert(enumeration.name.clone(), enumeration);
            }
        }
    }
    for (key, entry) in entries {
        let mut message = Message::bare(&key.name, files.place(Some(entry.file)));
        message.map_entry = true;
        for (line, record) in &entry.fields {
            add(&mut message, *line, record, &kinds)?;
        }
        if message.fields.iter().map(|field| field.number).ne([1, 2]) {
            return Err(wrong(entry.line, "a map's entry has the fields 1 and 2"));
        }
        contract.messages.insert(message.name.clone(), message);
    }
    for root in roots.iter().chain(&json_roots) {
        if !kinds.contains_key(&**root) {
            return Err(wrong(1, format!("the root {} is not declared", shown(root))));
        }
    }
    contract.set_roots(roots, json_roots);
    Ok(contract)
}

fn message(
    key: &Key,
    group: &Group<'_>,
    place: Place,
    kinds: &HashMap<&str, ScopeKind>,
) -> Result<Message, Wrong> {
    let mut message = Message::bare(&key.name, place);
    message.message_set = group.scope.message_set;
    for line in &group.lines {
        let Record { item, times, .. } = &line.record;
        match item {
            Item::Field(record) if lasts(times) => add(&mut message, line.number, record, kinds)?,
            Item::Reserved(lo, hi) if lasts(times) => message.reserved_numbers.push((*lo, *hi)),
            Item::ReservedName(name) if lasts(times) => {
                message.reserved_names.push((&**name).into());
            }
            Item::Extensions(lo, hi) => message.extension_ranges.push((*lo, *hi)),
            _ => {}
        }
    }
    apart(group, &message.reserved_numbers)?;
    apart(group, &message.extension_ranges)?;
    message.reserved_names.sort();
    Ok(message)
}

/// Ranges are sorted, as lines are; they may not overlap.
fn apart(group: &Group<'_>, ranges: &[(i32, i32)]) -> Result<(), Wrong> {
    match ranges.windows(2).find(|pair| pair[1].0 <= pair[0].1) {
        Some(pair) => {
            let what = format!("the ranges at {} and {} overlap", pair[0].0, pair[1].0);
            Err(wrong(group.line, what))
        }
        None => Ok(()),
    }
}

/// Adds a field to a message; lines are sorted by number.
fn add(
    message: &mut Message,
    line: usize,
    record: &FieldRecord,
    kinds: &HashMap<&str, ScopeKind>,
) -> Result<(), Wrong> {
    if !(1..=MAX_NUMBER).contains(&record.number) {
        return Err(wrong(line, format!("{} is no field number", record.number)));
    }
    if message.fields.last().is_some_and(|last| last.number >= record.number) {
        return Err(wrong(line, format!("two fields have the number {}", record.number)));
    }
    let ty = match &record.ty {
        TypeName::Plain(name) => scalar(name).map(Type::Scalar),
        TypeName::Named(key) if key.older > 0 => None,
        TypeName::Named(key) => kinds.get(&*key.name).map(|kind| match kind {
            ScopeKind::Message => Type::Message((&*key.name).into()),
            ScopeKind::Enum => Type::Enum((&*key.name).into()),
        }),
        TypeName::Map(..) => None,
    };
    let ty = ty.ok_or_else(|| {
        wrong(line, format!("the type {} is not declared", shown(&record.ty.word())))
    })?;
    let name: Name = (&*record.name).into();
    let oneof: Option<Name> = record.oneof.as_deref().map(Name::from);
    if let Some(oneof) = &oneof
        && !message.oneofs.iter().any(|known| known.name == *oneof)
    {
        message.oneofs.push(Oneof { name: oneof.clone(), place: message.place.clone() });
    }
    let json = record.json.clone().unwrap_or_else(|| camel_case(&record.name));
    message.fields.push(Field {
        name,
        number: record.number,
        ty,
        label: record.label,
        presence: record.presence,
        oneof,
        packed: record.packed,
        default: record.default.as_deref().map(Name::from),
        json_name: json.into(),
        deprecated: record.deprecated,
        verify_utf8: record.utf8,
        delimited: record.delimited,
        closed_enum: record.closed,
        place: message.place.clone(),
    });
    Ok(())
}

fn enumeration(key: &Key, group: &Group<'_>, place: Place) -> Result<Enum, Wrong> {
    let mut enumeration = Enum::bare(&key.name, place.clone());
    let Some(closed) = group.scope.closed else {
        return Err(wrong(group.line, "an enum is `open` or `closed`"));
    };
    enumeration.closed = closed;
    let mut values: Vec<&ValueRecord> = Vec::new();
    let mut seen = HashSet::new();
    for line in &group.lines {
        let Record { item, times, .. } = &line.record;
        match item {
            Item::Value(record) if lasts(times) => {
                if !seen.insert((record.number, record.alias)) {
                    let what = format!("two values have the number {}", record.number);
                    return Err(wrong(line.number, what));
                }
                values.push(record);
            }
            Item::Reserved(lo, hi) if lasts(times) => enumeration.reserved_numbers.push((*lo, *hi)),
            Item::ReservedName(name) if lasts(times) => {
                enumeration.reserved_names.push((&**name).into());
            }
            _ => {}
        }
    }
    apart(group, &enumeration.reserved_numbers)?;
    enumeration.reserved_names.sort();
    let usual = usual_default(values.iter().map(|value| value.number));
    let marked = values.iter().find(|value| value.first).map(|value| value.number);
    let default = marked.or(usual);
    values.sort_by_key(|value| {
        (Some(value.number) != default || value.alias > 0, value.number, value.alias)
    });
    let value = |record: &ValueRecord| EnumValue {
        name: (&*record.name).into(),
        number: record.number,
        place: place.clone(),
    };
    enumeration.values = values.into_iter().map(value).collect();
    Ok(enumeration)
}

/// What ever was.
fn timeline(
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
