//! Changes of fields, slot by slot: a slot is a field number of a message.

use super::slots::Slots;
use super::{Comparison, change};
use crate::change::wire::{self, Severity, WireEffect, implied_default};
use crate::change::{ChangeKind, Sides, Subject};
use crate::descriptor::{Field, Label, Message, Presence, Reach, Type};

impl<'a> Comparison<'a, '_> {
    pub(super) fn field(
        &mut self,
        slots: &Slots<'a>,
        base: &'a Field,
        head: &'a Field,
        reach: Reach,
    ) {
        let subject = Subject::Field(slots.owner(), Sides::both(base, head));
        let construct = format!("{}.{}", slots.head.name, head.name);
        let type_effect = self.table.type_effect(base, head);
        let repurposed = repurposed(slots, base, head, type_effect);
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
                .detail(repurposed.clone().or_else(|| {
                    // A field of the same named type is that field; of two scalars only names tell.
                    let unrelated =
                        base.ty.named().is_none() && !slots.related(&base.name, &head.name);
                    unrelated.then(|| UNRELATED_NAMES.to_owned())
                }));
            self.push(found);
        }
        // A map's entry type may have the name of a message that stood there before.
        let stands_for_another = match &base.ty {
            Type::Message(name) if base.ty == head.ty => {
                self.pairs.message_in_head(name) != Some(name)
            }
            _ => false,
        };
        if base.ty != head.ty || stands_for_another {
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
        if base.oneof != head.oneof && !slots.oneof_was_renamed(base, head) {
            let none = "no oneof";
            let (base_siblings, head_siblings) = slots.siblings(base, head);
            let found = new(ChangeKind::FieldOneofChanged)
                .was_now(
                    base.oneof.as_deref().unwrap_or(none),
                    head.oneof.as_deref().unwrap_or(none),
                )
                .wire(wire::oneof_effect(base, head, base_siblings, head_siblings));
            self.push(found);
        }
        // Only where both sides are lists of the same packable kind; else the type or label says it.
        if base.packed != head.packed && base.label == head.label && base.ty == head.ty {
            let word = |packed| if packed { "packed" } else { "expanded" };
            let found =
                new(ChangeKind::FieldPackedChanged).was_now(word(base.packed), word(head.packed));
            self.push(found);
        }
        let read = (implied_default(self.base, base), implied_default(self.head, head));
        let both = read.0.is_some() && read.1.is_some();
        let differ = both && read.0 != read.1 && type_effect.backward < Severity::SilentLoss;
        if differ || base.default != head.default && base.ty == head.ty {
            // Where the texts are alike it is the number behind them that changed.
            let alike = base.default == head.default;
            let text = |field: &Field, implied: &Option<String>| match (&field.default, implied) {
                (Some(default), _) if !(differ && alike) => default.to_string(),
                (_, Some(implied)) if differ => implied.clone(),
                _ => "none".to_owned(),
            };
            let effect = if differ { wire::DEFAULT_CHANGED } else { WireEffect::SAFE };
            let found = new(ChangeKind::FieldDefaultChanged)
                .was_now(text(base, &read.0), text(head, &read.1))
                .wire(effect)
                .detail((!differ).then(|| "unset reads the same".to_owned()));
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
    pub(super) fn field_gone(&mut self, owner: Sides<'a, Message>, base: &'a Field, reach: Reach) {
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
    pub(super) fn field_new(
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

    pub(super) fn oneofs(&mut self, slots: &Slots<'a>, reach: Reach) {
        for (base, head) in slots.renamed_oneofs() {
            let subject = Subject::Oneof(slots.owner(), Sides::both(*base, *head));
            let construct = format!("{}.{}", slots.head.name, head.name);
            self.push(
                change(ChangeKind::OneofRenamed, construct, reach, subject)
                    .was_now(&*base.name, &*head.name),
            );
        }
    }
}

/// Remark on a renamed scalar field whose names have too little in common to tell a rename from a reuse.
pub(crate) const UNRELATED_NAMES: &str = "the names have little in common";

/// Whether exactly one side is a message: those always have presence, so the type says it all.
fn message_on_one_side(base: &Field, head: &Field) -> bool {
    matches!(base.ty, Type::Message(_)) != matches!(head.ty, Type::Message(_))
}

/// Why a field number holds another field in another message, if it does.
pub(crate) fn repurposed_field(
    base_owner: &Message,
    head_owner: &Message,
    base: &Field,
    head: &Field,
    type_effect: WireEffect,
) -> Option<String> {
    repurposed(&Slots::new(base_owner, head_owner), base, head, type_effect)
}

/// Why a field number now holds another field, if it does: the old name lives on under another
/// number, the new name came from another number, or neither name nor type stayed.
fn repurposed(
    slots: &Slots<'_>,
    base: &Field,
    head: &Field,
    type_effect: WireEffect,
) -> Option<String> {
    if base.name == head.name {
        return None;
    }
    if let Some(moved) = slots.head.field_named(&base.name) {
        return Some(format!("{} is now number {}", base.name, moved.number));
    }
    if let Some(came) = slots.base.field_named(&head.name) {
        return Some(format!("{} was number {}", head.name, came.number));
    }
    if type_effect.backward > Severity::Safe || type_effect.forward >= Severity::SilentLoss {
        return Some(format!("{} cannot be read as {}", base.ty, head.ty));
    }
    if slots.head.reserves_name(&base.name) && !slots.related(&base.name, &head.name) {
        return Some(format!("head reserves the name {}", base.name));
    }
    // Widening, which reads all old values, is no other field where the names agree.
    if base.ty != head.ty && base.ty.named().is_none() && !slots.related(&base.name, &head.name) {
        return Some(format!("it was {} {}", base.ty, base.name));
    }
    None
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
