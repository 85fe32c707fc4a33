//! From the JSON reader's events to an [`Object`], field by field.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::lookup::{self, Form};
use super::object::{Item, MapKey, Object};
use super::parse::Reader;
use super::refused::JsonReason;
use super::scalar::{self, Json};
use crate::descriptor::{Field, Label, Message, Scalar, Type};

/// Reads an object into a message.
pub(super) struct MessageSeed<'r, 'c> {
    pub(super) reader: &'r mut Reader<'c>,
    pub(super) object: &'r mut Object<'c>,
}

impl<'de> DeserializeSeed<'de> for MessageSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for MessageSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.reader.members(self.object, map)
    }
}

/// What one object of the text has set so far.
#[derive(Default)]
struct Seen<'c> {
    fields: HashSet<i32>,
    oneofs: HashSet<&'c str>,
}

impl<'c> Seen<'c> {
    /// The first value that an object has for a field replaces what another object under the same key
    /// left there. Values of type double are not noted, as they are not in C++.
    fn note(&mut self, field: &'c Field, object: &mut Object<'c>) {
        if field.ty == Type::Scalar(Scalar::Double) {
            return;
        }
        if self.fields.insert(field.number) {
            object.clear(field);
        }
        self.oneofs.extend(field.oneof.as_deref());
    }
}

/// Where a value of the text stands.
enum Place {
    /// Under the field's key.
    Field,
    /// In a list of the field.
    Element,
    /// Under a key of the field's map.
    Entry(MapKey),
}

/// Reads one value for a field.
struct ValueSeed<'r, 'c> {
    reader: &'r mut Reader<'c>,
    object: &'r mut Object<'c>,
    seen: &'r mut Seen<'c>,
    field: &'c Field,
    place: Place,
}

