//! A message as `protoc --decode` prints it.

use crate::lenient;
use aotgate::descriptor::{Contract, Field, Scalar, Type};
use aotgate::view::{Held, Key, Node, Slot, Unknown, UnknownValue, Value};

pub(crate) struct Printer<'a> {
    contract: &'a Contract,
    unknown: bool,
    out: String,
    indent: usize,
}

/// The text of what is held; unknown fields only where asked for.
pub(crate) fn print(held: &Held<'_>, unknown: bool) -> String {
    let mut printer = Printer { contract: held.contract(), unknown, out: String::new(), indent: 0 };
    printer.node(held.root());
    printer.out
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        self.out.extend(std::iter::repeat_n(' ', 2 * self.indent));
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn block(&mut self, name: &str, content: impl FnOnce(&mut Self)) {
        self.line(&format!("{name} {{"));
        self.indent += 1;
        content(self);
        self.indent -= 1;
        self.line("}");
    }

    fn node(&mut self, node: &Node<'_>) {
        for (field, slot) in node.fields() {
            let name = name(node, field);
            match slot {
                Slot::One(value) => self.value(name, field, value),
                Slot::Bits(list) => {
                    list.iter().for_each(|bits| self.value(name, field, &Value::Bits(*bits)));
                }
                Slot::Bytes(list) => {
                    list.iter().for_each(|bytes| self.value(name, field, &Value::Bytes(bytes)));
                }
                Slot::Messages(list) => {
                    list.iter().for_each(|node| self.block(name, |p| p.node(node)));
                }
                Slot::Map(map) => {
                    let entry = self.contract.message(field.ty.named().unwrap()).unwrap();
                    let (key_field, value_field) =
                        (entry.field(1).unwrap(), entry.field(2).unwrap());
                    for (key, value) in map {
                        let key = match key {
                            Key::Unsigned(bits) => Value::Bits(*bits),
                            Key::Signed(value) => Value::Bits(*value as u64),
                            Key::Text(text) => Value::Bytes(text),
                        };
                        self.block(name, |p| {
                            p.value("key", key_field, &key);
                            p.value("value", value_field, value);
                        });
                    }
                }
            }
        }
        if self.unknown {
            node.unknown().iter().for_each(|u| self.unknown(u, 10));
        }
    }

    fn value(&mut self, name: &str, field: &Field, value: &Value<'_>) {
        match value {
            Value::Message(node) => self.block(name, |p| p.node(node)),
            Value::Bytes(bytes) => self.line(&format!("{name}: \"{}\"", escape(bytes))),
            Value::Bits(bits) => {
                let text = self.scalar(field, *bits);
                self.line(&format!("{name}: {text}"));
            }
        }
    }

    fn scalar(&self, field: &Field, bits: u64) -> String {
        match &field.ty {
            Type::Enum(name) => {
                let number = bits as i32;
                let value = self.contract.enumeration(name).unwrap().value(number);
                value.map_or(number.to_string(), |v| v.name.to_string())
            }
            Type::Scalar(Scalar::Bool) => (bits != 0).to_string(),
            Type::Scalar(Scalar::Float) => {
                let value = f32::from_bits(bits as u32);
                let short = percent_g(value.into(), 6);
                let exact = short.parse() == Ok(value) && !value.is_subnormal();
                if exact { short } else { percent_g(value.into(), 9) }
            }
            Type::Scalar(Scalar::Double) => {
                let value = f64::from_bits(bits);
                let short = percent_g(value, 15);
                if short.parse() == Ok(value) { short } else { percent_g(value, 17) }
            }
            Type::Scalar(Scalar::Uint32 | Scalar::Uint64 | Scalar::Fixed32 | Scalar::Fixed64) => {
                bits.to_string()
            }
            _ => (bits as i64).to_string(),
        }
    }

    fn unknown(&mut self, unknown: &Unknown<'_>, budget: usize) {
        let number = unknown.number.to_string();
        match &unknown.value {
            UnknownValue::Varint(value) => self.line(&format!("{number}: {value}")),
            UnknownValue::Fixed32(value) => self.line(&format!("{number}: {value:#010x}")),
            UnknownValue::Fixed64(value) => self.line(&format!("{number}: {value:#018x}")),
            UnknownValue::Length(bytes) => match lenient::message(bytes, budget) {
                Some(inner) if !bytes.is_empty() && budget > 0 => self.block(&number, |p| {
                    inner.iter().for_each(|u| p.unknown(u, budget - 1));
                }),
                _ => self.line(&format!("{number}: \"{}\"", escape(bytes))),
            },
            UnknownValue::Group(inner) => self.block(&number, |p| {
                inner.iter().for_each(|u| p.unknown(u, budget.saturating_sub(1)));
            }),
        }
    }
}

/// A group that was declared as one goes by the name of its type.
fn name<'n>(node: &'n Node<'_>, field: &'n Field) -> &'n str {
    let Type::Message(ty) = &field.ty else { return &field.name };
    let nested = ty.strip_prefix(&*node.message().name).and_then(|n| n.strip_prefix('.'));
    match nested {
        Some(simple) if field.delimited && simple.to_lowercase() == *field.name => simple,
        _ => &field.name,
    }
}

fn escape(bytes: &[u8]) -> String {
    let mut out = String::new();
    for &byte in bytes {
        match byte {
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b'"' => out.push_str("\\\""),
            b'\'' => out.push_str("\\'"),
            b'\\' => out.push_str("\\\\"),
            0x20..=0x7e => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\{byte:03o}")),
        }
    }
    out
}

/// C's `%.<digits>g`.
fn percent_g(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap();
    let exponent: i32 = exponent.parse().unwrap();
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    let decimals = digits as i32 - 1 - exponent;
    if exponent < -4 || decimals < 0 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim(mantissa), exponent.abs());
    }
    trim(&format!("{value:.*}", decimals as usize))
}
