//! All changes between two contracts.

mod field;
mod reserved;
mod slots;
mod value;

pub(crate) use field::{UNRELATED_NAMES, declaration, repurposed_field};
pub(crate) use reserved::{ranges, subtract};
pub(crate) use value::{SAME_STEM, repurposed_value};

use self::slots::Slots;
use super::matcher::Pairs;
use super::wire::{self, Severity, WireEffect, WireTable};
use super::{Change, ChangeKind, Sides, Subject, Surface, json};
use crate::descriptor::{Contract, Enum, Message, Place, Reach, Type};

/// Compares two contracts construct by construct; sorted by construct, then kind.
///
/// Changes of constructs that no root reaches are included; [`Change::reach`] tells them apart. Fields of
/// a message that is itself added or removed are not listed one by one.
pub fn compare<'a>(base: &'a Contract, head: &'a Contract) -> Vec<Change<'a>> {
    compare_pairs(base, head, &Pairs::new(base, head))
}

/// Like [`compare`], of contracts whose types were paired.
pub(crate) fn compare_pairs<'a>(
    base: &'a Contract,
    head: &'a Contract,
    pairs: &Pairs,
) -> Vec<Change<'a>> {
    let table = WireTable::new(base, head, pairs);
    let mut comparison = Comparison { base, head, pairs, table: &table, changes: Vec::new() };
    comparison.messages();
    comparison.enums();
    let mut changes = comparison.changes;
    changes.extend(json::compare(base, head, pairs));
    changes.sort_by(|a, b| {
        (&a.construct, a.surface, a.kind, a.number).cmp(&(
            &b.construct,
            b.surface,
            b.kind,
            b.number,
        ))
    });
    changes
}

struct Comparison<'a, 'b> {
    base: &'a Contract,
    head: &'a Contract,
    pairs: &'b Pairs,
    table: &'b WireTable<'a, 'b>,
    changes: Vec<Change<'a>>,
}

/// A change without properties; the builder methods below add what applies.
fn change<'a>(
    kind: ChangeKind,
    construct: String,
    reach: Reach,
    subject: Subject<'a>,
) -> Change<'a> {
    Change {
        kind,
        surface: Surface::Proto,
        construct,
        number: None,
        before: None,
        after: None,
        wire: WireEffect::SAFE,
        detail: None,
        reach,
        subject,
        repurposed: None,
    }
}

impl Change<'_> {
    fn was_now(mut self, before: impl Into<String>, after: impl Into<String>) -> Self {
        self.before = Some(before.into());
        self.after = Some(after.into());
        self
    }

    fn was(mut self, before: impl Into<String>) -> Self {
        self.before = Some(before.into());
        self
    }

    fn now(mut self, after: impl Into<String>) -> Self {
        self.after = Some(after.into());
        self
    }

    fn number(mut self, number: i32) -> Self {
        self.number = Some(number);
        self
    }

    fn wire(mut self, wire: WireEffect) -> Self {
        self.wire = wire;
        self
    }

    fn detail(mut self, detail: Option<String>) -> Self {
        self.detail = detail;
        self
    }

    fn repurposed(mut self, why: Option<String>) -> Self {
        self.repurposed = why;
        self
    }
}

/// What both sides of a pair have in common: a type counts as reachable when it was and still is.
fn both(base: Reach, head: Reach) -> Reach {
    Reach { wire: base.wire && head.wire, json: base.json && head.json }
}

fn either(base: Reach, head: Reach) -> Reach {
    Reach { wire: base.wire || head.wire, json: base.json || head.json }
}

