//! Which constructs of the contract a program made the runtime read.

use std::collections::BTreeSet;

use super::{Side, Views};
use crate::descriptor::{Contract, Type};

/// Full names of the canonical fields that were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reads(BTreeSet<String>);

impl From<&aotgate_runtime::program::Reads> for Reads {
    fn from(reads: &aotgate_runtime::program::Reads) -> Self {
        Reads(reads.names().collect())
    }
}

impl Reads {
    /// Whether a construct was read that either side calls so: a field, any field of a message, or a field of an enum's type.
    /// `strict` demands that a field or value has its name in the canonical contract too, so that not a number alone says
    /// what it is.
    pub fn have(&self, construct: &str, views: &Views<'_>, strict: bool) -> bool {
        let mut names = BTreeSet::from([construct.to_owned()]);
        for side in [Side::Base, Side::Head] {
            names.extend(canonical_names(construct, views, side, strict));
        }
        names.iter().any(|name| self.have_canonical(name, views.canonical()))
    }

    fn have_canonical(&self, name: &str, canonical: &Contract) -> bool {
        if self.0.contains(name) {
            return true;
        }
        if canonical.message(name).is_some() {
            let inside = |read: &String| read.rsplit_once('.').is_some_and(|(of, _)| of == name);
            return self.0.iter().any(inside);
        }
        let owner = name.rsplit_once('.').map_or("", |(owner, _)| owner);
        let named = [name, owner].into_iter().find(|name| canonical.enumeration(name).is_some());
        let Some(named) = named else { return false };
        self.0.iter().any(|read| {
            let field = read.rsplit_once('.').and_then(|(message, field)| {
                canonical.message(message).and_then(|message| message.field_named(field))
            });
            field.is_some_and(|field| matches!(&field.ty, Type::Enum(name) if &**name == named))
        })
    }
}

/// What the canonical contract may call a construct of a side.
fn canonical_names(construct: &str, views: &Views<'_>, side: Side, strict: bool) -> Vec<String> {
    let (contract, pairs) = views.side(side);
    let canonical = views.canonical();
    let mut names = Vec::new();
    let whole = pairs.message_in_head(construct).or_else(|| pairs.enum_in_head(construct));
    names.extend(whole.map(|name| name.to_string()));
    let Some((owner, name)) = construct.rsplit_once('.') else { return names };
    if let (Some(from), Some(to)) = (contract.message(owner), pairs.message_in_head(owner)) {
        names.push(format!("{to}.{name}"));
        let number = from.field_named(name).map(|field| field.number);
        let there = number.and_then(|number| canonical.message(to)?.field(number));
        names.extend(there.filter(|_| !strict).map(|field| format!("{to}.{}", field.name)));
    }
    // A field's reads are those of its enum, whatever the value is called.
    let enumeration = pairs.enum_in_head(owner).filter(|_| contract.enumeration(owner).is_some());
    names.extend(enumeration.map(|to| format!("{to}.{name}")));
    names
}
