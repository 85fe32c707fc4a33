//! What is declared now.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::{Entry, Group, wrong};
use crate::descriptor::{
    Contract, Enum, EnumValue, Field, Message, Name, Oneof, ParsedFile, Place, Type,
};
use crate::history::ScopeKind;
use crate::history::ledger::gather::{camel_case, usual_default};
use crate::history::ledger::parse::scalar;
use crate::history::ledger::read::Wrong;
use crate::history::ledger::record::{FieldRecord, Item, Key, Record, TypeName, ValueRecord};
use crate::history::ledger::stamp::{lasts, shown};

/// The largest field number.
const MAX_NUMBER: i32 = (1 << 29) - 1;

/// Files by import name, in order, with the index of each.
#[derive(Default)]
struct Files<'l>(BTreeMap<&'l str, usize>);

impl Files<'_> {
    fn place(&self, file: Option<&str>) -> Place {
        let index = file.and_then(|file| self.0.get(file)).copied();
        Place { file: index.unwrap_or(usize::MAX), path: Vec::new() }
    }
}

/// The contract of the lines that last.
pub(super) fn contract(
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
                contract.messages.insert(message.name.clone(), message.into());
            }
            ScopeKind::Enum => {
                let enumeration = enumeration(key, group, place)?;
                contract.enums.insert(enumeration.name.clone(), enumeration.into());
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
        contract.messages.insert(message.name.clone(), message.into());
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
