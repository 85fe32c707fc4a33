//! Writing what is held as text.

use std::collections::BTreeMap;

use super::names::group_name;
use super::spell;
use crate::descriptor::{Contract, Field, Scalar, Type};
use crate::view::element::Element;
use crate::view::held::{Held, Key, Node, Slot, Unknown, UnknownValue, Value};
use crate::view::path::Path;

/// A message as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    /// The text; one for each content.
    pub text: String,
    /// What the text only names in comments, sorted.
    pub left_out: Vec<LeftOut>,
}

/// Content that the text format has no way to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Message and field; an unknown field goes by its number.
    pub construct: String,
    /// The wire type of an unknown field, or `payload of a NaN`.
    pub what: &'static str,
    /// How many values.
    pub times: usize,
    /// Where the first one was, such as `thunks[3].17`.
    pub first: String,
}

/// Writes what is held as C++'s printer does: fields in order of their numbers, maps sorted, everything
/// but ASCII escaped, numbers short but exact.
///
/// Unknown fields become comments. A NaN keeps its sign, which C++ does not write.
pub fn print(held: &Held<'_>) -> Printed {
    print_node(held.contract, &held.root)
}

pub(super) fn print_node(contract: &Contract, node: &Node<'_>) -> Printed {
    let mut printer = Printer {
        contract,
        out: String::new(),
        indent: 0,
        path: Path::default(),
        left_out: BTreeMap::new(),
    };
    printer.node(node);
    Printed { text: printer.out, left_out: printer.left_out.into_values().collect() }
}

struct Printer<'n> {
    contract: &'n Contract,
    out: String,
    indent: usize,
    path: Path<'n>,
    left_out: BTreeMap<(String, &'static str), LeftOut>,
}

impl<'n> Printer<'n> {
    fn node(&mut self, node: &'n Node<'n>) {
        for (field, slot) in node.fields() {
            let group = group_name(node.ty, field);
            // An extension's name is the same for a group.
            let name = group.filter(|_| !field.name.starts_with('[')).unwrap_or(&field.name);
            self.path.field(&field.name);
            if let Slot::Map(map) = slot {
                map.iter().for_each(|(key, value)| self.entry(name, field, *key, value));
            } else {
                let listed = !matches!(slot, Slot::One(_));
                for (at, element) in slot.elements().enumerate() {
                    if listed {
                        self.path.index(at);
                    }
                    self.element(node, name, field, element);
                    if listed {
                        self.path.pop();
                    }
                }
            }
            self.path.pop();
        }
        node.unknown.iter().for_each(|unknown| self.unknown(node, unknown));
    }

    fn element(&mut self, node: &Node<'_>, name: &str, field: &'n Field, element: Element<'n, 'n>) {
        match element {
            Element::Message(inner) => self.block(name, |printer| printer.node(inner)),
            Element::Bytes(bytes) => self.bytes(name, bytes),
            Element::Bits(bits) => {
                let lost = self.bits(name, &field.ty, bits);
                if lost {
                    self.leave_out(format!("{}.{}", node.ty.name, field.name), "payload of a NaN");
                }
            }
        }
    }

    fn entry(&mut self, name: &str, field: &'n Field, key: Key<'n>, value: &'n Value<'n>) {
        let entry = field.ty.named().and_then(|name| self.contract.message(name));
        let Some((entry, key_field, value_field)) =
            entry.and_then(|entry| Some((entry, entry.field(1)?, entry.field(2)?)))
        else {
            return;
        };
        self.path.key(key);
        self.block(name, |printer| {
            match key {
                Key::Text(text) => printer.bytes("key", text),
                key => {
                    printer.bits("key", &key_field.ty, key.bits().unwrap_or_default());
                }
            }
            match value {
                Value::Message(inner) => printer.block("value", |printer| printer.node(inner)),
                Value::Bytes(bytes) => printer.bytes("value", bytes),
                Value::Bits(bits) => {
                    if printer.bits("value", &value_field.ty, *bits) {
                        printer.leave_out(format!("{}.value", entry.name), "payload of a NaN");
                    }
                }
            }
        });
        self.path.pop();
    }

    fn block(&mut self, name: &str, content: impl FnOnce(&mut Self)) {
        self.start(name);
        self.out.push_str(" {\n");
        self.indent += 1;
        content(self);
        self.indent -= 1;
        self.start("}\n");
    }

    fn bytes(&mut self, name: &str, bytes: &[u8]) {
        self.start(name);
        self.out.push_str(": \"");
        spell::escape(bytes, &mut self.out);
        self.out.push_str("\"\n");
    }

    /// Writes a number; true when the payload of a NaN is lost.
    fn bits(&mut self, name: &str, ty: &Type, bits: u64) -> bool {
        self.start(name);
        self.out.push_str(": ");
        let mut lost = false;
        match ty {
            Type::Enum(name) => {
                let number = bits as i32;
                match self.contract.enumeration(name).and_then(|e| e.value(number)) {
                    Some(value) => self.out.push_str(&value.name),
                    None => self.out.push_str(&number.to_string()),
                }
            }
            Type::Scalar(scalar) => {
                self.out.push_str(&spell::scalar(*scalar, bits));
                lost = spell::loses_payload(*scalar, bits);
                if lost {
                    let digits = if *scalar == Scalar::Float { 8 } else { 16 };
                    self.out.push_str(&format!(" # left out: payload of {bits:#0$x}", digits + 2));
                }
            }
            Type::Message(_) => {}
        }
        self.out.push('\n');
        lost
    }

    fn unknown(&mut self, node: &Node<'_>, unknown: &Unknown<'_>) {
        let what = match &unknown.value {
            UnknownValue::Varint(_) => "varint",
            UnknownValue::Fixed64(_) => "fixed64",
            UnknownValue::Fixed32(_) => "fixed32",
            UnknownValue::Length(_) => "length-delimited",
            UnknownValue::Group(_) => "group",
        };
        let size = match &unknown.value {
            UnknownValue::Length(bytes) => format!(" of {} bytes", bytes.len()),
            _ => String::new(),
        };
        self.start(&format!("# left out: unknown field {}, {what}{size}\n", unknown.number));
        self.path.number(unknown.number);
        self.leave_out(format!("{}.{}", node.ty.name, unknown.number), what);
        self.path.pop();
    }

    fn leave_out(&mut self, construct: String, what: &'static str) {
        let path = &self.path;
        let new = |construct: &str| LeftOut {
            construct: construct.to_owned(),
            what,
            times: 0,
            first: path.to_string(),
        };
        let key = (construct, what);
        let first = new(&key.0);
        self.left_out.entry(key).or_insert(first).times += 1;
    }

    fn start(&mut self, text: &str) {
        self.out.extend(std::iter::repeat_n("  ", self.indent));
        self.out.push_str(text);
    }
}
