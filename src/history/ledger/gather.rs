//! From a contract and its history to lines.

use std::collections::{BTreeMap, HashMap};

use super::Ledger;
use super::parse::scalar;
use super::record::{FieldRecord, Item, Key, Record, ScopeRecord, TypeName, UseKey, ValueRecord};
use super::stamp::{Stamp, Time, lasts};
use crate::descriptor::{Contract, Enum, Field, Label, Message, Presence, Type};
use crate::history::{Scope, ScopeId, ScopeKind, Span, Use};

/// All lines, sorted.
pub(super) fn records(ledger: &Ledger) -> Vec<Record> {
    let gather = Gather { ledger, keys: keys(&ledger.timeline.scopes) };
    let contract = &*ledger.contract;
    let undated = |name: &str, item| Record { scope: Key::new(name), item, times: Vec::new() };
    let mut records: Vec<Record> =
        contract.roots.iter().map(|name| undated(name, Item::Root)).collect();
    records.extend(contract.json_roots.iter().map(|name| undated(name, Item::JsonRoot)));
    for scope in &ledger.timeline.scopes {
        gather.scope(scope, &mut records);
    }
    for entry in contract.messages.values().filter(|m| m.map_entry) {
        records.push(undated(&entry.name, Item::Entry(file(contract, entry.place.file))));
        for field in &entry.fields {
            let item = Item::EntryField(gather.declared(field, None));
            records.push(undated(&entry.name, item));
        }
    }
    records.sort_by(|a, b| a.order().cmp(&b.order()));
    records
}

/// The import name of a file.
fn file(contract: &Contract, index: usize) -> String {
    contract.files.get(index).map_or(String::new(), |file| file.name.to_string())
}

/// The last name of a scope.
pub(super) fn last_name(scope: &Scope) -> &str {
    let last = scope.names.iter().max_by_key(|titled| titled.spans.last().map(|span| span.from));
    last.map_or("", |titled| &titled.name)
}

/// What each scope is called.
pub(super) fn keys(scopes: &[Scope]) -> HashMap<ScopeId, Key> {
    let mut by_name: BTreeMap<&str, Vec<&Scope>> = BTreeMap::new();
    for scope in scopes {
        by_name.entry(last_name(scope)).or_default().push(scope);
    }
    let mut keys = HashMap::new();
    for (name, mut scopes) in by_name {
        // The one that lives, else the one that did last, is what the name stands for.
        scopes.sort_by_key(|scope| {
            let last = scope.life.last();
            let end = last.and_then(|span| span.until);
            (end.is_none(), end, scope.life.first().map(|span| span.from), scope.kind, scope.id)
        });
        let newest = scopes.len() - 1;
        for (at, scope) in scopes.into_iter().enumerate() {
            let older = if at == newest { 0 } else { u32::try_from(at + 1).unwrap_or(u32::MAX) };
            keys.insert(scope.id, Key { name: name.to_owned(), older });
        }
    }
    keys
}

struct Gather<'l> {
    ledger: &'l Ledger,
    keys: HashMap<ScopeId, Key>,
}

