//! Features of a file: what its syntax or edition says about presence, closedness, packing, UTF-8
//! validation and message encoding, and where single declarations override it.
//!
//! Source: the feature table of edition 2023 in the protobuf documentation
//! (protobuf.dev/editions/features). `prost-types` 0.14 has no `FeatureSet`, so edition files lose
//! their features when they are decoded through it; here they are read beside it.

mod extract;
mod serialized;

pub(super) use extract::extract;
pub(super) use serialized::{decode_file, encode_file};

use std::collections::BTreeMap;

use prost_types::FileDescriptorProto;

use super::model::Name;

/// Which rules a file's defaults follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // protobuf's own names
pub enum Syntax {
    Proto2,
    Proto3,
    Edition2023,
}

/// Syntax, feature overrides and reserved identifiers of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFeatures {
    /// The rules that the defaults come from.
    pub syntax: Syntax,
    /// Overrides by descriptor path; the empty path is the file.
    pub overrides: BTreeMap<Vec<i32>, FeatureSet>,
    /// Reserved names that were written as identifiers, by path of the message or enum.
    pub reserved_names: BTreeMap<Vec<i32>, Vec<Name>>,
}

/// Features set on one declaration; `None` inherits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FeatureSet {
    /// `field_presence`.
    pub presence: Option<FieldPresence>,
    /// `enum_type = CLOSED`.
    pub closed: Option<bool>,
    /// `repeated_field_encoding = PACKED`.
    pub packed: Option<bool>,
    /// `utf8_validation = VERIFY`.
    pub verify_utf8: Option<bool>,
    /// `message_encoding = DELIMITED`.
    pub delimited: Option<bool>,
    /// `(pb.cpp).legacy_closed_enum`: C++ treats the field's enum as closed whatever the enum says.
    pub legacy_closed: Option<bool>,
}

/// Values of the feature `field_presence`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // protobuf's own names
pub enum FieldPresence {
    Explicit,
    Implicit,
    LegacyRequired,
}

impl FeatureSet {
    /// These features where set, else those of the enclosing declaration.
    pub fn or(self, outer: FeatureSet) -> FeatureSet {
        FeatureSet {
            presence: self.presence.or(outer.presence),
            closed: self.closed.or(outer.closed),
            packed: self.packed.or(outer.packed),
            verify_utf8: self.verify_utf8.or(outer.verify_utf8),
            delimited: self.delimited.or(outer.delimited),
            legacy_closed: self.legacy_closed.or(outer.legacy_closed),
        }
    }

    /// Sets a feature by the names of the option; `false` when either is unknown.
    fn set(&mut self, feature: &str, value: &str) -> bool {
        match (feature, value) {
            ("field_presence", "EXPLICIT") => self.presence = Some(FieldPresence::Explicit),
            ("field_presence", "IMPLICIT") => self.presence = Some(FieldPresence::Implicit),
            ("field_presence", "LEGACY_REQUIRED") => {
                self.presence = Some(FieldPresence::LegacyRequired);
            }
            ("enum_type", "OPEN" | "CLOSED") => self.closed = Some(value == "CLOSED"),
            ("repeated_field_encoding", "PACKED" | "EXPANDED") => {
                self.packed = Some(value == "PACKED");
            }
            ("utf8_validation", "VERIFY" | "NONE") => self.verify_utf8 = Some(value == "VERIFY"),
            ("message_encoding", "LENGTH_PREFIXED" | "DELIMITED") => {
                self.delimited = Some(value == "DELIMITED");
            }
            ("json_format", "ALLOW" | "LEGACY_BEST_EFFORT") => {} // no effect on the binary wire
            _ => return false,
        }
        true
    }
}

impl Syntax {
    /// The defaults of a file with this syntax.
    pub fn defaults(self) -> FeatureSet {
        let proto2 = self == Syntax::Proto2;
        FeatureSet {
            presence: Some(if self == Syntax::Proto3 {
                FieldPresence::Implicit
            } else {
                FieldPresence::Explicit
            }),
            closed: Some(proto2),
            packed: Some(!proto2),
            verify_utf8: Some(!proto2),
            delimited: Some(false),
            // C++ goes by the field's file where a proto2 file uses an open enum.
            legacy_closed: Some(proto2),
        }
    }

    fn of(descriptor: &FileDescriptorProto) -> Syntax {
        match descriptor.syntax() {
            "proto3" => Syntax::Proto3,
            "editions" => Syntax::Edition2023,
            _ => Syntax::Proto2,
        }
    }
}

fn index_i32(index: usize) -> i32 {
    i32::try_from(index).unwrap_or(i32::MAX)
}
