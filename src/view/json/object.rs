//! A message that was read from JSON. It owns its strings, unlike what is read from bytes.

use std::collections::BTreeMap;

use super::super::held::{Key, Node, Slot, Unknown, UnknownValue, Value};
use crate::descriptor::{Contract, Field, Label, Message, Type};

#[derive(Debug, Clone)]
pub(super) struct Object<'c> {
    pub(super) ty: &'c Message,
    slots: BTreeMap<i32, Content<'c>>,
    /// Unknown numbers of closed enums.
    unknown: Vec<(u32, u64)>,
}

#[derive(Debug, Clone)]
enum Content<'c> {
    One(Item<'c>),
    List(Vec<Item<'c>>),
    Map(BTreeMap<MapKey, Item<'c>>),
}

#[derive(Debug, Clone)]
pub(super) enum Item<'c> {
    Bits(u64),
    Bytes(Vec<u8>),
    Object(Box<Object<'c>>),
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MapKey {
    Unsigned(u64),
    Signed(i64),
    Text(Vec<u8>),
}

impl<'c> Object<'c> {
    pub(super) fn new(ty: &'c Message) -> Self {
        Object { ty, slots: BTreeMap::new(), unknown: Vec::new() }
    }

    pub(super) fn clear(&mut self, field: &Field) {
        self.slots.remove(&field.number);
    }

    fn clear_siblings(&mut self, field: &Field) {
        if field.oneof.is_some() {
            let ty = self.ty;
            self.slots.retain(|number, _| {
                *number == field.number || ty.field(*number).is_none_or(|f| f.oneof != field.oneof)
            });
        }
    }

    /// Sets a singular field, or adds to a list.
    pub(super) fn store(&mut self, field: &Field, item: Item<'c>) {
        if field.label != Label::Repeated {
            self.clear_siblings(field);
            self.slots.insert(field.number, Content::One(item));
        } else if let Content::List(list) =
            self.slots.entry(field.number).or_insert_with(|| Content::List(Vec::new()))
        {
            list.push(item);
        }
    }

    /// The message of a singular field, made when there is none yet.
    pub(super) fn message(&mut self, field: &Field, ty: &'c Message) -> Option<&mut Object<'c>> {
        self.clear_siblings(field);
        let new = || Content::One(Item::Object(Box::new(Object::new(ty))));
        match self.slots.entry(field.number).or_insert_with(new) {
            Content::One(Item::Object(object)) => Some(object),
            _ => None,
        }
    }

    pub(super) fn insert(&mut self, field: &Field, key: MapKey, item: Item<'c>) {
        if let Content::Map(map) =
            self.slots.entry(field.number).or_insert_with(|| Content::Map(BTreeMap::new()))
        {
            map.insert(key, item);
        }
    }

    pub(super) fn put_aside(&mut self, field: &Field, bits: u64) {
        self.unknown.push((field.number as u32, bits));
    }

    /// How many values the field's list has.
    pub(super) fn length(&self, field: &Field) -> usize {
        match self.slots.get(&field.number) {
            Some(Content::List(list)) => list.len(),
            _ => 0,
        }
    }

    /// The same message as one that was read from bytes.
    pub(super) fn node(&self) -> Node<'_> {
        let mut node = Node::new(self.ty);
        for (number, content) in &self.slots {
            let Some(field) = self.ty.field(*number) else { continue };
            match content {
                Content::One(item) => node.set(field, item.value()),
                Content::List(list) => {
                    for item in list {
                        let value = item.value();
                        node.slot_or(*number, || Slot::list_of(&value)).push(value);
                    }
                }
                Content::Map(map) => {
                    let map = map.iter().map(|(key, item)| (key.key(), item.value())).collect();
                    node.slot_or(*number, || Slot::Map(map));
                }
            }
        }
        let aside = |&(number, bits)| Unknown { number, value: UnknownValue::Varint(bits) };
        node.unknown.extend(self.unknown.iter().map(aside));
        node
    }
}

impl<'c> Item<'c> {
    fn value(&self) -> Value<'_> {
        match self {
            Item::Bits(bits) => Value::Bits(*bits),
            Item::Bytes(bytes) => Value::Bytes(bytes),
            Item::Object(object) => Value::Message(Box::new(object.node())),
        }
    }

    /// What a value of the field is before anything is set.
    pub(super) fn zero(field: &Field, contract: &'c Contract) -> Option<Item<'c>> {
        Some(match &field.ty {
            Type::Message(name) => Item::Object(Box::new(Object::new(contract.message(name)?))),
            Type::Scalar(scalar) if !scalar.packable() => Item::Bytes(Vec::new()),
            _ => Item::Bits(0),
        })
    }
}

impl MapKey {
    fn key(&self) -> Key<'_> {
        match self {
            MapKey::Unsigned(bits) => Key::Unsigned(*bits),
            MapKey::Signed(value) => Key::Signed(*value),
            MapKey::Text(text) => Key::Text(text),
        }
    }
}
