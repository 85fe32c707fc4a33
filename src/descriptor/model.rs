//! The contract as aotgate sees it: messages and enums with resolved features.
//!
//! The model is independent of syntax: proto2, proto3 and edition 2023 files end up as the same
//! facts (presence, closedness, packing, UTF-8 validation, delimited encoding), which is what the
//! wire-compatibility table of [`crate::change::wire`] works on.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::sync::{Arc, OnceLock};

use super::parse::ParsedFile;

/// A full protobuf name without the leading dot, such as `xla.gpu.ThunkProto`.
pub type Name = Arc<str>;

/// Everything declared in the import closure of the entry files of one revision.
#[derive(Debug, Clone)]
pub struct Contract {
    /// Root messages of the binary contract that exist at this revision, sorted.
    pub roots: Vec<Name>,
    /// Messages that travel as JSON inside an opaque field, as far as they exist, sorted.
    pub json_roots: Vec<Name>,
    /// All messages of the import closure (map entries included), reachable or not; contracts made one after the
    /// other share those of files that did not change.
    pub messages: BTreeMap<Name, Arc<Message>>,
    /// All enums of the import closure, reachable or not; shared like the messages.
    pub enums: BTreeMap<Name, Arc<Enum>>,
    /// The files of the import closure, sorted by import name.
    pub files: Vec<Arc<ParsedFile>>,
}

/// Where a construct stands: an index into [`Contract::files`] and a descriptor path as in
/// `google.protobuf.SourceCodeInfo.Location.path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Index into [`Contract::files`].
    pub file: usize,
    /// Descriptor path, for example `[4, 0, 2, 1]` for the second field of the first message.
    pub path: Vec<i32>,
}

/// A resolved position in a source file; lines and columns count from 1, columns in bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// Path inside the repository (or the file's import name in a descriptor set).
    pub file: Arc<str>,
    /// First line.
    pub line: u32,
    /// First column.
    pub column: u32,
    /// Last line.
    pub end_line: u32,
    /// Column after the last byte.
    pub end_column: u32,
}

/// From which contract surface a type can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reach {
    /// Reachable from a root by message and enum typed fields.
    pub wire: bool,
    /// Reachable from a message that travels as JSON inside an opaque field.
    pub json: bool,
}

impl Reach {
    /// True when some contract surface carries the type.
    pub fn any(self) -> bool {
        self.wire || self.json
    }
}

/// A message type.
#[derive(Debug, Clone)]
pub struct Message {
    /// Full name.
    pub name: Name,
    /// Fields in order of their numbers.
    pub fields: Vec<Field>,
    /// Real oneofs (synthetic ones of `optional` fields left out), in declaration order.
    pub oneofs: Vec<Oneof>,
    /// Reserved number ranges, both ends inclusive, sorted.
    pub reserved_numbers: Vec<(i32, i32)>,
    /// Reserved names, sorted.
    pub reserved_names: Vec<Name>,
    /// Extension ranges, both ends inclusive, sorted.
    pub extension_ranges: Vec<(i32, i32)>,
    /// True for the entry type that a `map` field implies.
    pub map_entry: bool,
    /// True when declared with `option message_set_wire_format = true`.
    pub message_set: bool,
    /// Surfaces that reach this type.
    pub reach: Reach,
    /// Where it is declared.
    pub place: Place,
    /// Positions of the fields by name, made when first needed.
    pub(super) by_name: Index<Name>,
}

/// A real oneof.
#[derive(Debug, Clone)]
pub struct Oneof {
    /// Simple name.
    pub name: Name,
    /// Where it is declared.
    pub place: Place,
}

/// A field of a message.
#[derive(Debug, Clone)]
pub struct Field {
    /// Simple name.
    pub name: Name,
    /// Field number, 1 to 2^29-1.
    pub number: i32,
    /// Value type.
    pub ty: Type,
    /// Cardinality.
    pub label: Label,
    /// How absence shows.
    pub presence: Presence,
    /// The real oneof it is a member of.
    pub oneof: Option<Name>,
    /// Whether a repeated scalar is written packed; false for everything else.
    pub packed: bool,
    /// The explicit default as `FieldDescriptorProto.default_value` spells it.
    pub default: Option<Name>,
    /// The JSON name (lowerCamelCase unless set with `json_name`).
    pub json_name: Name,
    /// `[deprecated = true]`.
    pub deprecated: bool,
    /// For strings: whether C++ protobuf rejects invalid UTF-8 while parsing.
    pub verify_utf8: bool,
    /// For messages: written as a group (start and end tags) instead of length-prefixed.
    pub delimited: bool,
    /// For enums: whether C++ protobuf drops unknown numbers into the unknown fields. It goes by
    /// the field's own file when a proto2 file uses a proto3 enum.
    pub closed_enum: bool,
    /// Where it is declared.
    pub place: Place,
}

