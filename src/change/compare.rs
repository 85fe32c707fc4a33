//! All changes between two contracts.

use super::matcher::{Pairs, stripped_names};
use super::wire::{self, Severity, WireEffect, WireTable};
use super::{Change, ChangeKind, Sides, Subject, Surface, json};
use crate::descriptor::{
    Contract, Enum, EnumValue, Field, Label, Message, Name, Place, Presence, Reach, Type,
};

/// Compares two contracts construct by construct; sorted by construct, then kind.
///
/// Changes of constructs that no root reaches are included; [`Change::reach`] tells them apart. Fields of
/// a message that is itself added or removed are not listed one by one.
pub fn compare<'a>(base: &'a Contract, head: &'a Contract) -> Vec<Change<'a>> {
    let pairs = Pairs::new(base, head);
    let table = WireTable::new(base, head, &pairs);
    let mut comparison =
        Comparison { base, head, pairs: &pairs, table: &table, changes: Vec::new() };
    comparison.messages();
    comparison.enums();
    let mut changes = comparison.changes;
    changes.extend(json::compare(base, head, &pairs));
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

/// Reserved numbers and names of one type.
type Reserved<'r> = (&'r [(i32, i32)], &'r [Name]);

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
        for base_field in &base.fields {
            match head.field(base_field.number) {
                Some(head_field) => self.field(sides, base_field, head_field, reach),
                None => self.field_gone(sides, base_field, reach),
            }
        }
        for head_field in head.fields.iter().filter(|f| base.field(f.number).is_none()) {
            self.field_new(sides, base, head_field, reach);
        }
        self.oneofs(base, head, reach);
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

    fn field(&mut self, owner: Sides<'a, Message>, base: &'a Field, head: &'a Field, reach: Reach) {
        let (Some(base_owner), Some(head_owner)) = (owner.base, owner.head) else { return };
        let subject = Subject::Field(owner, Sides::both(base, head));
        let construct = format!("{}.{}", head_owner.name, head.name);
        let type_effect = self.table.type_effect(base, head);
        let repurposed = repurposed_field(base_owner, head_owner, base, head, type_effect);
        let new = |kind| {
            change(kind, construct.clone(), reach, subject)
                .number(head.number)
                .repurposed(repurposed.clone())
        };

        if base.name != head.name {
            let effect = match &repurposed {
                // The bytes fit and mean something else.
                Some(_) => {
                    type_effect.worst(WireEffect::new(Severity::WrongValue, Severity::WrongValue))
                }
                None => WireEffect::SAFE,
            };
            let found = new(ChangeKind::FieldRenamed)
                .was_now(&*base.name, &*head.name)
                .wire(effect)
                .detail(repurposed.clone());
            self.push(found);
        }
        if base.ty != head.ty {
            let nominal =
                type_effect.is_safe() && base.ty.named().is_some() && head.ty.named().is_some();
            let detail = nominal.then(|| "another name for the same structure".to_owned());
            let found = new(ChangeKind::FieldTypeChanged)
                .was_now(base.ty.to_string(), head.ty.to_string())
                .wire(type_effect)
                .detail(detail);
            self.push(found);
        }
        if base.label != head.label {
            let found = new(ChangeKind::FieldLabelChanged)
                .was_now(base.label.name(), head.label.name())
                .wire(wire::label_effect(base, head));
            self.push(found);
        } else if base.presence != head.presence && !message_on_one_side(base, head) {
            let found = new(ChangeKind::FieldPresenceChanged)
                .was_now(base.presence.name(), head.presence.name())
                .wire(wire::presence_effect(base.presence, head.presence));
            self.push(found);
        }
        if base.oneof != head.oneof && !renamed_oneof(base_owner, head_owner, base, head) {
            let siblings = |owner: &Message, field: &Field, other: &Message| {
                owner
                    .fields
                    .iter()
                    .filter(|f| f.oneof.is_some() && f.oneof == field.oneof)
                    .filter(|f| f.number != field.number && other.field(f.number).is_some())
                    .count()
            };
            let none = "no oneof";
            let found = new(ChangeKind::FieldOneofChanged)
                .was_now(
                    base.oneof.as_deref().unwrap_or(none),
                    head.oneof.as_deref().unwrap_or(none),
                )
                .wire(wire::oneof_effect(
                    base,
                    head,
                    siblings(base_owner, base, head_owner),
                    siblings(head_owner, head, base_owner),
                ));
            self.push(found);
        }
        // Only where both sides are lists of the same packable kind; else the type or label says it.
        if base.packed != head.packed && base.label == head.label && base.ty == head.ty {
            let word = |packed| if packed { "packed" } else { "expanded" };
            let found =
                new(ChangeKind::FieldPackedChanged).was_now(word(base.packed), word(head.packed));
            self.push(found);
        }
        if base.default != head.default && base.ty == head.ty {
            let text = |field: &Field| field.default.as_deref().unwrap_or("none").to_owned();
            let found = new(ChangeKind::FieldDefaultChanged)
                .was_now(text(base), text(head))
                .wire(wire::DEFAULT_CHANGED);
            self.push(found);
        }
        if base.verify_utf8 != head.verify_utf8 && base.ty == head.ty {
            let word = |verify| if verify { "verified" } else { "not verified" };
            let found = new(ChangeKind::FieldUtf8Changed)
                .was_now(word(base.verify_utf8), word(head.verify_utf8))
                .wire(wire::utf8_effect(base, head));
            self.push(found);
        }
        if base.delimited != head.delimited && base.ty == head.ty {
            let word = |delimited| if delimited { "delimited" } else { "length-prefixed" };
            let found = new(ChangeKind::FieldEncodingChanged)
                .was_now(word(base.delimited), word(head.delimited))
                .wire(wire::ENCODING_CHANGED);
            self.push(found);
        }
        if base.deprecated != head.deprecated && base.name == head.name {
            let found = new(ChangeKind::FieldDeprecatedChanged)
                .was_now(base.deprecated.to_string(), head.deprecated.to_string());
            self.push(found);
        }
    }

    /// A field number that head does not have.
    fn field_gone(&mut self, owner: Sides<'a, Message>, base: &'a Field, reach: Reach) {
        let (Some(base_owner), Some(head_owner)) = (owner.base, owner.head) else { return };
        if let Some(head) = head_owner.field_named(&base.name) {
            return self.field_renumbered(owner, base, head, reach);
        }
        let subject = Subject::Field(owner, Sides::base(base));
        let found = change(
            ChangeKind::FieldRemoved,
            format!("{}.{}", base_owner.name, base.name),
            reach,
            subject,
        )
        .number(base.number)
        .was(declaration(base))
        .wire(wire::removed_field_effect(base));
        self.push(found);
    }

    /// A field number that base does not have.
    fn field_new(
        &mut self,
        owner: Sides<'a, Message>,
        base_owner: &'a Message,
        head: &'a Field,
        reach: Reach,
    ) {
        let Some(head_owner) = owner.head else { return };
        if let Some(base) = base_owner.field_named(&head.name) {
            // Reported once: from the old number where that is free, else from here.
            if head_owner.field(base.number).is_some() {
                self.field_renumbered(owner, base, head, reach);
            }
            return;
        }
        let reused = if base_owner.reserves_number(head.number) {
            Some(format!("base reserves the number {}", head.number))
        } else if base_owner.reserves_name(&head.name) {
            Some(format!("base reserves the name {}", head.name))
        } else {
            None
        };
        let effect = if base_owner.reserves_number(head.number) {
            // Artifacts from before the reservation still carry the old field under this number.
            wire::added_field_effect(head)
                .worst(WireEffect::new(Severity::WrongValue, Severity::SilentLoss))
        } else {
            wire::added_field_effect(head)
        };
        let subject = Subject::Field(owner, Sides::head(head));
        let found = change(
            ChangeKind::FieldAdded,
            format!("{}.{}", head_owner.name, head.name),
            reach,
            subject,
        )
        .number(head.number)
        .now(declaration(head))
        .wire(effect)
        .detail(reused.clone())
        .repurposed(reused);
        self.push(found);
    }

    fn field_renumbered(
        &mut self,
        owner: Sides<'a, Message>,
        base: &'a Field,
        head: &'a Field,
        reach: Reach,
    ) {
        let Some(head_owner) = owner.head else { return };
        let found = change(
            ChangeKind::FieldRenumbered,
            format!("{}.{}", head_owner.name, head.name),
            reach,
            Subject::Field(owner, Sides::both(base, head)),
        )
        .number(head.number)
        .was_now(base.number.to_string(), head.number.to_string())
        .wire(wire::RENUMBERED);
        self.push(found);
    }

    fn oneofs(&mut self, base: &'a Message, head: &'a Message, reach: Reach) {
        for head_oneof in &head.oneofs {
            if base.oneofs.iter().any(|o| o.name == head_oneof.name) {
                continue;
            }
            let renamed_from = base.oneofs.iter().find(|base_oneof| {
                !head.oneofs.iter().any(|o| o.name == base_oneof.name)
                    && same_members(base, head, &base_oneof.name, &head_oneof.name)
            });
            if let Some(base_oneof) = renamed_from {
                let subject =
                    Subject::Oneof(Sides::both(base, head), Sides::both(base_oneof, head_oneof));
                self.push(
                    change(
                        ChangeKind::OneofRenamed,
                        format!("{}.{}", head.name, head_oneof.name),
                        reach,
                        subject,
                    )
                    .was_now(&*base_oneof.name, &*head_oneof.name),
                );
            }
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

    fn values(&mut self, base: &'a Enum, head: &'a Enum, reach: Reach) {
        let owner = Sides::both(base, head);
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
            let keeps_name = base
                .values
                .iter()
                .filter(|v| v.number == base_value.number)
                .any(|v| head.values.iter().any(|h| h.number == v.number && h.name == v.name));
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

    fn reserved(
        &mut self,
        base: Reserved<'_>,
        head: Reserved<'_>,
        owner: &str,
        reach: Reach,
        subject: Subject<'a>,
    ) {
        for (kind, from, to) in
            [(ChangeKind::ReservedDropped, base, head), (ChangeKind::ReservedAdded, head, base)]
        {
            let gone = subtract(from.0, to.0);
            let gone_names: Vec<&str> =
                from.1.iter().filter(|n| !to.1.contains(n)).map(|n| &**n).collect();
            if gone.is_empty() && gone_names.is_empty() {
                continue;
            }
            let mut text = Vec::new();
            if !gone.is_empty() {
                text.push(ranges(&gone));
            }
            text.extend(gone_names.iter().map(|n| format!("\"{n}\"")));
            let mut found = change(kind, owner.to_owned(), reach, subject);
            let text = Some(text.join(", "));
            match kind {
                ChangeKind::ReservedDropped => found.before = text,
                _ => found.after = text,
            }
            self.push(found);
        }
    }
}

/// Remark on an enum value whose name differs only in the prefix that all values share.
pub(crate) const SAME_STEM: &str = "only the prefix that all values share changed";

/// Whether exactly one side is a message: those always have presence, so the type says it all.
fn message_on_one_side(base: &Field, head: &Field) -> bool {
    matches!(base.ty, Type::Message(_)) != matches!(head.ty, Type::Message(_))
}

/// Why a field number now holds another field, if it does: the old name lives on under another
/// number, the new name came from another number, or neither name nor type stayed.
pub(crate) fn repurposed_field(
    base_owner: &Message,
    head_owner: &Message,
    base: &Field,
    head: &Field,
    type_effect: WireEffect,
) -> Option<String> {
    if base.name == head.name {
        return None;
    }
    if let Some(moved) = head_owner.field_named(&base.name) {
        return Some(format!("{} is now number {}", base.name, moved.number));
    }
    if let Some(came) = base_owner.field_named(&head.name) {
        return Some(format!("{} was number {}", head.name, came.number));
    }
    if head_owner.reserves_name(&base.name) {
        return Some(format!("head reserves the name {}", base.name));
    }
    // Neither name nor type stayed. Widening, which reads all old values, is no other field.
    if type_effect.backward > Severity::Safe || type_effect.forward >= Severity::SilentLoss {
        return Some(format!("{} cannot be read as {}", base.ty, head.ty));
    }
    None
}

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
    if head.reserves_name(&from.name) {
        return Some(format!("head reserves the name {}", from.name));
    }
    if base.reserves_name(&to.name) {
        return Some(format!("base reserves the name {}", to.name));
    }
    None
}

/// Whether the field stayed in its oneof, which only got another name.
fn renamed_oneof(base: &Message, head: &Message, from: &Field, to: &Field) -> bool {
    match (&from.oneof, &to.oneof) {
        (Some(from), Some(to)) => {
            !head.oneofs.iter().any(|o| o.name == *from)
                && !base.oneofs.iter().any(|o| o.name == *to)
                && same_members(base, head, from, to)
        }
        _ => false,
    }
}

/// Whether two oneofs have the same member numbers, members that one side lacks left aside.
fn same_members(base: &Message, head: &Message, from: &str, to: &str) -> bool {
    let members = |owner: &Message, oneof: &str, other: &Message| -> Vec<i32> {
        owner
            .fields
            .iter()
            .filter(|f| f.oneof.as_deref() == Some(oneof) && other.field(f.number).is_some())
            .map(|f| f.number)
            .collect()
    };
    let base_members = members(base, from, head);
    !base_members.is_empty() && base_members == members(head, to, base)
}

fn first_of_each_number(enumeration: &Enum) -> impl Iterator<Item = &EnumValue> {
    let mut seen = std::collections::HashSet::new();
    enumeration.values.iter().filter(move |v| seen.insert(v.number))
}

/// A field as it would be declared, without options.
pub(crate) fn declaration(field: &Field) -> String {
    let label = match (field.label, field.presence, &field.oneof) {
        (Label::Repeated, _, _) => "repeated ",
        (Label::Required, _, _) => "required ",
        (_, Presence::Explicit, None) if !matches!(field.ty, Type::Message(_)) => "optional ",
        _ => "",
    };
    format!("{label}{} {} = {}", field.ty, field.name, field.number)
}

/// Ranges as a `reserved` statement spells them.
pub(crate) fn ranges(list: &[(i32, i32)]) -> String {
    let text: Vec<String> = list
        .iter()
        .map(|&(lo, hi)| if lo == hi { lo.to_string() } else { format!("{lo} to {hi}") })
        .collect();
    if text.is_empty() { "none".to_owned() } else { text.join(", ") }
}

/// The parts of `from` that no range of `minus` covers; both sorted.
pub(crate) fn subtract(from: &[(i32, i32)], minus: &[(i32, i32)]) -> Vec<(i32, i32)> {
    let mut rest = Vec::new();
    for &(lo, hi) in from {
        let mut next = i64::from(lo);
        for &(minus_lo, minus_hi) in minus {
            let (minus_lo, minus_hi) = (i64::from(minus_lo), i64::from(minus_hi));
            if minus_hi < next || minus_lo > i64::from(hi) {
                continue;
            }
            if minus_lo > next {
                rest.push((next, minus_lo - 1));
            }
            next = next.max(minus_hi + 1);
        }
        if next <= i64::from(hi) {
            rest.push((next, i64::from(hi)));
        }
    }
    rest.into_iter()
        .filter_map(|(lo, hi)| Some((i32::try_from(lo).ok()?, i32::try_from(hi).ok()?)))
        .collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_subtract() {
        assert_eq!(subtract(&[(1, 10)], &[(3, 4), (8, 20)]), [(1, 2), (5, 7)]);
        assert_eq!(subtract(&[(1, 2)], &[(1, 2)]), []);
        assert_eq!(subtract(&[(i32::MIN, i32::MAX)], &[(0, 0)]), [(i32::MIN, -1), (1, i32::MAX)]);
    }
}
