//! The second wire: messages that travel as JSON text inside an opaque field.
//!
//! XLA writes them with original field names and prints every field without presence, set or not; it
//! reads them with unknown names rejected. So adding a field without presence breaks old readers, and
//! deleting or renaming any breaks new ones; numbers do not matter.

use super::compare::declaration;
use super::matcher::Pairs;
use super::wire::{Severity, WireEffect};
use super::{Change, ChangeKind, Sides, Subject, Surface};
use crate::descriptor::{Contract, Enum, Field, Label, Message, Presence, Reach, Scalar, Type};

/// All changes of JSON payload messages that the JSON wire sees.
pub(super) fn compare<'a>(
    base: &'a Contract,
    head: &'a Contract,
    pairs: &Pairs,
) -> Vec<Change<'a>> {
    let mut changes = Vec::new();
    for head_message in head.messages.values().filter(|m| m.reach.json) {
        let base_message = pairs.message_in_base(&head_message.name).and_then(|n| base.message(n));
        if let Some(base_message) = base_message.filter(|m| m.reach.json) {
            fields(base_message, head_message, pairs, &mut changes);
        }
    }
    for head_enum in head.enums.values().filter(|e| e.reach.json) {
        let base_enum = pairs.enum_in_base(&head_enum.name).and_then(|n| base.enumeration(n));
        if let Some(base_enum) = base_enum.filter(|e| e.reach.json) {
            values(base_enum, head_enum, &mut changes);
        }
    }
    changes
}

/// Whether the field is printed even when nobody set it.
fn always_printed(field: &Field) -> bool {
    field.presence != Presence::Explicit
}

fn fields<'a>(base: &'a Message, head: &'a Message, pairs: &Pairs, changes: &mut Vec<Change<'a>>) {
    let owner = Sides::both(base, head);
    let mut push = |kind, sides: Sides<'a, Field>, wire: WireEffect, detail: String| {
        let Some(field) = sides.head.or(sides.base) else { return };
        let owner_name = if sides.head.is_some() { &head.name } else { &base.name };
        changes.push(Change {
            kind,
            surface: Surface::JsonPayload,
            construct: format!("{owner_name}.{}", field.name),
            number: Some(field.number),
            before: sides.base.map(declaration),
            after: sides.head.map(declaration),
            wire,
            detail: Some(detail),
            reach: Reach { wire: false, json: true },
            subject: Subject::Field(owner, sides),
            repurposed: None,
        });
    };
    for base_field in &base.fields {
        if let Some(head_field) = head.field_named(&base_field.name) {
            if let Some((wire, detail)) = representation_effect(base_field, head_field, pairs) {
                push(
                    ChangeKind::FieldTypeChanged,
                    Sides::both(base_field, head_field),
                    wire,
                    detail,
                );
            }
            if let Some((wire, detail)) = presence_effect(base_field, head_field) {
                let sides = Sides::both(base_field, head_field);
                push(ChangeKind::FieldPresenceChanged, sides, wire, detail);
            }
            continue;
        }
        // Gone from JSON; a rename keeps the number.
        let renamed = head.field(base_field.number).filter(|f| base.field_named(&f.name).is_none());
        let written =
            if always_printed(base_field) { "always written" } else { "written when set" };
        match renamed {
            Some(head_field) => push(
                ChangeKind::FieldRenamed,
                Sides::both(base_field, head_field),
                WireEffect::new(
                    Severity::Fail,
                    if always_printed(head_field) {
                        Severity::Fail
                    } else {
                        Severity::LossyInRange
                    },
                ),
                format!("the old key {} is {written}, and rejected from now on", base_field.name),
            ),
            None => push(
                ChangeKind::FieldRemoved,
                Sides::base(base_field),
                WireEffect::new(Severity::Fail, Severity::Safe),
                format!("the key is {written}, and rejected from now on"),
            ),
        }
    }
    for head_field in &head.fields {
        if base.field_named(&head_field.name).is_some() {
            continue;
        }
        if base.field(head_field.number).is_some_and(|f| head.field_named(&f.name).is_none()) {
            continue; // the rename above
        }
        let (forward, detail) = if always_printed(head_field) {
            (
                Severity::Fail,
                "has no presence, so it is always written, and older readers reject the unknown key",
            )
        } else {
            (Severity::LossyInRange, "older readers reject the unknown key wherever it is set")
        };
        push(
            ChangeKind::FieldAdded,
            Sides::head(head_field),
            WireEffect::new(Severity::Safe, forward),
            detail.to_owned(),
        );
    }
}

/// Effect of another presence under the same key: a field without presence is written as zero where
/// one with presence is left out, and `has_x()` takes a zero that is written for a value.
fn presence_effect(base: &Field, head: &Field) -> Option<(WireEffect, String)> {
    let lossy = WireEffect::new(Severity::LossyInRange, Severity::LossyInRange);
    let detail = match (base.presence, head.presence) {
        (Presence::Implicit, Presence::Explicit) => {
            "old artifacts hold the key with zero, which now reads as set; older readers take the missing key for zero"
        }
        (Presence::Explicit, Presence::Implicit) => {
            "the key is always written now, and older readers take its zero for a value that is set"
        }
        _ => return None,
    };
    Some((lossy, detail.to_owned()))
}

