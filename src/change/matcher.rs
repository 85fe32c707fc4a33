//! Which type of head is the counterpart of which type of base.
//!
//! Types pair by full name. A type that exists on one side only pairs with another that took over its
//! place (the type of the same field in paired messages, the same nested name, or the same simple name
//! elsewhere), provided the two are alike; a type that merely stands where another stood is no rename.

use std::collections::HashMap;
use std::ops::Bound;

use crate::descriptor::{Contract, Enum, Message, Name, Type};

/// Paired types, from base's name to head's.
#[derive(Debug, Default)]
pub struct Pairs {
    messages: HashMap<Name, Name>,
    messages_back: HashMap<Name, Name>,
    enums: HashMap<Name, Name>,
    enums_back: HashMap<Name, Name>,
}

impl Pairs {
    /// Pairs the types of two contracts.
    pub fn new(base: &Contract, head: &Contract) -> Pairs {
        let mut pairs = Pairs::default();
        for (name, message) in &base.messages {
            // A map's entry type is no declared message of the same name.
            if head.message(name).is_some_and(|other| other.map_entry == message.map_entry) {
                pairs.pair_messages(name, name);
            }
        }
        for name in base.enums.keys().filter(|n| head.enums.contains_key(*n)) {
            pairs.pair_enums(name, name);
        }
        // A type that kept its simple name is a likelier counterpart than one that took its place.
        pairs.pair_moved(base, head);
        // Nothing refers to a root, so only the lists of roots show that one was renamed.
        let mut ignored = Vec::new();
        for (from, to) in [(&base.roots, &head.roots), (&base.json_roots, &head.json_roots)] {
            for from in from.iter().filter(|n| !head.messages.contains_key(*n)) {
                for to in to.iter().filter(|n| !base.messages.contains_key(*n)) {
                    pairs.try_messages(base, head, from, to, &mut ignored);
                }
            }
        }
        // Pairs found by field slots make further slots comparable.
        let mut queue: Vec<(Name, Name)> =
            pairs.messages.iter().map(|(b, h)| (b.clone(), h.clone())).collect();
        queue.sort();
        while let Some((base_name, head_name)) = queue.pop() {
            let (Some(base_message), Some(head_message)) =
                (base.message(&base_name), head.message(&head_name))
            else {
                continue;
            };
            // A message of files that did not change, shared by both: the types of its fields have equal names.
            if std::ptr::eq(base_message, head_message) {
                continue;
            }
            for base_field in &base_message.fields {
                let Some(head_field) = head_message.field(base_field.number) else { continue };
                match (&base_field.ty, &head_field.ty) {
                    // Paired by name, or not there on one side.
                    (from, to) if from == to => {}
                    (Type::Message(from), Type::Message(to)) => {
                        pairs.try_messages(base, head, from, to, &mut queue);
                    }
                    (Type::Enum(from), Type::Enum(to)) => pairs.try_enums(base, head, from, to),
                    _ => {}
                }
            }
        }
        pairs.pair_moved(base, head);
        pairs
    }

    /// Head's counterpart of a message of base.
    pub fn message_in_head(&self, base: &str) -> Option<&Name> {
        self.messages.get(base)
    }

    /// Base's counterpart of a message of head.
    pub fn message_in_base(&self, head: &str) -> Option<&Name> {
        self.messages_back.get(head)
    }

    /// Head's counterpart of an enum of base.
    pub fn enum_in_head(&self, base: &str) -> Option<&Name> {
        self.enums.get(base)
    }

    /// Base's counterpart of an enum of head.
    pub fn enum_in_base(&self, head: &str) -> Option<&Name> {
        self.enums_back.get(head)
    }

    fn pair_messages(&mut self, base: &Name, head: &Name) {
        self.messages.insert(base.clone(), head.clone());
        self.messages_back.insert(head.clone(), base.clone());
    }

    fn pair_enums(&mut self, base: &Name, head: &Name) {
        self.enums.insert(base.clone(), head.clone());
        self.enums_back.insert(head.clone(), base.clone());
    }

    fn try_messages(
        &mut self,
        base: &Contract,
        head: &Contract,
        from: &Name,
        to: &Name,
        queue: &mut Vec<(Name, Name)>,
    ) {
        if self.messages.contains_key(from) || self.messages_back.contains_key(to) {
            return;
        }
        let (Some(base_message), Some(head_message)) = (base.message(from), head.message(to))
        else {
            return;
        };
        // Well-known types have forms of their own in JSON and C++: another one is another type.
        let well_known = |name: &str| name.starts_with("google.protobuf.");
        if well_known(from) || well_known(to) || !similar_messages(base_message, head_message) {
            return;
        }
        self.pair_messages(from, to);
        queue.push((from.clone(), to.clone()));
        // Nested types move along.
        let nested = |name: &Name| -> Option<Name> {
            let rest = name.strip_prefix(&**from)?.strip_prefix('.')?;
            Some(format!("{to}.{rest}").into())
        };
        let prefix = format!("{from}.");
        let inside = (Bound::Included(prefix.as_str()), Bound::Unbounded);
        for (name, _) in
            base.messages.range::<str, _>(inside).take_while(|(n, _)| n.starts_with(&prefix))
        {
            if let Some(target) = nested(name).filter(|t| head.messages.contains_key(t)) {
                self.try_messages(base, head, name, &target, queue);
            }
        }
        for (name, _) in
            base.enums.range::<str, _>(inside).take_while(|(n, _)| n.starts_with(&prefix))
        {
            if let Some(target) = nested(name).filter(|t| head.enums.contains_key(t)) {
                self.try_enums(base, head, name, &target);
            }
        }
    }

