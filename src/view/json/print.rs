//! The canonical JSON of a message: one text for each content.

use std::fmt::Write as _;

use super::super::bits::Number;
use super::super::element::Element;
use super::super::held::{Held, Key, Node, Slot};
use super::lookup::{self, Form};
use super::{base64, escape, number};
use crate::descriptor::{Contract, Enum, Field, Presence, Scalar, Type};

/// Prints what is held as XLA's writer does: declared names, fields in order of their numbers, those
/// without presence always, no white space. Maps are sorted by key. Unknown fields are left out.
pub fn print(held: &Held<'_>) -> String {
    let mut out = String::new();
    Printer { contract: held.contract, out: &mut out }.message(&held.root);
    out
}

struct Printer<'p> {
    contract: &'p Contract,
    out: &'p mut String,
}

impl Printer<'_> {
    fn message(&mut self, node: &Node<'_>) {
        if let (Form::Wrapper, Some(field)) = (lookup::form(&node.ty.name), node.ty.field(1)) {
            return match node.slot(1) {
                Some(slot) => slot.elements().for_each(|element| self.element(field, element)),
                None => self.zero(field),
            };
        }
        self.out.push('{');
        let mut first = true;
        for field in &node.ty.fields {
            let slot = node.slot(field.number);
            if slot.is_none() && field.presence == Presence::Explicit {
                continue;
            }
            self.comma(&mut first);
            escape::quoted(field.name.as_bytes(), self.out);
            self.out.push(':');
            match slot {
                Some(slot) => self.slot(field, slot),
                None => self.zero(field),
            }
        }
        self.out.push('}');
    }

    fn comma(&mut self, first: &mut bool) {
        if !std::mem::take(first) {
            self.out.push(',');
        }
    }

    /// What a field without a value prints as.
    fn zero(&mut self, field: &Field) {
        if field.presence == Presence::Repeated {
            let entry = field.ty.named().and_then(|name| self.contract.message(name));
            let map = entry.is_some_and(|ty| ty.map_entry);
            return self.out.push_str(if map { "{}" } else { "[]" });
        }
        match &field.ty {
            Type::Scalar(Scalar::String | Scalar::Bytes) => self.out.push_str("\"\""),
            _ => self.element(field, Element::Bits(0)),
        }
    }

    fn slot(&mut self, field: &Field, slot: &Slot<'_>) {
        match slot {
            Slot::One(value) => self.element(field, value.element()),
            Slot::Map(map) => {
                let entry = field.ty.named().and_then(|name| self.contract.message(name));
                let Some(value_field) = entry.and_then(|ty| ty.field(2)) else { return };
                let boolean = entry
                    .and_then(|ty| ty.field(1))
                    .is_some_and(|key| key.ty == Type::Scalar(Scalar::Bool));
                self.out.push('{');
                let mut first = true;
                for (key, value) in map {
                    self.comma(&mut first);
                    match key {
                        Key::Text(text) => escape::quoted(text, self.out),
                        Key::Unsigned(bits) if boolean => {
                            self.out.push_str(if *bits == 0 { "\"false\"" } else { "\"true\"" });
                        }
                        key => self.written(format_args!("\"{key}\"")),
                    }
                    self.out.push(':');
                    self.element(value_field, value.element());
                }
                self.out.push('}');
            }
            list => {
                self.out.push('[');
                let mut first = true;
                for element in list.elements() {
                    self.comma(&mut first);
                    self.element(field, element);
                }
                self.out.push(']');
            }
        }
    }

    fn element(&mut self, field: &Field, element: Element<'_, '_>) {
        match (element, &field.ty) {
            (Element::Message(node), _) => self.message(node),
            (Element::Bytes(bytes), Type::Scalar(Scalar::Bytes)) => {
                self.out.push('"');
                base64::encode(bytes, self.out);
                self.out.push('"');
            }
            (Element::Bytes(bytes), _) => escape::quoted(bytes, self.out),
            (Element::Bits(bits), Type::Enum(name)) => {
                let of: Option<&Enum> = self.contract.enumeration(name);
                match of.and_then(|e| e.value(bits as i32)) {
                    Some(value) => escape::quoted(value.name.as_bytes(), self.out),
                    None => self.written(format_args!("{}", bits as i32)),
                }
            }
            (Element::Bits(bits), ty) => self.number(ty, bits),
        }
    }

    fn number(&mut self, ty: &Type, bits: u64) {
        let wide = matches!(
            ty,
            Type::Scalar(
                Scalar::Int64
                    | Scalar::Uint64
                    | Scalar::Sint64
                    | Scalar::Fixed64
                    | Scalar::Sfixed64
            )
        );
        match Number::of(ty, bits) {
            Number::Float(value) => self.out.push_str(&number::float(value)),
            Number::Double(value) => self.out.push_str(&number::double(value)),
            value if wide => self.written(format_args!("\"{value}\"")),
            value => self.written(format_args!("{value}")),
        }
    }

    fn written(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = self.out.write_fmt(text);
    }
}
