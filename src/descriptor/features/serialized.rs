//! Features of serialized descriptors: `prost-types` 0.14 has none, so they are read and written beside it.

use std::collections::BTreeMap;

use prost::Message as _;
use prost::encoding::{WireType, encode_key, encode_varint};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
};

use super::{FeatureSet, FieldPresence, FileFeatures, Syntax, index_i32};
use crate::error::{Error, ErrorKind};

/// Reads syntax and features of a serialized `FileDescriptorProto`, and lowers the decoded form.
///
/// # Errors
/// Bytes that are no file descriptor, editions other than 2023.
pub(in crate::descriptor) fn decode_file(
    bytes: &[u8],
) -> Result<(FileDescriptorProto, FileFeatures), Error> {
    let undecodable =
        |error: prost::DecodeError| ErrorKind::DescriptorSet { reason: error.to_string() };
    let mut descriptor = FileDescriptorProto::decode(bytes).map_err(undecodable)?;
    if !matches!(descriptor.syntax(), "" | "proto2" | "proto3" | "editions") {
        let (name, syntax) = (descriptor.name(), descriptor.syntax());
        let reason = format!("{name:?} has the unknown syntax {syntax:?}");
        return Err(ErrorKind::DescriptorSet { reason }.into());
    }
    let edition = wire::File::decode(bytes).map_err(undecodable)?;
    let syntax = Syntax::of(&descriptor);
    if syntax != Syntax::Edition2023 {
        let (overrides, reserved_names) = (BTreeMap::new(), BTreeMap::new());
        return Ok((descriptor, FileFeatures { syntax, overrides, reserved_names }));
    }
    if edition.edition != wire::EDITION_2023 {
        return Err(ErrorKind::Edition {
            path: descriptor.name().to_owned(),
            line: 1,
            what: match edition.edition {
                1001 => "edition \"2024\"".to_owned(),
                number => format!("edition number {number}"),
            },
        }
        .into());
    }
    descriptor.syntax = None;
    let mut overrides = BTreeMap::new();
    edition.collect(&mut overrides);
    Ok((descriptor, FileFeatures { syntax, overrides, reserved_names: BTreeMap::new() }))
}

/// Serializes a file without source information; edition files as edition files, with their features.
///
/// `descriptor` is the file as lowered, with types and options resolved.
pub(in crate::descriptor) fn encode_file(
    descriptor: &FileDescriptorProto,
    features: &FileFeatures,
) -> Vec<u8> {
    let bare = FileDescriptorProto { source_code_info: None, ..descriptor.clone() };
    if features.syntax != Syntax::Edition2023 {
        return bare.encode_to_vec();
    }
    let (messages, enums) = (&descriptor.message_type, &descriptor.enum_type);
    let mut out = FileDescriptorProto {
        syntax: Some("editions".to_owned()),
        message_type: Vec::new(),
        enum_type: Vec::new(),
        extension: Vec::new(),
        ..bare
    }
    .encode_to_vec();
    let writer = Writer { features };
    encode_key(14, WireType::Varint, &mut out);
    encode_varint(u64::from(wire::EDITION_2023.unsigned_abs()), &mut out);
    writer.features(&mut out, &[], 8, 50);
    for (at, message) in messages.iter().enumerate() {
        put(&mut out, 4, &writer.message(&[4, index_i32(at)], message));
    }
    for (at, enumeration) in enums.iter().enumerate() {
        put(&mut out, 5, &writer.enumeration(&[5, index_i32(at)], enumeration));
    }
    for (at, extension) in descriptor.extension.iter().enumerate() {
        put(&mut out, 7, &writer.field(&[7, index_i32(at)], extension));
    }
    out
}

/// Writes declarations with what lowering took from them. A singular message field that stands twice
/// merges, so features can simply be appended as a second `options`.
struct Writer<'a> {
    features: &'a FileFeatures,
}