impl<'a> Comparison<'a, '_> {
    fn push(&mut self, change: Change<'a>) {
        self.changes.push(change);
    }

    fn messages(&mut self) {
        for head in self.head.messages.values() {
            let base = self.pairs.message_in_base(&head.name).and_then(|n| self.base.message(n));
            match base {
                Some(base) => self.message(base, head),
                // A map entry comes with its map field.
                None if head.map_entry => {}
                None => {
                    let subject = Subject::Message(Sides::head(head));
                    self.push(
                        change(
                            ChangeKind::MessageAdded,
                            head.name.to_string(),
                            head.reach,
                            subject,
                        )
                        .now(path(self.head, &head.place)),
                    );
                }
            }
        }
        for base in self.base.messages.values().filter(|m| !m.map_entry) {
            if self.pairs.message_in_head(&base.name).is_none() {
                let subject = Subject::Message(Sides::base(base));
                self.push(
                    change(ChangeKind::MessageRemoved, base.name.to_string(), base.reach, subject)
                        .was(path(self.base, &base.place))
                        .wire(WireEffect::new(Severity::SilentLoss, Severity::Safe)),
                );
            }
        }
    }

    fn message(&mut self, base: &'a Message, head: &'a Message) {
        let sides = Sides::both(base, head);
        let subject = Subject::Message(sides);
        // One message of a file that did not change, in both contracts: only what its fields refer to can differ.
        if std::ptr::eq(base, head) {
            let slots = Slots::new(base, head);
            for field in &base.fields {
                if !self.refers_to_the_same(&field.ty) {
                    self.field(&slots, field, field, head.reach);
                }
            }
            return;
        }
        let whole = either(base.reach, head.reach);
        if !head.map_entry {
            if base.name != head.name {
                self.push(
                    change(ChangeKind::MessageRenamed, head.name.to_string(), whole, subject)
                        .was_now(&*base.name, &*head.name),
                );
            }
            self.moved(ChangeKind::MessageMoved, base, head, whole, subject);
            self.reachability(base.reach, head.reach, &head.name, subject);
        }

        let reach = both(base.reach, head.reach);
        let slots = Slots::new(base, head);
        for base_field in &base.fields {
            match head.field(base_field.number) {
                Some(head_field) => self.field(&slots, base_field, head_field, reach),
                None => self.field_gone(sides, base_field, reach),
            }
        }
        for head_field in head.fields.iter().filter(|f| base.field(f.number).is_none()) {
            self.field_new(sides, base, head_field, reach);
        }
        self.oneofs(&slots, reach);
        self.reserved(
            (&base.reserved_numbers, &base.reserved_names),
            (&head.reserved_numbers, &head.reserved_names),
            &head.name,
            reach,
            subject,
        );
        // As sets of numbers: ranges that only got split or joined are the same.
        let shrunk = !subtract(&base.extension_ranges, &head.extension_ranges).is_empty();
        let grown = !subtract(&head.extension_ranges, &base.extension_ranges).is_empty();
        if shrunk || grown {
            let backward = if shrunk { Severity::SilentLoss } else { Severity::Safe };
            self.push(
                change(ChangeKind::ExtensionRangeChanged, head.name.to_string(), reach, subject)
                    .was_now(ranges(&base.extension_ranges), ranges(&head.extension_ranges))
                    .wire(WireEffect::new(backward, Severity::Safe)),
            );
        }
    }

    /// Whether what a type says of a field is the same in both contracts.
    fn refers_to_the_same(&self, ty: &Type) -> bool {
        match ty {
            Type::Scalar(_) => true,
            Type::Message(name) => self.pairs.message_in_head(name) == Some(name),
            Type::Enum(name) => match (self.base.enumeration(name), self.head.enumeration(name)) {
                (Some(base), Some(head)) => std::ptr::eq(base, head),
                _ => false,
            },
        }
    }

    fn moved(
        &mut self,
        kind: ChangeKind,
        base: &'a impl Declared,
        head: &'a impl Declared,
        reach: Reach,
        subject: Subject<'a>,
    ) {
        let from = import_name(self.base, base.place());
        let to = import_name(self.head, head.place());
        if from != to {
            self.push(change(kind, head.name().to_owned(), reach, subject).was_now(from, to));
        }
    }

    fn reachability(&mut self, base: Reach, head: Reach, name: &str, subject: Subject<'a>) {
        let whole = either(base, head);
        for (surface, was, is) in
            [(Surface::Proto, base.wire, head.wire), (Surface::JsonPayload, base.json, head.json)]
        {
            let kind = match (was, is) {
                (false, true) => ChangeKind::ReachabilityGained,
                (true, false) => ChangeKind::ReachabilityLost,
                _ => continue,
            };
            let mut found = change(kind, name.to_owned(), whole, subject);
            found.surface = surface;
            self.push(found);
        }
    }

    fn enums(&mut self) {
        for head in self.head.enums.values() {
            let base = self.pairs.enum_in_base(&head.name).and_then(|n| self.base.enumeration(n));
            match base {
                Some(base) => self.enumeration(base, head),
                None => {
                    let subject = Subject::Enum(Sides::head(head));
                    self.push(
                        change(ChangeKind::EnumAdded, head.name.to_string(), head.reach, subject)
                            .now(path(self.head, &head.place)),
                    );
                }
            }
        }
        for base in self.base.enums.values() {
            if self.pairs.enum_in_head(&base.name).is_none() {
                let subject = Subject::Enum(Sides::base(base));
                self.push(
                    change(ChangeKind::EnumRemoved, base.name.to_string(), base.reach, subject)
                        .was(path(self.base, &base.place))
                        .wire(WireEffect::new(Severity::SilentLoss, Severity::Safe)),
                );
            }
        }
    }

    fn enumeration(&mut self, base: &'a Enum, head: &'a Enum) {
        // One enum in both contracts.
        if std::ptr::eq(base, head) {
            return;
        }
        let subject = Subject::Enum(Sides::both(base, head));
        let whole = either(base.reach, head.reach);
        if base.name != head.name {
            self.push(
                change(ChangeKind::EnumRenamed, head.name.to_string(), whole, subject)
                    .was_now(&*base.name, &*head.name),
            );
        }
        self.moved(ChangeKind::EnumMoved, base, head, whole, subject);
        self.reachability(base.reach, head.reach, &head.name, subject);

        let reach = both(base.reach, head.reach);
        if base.closed != head.closed {
            let word = |closed| if closed { "closed" } else { "open" };
            self.push(
                change(ChangeKind::EnumClosednessChanged, head.name.to_string(), reach, subject)
                    .was_now(word(base.closed), word(head.closed))
                    .wire(wire::closedness_effect(head.closed)),
            );
        }
        self.values(base, head, reach);
        self.reserved(
            (&base.reserved_numbers, &base.reserved_names),
            (&head.reserved_numbers, &head.reserved_names),
            &head.name,
            reach,
            subject,
        );
    }
}

fn path(contract: &Contract, place: &Place) -> String {
    contract.file(place).map_or(String::new(), |f| f.path.to_string())
}

fn import_name(contract: &Contract, place: &Place) -> String {
    contract.file(place).map_or(String::new(), |f| f.name.to_string())
}

trait Declared {
    fn name(&self) -> &str;
    fn place(&self) -> &Place;
}

impl Declared for Message {
    fn name(&self) -> &str {
        &self.name
    }
    fn place(&self) -> &Place {
        &self.place
    }
}

impl Declared for Enum {
    fn name(&self) -> &str {
        &self.name
    }
    fn place(&self) -> &Place {
        &self.place
    }
}
