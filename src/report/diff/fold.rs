//! Folds what follows from something else: field types that follow a renamed type, types nested in one,
//! values that share a new prefix, moves of whole files.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::change::{Change, ChangeKind};

/// Changes that are said together with another one, by index.
#[derive(Default)]
pub(super) struct Folded {
    /// Not shown on their own.
    pub(super) hidden: HashSet<usize>,
    /// What to add to the line of the change that they follow from.
    pub(super) remarks: HashMap<usize, Vec<String>>,
}

impl Folded {
    /// Finds what can be folded; changes with an effect on the wire never are.
    pub(super) fn of(changes: &[Change<'_>]) -> Self {
        let mut folded = Folded::default();
        folded.renamed_types(changes);
        folded.groups(changes);
        folded
    }

    /// Field types and nested types that follow a renamed type.
    fn renamed_types(&mut self, changes: &[Change<'_>]) {
        let renames: HashMap<(&str, &str), usize> = changes
            .iter()
            .enumerate()
            .filter(|(_, c)| is_type_rename(c))
            .filter_map(|(at, c)| Some((from_to(c)?, at)))
            .collect();
        let mut fields: BTreeMap<usize, usize> = BTreeMap::new();
        let mut nested: BTreeMap<usize, usize> = BTreeMap::new();
        for (at, change) in changes.iter().enumerate().filter(|(_, c)| c.wire.is_safe()) {
            let Some((from, to)) = from_to(change) else { continue };
            if change.kind == ChangeKind::FieldTypeChanged {
                if let Some(rename) = renames.get(&(from, to)) {
                    *fields.entry(*rename).or_default() += 1;
                    self.hidden.insert(at);
                }
            } else if is_type_rename(change)
                && let (Some((outer_from, name_from)), Some((outer_to, name_to))) =
                    (from.rsplit_once('.'), to.rsplit_once('.'))
                && name_from == name_to
                && let Some(rename) = renames.get(&(outer_from, outer_to))
            {
                *nested.entry(*rename).or_default() += 1;
                self.hidden.insert(at);
            }
        }
        for (rename, number) in fields {
            let verb = if number == 1 { "follows" } else { "follow" };
            let fields = crate::report::text::count(number, "field");
            self.remark(rename, format!("{fields} of this type {verb}"));
        }
        for (rename, number) in nested {
            let types = crate::report::text::count(number, "nested type");
            self.remark(rename, format!("with {types}"));
        }
    }

    /// Runs of changes that say the same: enum values under a new shared prefix, types of one file moved.
    fn groups(&mut self, changes: &[Change<'_>]) {
        let mut runs: BTreeMap<(ChangeKind, String), Vec<usize>> = BTreeMap::new();
        for (at, change) in changes.iter().enumerate() {
            let key = match change.kind {
                // The same remark on values of one enum: their shared prefix changed.
                ChangeKind::EnumValueRenamed
                    if change.wire.is_safe() && change.repurposed.is_none() =>
                {
                    let Some(detail) = &change.detail else { continue };
                    format!("{}\n{detail}", change.subject.owners()[1].unwrap_or_default())
                }
                ChangeKind::MessageMoved | ChangeKind::EnumMoved => {
                    let (from, to) = from_to(change).unwrap_or_default();
                    format!("{from}\n{to}")
                }
                _ => continue,
            };
            // Messages and enums of one file move together.
            let kind = match change.kind {
                ChangeKind::EnumMoved => ChangeKind::MessageMoved,
                kind => kind,
            };
            runs.entry((kind, key)).or_default().push(at);
        }
        for ((kind, _), run) in runs {
            let [first, rest @ ..] = run.as_slice() else { continue };
            if rest.is_empty() {
                continue;
            }
            self.hidden.extend(rest);
            let more = rest.len();
            self.remark(
                *first,
                match kind {
                    ChangeKind::EnumValueRenamed => format!("and {more} more values likewise"),
                    _ => format!("and {more} more types of this file"),
                },
            );
        }
    }

    fn remark(&mut self, at: usize, text: String) {
        self.remarks.entry(at).or_default().push(text);
    }
}

fn is_type_rename(change: &Change<'_>) -> bool {
    matches!(change.kind, ChangeKind::MessageRenamed | ChangeKind::EnumRenamed)
}

fn from_to<'c>(change: &'c Change<'_>) -> Option<(&'c str, &'c str)> {
    Some((change.before.as_deref()?, change.after.as_deref()?))
}
