//! Constructs under the names of either side.

use crate::change::Pairs;
use crate::descriptor::Contract;

/// Full name of the field at a path such as `thunks.thunks[3].copy_thunk` below a root message; what cannot be followed
/// is left out.
pub(super) fn construct_at(contract: &Contract, root: &str, path: &str) -> String {
    let mut owner = contract.message(root);
    let mut construct = root.to_owned();
    for step in path.split('.') {
        let name = step.split('[').next().unwrap_or(step);
        let Some(message) = owner else { break };
        let Some(field) = message.field_named(name) else { break };
        construct = format!("{}.{}", message.name, field.name);
        let next = field.ty.named().and_then(|name| contract.message(name));
        // The values of a map stand in its entries.
        owner = match next {
            Some(entry) if entry.map_entry => entry
                .field(2)
                .and_then(|value| value.ty.named())
                .and_then(|name| contract.message(name)),
            next => next,
        };
    }
    construct
}

/// The names under which findings may speak of a construct that base calls `construct`: base's own, and head's where a
/// type or the field of the same number is called otherwise there.
pub(super) fn aliases(
    construct: &str,
    base: &Contract,
    head: &Contract,
    pairs: &Pairs,
) -> Vec<String> {
    let mut names = vec![construct.to_owned()];
    if let Some((owner, name)) = construct.rsplit_once('.') {
        if let (Some(from), Some(to)) = (base.message(owner), pairs.message_in_head(owner)) {
            names.push(format!("{to}.{name}"));
            let number = from.field_named(name).map(|field| field.number);
            let there = number.and_then(|number| head.message(to)?.field(number));
            names.extend(there.map(|field| format!("{to}.{}", field.name)));
        }
        if let (Some(from), Some(to)) = (base.enumeration(owner), pairs.enum_in_head(owner)) {
            names.push(format!("{to}.{name}"));
            let number = from.values.iter().find(|value| &*value.name == name).map(|v| v.number);
            let there = number.and_then(|number| head.enumeration(to)?.value(number));
            names.extend(there.map(|value| format!("{to}.{}", value.name)));
        }
    }
    names.sort();
    names.dedup();
    names
}

/// Base's message and enum names, and numbers in them, that a finding's construct may stand for.
pub(super) fn in_base<'c>(
    construct: &str,
    base: &'c Contract,
    head: &Contract,
    pairs: &Pairs,
) -> Vec<Target<'c>> {
    let mut found = Vec::new();
    let own = |name: &str| {
        let message = base.message(name).or_else(|| base.message(pairs.message_in_base(name)?));
        message.map(|message| Target::Type(&message.name))
    };
    found.extend(own(construct));
    if let Some((owner, name)) = construct.rsplit_once('.') {
        let message = base.message(owner).or_else(|| base.message(pairs.message_in_base(owner)?));
        if let Some(message) = message {
            let there = head.message(owner).and_then(|m| m.field_named(name)).map(|f| f.number);
            let numbers = [message.field_named(name).map(|f| f.number), there];
            found.extend(numbers.into_iter().flatten().map(|n| Target::Field(&message.name, n)));
        }
        let enumeration =
            base.enumeration(owner).or_else(|| base.enumeration(pairs.enum_in_base(owner)?));
        if let Some(enumeration) = enumeration {
            let value = |e: &crate::descriptor::Enum| {
                e.values.iter().find(|v| &*v.name == name).map(|v| v.number)
            };
            let numbers = [value(enumeration), head.enumeration(owner).and_then(value)];
            let numbers = numbers.into_iter().flatten();
            found.extend(numbers.map(|n| Target::Value(&enumeration.name, n)));
        }
    }
    found
}

/// Something that a message can carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Target<'c> {
    /// A message of this type.
    Type(&'c str),
    /// A field of this message, by number.
    Field(&'c str, i32),
    /// A value of this enum, by number.
    Value(&'c str, i32),
}