/// Type of a field's value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    /// A scalar, a string or bytes.
    Scalar(Scalar),
    /// A message by full name.
    Message(Name),
    /// An enum by full name.
    Enum(Name),
}

/// Scalar, string and bytes types of protobuf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // the names are protobuf's own
pub enum Scalar {
    Double,
    Float,
    Int64,
    Uint64,
    Int32,
    Fixed64,
    Fixed32,
    Bool,
    String,
    Bytes,
    Uint32,
    Sfixed32,
    Sfixed64,
    Sint32,
    Sint64,
}

/// Cardinality of a field.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Label {
    /// At most one value.
    Singular,
    /// Exactly one value (`required`, or feature `LEGACY_REQUIRED`).
    Required,
    /// A list, or a map.
    Repeated,
}

/// How the absence of a field shows to a reader.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
    /// Zero and unset are the same (`proto3` scalar without `optional`).
    Implicit,
    /// `has_x()` tells unset from zero.
    Explicit,
    /// Lists and maps: the empty list is absent.
    Repeated,
}

/// An enum type.
#[derive(Debug, Clone)]
pub struct Enum {
    /// Full name.
    pub name: Name,
    /// Values in declaration order; the first is the default. Aliases share a number.
    pub values: Vec<EnumValue>,
    /// Whether unknown numbers are dropped into the unknown fields.
    pub closed: bool,
    /// Reserved number ranges, both ends inclusive, sorted.
    pub reserved_numbers: Vec<(i32, i32)>,
    /// Reserved names, sorted.
    pub reserved_names: Vec<Name>,
    /// Surfaces that reach this type.
    pub reach: Reach,
    /// Where it is declared.
    pub place: Place,
    /// Positions of the values by name, made when first needed.
    pub(super) by_name: Index<Name>,
    /// Positions of the first value of each number, made when first needed.
    pub(super) by_number: Index<i32>,
}

/// A value of an enum.
#[derive(Debug, Clone)]
pub struct EnumValue {
    /// Simple name.
    pub name: Name,
    /// Number.
    pub number: i32,
    /// Where it is declared.
    pub place: Place,
}

impl Contract {
    /// The contract of a revision that does not have the root: nothing is promised.
    pub fn empty() -> Self {
        Contract {
            roots: Vec::new(),
            json_roots: Vec::new(),
            messages: BTreeMap::new(),
            enums: BTreeMap::new(),
            files: Vec::new(),
        }
    }

    /// The message with this full name.
    pub fn message(&self, name: &str) -> Option<&Message> {
        self.messages.get(name).map(Arc::as_ref)
    }

    /// The enum with this full name.
    pub fn enumeration(&self, name: &str) -> Option<&Enum> {
        self.enums.get(name).map(Arc::as_ref)
    }

    /// The file of a construct.
    pub fn file(&self, place: &Place) -> Option<&Arc<ParsedFile>> {
        self.files.get(place.file)
    }

    /// Resolves a place to lines and columns; without source information only the file is known
    /// and the line is 0.
    pub fn locate(&self, place: &Place) -> Option<Location> {
        Some(self.file(place)?.locate(&place.path))
    }
}

impl Message {
    /// A message that no file declares, of optional messages: name, number and type of each, by number.
    #[cfg(feature = "runtime")]
    pub(crate) fn of_messages(name: &str, fields: &[(&str, i32, &str)]) -> Self {
        let nowhere = Place { file: usize::MAX, path: Vec::new() };
        let field = |(name, number, ty): &(&str, i32, &str)| Field {
            name: (*name).into(),
            number: *number,
            ty: Type::Message((*ty).into()),
            label: Label::Singular,
            presence: Presence::Explicit,
            oneof: None,
            packed: false,
            default: None,
            json_name: (*name).into(),
            deprecated: false,
            verify_utf8: false,
            delimited: false,
            closed_enum: false,
            place: nowhere.clone(),
        };
        let fields = fields.iter().map(field).collect();
        Message { fields, ..Message::bare(name, nowhere.clone()) }
    }

    /// A message of which nothing is known but its name and place.
    pub(crate) fn bare(name: &str, place: Place) -> Self {
        Message {
            name: name.into(),
            fields: Vec::new(),
            oneofs: Vec::new(),
            reserved_numbers: Vec::new(),
            reserved_names: Vec::new(),
            extension_ranges: Vec::new(),
            map_entry: false,
            message_set: false,
            reach: Reach::default(),
            place,
            by_name: Index::default(),
        }
    }

    /// The field with this number.
    pub fn field(&self, number: i32) -> Option<&Field> {
        let at = self.fields.binary_search_by_key(&number, |f| f.number).ok()?;
        self.fields.get(at)
    }