/// What a scope is now.
enum Declared<'c> {
    Message(&'c Message),
    Enum(&'c Enum),
    Gone,
}

impl Gather<'_> {
    fn times(&self, spans: &[Span]) -> Vec<Time> {
        let stamp = |at| self.ledger.stamp(at).cloned();
        let time = |span: &Span| {
            let until: Option<Stamp> = span.until.and_then(stamp);
            Some(Time { from: stamp(span.from)?, until })
        };
        spans.iter().filter_map(time).collect()
    }

    fn scope(&self, scope: &Scope, records: &mut Vec<Record>) {
        let Some(key) = self.keys.get(&scope.id) else { return };
        let contract = &*self.ledger.contract;
        let life = self.times(&scope.life);
        let declared = match scope.kind {
            _ if !lasts(&life) => Declared::Gone,
            ScopeKind::Message => {
                contract.message(&key.name).map_or(Declared::Gone, Declared::Message)
            }
            ScopeKind::Enum => {
                contract.enumeration(&key.name).map_or(Declared::Gone, Declared::Enum)
            }
        };
        let mut push = |item, times| records.push(Record { scope: key.clone(), item, times });
        let (place, closed, message_set) = match declared {
            Declared::Message(message) => (Some(&message.place), None, message.message_set),
            Declared::Enum(enumeration) => {
                (Some(&enumeration.place), Some(enumeration.closed), false)
            }
            Declared::Gone => (None, None, false),
        };
        let [wire, json] = [&scope.wire, &scope.json].map(|spans| self.times(spans));
        push(
            Item::Scope(ScopeRecord {
                kind: scope.kind,
                file: place.map(|place| file(contract, place.file)),
                closed,
                message_set,
                wire: wire == life,
                json: json == life,
            }),
            life.clone(),
        );
        for (item, times) in [(Item::Wire, wire), (Item::Json, json)] {
            if !times.is_empty() && times != life {
                push(item, times);
            }
        }
        let [first, more @ ..] = &scope.names[..] else { return };
        if !more.is_empty() || self.times(&first.spans) != life {
            for titled in &scope.names {
                push(Item::Name(titled.name.clone()), self.times(&titled.spans));
            }
        }
        if let Declared::Message(message) = declared {
            for (lo, hi) in &message.extension_ranges {
                push(Item::Extensions(*lo, *hi), Vec::new());
            }
        }
        let mut reserved: BTreeMap<(i32, i32), Vec<Span>> = BTreeMap::new();
        for (lo, hi, span) in &scope.reserved_numbers {
            reserved.entry((*lo, *hi)).or_default().push(*span);
        }
        for ((lo, hi), spans) in reserved {
            push(Item::Reserved(lo, hi), self.times(&spans));
        }
        for titled in &scope.reserved_names {
            push(Item::ReservedName(titled.name.clone()), self.times(&titled.spans));
        }
        let names = use_keys(&scope.uses);
        for (index, used) in scope.uses.iter().enumerate() {
            let meaning = usize::try_from(used.meaning).unwrap_or(usize::MAX);
            let means = names.get(meaning).filter(|_| meaning != index).cloned();
            let times = self.times(&used.spans);
            let item = match &declared {
                Declared::Message(message) if lasts(&times) => match message.field(used.number) {
                    Some(field) => Item::Field(self.declared(field, means)),
                    None => continue,
                },
                Declared::Enum(enumeration) if lasts(&times) => {
                    Item::Value(value(enumeration, used, means))
                }
                _ if scope.kind == ScopeKind::Message => Item::Field(self.tombstone(used, means)),
                _ => Item::Value(ValueRecord {
                    number: used.number,
                    name: used.name.clone(),
                    alias: 0,
                    first: false,
                    means,
                }),
            };
            push(item, times);
        }
    }

    /// A field that is declared.
    fn declared(&self, field: &Field, means: Option<UseKey>) -> FieldRecord {
        let text = |text: &str| text.to_owned();
        FieldRecord {
            number: field.number,
            name: field.name.to_string(),
            ty: match &field.ty {
                Type::Scalar(scalar) => TypeName::Plain(scalar.name().to_owned()),
                // What is declared now has no older namesake.
                Type::Message(name) | Type::Enum(name) => TypeName::Named(Key::new(name)),
            },
            label: field.label,
            presence: field.presence,
            oneof: field.oneof.as_deref().map(text),
            packed: field.packed,
            utf8: field.verify_utf8,
            delimited: field.delimited,
            closed: field.closed_enum,
            deprecated: field.deprecated,
            default: field.default.as_deref().map(text),
            json: (*field.json_name != *camel_case(&field.name))
                .then(|| field.json_name.to_string()),
            means,
        }
    }

    /// A field that was.
    fn tombstone(&self, used: &Use, means: Option<UseKey>) -> FieldRecord {
        let shape = used.field.as_ref();
        let of = shape.and_then(|shape| self.keys.get(&shape.of?)).cloned();
        let text = shape.map_or("", |shape| &shape.ty);
        let named = |text: &str| match of {
            Some(of) => TypeName::Named(of),
            None => TypeName::Plain(text.to_owned()),
        };
        let map = text.strip_prefix("map<").and_then(|t| t.strip_suffix('>')?.split_once(", "));
        let ty = match map.filter(|(key, _)| scalar(key).is_some()) {
            Some((key, value)) => TypeName::Map(key.to_owned(), Box::new(named(value))),
            None => named(text),
        };
        FieldRecord {
            number: used.number,
            name: used.name.clone(),
            ty,
            label: shape.map_or(Label::Singular, |shape| shape.label),
            presence: shape.map_or(Presence::Explicit, |shape| shape.presence),
            oneof: shape.and_then(|shape| shape.oneof.clone()),
            packed: false,
            utf8: false,
            delimited: false,
            closed: false,
            deprecated: false,
            default: None,
            json: None,
            means,
        }
    }
}

/// A value that is declared.
fn value(enumeration: &Enum, used: &Use, means: Option<UseKey>) -> ValueRecord {
    let of_number = enumeration.values.iter().filter(|value| value.number == used.number);
    let alias = of_number.clone().position(|value| *value.name == *used.name).unwrap_or(0);
    let default = enumeration.values.first().map(|value| value.number);
    let is_default = default == Some(used.number) && alias == 0;
    ValueRecord {
        number: used.number,
        name: used.name.clone(),
        alias: u32::try_from(alias).unwrap_or(u32::MAX),
        first: is_default && default != usual_default(enumeration.values.iter().map(|v| v.number)),
        means,
    }
}

/// The number of the value that comes first in most enums: 0, else the lowest.
pub(super) fn usual_default(numbers: impl Iterator<Item = i32> + Clone) -> Option<i32> {
    let zero = numbers.clone().any(|number| number == 0).then_some(0);
    zero.or_else(|| numbers.min())
}

/// What uses of a scope are called.
pub(super) fn use_keys(uses: &[Use]) -> Vec<UseKey> {
    let mut seen: HashMap<(i32, &str), Vec<usize>> = HashMap::new();
    for (index, used) in uses.iter().enumerate() {
        seen.entry((used.number, &used.name)).or_default().push(index);
    }
    let mut keys = Vec::with_capacity(uses.len());
    for (index, used) in uses.iter().enumerate() {
        let of_both = seen.get(&(used.number, &*used.name)).map_or(&[][..], Vec::as_slice);
        let first =
            |index: &usize| uses.get(*index).and_then(|used| used.spans.first()).map(|s| s.from);
        let own = (first(&index), index);
        let nth = of_both.iter().filter(|other| (first(other), **other) < own).count();
        let nth = u32::try_from(nth).unwrap_or(u32::MAX);
        keys.push(UseKey { number: used.number, name: used.name.clone(), nth });
    }
    keys
}

/// The JSON name that protobuf derives: an underscore goes, the letter behind it becomes upper case. An extension's is that
/// of its simple name.
pub(super) fn camel_case(name: &str) -> String {
    let name = match name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
        Some(extension) => extension.rsplit('.').next().unwrap_or(extension),
        None => name,
    };
    let mut camel = String::with_capacity(name.len());
    let mut raise = false;
    for c in name.chars() {
        if c == '_' {
            raise = true;
        } else {
            camel.push(if raise { c.to_ascii_uppercase() } else { c });
            raise = false;
        }
    }
    camel
}
