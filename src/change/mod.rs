//! What changed between two contracts, and what each change does to readers and writers.

mod compare;
mod json;
mod matcher;
pub mod wire;

pub use compare::compare;
pub(crate) use compare::{
    SAME_STEM, UNRELATED_NAMES, compare_pairs, ranges, repurposed_field, repurposed_value, subtract,
};
pub use matcher::Pairs;
pub use wire::{Severity, WireEffect};

use crate::descriptor::{Contract, Enum, EnumValue, Field, Location, Message, Oneof, Place, Reach};

macro_rules! kinds {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// Kind of a change; the names are part of the `aotgate.diff/1` format.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        pub enum ChangeKind { $($(#[$doc])* #[serde(rename = $name)] $variant,)* }

        impl ChangeKind {
            /// All kinds, in the order reports use.
            pub const ALL: &'static [ChangeKind] = &[$(ChangeKind::$variant,)*];

            /// The kebab-case name used in machine formats.
            pub fn name(self) -> &'static str {
                match self { $(ChangeKind::$variant => $name,)* }
            }
        }
    };
}

kinds! {
    /// A message type exists in head only.
    MessageAdded = "message-added",
    /// A message type exists in base only.
    MessageRemoved = "message-removed",
    /// The same structure under another full name.
    MessageRenamed = "message-renamed",
    /// The same full name in another file.
    MessageMoved = "message-moved",
    /// A field number is new.
    FieldAdded = "field-added",
    /// A field number is gone.
    FieldRemoved = "field-removed",
    /// The same name under another number.
    FieldRenumbered = "field-renumbered",
    /// Another name under the same number.
    FieldRenamed = "field-renamed",
    /// Another type under the same number.
    FieldTypeChanged = "field-type-changed",
    /// Between optional, required and repeated.
    FieldLabelChanged = "field-label-changed",
    /// Between implicit and explicit presence.
    FieldPresenceChanged = "field-presence-changed",
    /// Into, out of, or between oneofs.
    FieldOneofChanged = "field-oneof-changed",
    /// Between packed and expanded.
    FieldPackedChanged = "field-packed-changed",
    /// Another explicit default.
    FieldDefaultChanged = "field-default-changed",
    /// UTF-8 validation of a string switched on or off.
    FieldUtf8Changed = "field-utf8-changed",
    /// Between length-prefixed and delimited (group) encoding of a message.
    FieldEncodingChanged = "field-encoding-changed",
    /// `deprecated` set or cleared; no effect on the wire.
    FieldDeprecatedChanged = "field-deprecated-changed",
    /// A oneof has another name.
    OneofRenamed = "oneof-renamed",
    /// An enum type exists in head only.
    EnumAdded = "enum-added",
    /// An enum type exists in base only.
    EnumRemoved = "enum-removed",
    /// The same values under another full name.
    EnumRenamed = "enum-renamed",
    /// The same full name in another file.
    EnumMoved = "enum-moved",
    /// An enum number is new.
    EnumValueAdded = "enum-value-added",
    /// An enum number is gone.
    EnumValueRemoved = "enum-value-removed",
    /// The same name under another number.
    EnumValueRenumbered = "enum-value-renumbered",
    /// Another name under the same number.
    EnumValueRenamed = "enum-value-renamed",
    /// Between open and closed.
    EnumClosednessChanged = "enum-closedness-changed",
    /// A reserved number or name is reserved no more.
    ReservedDropped = "reserved-dropped",
    /// A number or name became reserved.
    ReservedAdded = "reserved-added",
    /// An extension range shrank or moved.
    ExtensionRangeChanged = "extension-range-changed",
    /// An existing type became part of the contract.
    ReachabilityGained = "reachability-gained",
    /// A type still exists and is no part of the contract any more.
    ReachabilityLost = "reachability-lost",
}

/// Which schema a change belongs to.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Surface {
    /// The binary descriptors.
    Proto,
    /// A message that travels as JSON inside an opaque field.
    JsonPayload,
    /// What wraps an executable; changes of its messages are reported under it.
    Container,
    /// Recorded artifacts; no change of a schema has it.
    Golden,
    /// The tool's own inputs; no change of a schema has it.
    Policy,
    /// The ledger; no change of a schema has it.
    Ledger,
}

impl Surface {
    /// The name used in machine formats.
    pub fn name(self) -> &'static str {
        match self {
            Surface::Proto => "proto",
            Surface::JsonPayload => "json-payload",
            Surface::Container => "container",
            Surface::Golden => "golden",
            Surface::Policy => "policy",
            Surface::Ledger => "ledger",
        }
    }
}

/// One change of one construct.
#[derive(Debug, Clone)]
pub struct Change<'a> {
    /// What kind of change.
    pub kind: ChangeKind,
    /// Binary descriptors or a JSON payload.
    pub surface: Surface,
    /// Full name of the construct: head's where it exists there, else base's.
    pub construct: String,
    /// Field or enum number, where the construct has one.
    pub number: Option<i32>,
    /// The changed property in base.
    pub before: Option<String>,
    /// The changed property in head.
    pub after: Option<String>,
    /// What readers on either side make of the other side's bytes.
    pub wire: WireEffect,
    /// A remark that neither kind nor properties carry.
    pub detail: Option<String>,
    /// Surfaces that reach the construct on both sides (on its only side, where it has one).
    pub reach: Reach,
    /// The construct itself on both sides.
    pub subject: Subject<'a>,
    /// Why the slot (field or enum number) now holds something else, if it does.
    pub repurposed: Option<String>,
}

