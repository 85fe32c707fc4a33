//! Changes of enum values, number by number.

use std::collections::{HashMap, HashSet};

use super::slots::related_values;
use super::{Comparison, change};
use crate::change::matcher::stripped_names;
use crate::change::wire::{self, Severity, WireEffect};
use crate::change::{ChangeKind, Sides, Subject};
use crate::descriptor::{Enum, EnumValue, Reach};

impl<'a> Comparison<'a, '_> {
    pub(super) fn values(&mut self, base: &'a Enum, head: &'a Enum, reach: Reach) {
        let owner = Sides::both(base, head);
        let (base_names, head_names) = (names_by_number(base), names_by_number(head));
        let (base_stripped, head_stripped) = (stripped_names(base), stripped_names(head));
        for base_value in first_of_each_number(base) {
            let Some(head_value) = head.value(base_value.number) else {
                let (kind, sides, construct, after, effect) =
                    match head.value_named(&base_value.name) {
                        Some(to) => (
                            ChangeKind::EnumValueRenumbered,
                            Sides::both(base_value, to),
                            format!("{}.{}", head.name, to.name),
                            Some(to.number.to_string()),
                            wire::removed_value_effect(head).worst(WireEffect::new(
                                Severity::Safe,
                                wire::unknown_enum_number(base.closed),
                            )),
                        ),
                        None => (
                            ChangeKind::EnumValueRemoved,
                            Sides::base(base_value),
                            format!("{}.{}", base.name, base_value.name),
                            None,
                            wire::removed_value_effect(head),
                        ),
                    };
                let mut found = change(kind, construct, reach, Subject::EnumValue(owner, sides))
                    .number(
                        after
                            .as_ref()
                            .map_or(base_value.number, |_| sides.head.map_or(0, |v| v.number)),
                    )
                    .was(base_value.number.to_string())
                    .wire(effect);
                found.after = after;
                self.push(found);
                continue;
            };
            let names = base_names.get(&base_value.number).zip(head_names.get(&base_value.number));
            let keeps_name = names.is_some_and(|(base, head)| !base.is_disjoint(head));
            if keeps_name {
                continue;
            }
            let repurposed = repurposed_value(base, head, base_value, head_value);
            let same_stem =
                base_stripped.get(&base_value.number) == head_stripped.get(&base_value.number);
            let wrong = WireEffect::new(Severity::WrongValue, Severity::WrongValue);
            self.push(
                change(
                    ChangeKind::EnumValueRenamed,
                    format!("{}.{}", head.name, head_value.name),
                    reach,
                    Subject::EnumValue(owner, Sides::both(base_value, head_value)),
                )
                .number(head_value.number)
                .was_now(&*base_value.name, &*head_value.name)
                .wire(if repurposed.is_some() { wrong } else { WireEffect::SAFE })
                .detail(repurposed.clone().or(same_stem.then(|| SAME_STEM.to_owned())))
                .repurposed(repurposed),
            );
        }
        self.moved_aliases(base, head, owner, reach);
        for head_value in first_of_each_number(head) {
            if base.value(head_value.number).is_some() {
                continue;
            }
            if let Some(base_value) = base.value_named(&head_value.name) {
                // Reported once: from the old number where that is free, else from here.
                if head.value(base_value.number).is_some() {
                    self.push(
                        change(
                            ChangeKind::EnumValueRenumbered,
                            format!("{}.{}", head.name, head_value.name),
                            reach,
                            Subject::EnumValue(owner, Sides::both(base_value, head_value)),
                        )
                        .number(head_value.number)
                        .was_now(base_value.number.to_string(), head_value.number.to_string())
                        .wire(WireEffect::new(Severity::WrongValue, Severity::WrongValue)),
                    );
                }
                continue;
            }
            let reused = if base.reserves_number(head_value.number) {
                Some(format!("base reserves the number {}", head_value.number))
            } else if base.reserves_name(&head_value.name) {
                Some(format!("base reserves the name {}", head_value.name))
            } else {
                None
            };
            let mut effect = wire::added_value_effect(base);
            if base.reserves_number(head_value.number) {
                effect = effect.worst(WireEffect::new(Severity::WrongValue, Severity::Safe));
            }
            self.push(
                change(
                    ChangeKind::EnumValueAdded,
                    format!("{}.{}", head.name, head_value.name),
                    reach,
                    Subject::EnumValue(owner, Sides::head(head_value)),
                )
                .number(head_value.number)
                .now(head_value.number.to_string())
                .wire(effect)
                .detail(reused.clone())
                .repurposed(reused),
            );
        }
    }
}

impl<'a> Comparison<'a, '_> {
    /// Second names of a number that name another number now.
    fn moved_aliases(
        &mut self,
        base: &'a Enum,
        head: &'a Enum,
        owner: Sides<'a, Enum>,
        reach: Reach,
    ) {
        for from in &base.values {
            let Some(to) = head.value_named(&from.name) else { continue };
            let is_alias = base.value(from.number).is_some_and(|first| first.name != from.name);
            // A number that is new was reported with its first name.
            if to.number == from.number || !is_alias || base.value(to.number).is_none() {
                continue;
            }
            let wrong = WireEffect::new(Severity::WrongValue, Severity::WrongValue);
            self.push(
                change(
                    ChangeKind::EnumValueRenumbered,
                    format!("{}.{}", head.name, to.name),
                    reach,
                    Subject::EnumValue(owner, Sides::both(from, to)),
                )
                .number(to.number)
                .was_now(from.number.to_string(), to.number.to_string())
                .wire(wrong),
            );
        }
    }
}

/// Remark on an enum value whose name differs only in the prefix that all values share.
pub(crate) const SAME_STEM: &str = "only the prefix that all values share changed";

/// Why an enum number now stands for something else, if it does.
pub(crate) fn repurposed_value(
    base: &Enum,
    head: &Enum,
    from: &EnumValue,
    to: &EnumValue,
) -> Option<String> {
    if let Some(moved) = head.value_named(&from.name) {
        return Some(format!("{} is now number {}", from.name, moved.number));
    }
    if let Some(came) = base.value_named(&to.name) {
        return Some(format!("{} was number {}", to.name, came.number));
    }
    if head.reserves_name(&from.name) && !related_values(&from.name, &to.name) {
        return Some(format!("head reserves the name {}", from.name));
    }
    if base.reserves_name(&to.name) {
        return Some(format!("base reserves the name {}", to.name));
    }
    None
}

fn first_of_each_number(enumeration: &Enum) -> impl Iterator<Item = &EnumValue> {
    let mut seen = HashSet::new();
    enumeration.values.iter().filter(move |v| seen.insert(v.number))
}

/// All names of each number: aliases share one.
fn names_by_number(enumeration: &Enum) -> HashMap<i32, HashSet<&str>> {
    let mut names: HashMap<i32, HashSet<&str>> = HashMap::new();
    for value in &enumeration.values {
        names.entry(value.number).or_default().insert(&value.name);
    }
    names
}