impl Writer<'_> {
    fn message(&self, path: &[i32], descriptor: &DescriptorProto) -> Vec<u8> {
        let child = |kind: i32, at: usize| [path, &[kind, index_i32(at)]].concat();
        let mut bare = DescriptorProto {
            field: Vec::new(),
            nested_type: Vec::new(),
            enum_type: Vec::new(),
            extension: Vec::new(),
            oneof_decl: Vec::new(),
            ..descriptor.clone()
        };
        bare.reserved_name.extend(self.reserved_names(path));
        let mut out = bare.encode_to_vec();
        self.features(&mut out, path, 7, 12);
        for (at, field) in descriptor.field.iter().enumerate() {
            put(&mut out, 2, &self.field(&child(2, at), field));
        }
        for (at, nested) in descriptor.nested_type.iter().enumerate() {
            put(&mut out, 3, &self.message(&child(3, at), nested));
        }
        for (at, nested) in descriptor.enum_type.iter().enumerate() {
            put(&mut out, 4, &self.enumeration(&child(4, at), nested));
        }
        for (at, extension) in descriptor.extension.iter().enumerate() {
            put(&mut out, 6, &self.field(&child(6, at), extension));
        }
        for (at, oneof) in descriptor.oneof_decl.iter().enumerate() {
            let mut bytes = oneof.encode_to_vec();
            self.features(&mut bytes, &child(8, at), 2, 1);
            put(&mut out, 8, &bytes);
        }
        out
    }

    fn field(&self, path: &[i32], descriptor: &FieldDescriptorProto) -> Vec<u8> {
        let mut out = descriptor.encode_to_vec();
        self.features(&mut out, path, 8, 21);
        out
    }

    fn enumeration(&self, path: &[i32], descriptor: &EnumDescriptorProto) -> Vec<u8> {
        let mut descriptor = descriptor.clone();
        descriptor.reserved_name.extend(self.reserved_names(path));
        let mut out = descriptor.encode_to_vec();
        self.features(&mut out, path, 3, 7);
        out
    }

    fn reserved_names(&self, path: &[i32]) -> impl Iterator<Item = String> + '_ {
        self.features.reserved_names.get(path).into_iter().flatten().map(|name| name.to_string())
    }

    /// Appends the features of a declaration: field `tag` of its options, which are field `options`.
    fn features(&self, out: &mut Vec<u8>, path: &[i32], options: u32, tag: u32) {
        if let Some(set) = self.features.overrides.get(path) {
            let mut bytes = Vec::new();
            put(&mut bytes, tag, &wire::Features::of(set).encode_to_vec());
            put(out, options, &bytes);
        }
    }
}