    /// The field with this name.
    pub fn field_named(&self, name: &str) -> Option<&Field> {
        let names = || self.fields.iter().map(|f| f.name.clone());
        self.fields.get(self.by_name.position(name, names)?)
    }

    /// Whether a field number is reserved.
    pub fn reserves_number(&self, number: i32) -> bool {
        in_ranges(&self.reserved_numbers, number)
    }

    /// Whether a field name is reserved.
    pub fn reserves_name(&self, name: &str) -> bool {
        self.reserved_names.binary_search_by(|n| (**n).cmp(name)).is_ok()
    }
}

impl Enum {
    /// An enum of which nothing is known but its name and place.
    pub(crate) fn bare(name: &str, place: Place) -> Self {
        Enum {
            name: name.into(),
            values: Vec::new(),
            closed: false,
            reserved_numbers: Vec::new(),
            reserved_names: Vec::new(),
            reach: Reach::default(),
            place,
            by_name: Index::default(),
            by_number: Index::default(),
        }
    }

    /// The first value with this number.
    pub fn value(&self, number: i32) -> Option<&EnumValue> {
        let numbers = || self.values.iter().map(|v| v.number);
        self.values.get(self.by_number.position(&number, numbers)?)
    }

    /// The value with this name.
    pub fn value_named(&self, name: &str) -> Option<&EnumValue> {
        let names = || self.values.iter().map(|v| v.name.clone());
        self.values.get(self.by_name.position(name, names)?)
    }

    /// Whether a number is reserved.
    pub fn reserves_number(&self, number: i32) -> bool {
        in_ranges(&self.reserved_numbers, number)
    }

    /// Whether a name is reserved.
    pub fn reserves_name(&self, name: &str) -> bool {
        self.reserved_names.binary_search_by(|n| (**n).cmp(name)).is_ok()
    }
}

/// `ranges` are sorted and do not overlap.
fn in_ranges(ranges: &[(i32, i32)], number: i32) -> bool {
    let at = ranges.partition_point(|&(lo, _)| lo <= number);
    at.checked_sub(1).and_then(|at| ranges.get(at)).is_some_and(|&(_, hi)| number <= hi)
}

/// Positions by key, so that looking many of them up in a large type stays fast.
#[derive(Debug, Clone, Default)]
pub(super) struct Index<K>(OnceLock<HashMap<K, usize>>);

impl<K: Eq + Hash> Index<K> {
    /// The first position of a key; `keys` lists them in order.
    fn position<Q: Eq + Hash + ?Sized, I: Iterator<Item = K>>(
        &self,
        key: &Q,
        keys: impl FnOnce() -> I,
    ) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        let positions = self.0.get_or_init(|| {
            let mut positions = HashMap::new();
            for (at, key) in keys().enumerate() {
                positions.entry(key).or_insert(at);
            }
            positions
        });
        positions.get(key).copied()
    }
}

impl Type {
    /// The named type, if this is a message or an enum.
    pub fn named(&self) -> Option<&Name> {
        match self {
            Type::Scalar(_) => None,
            Type::Message(name) | Type::Enum(name) => Some(name),
        }
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Type::Scalar(scalar) => f.write_str(scalar.name()),
            Type::Message(name) | Type::Enum(name) => f.write_str(name),
        }
    }
}

impl Scalar {
    /// The keyword of the type in a `.proto` file.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::Double => "double",
            Scalar::Float => "float",
            Scalar::Int64 => "int64",
            Scalar::Uint64 => "uint64",
            Scalar::Int32 => "int32",
            Scalar::Fixed64 => "fixed64",
            Scalar::Fixed32 => "fixed32",
            Scalar::Bool => "bool",
            Scalar::String => "string",
            Scalar::Bytes => "bytes",
            Scalar::Uint32 => "uint32",
            Scalar::Sfixed32 => "sfixed32",
            Scalar::Sfixed64 => "sfixed64",
            Scalar::Sint32 => "sint32",
            Scalar::Sint64 => "sint64",
        }
    }

    /// Whether a repeated field of this type can be packed.
    pub fn packable(self) -> bool {
        !matches!(self, Scalar::String | Scalar::Bytes)
    }
}

impl Label {
    /// The word used in reports and machine formats.
    pub fn name(self) -> &'static str {
        match self {
            Label::Singular => "optional",
            Label::Required => "required",
            Label::Repeated => "repeated",
        }
    }
}

impl Presence {
    /// The word used in reports and machine formats.
    pub fn name(self) -> &'static str {
        match self {
            Presence::Implicit => "implicit",
            Presence::Explicit => "explicit",
            Presence::Repeated => "repeated",
        }
    }
}