    fn try_enums(&mut self, base: &Contract, head: &Contract, from: &Name, to: &Name) {
        if self.enums.contains_key(from) || self.enums_back.contains_key(to) {
            return;
        }
        if let (Some(base_enum), Some(head_enum)) = (base.enumeration(from), head.enumeration(to))
            && similar_enums(base_enum, head_enum)
        {
            self.pair_enums(from, to);
        }
    }

    /// Types whose package or enclosing message changed, recognised by their simple name.
    fn pair_moved(&mut self, base: &Contract, head: &Contract) {
        let moved = |from: Vec<&Name>, to: Vec<&Name>| -> Vec<(Name, Name)> {
            let to = unique_simple_names(to);
            let mut moved: Vec<_> = unique_simple_names(from)
                .into_iter()
                .filter_map(|(simple, from)| Some((from.clone(), (*to.get(simple)?).clone())))
                .collect();
            moved.sort();
            moved
        };
        let from = base.messages.keys().filter(|n| !self.messages.contains_key(*n)).collect();
        let to = head.messages.keys().filter(|n| !self.messages_back.contains_key(*n)).collect();
        let mut ignored = Vec::new();
        for (from, to) in moved(from, to) {
            self.try_messages(base, head, &from, &to, &mut ignored);
        }
        let from = base.enums.keys().filter(|n| !self.enums.contains_key(*n)).collect();
        let to = head.enums.keys().filter(|n| !self.enums_back.contains_key(*n)).collect();
        for (from, to) in moved(from, to) {
            self.try_enums(base, head, &from, &to);
        }
    }
}

/// The names whose last component no other name of the list has, by that component.
fn unique_simple_names(names: Vec<&Name>) -> HashMap<&str, &Name> {
    let mut by_simple: HashMap<&str, Option<&Name>> = HashMap::new();
    for name in names {
        let simple = name.rsplit('.').next().unwrap_or(name);
        by_simple.entry(simple).and_modify(|n| *n = None).or_insert(Some(name));
    }
    by_simple.into_iter().filter_map(|(simple, name)| Some((simple, name?))).collect()
}

/// Whether at least half of the fields agree in number, name and kind of type.
fn similar_messages(base: &Message, head: &Message) -> bool {
    if base.map_entry != head.map_entry {
        return false;
    }
    let agreeing =
        base.fields
            .iter()
            .filter(|field| {
                head.field(field.number).is_some_and(|other| {
                    other.name == field.name
                        && match (&field.ty, &other.ty) {
                            (Type::Scalar(a), Type::Scalar(b)) => a == b,
                            (Type::Message(_), Type::Message(_))
                            | (Type::Enum(_), Type::Enum(_)) => true,
                            _ => false,
                        }
                })
            })
            .count();
    // Two messages without fields are alike.
    2 * 2 * agreeing >= base.fields.len() + head.fields.len()
}

/// Whether at least half of the numbers agree in name, prefixes that all values share left aside.
pub(super) fn similar_enums(base: &Enum, head: &Enum) -> bool {
    let base_names = stripped_names(base);
    let head_names = stripped_names(head);
    let shared: Vec<_> = base_names
        .iter()
        .filter_map(|(number, name)| Some((name, head_names.get(number)?)))
        .collect();
    let agreeing = shared.iter().filter(|(a, b)| a == b).count();
    agreeing > 0 && 2 * agreeing >= shared.len()
}

/// Value names by number without the prefix that all of them share (`KIND_` in `KIND_A`, `KIND_B`).
pub(super) fn stripped_names(enumeration: &Enum) -> HashMap<i32, &str> {
    let names: Vec<&str> = enumeration.values.iter().map(|v| &*v.name).collect();
    let prefix = names.first().map_or(0, |first| {
        let shared = names.iter().fold(first.len(), |shared, name| {
            shared.min(first.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count())
        });
        match first.get(..shared).and_then(|p| p.rfind('_')) {
            Some(at) if names.len() > 1 => at + 1,
            _ => 0,
        }
    });
    let mut stripped = HashMap::new();
    for value in &enumeration.values {
        stripped.entry(value.number).or_insert(value.name.get(prefix..).unwrap_or(&value.name));
    }
    stripped
}