/// Appends a length-prefixed field.
fn put(out: &mut Vec<u8>, tag: u32, bytes: &[u8]) {
    encode_key(tag, WireType::LengthDelimited, out);
    encode_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// The parts of `descriptor.proto` that carry features; numbers are those of protobuf 27 and later.
mod wire {
    use super::{BTreeMap, FeatureSet, FieldPresence, index_i32};

    pub(super) const EDITION_2023: i32 = 1000;

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct File {
        #[prost(message, repeated, tag = "4")]
        messages: Vec<Message>,
        #[prost(message, repeated, tag = "5")]
        enums: Vec<Enum>,
        #[prost(message, repeated, tag = "7")]
        extensions: Vec<Field>,
        #[prost(message, optional, tag = "8")]
        options: Option<FileOptions>,
        #[prost(int32, tag = "14")]
        pub(super) edition: i32,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct Message {
        #[prost(message, repeated, tag = "2")]
        fields: Vec<Field>,
        #[prost(message, repeated, tag = "3")]
        nested: Vec<Message>,
        #[prost(message, repeated, tag = "4")]
        enums: Vec<Enum>,
        #[prost(message, repeated, tag = "6")]
        extensions: Vec<Field>,
        #[prost(message, optional, tag = "7")]
        options: Option<MessageOptions>,
        #[prost(message, repeated, tag = "8")]
        oneofs: Vec<Oneof>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct Field {
        #[prost(message, optional, tag = "8")]
        options: Option<FieldOptions>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct Oneof {
        #[prost(message, optional, tag = "2")]
        options: Option<OneofOptions>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct Enum {
        #[prost(message, optional, tag = "3")]
        options: Option<EnumOptions>,
    }

    macro_rules! options {
        ($($name:ident = $tag:literal),*) => {$(
            #[derive(Clone, PartialEq, prost::Message)]
            struct $name {
                #[prost(message, optional, tag = $tag)]
                features: Option<Features>,
            }
        )*};
    }
    options!(
        FileOptions = "50",
        MessageOptions = "12",
        FieldOptions = "21",
        OneofOptions = "1",
        EnumOptions = "7"
    );

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Features {
        #[prost(int32, tag = "1")]
        field_presence: i32,
        #[prost(int32, tag = "2")]
        enum_type: i32,
        #[prost(int32, tag = "3")]
        repeated_field_encoding: i32,
        #[prost(int32, tag = "4")]
        utf8_validation: i32,
        #[prost(int32, tag = "5")]
        message_encoding: i32,
        #[prost(message, optional, tag = "1000")]
        cpp: Option<CppFeatures>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    struct CppFeatures {
        #[prost(bool, optional, tag = "1")]
        legacy_closed_enum: Option<bool>,
    }

    impl Features {
        fn resolve(&self) -> FeatureSet {
            FeatureSet {
                presence: match self.field_presence {
                    1 => Some(FieldPresence::Explicit),
                    2 => Some(FieldPresence::Implicit),
                    3 => Some(FieldPresence::LegacyRequired),
                    _ => None,
                },
                closed: choice(self.enum_type, 2, 1),
                packed: choice(self.repeated_field_encoding, 1, 2),
                verify_utf8: choice(self.utf8_validation, 2, 3),
                delimited: choice(self.message_encoding, 2, 1),
                legacy_closed: self.cpp.as_ref().and_then(|c| c.legacy_closed_enum),
            }
        }
    }

    impl Features {
        /// The message that says what [`Features::resolve`] reads.
        pub(super) fn of(set: &FeatureSet) -> Self {
            let number =
                |value: Option<bool>, yes, no| value.map_or(0, |v| if v { yes } else { no });
            Features {
                field_presence: match set.presence {
                    Some(FieldPresence::Explicit) => 1,
                    Some(FieldPresence::Implicit) => 2,
                    Some(FieldPresence::LegacyRequired) => 3,
                    None => 0,
                },
                enum_type: number(set.closed, 2, 1),
                repeated_field_encoding: number(set.packed, 1, 2),
                utf8_validation: number(set.verify_utf8, 2, 3),
                message_encoding: number(set.delimited, 2, 1),
                cpp: set
                    .legacy_closed
                    .map(|legacy| CppFeatures { legacy_closed_enum: Some(legacy) }),
            }
        }
    }

    fn choice(value: i32, yes: i32, no: i32) -> Option<bool> {
        (value == yes || value == no).then_some(value == yes)
    }

    type Overrides = BTreeMap<Vec<i32>, FeatureSet>;

    fn put(overrides: &mut Overrides, path: &[i32], features: Option<&Features>) {
        if let Some(features) = features {
            overrides.insert(path.to_vec(), features.resolve());
        }
    }

    impl File {
        pub(super) fn collect(&self, overrides: &mut Overrides) {
            put(overrides, &[], self.options.as_ref().and_then(|o| o.features.as_ref()));
            for (index, message) in self.messages.iter().enumerate() {
                message.collect(&[4, index_i32(index)], overrides);
            }
            for (index, enumeration) in self.enums.iter().enumerate() {
                let features = enumeration.options.as_ref().and_then(|o| o.features.as_ref());
                put(overrides, &[5, index_i32(index)], features);
            }
            for (index, extension) in self.extensions.iter().enumerate() {
                let features = extension.options.as_ref().and_then(|o| o.features.as_ref());
                put(overrides, &[7, index_i32(index)], features);
            }
        }
    }

    impl Message {
        fn collect(&self, path: &[i32], overrides: &mut Overrides) {
            put(overrides, path, self.options.as_ref().and_then(|o| o.features.as_ref()));
            let child = |kind: i32, index: usize| [path, &[kind, index_i32(index)]].concat();
            for (kind, fields) in [(2, &self.fields), (6, &self.extensions)] {
                for (index, field) in fields.iter().enumerate() {
                    let features = field.options.as_ref().and_then(|o| o.features.as_ref());
                    put(overrides, &child(kind, index), features);
                }
            }
            for (index, oneof) in self.oneofs.iter().enumerate() {
                let features = oneof.options.as_ref().and_then(|o| o.features.as_ref());
                put(overrides, &child(8, index), features);
            }
            for (index, enumeration) in self.enums.iter().enumerate() {
                let features = enumeration.options.as_ref().and_then(|o| o.features.as_ref());
                put(overrides, &child(4, index), features);
            }
            for (index, nested) in self.nested.iter().enumerate() {
                nested.collect(&child(3, index), overrides);
            }
        }
    }
}