/// The construct that changed, with the type that declares it.
#[derive(Debug, Clone, Copy)]
pub enum Subject<'a> {
    /// A message type.
    Message(Sides<'a, Message>),
    /// A field, and its message.
    Field(Sides<'a, Message>, Sides<'a, Field>),
    /// A oneof, and its message.
    Oneof(Sides<'a, Message>, Sides<'a, Oneof>),
    /// An enum type.
    Enum(Sides<'a, Enum>),
    /// An enum value, and its enum.
    EnumValue(Sides<'a, Enum>, Sides<'a, EnumValue>),
}

/// The same thing in base and head.
#[derive(Debug)]
pub struct Sides<'a, T> {
    /// In base.
    pub base: Option<&'a T>,
    /// In head.
    pub head: Option<&'a T>,
}

impl<T> Clone for Sides<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Sides<'_, T> {}

impl<'a, T> Sides<'a, T> {
    /// Present on both sides.
    pub fn both(base: &'a T, head: &'a T) -> Self {
        Sides { base: Some(base), head: Some(head) }
    }

    /// Present in base only.
    pub fn base(base: &'a T) -> Self {
        Sides { base: Some(base), head: None }
    }

    /// Present in head only.
    pub fn head(head: &'a T) -> Self {
        Sides { base: None, head: Some(head) }
    }
}

impl<'a> Subject<'a> {
    /// Full name of the message or enum that declares the construct, on each side.
    pub fn owners(&self) -> [Option<&'a str>; 2] {
        fn names<'a, T>(
            sides: &Sides<'a, T>,
            name: impl Fn(&'a T) -> &'a str,
        ) -> [Option<&'a str>; 2] {
            [sides.base.map(&name), sides.head.map(&name)]
        }
        match self {
            Subject::Message(m) | Subject::Field(m, _) | Subject::Oneof(m, _) => {
                names(m, |m| &*m.name)
            }
            Subject::Enum(e) | Subject::EnumValue(e, _) => names(e, |e| &*e.name),
        }
    }

    /// Where the construct stands in base; where it is absent there, where its owner stands.
    pub fn base_place(&self) -> Option<&'a Place> {
        match self {
            Subject::Message(m) => m.base.map(|m| &m.place),
            Subject::Field(m, f) => f.base.map(|f| &f.place).or(m.base.map(|m| &m.place)),
            Subject::Oneof(m, o) => o.base.map(|o| &o.place).or(m.base.map(|m| &m.place)),
            Subject::Enum(e) => e.base.map(|e| &e.place),
            Subject::EnumValue(e, v) => v.base.map(|v| &v.place).or(e.base.map(|e| &e.place)),
        }
    }

    /// Where the construct stands in head; where it is absent there, where its owner stands.
    pub fn head_place(&self) -> Option<&'a Place> {
        match self {
            Subject::Message(m) => m.head.map(|m| &m.place),
            Subject::Field(m, f) => f.head.map(|f| &f.place).or(m.head.map(|m| &m.place)),
            Subject::Oneof(m, o) => o.head.map(|o| &o.place).or(m.head.map(|m| &m.place)),
            Subject::Enum(e) => e.head.map(|e| &e.place),
            Subject::EnumValue(e, v) => v.head.map(|v| &v.place).or(e.head.map(|e| &e.place)),
        }
    }
}

impl Change<'_> {
    /// Owner and full name of the construct on each side that has it.
    pub fn names(&self) -> impl Iterator<Item = (&str, String)> {
        fn both<'s, T>(
            sides: &Sides<'s, T>,
            name: impl Fn(&'s T) -> &'s str,
        ) -> [Option<&'s str>; 2] {
            [sides.base.map(&name), sides.head.map(&name)]
        }
        let names = match &self.subject {
            Subject::Message(_) | Subject::Enum(_) => [Some(""), Some("")],
            Subject::Field(_, field) => both(field, |f| &*f.name),
            Subject::Oneof(_, oneof) => both(oneof, |o| &*o.name),
            Subject::EnumValue(_, value) => both(value, |v| &*v.name),
        };
        self.subject.owners().into_iter().zip(names).filter_map(|(owner, name)| {
            let owner = owner?;
            let construct = match name? {
                "" => owner.to_owned(),
                name => format!("{owner}.{name}"),
            };
            Some((owner, construct))
        })
    }

    /// Position in base's sources.
    pub fn base_location(&self, base: &Contract) -> Option<Location> {
        base.locate(self.subject.base_place()?)
    }

    /// Position in head's sources.
    pub fn head_location(&self, head: &Contract) -> Option<Location> {
        head.locate(self.subject.head_place()?)
    }
}