impl<'c> Reader<'c> {
    fn members<'de, A: MapAccess<'de>>(
        &mut self,
        object: &mut Object<'c>,
        mut map: A,
    ) -> Result<(), A::Error> {
        let ty = object.ty;
        if lookup::form(&ty.name) == Form::Other {
            return Err(self.refuse(JsonReason::NotModelled(ty.name.to_string())));
        }
        self.enter()?;
        let mut seen = Seen::default();
        while let Some(key) = map.next_key::<String>()? {
            let Some(field) = lookup::field(ty, &key) else {
                let message = ty.name.to_string();
                let reason = JsonReason::NoSuchField { message, name: key };
                if self.passes(&reason) {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
                return Err(self.refuse(reason));
            };
            self.path.field(&field.name);
            let (reader, object, seen) = (&mut *self, &mut *object, &mut seen);
            map.next_value_seed(ValueSeed { reader, object, seen, field, place: Place::Field })?;
            self.path.pop();
        }
        self.leave();
        Ok(())
    }

    /// The entry type of a map field.
    fn entry(&self, field: &Field) -> Option<(&'c Field, &'c Field)> {
        let ty = self.contract.message(field.ty.named()?)?;
        let map = ty.map_entry && field.label == Label::Repeated;
        map.then(|| Some((ty.field(1)?, ty.field(2)?)))?
    }
}

impl<'c> ValueSeed<'_, 'c> {
    /// The field whose type the value has: of a map's entry, its value.
    fn typed(&self) -> &'c Field {
        match (&self.place, self.reader.entry(self.field)) {
            (Place::Entry(_), Some((_, value))) => value,
            _ => self.field,
        }
    }

    fn message(&self) -> Option<&'c Message> {
        let name = match &self.typed().ty {
            Type::Message(name) => name,
            _ => return None,
        };
        self.reader.contract.message(name)
    }

    fn wrong<E: Error>(self, expected: &'static str, found: &'static str) -> E {
        self.reader.refuse(JsonReason::WrongKind { expected, found })
    }

    /// What stands at the field's key, now that it is no null.
    fn begin<E: Error>(&mut self) -> Result<(), E> {
        let set = self.field.oneof.as_deref().filter(|name| self.seen.oneofs.contains(name));
        match (&self.place, set) {
            (Place::Field, Some(name)) => {
                Err(self.reader.refuse(JsonReason::OneofSet(name.to_owned())))
            }
            _ => Ok(()),
        }
    }

    fn store(self, item: Item<'c>) {
        self.seen.note(self.field, self.object);
        match self.place {
            Place::Entry(key) => self.object.insert(self.field, key, item),
            _ => self.object.store(self.field, item),
        }
    }

    fn scalar<E: Error>(mut self, json: Json<'_>) -> Result<(), E> {
        self.begin()?;
        self.reader.spend(size_of::<Item<'_>>())?;
        if let Json::Text(text) = json {
            self.reader.spend(text.len())?;
        }
        if matches!(self.place, Place::Field) && self.reader.entry(self.field).is_some() {
            return Err(self.wrong("an object", json.kind()));
        }
        let field = self.typed();
        let Some(ty) = self.message() else {
            let item = match scalar::item(field, json, self.reader.contract) {
                Ok(item) => item,
                Err(reason) if self.reader.passes(&reason) => return Ok(()),
                Err(reason) => return Err(self.reader.refuse(reason)),
            };
            return self.enum_or(field, item);
        };
        match (lookup::form(&ty.name), ty.field(1)) {
            (Form::Wrapper, Some(inner)) => {
                let mut object = Object::new(ty);
                match scalar::item(inner, json, self.reader.contract) {
                    Ok(item) => object.store(inner, item),
                    Err(reason) => return Err(self.reader.refuse(reason)),
                }
                self.store(Item::Object(Box::new(object)));
                Ok(())
            }
            (Form::Ordinary | Form::Wrapper, _) => Err(self.wrong("an object", json.kind())),
            _ => Err(self.reader.refuse(JsonReason::NotModelled(ty.name.to_string()))),
        }
    }

    /// Stores a scalar, but for an unknown number of a closed enum.
    fn enum_or<E: Error>(self, field: &'c Field, item: Item<'c>) -> Result<(), E> {
        let Item::Bits(bits) = item else {
            self.store(item);
            return Ok(());
        };
        let known = match &field.ty {
            Type::Enum(name) if field.closed_enum => {
                let of = self.reader.contract.enumeration(name);
                of.is_some_and(|e| e.value(bits as i32).is_some())
            }
            _ => true,
        };
        match self.place {
            _ if known => self.store(item),
            // An entry keeps the number to itself, and reads as the first value.
            Place::Entry(_) => {
                let first = match &field.ty {
                    Type::Enum(name) => self.reader.contract.enumeration(name),
                    _ => None,
                };
                let number = first.and_then(|e| e.values.first()).map_or(0, |v| v.number);
                self.store(Item::Bits(i64::from(number) as u64));
            }
            _ => {
                self.seen.note(self.field, self.object);
                self.object.put_aside(self.field, bits);
            }
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        let field = self.typed();
        if let Some(ty) = self.message()
            && lookup::form(&ty.name) == Form::Other
        {
            return Err(self.reader.refuse(JsonReason::NotModelled(ty.name.to_string())));
        }
        if matches!(self.place, Place::Field) {
            return Ok(());
        }
        if matches!((&self.place, &field.ty), (Place::Entry(_), Type::Enum(_))) {
            return Err(self.wrong("a number or a string", "null"));
        }
        self.reader.spend(size_of::<Item<'_>>())?;
        if let Some(zero) = Item::zero(field, self.reader.contract) {
            self.store(zero);
        }
        Ok(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.scalar(Json::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.scalar(Json::Int(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.scalar(Json::Int(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.scalar(Json::Float(value))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.scalar(Json::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        self.begin()?;
        let list = self.field.label == Label::Repeated && self.reader.entry(self.field).is_none();
        if !list || matches!(self.place, Place::Entry(_)) {
            return Err(match self.message() {
                Some(ty) if !matches!(lookup::form(&ty.name), Form::Ordinary | Form::Wrapper) => {
                    self.reader.refuse(JsonReason::NotModelled(ty.name.to_string()))
                }
                _ => self.wrong("a single value", "a list"),
            });
        }
        self.reader.enter()?;
        loop {
            self.reader.path.index(self.object.length(self.field));
            let (reader, object, seen) = (&mut *self.reader, &mut *self.object, &mut *self.seen);
            let place = Place::Element;
            let seed = ValueSeed { reader, object, seen, field: self.field, place };
            let more = seq.next_element_seed(seed)?.is_some();
            self.reader.path.pop();
            if !more {
                break;
            }
        }
        self.reader.leave();
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        self.begin()?;
        if let (Place::Field, Some((key_field, _))) = (&self.place, self.reader.entry(self.field)) {
            self.reader.enter()?;
            let mut keys = HashSet::new();
            while let Some(text) = map.next_key::<String>()? {
                self.reader.spend(size_of::<(MapKey, Item<'_>)>() + 2 * text.len())?;
                let key = match scalar::key(key_field, &text) {
                    Ok(key) => key,
                    Err(reason) => return Err(self.reader.refuse(reason)),
                };
                if !keys.insert(text.clone()) {
                    return Err(self.reader.refuse(JsonReason::RepeatedKey(text)));
                }
                self.reader.path.text_key(text);
                let (reader, object, seen) =
                    (&mut *self.reader, &mut *self.object, &mut *self.seen);
                let place = Place::Entry(key);
                map.next_value_seed(ValueSeed { reader, object, seen, field: self.field, place })?;
                self.reader.path.pop();
            }
            self.reader.leave();
            return Ok(());
        }
        let Some(ty) = self.message() else {
            return Err(self.wrong("a scalar", "an object"));
        };
        self.reader.spend(size_of::<Object<'_>>())?;
        if self.field.label == Label::Repeated {
            let mut object = Object::new(ty);
            self.reader.members(&mut object, map)?;
            self.store(Item::Object(Box::new(object)));
            return Ok(());
        }
        self.seen.note(self.field, self.object);
        match self.object.message(self.field, ty) {
            Some(object) => self.reader.members(object, map),
            None => Ok(()),
        }
    }
}