/// What one JSON value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Number,
    QuotedNumber,
    Boolean,
    Text,
    Base64,
    EnumName,
    Object,
}

fn shape(field: &Field) -> Shape {
    match &field.ty {
        Type::Message(_) => Shape::Object,
        Type::Enum(_) => Shape::EnumName,
        Type::Scalar(scalar) => match scalar {
            Scalar::Int64
            | Scalar::Uint64
            | Scalar::Fixed64
            | Scalar::Sfixed64
            | Scalar::Sint64 => Shape::QuotedNumber,
            Scalar::Bool => Shape::Boolean,
            Scalar::String => Shape::Text,
            Scalar::Bytes => Shape::Base64,
            _ => Shape::Number,
        },
    }
}

/// Effect of another JSON representation under the same key; `None` if it stayed.
fn representation_effect(
    base: &Field,
    head: &Field,
    pairs: &Pairs,
) -> Option<(WireEffect, String)> {
    if (base.label == Label::Repeated) != (head.label == Label::Repeated) {
        let effect = WireEffect::new(Severity::Fail, Severity::Fail);
        return Some((effect, "between a single value and a list".to_owned()));
    }
    let (from, to) = (shape(base), shape(head));
    if from == to {
        // Counterparts are compared key by key, or value by value, on their own.
        let counterparts = match (&base.ty, &head.ty) {
            (Type::Message(a), Type::Message(b)) => pairs.message_in_head(a) == Some(b),
            (Type::Enum(a), Type::Enum(b)) => pairs.enum_in_head(a) == Some(b),
            _ => true,
        };
        if !counterparts {
            let effect = WireEffect::new(Severity::Fail, Severity::Fail);
            return Some((
                effect,
                format!("{} has other keys or values than {}", head.ty, base.ty),
            ));
        }
        let effect = WireEffect::new(read_number(base, head), read_number(head, base));
        let detail = format!("some values of {} are no {}, and rejected", base.ty, head.ty);
        return (!effect.is_safe()).then_some((effect, detail));
    }
    let read = |writer: Shape, reader: Shape| match (writer, reader) {
        // The parser takes numbers with and without quotes, and enums by number too.
        (Shape::Number, Shape::QuotedNumber | Shape::EnumName) => Severity::Safe,
        (Shape::QuotedNumber, Shape::Number) => Severity::LossyInRange,
        // Any text is a string; not any text is base64.
        (Shape::Base64 | Shape::EnumName | Shape::QuotedNumber, Shape::Text) => {
            Severity::WrongValue
        }
        _ => Severity::Fail,
    };
    let effect = WireEffect::new(read(from, to), read(to, from));
    Some((effect, format!("{} is written differently from {}", head.ty, base.ty)))
}

/// Numbers of one type read as another: the parser rejects what does not fit.
fn read_number(writer: &Field, reader: &Field) -> Severity {
    let (Type::Scalar(writer), Type::Scalar(reader)) = (&writer.ty, &reader.ty) else {
        return Severity::Safe;
    };
    let float = |s: &Scalar| matches!(s, Scalar::Float | Scalar::Double);
    let unsigned = |s: &Scalar| {
        matches!(s, Scalar::Uint32 | Scalar::Uint64 | Scalar::Fixed32 | Scalar::Fixed64)
    };
    let fits = float(reader) || (!float(writer) && unsigned(writer) == unsigned(reader));
    if fits { Severity::Safe } else { Severity::LossyInRange }
}

fn values<'a>(base: &'a Enum, head: &'a Enum, changes: &mut Vec<Change<'a>>) {
    let owner = Sides::both(base, head);
    let change =
        |kind, sides: Sides<'a, crate::descriptor::EnumValue>, construct, wire, detail: &str| {
            let value = sides.head.or(sides.base);
            Change {
                kind,
                surface: Surface::JsonPayload,
                construct,
                number: value.map(|v| v.number),
                before: sides.base.map(|v| v.name.to_string()),
                after: sides.head.map(|v| v.name.to_string()),
                wire,
                detail: Some(detail.to_owned()),
                reach: Reach { wire: false, json: true },
                subject: Subject::EnumValue(owner, sides),
                repurposed: None,
            }
        };
    for value in base.values.iter().filter(|v| head.value_named(&v.name).is_none()) {
        changes.push(change(
            ChangeKind::EnumValueRemoved,
            Sides::base(value),
            format!("{}.{}", base.name, value.name),
            WireEffect::new(Severity::Fail, Severity::Safe),
            "values are written by name, and the name is rejected from now on",
        ));
    }
    for value in head.values.iter().filter(|v| base.value_named(&v.name).is_none()) {
        changes.push(change(
            ChangeKind::EnumValueAdded,
            Sides::head(value),
            format!("{}.{}", head.name, value.name),
            WireEffect::new(Severity::Safe, Severity::LossyInRange),
            "values are written by name, and older readers reject the unknown name wherever it is set",
        ));
    }
}
