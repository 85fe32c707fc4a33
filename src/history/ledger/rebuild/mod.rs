//! From lines to the contract and the timeline that they were made of.

mod chronicle;
mod contract;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Ledger;
use super::read::{Line, Wrong};
use super::record::{FieldRecord, Item, Key, Record, ScopeRecord};
use super::stamp::{Stamp, Time, shown};
use crate::descriptor::Name;

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
    let contract = contract::contract(&groups, &entries, roots)?;
    let timeline = chronicle::timeline(&groups, &contract, &stamps)?;
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
