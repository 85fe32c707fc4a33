//! Values of one type as values of another, as far as they mean the same.

use super::bits::Number;
use super::element::Element;
use super::held::{Key, Value};
use super::loss::{LossKind, Lost};
use super::names::{self, Counterpart};
use super::translate::Translator;
use crate::descriptor::{Enum, Field, Message, Scalar, Type};

impl<'a> Translator<'a, '_> {
    /// The value in the counterpart's type; what does not fit is listed.
    pub(super) fn value(
        &mut self,
        owner: &'a Message,
        (field, target): (&'a Field, &'a Field),
        value: Element<'a, 'a>,
    ) -> Option<Value<'a>> {
        let lost = Lost::Field(owner, field.number);
        match (value, &target.ty) {
            (Element::Message(node), Type::Message(name)) => {
                let ty = self.names.to.message(name)?;
                Some(Value::Message(Box::new(self.node(node, ty))))
            }
            (Element::Bytes(bytes), Type::Scalar(Scalar::String | Scalar::Bytes)) => {
                if target.verify_utf8 && std::str::from_utf8(bytes).is_err() {
                    self.add(LossKind::Refused, "not valid UTF-8", lost, String::new);
                    return None;
                }
                Some(Value::Bytes(bytes))
            }
            (Element::Bits(bits), ty) => {
                if let Some((from, to)) = self.names.enums(&field.ty, ty) {
                    let number = self.enum_number(from, to, bits as i32, target.closed_enum)?;
                    return Some(Value::Bits(i64::from(number) as u64));
                }
                if field.ty == *ty {
                    return Some(Value::Bits(bits));
                }
                let number = Number::of(&field.ty, bits);
                let converted = number.bits(ty);
                if converted.is_none() {
                    let why = "the value does not fit the contract's type";
                    self.add(LossKind::NotModelled, why, lost, || format!("{number} as {ty}"));
                }
                converted.map(Value::Bits)
            }
            (_, ty) => {
                let why = "the contract has another kind of type";
                self.add(LossKind::NotModelled, why, lost, || format!("{} as {ty}", field.ty));
                None
            }
        }
    }

    fn enum_number(
        &mut self,
        from: &'a Enum,
        to: &'a Enum,
        number: i32,
        closed: bool,
    ) -> Option<i32> {
        let lost = Lost::Value(from, number);
        match names::value(from, to, number) {
            Counterpart::Number(number) => Some(number),
            // The reader has a bare number, and so must whoever reads the translation.
            Counterpart::Nameless if to.value(number).is_none() && !closed => Some(number),
            Counterpart::Nameless => {
                let why = "a number without a name, which the contract gives a meaning";
                self.add(LossKind::NotModelled, why, lost, String::new);
                None
            }
            Counterpart::None => {
                let why = "the contract has no such enum value";
                self.add(LossKind::NotModelled, why, lost, String::new);
                None
            }
        }
    }

    pub(super) fn key(
        &mut self,
        owner: &'a Message,
        (field, target): (&'a Field, &'a Field),
        key: Key<'a>,
    ) -> Option<Key<'a>> {
        let text = |field: &Field| field.ty == Type::Scalar(Scalar::String);
        match key {
            Key::Text(_) if text(target) => Some(key),
            key if !text(field) && !text(target) => {
                let bits = Number::of(&field.ty, key.bits()?).bits(&target.ty);
                if bits.is_none() {
                    let why = "a key does not fit the contract's type";
                    let lost = Lost::Field(owner, field.number);
                    self.add(LossKind::NotModelled, why, lost, || key.to_string());
                }
                Some(Key::of(target, bits?))
            }
            _ => {
                let why = "keys of another kind";
                let lost = Lost::Field(owner, field.number);
                self.add(LossKind::NotModelled, why, lost, || key.to_string());
                None
            }
        }
    }
}
