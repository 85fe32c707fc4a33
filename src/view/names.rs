//! Which field or enum value of one contract is which of another.

use std::collections::HashMap;

use crate::change::wire::WireTable;
use crate::change::{Pairs, WireEffect, repurposed_field, repurposed_value};
use crate::descriptor::{Contract, Enum, Field, Message, Type};

/// Addresses of two messages, and a field number of the first.
type FieldKey = (usize, usize, i32);

pub(super) struct Names<'a, 'p> {
    pub(super) from: &'a Contract,
    pub(super) to: &'a Contract,
    table: WireTable<'a, 'p>,
    counterparts: HashMap<FieldKey, Option<&'a Field>>,
    others: HashMap<FieldKey, Option<String>>,
}

/// What a number of one enum is in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counterpart {
    /// The same value, under this number.
    Number(i32),
    /// The first enum has no name for it either.
    Nameless,
    /// The second enum does not have the value.
    None,
}

fn address<T>(of: &T) -> usize {
    std::ptr::from_ref(of) as usize
}

impl<'a, 'p> Names<'a, 'p> {
    pub(super) fn new(from: &'a Contract, to: &'a Contract, pairs: &'p Pairs) -> Self {
        let table = WireTable::new(from, to, pairs);
        Names { from, to, table, counterparts: HashMap::new(), others: HashMap::new() }
    }

    /// The field of `to` with the same name, or the one that was renamed in place.
    pub(super) fn field(
        &mut self,
        from: &'a Message,
        to: &'a Message,
        field: &'a Field,
    ) -> Option<&'a Field> {
        let key = (address(from), address(to), field.number);
        if let Some(known) = self.counterparts.get(&key) {
            return *known;
        }
        let renamed = || {
            let other = to.field(field.number)?;
            another(&self.table, (from, field), (to, other)).is_none().then_some(other)
        };
        let found = to.field_named(&field.name).or_else(renamed);
        self.counterparts.insert(key, found);
        found
    }

    /// Why the field of `to` under the same number is another field, if it is.
    pub(super) fn other(
        &mut self,
        from: &'a Message,
        to: &'a Message,
        fields: (&'a Field, &'a Field),
    ) -> Option<&str> {
        let key = (address(from), address(to), fields.0.number);
        let table = &self.table;
        let known = self
            .others
            .entry(key)
            .or_insert_with(|| another(table, (from, fields.0), (to, fields.1)));
        known.as_deref()
    }

    /// The enums of two enum fields.
    pub(super) fn enums(&self, from: &Type, to: &Type) -> Option<(&'a Enum, &'a Enum)> {
        match (from, to) {
            (Type::Enum(from), Type::Enum(to)) => {
                Some((self.from.enumeration(from)?, self.to.enumeration(to)?))
            }
            _ => None,
        }
    }
}

/// Why two fields under one number are different fields, if they are.
///
/// Either of the two may be the older one, so that a type which only one order takes for an evolution
/// of the other is one.
fn another(
    table: &WireTable<'_, '_>,
    (from, field): (&Message, &Field),
    (to, other): (&Message, &Field),
) -> Option<String> {
    let ahead = |effect| repurposed_field(from, to, field, other, effect);
    let back = |effect| repurposed_field(to, from, other, field, effect);
    let by_name = ahead(WireEffect::SAFE).or_else(|| back(WireEffect::SAFE));
    by_name.or_else(|| {
        let effect = table.type_effect(field, other);
        back(WireEffect::new(effect.forward, effect.backward)).and_then(|_| ahead(effect))
    })
}

/// The number of `to` that has the name, or that got another name in place.
pub(super) fn value(from: &Enum, to: &Enum, number: i32) -> Counterpart {
    let mut aliases = from.values.iter().filter(|v| v.number == number).peekable();
    let Some(&first) = aliases.peek() else { return Counterpart::Nameless };
    if let Some(same) = aliases.find_map(|v| to.value_named(&v.name)) {
        return Counterpart::Number(same.number);
    }
    match to.value(number) {
        Some(other) if repurposed_value(from, to, first, other).is_none() => {
            Counterpart::Number(number)
        }
        _ => Counterpart::None,
    }
}
