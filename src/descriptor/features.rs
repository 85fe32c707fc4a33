//! Features of a file: what its syntax or edition says about presence, closedness, packing, UTF-8
//! validation and message encoding, and where single declarations override it.
//!
//! Source: the feature table of edition 2023 in the protobuf documentation
//! (protobuf.dev/editions/features). `prost-types` 0.14 has no `FeatureSet`, so edition files lose
//! their features when they are decoded through it; here they are read beside it.

use std::collections::BTreeMap;

use prost::Message as _;
use prost_types::field_descriptor_proto::Type as ProtoType;
use prost_types::uninterpreted_option::NamePart;
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    UninterpretedOption,
};

use super::edition::Lowered;
use super::model::Name;
use crate::error::{Error, ErrorKind};

/// Which rules a file's defaults follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // protobuf's own names
pub enum Syntax {
    Proto2,
    Proto3,
    Edition2023,
}

/// Syntax, feature overrides and reserved identifiers of a file.
#[derive(Debug, Clone)]
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

/// Takes feature options out of a parsed file and lowers its syntax to what prost-reflect accepts.
pub(super) fn extract(
    path: &str,
    text: &str,
    descriptor: &mut FileDescriptorProto,
    lowered: &Lowered<'_>,
) -> Result<FileFeatures, Error> {
    if !lowered.edition {
        return Ok(FileFeatures {
            syntax: Syntax::of(descriptor),
            overrides: BTreeMap::new(),
            reserved_names: BTreeMap::new(),
        });
    }
    let reserved_names = reserved_names(descriptor, lowered);
    let mut collector = Collector { lowered, overrides: BTreeMap::new(), rejected: None };
    if let Some(options) = &mut descriptor.options {
        collector.take(&[], &mut options.uninterpreted_option);
    }
    for (index, message) in descriptor.message_type.iter_mut().enumerate() {
        collector.message(&mut vec![4, index_i32(index)], message);
    }
    for (index, enumeration) in descriptor.enum_type.iter_mut().enumerate() {
        collector.enumeration(&[5, index_i32(index)], enumeration);
    }
    for (index, extension) in descriptor.extension.iter_mut().enumerate() {
        collector.field(&[7, index_i32(index)], extension);
    }
    for service in &mut descriptor.service {
        for method in &mut service.method {
            if let Some(options) = &mut method.options {
                options.uninterpreted_option.retain(|o| !is_feature(o));
            }
        }
        if let Some(options) = &mut service.options {
            options.uninterpreted_option.retain(|o| !is_feature(o));
        }
    }
    if let Some((declaration, what)) = collector.rejected {
        let line = line_of(text, descriptor, &declaration, &what);
        return Err(ErrorKind::Edition { path: path.to_owned(), line, what }.into());
    }
    // As proto2, prost-reflect accepts defaults and enums that do not start at zero.
    descriptor.syntax = None;
    Ok(FileFeatures { syntax: Syntax::Edition2023, overrides: collector.overrides, reserved_names })
}

/// The line that says `what` inside a declaration, or the declaration's first line.
fn line_of(text: &str, descriptor: &FileDescriptorProto, declaration: &[i32], what: &str) -> usize {
    let first = descriptor
        .source_code_info
        .iter()
        .flat_map(|info| &info.location)
        .find(|location| !declaration.is_empty() && location.path == declaration)
        .and_then(|location| usize::try_from(*location.span.first()?).ok())
        .unwrap_or(0);
    let key = what.split([' ', '=']).next().unwrap_or_default();
    let within = text.lines().skip(first).position(|line| line.contains(key)).unwrap_or(0);
    first + within + 1
}

/// Whether a default is spelled as in a descriptor already: most are.
fn is_plain(ty: &str, value: &str) -> bool {
    match ty {
        "T" => {
            value.starts_with(|c: char| c.is_ascii_alphabetic())
                && value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        }
        "bool" => matches!(value, "true" | "false"),
        "int32" | "sint32" | "sfixed32" => value.parse().is_ok_and(|n: i32| n.to_string() == value),
        "int64" | "sint64" | "sfixed64" => value.parse().is_ok_and(|n: i64| n.to_string() == value),
        "uint32" | "fixed32" => value.parse().is_ok_and(|n: u32| n.to_string() == value),
        "uint64" | "fixed64" => value.parse().is_ok_and(|n: u64| n.to_string() == value),
        _ => false,
    }
}

/// Puts a default that [`super::edition::lower`] set aside back into its field, spelled as
/// `FieldDescriptorProto.default_value` wants it; `Err` says what is wrong.
fn restore_default(lowered: &Lowered<'_>, field: &mut FieldDescriptorProto) -> Result<(), String> {
    let ty = match field.r#type() {
        _ if field.r#type.is_none() => "T", // an enum
        ProtoType::Double => "double",
        ProtoType::Float => "float",
        ProtoType::Int64 => "int64",
        ProtoType::Uint64 => "uint64",
        ProtoType::Int32 => "int32",
        ProtoType::Fixed64 => "fixed64",
        ProtoType::Fixed32 => "fixed32",
        ProtoType::Bool => "bool",
        ProtoType::String => "string",
        ProtoType::Bytes => "bytes",
        ProtoType::Uint32 => "uint32",
        ProtoType::Sfixed32 => "sfixed32",
        ProtoType::Sfixed64 => "sfixed64",
        ProtoType::Sint32 => "sint32",
        ProtoType::Sint64 => "sint64",
        ProtoType::Group | ProtoType::Message | ProtoType::Enum => "T",
    };
    let Some(options) = &mut field.options else { return Ok(()) };
    let mut found = None;
    options.uninterpreted_option.retain(|option| match option.name.as_slice() {
        [NamePart { name_part, is_extension: false }] => match lowered.default_of(name_part) {
            Some(value) => {
                found = Some(value);
                false
            }
            None => true,
        },
        _ => true,
    });
    if let Some(value) = found {
        if is_plain(ty, value) {
            field.default_value = Some(value.to_owned());
            return Ok(());
        }
        // The parser knows the rules, for proto2.
        let text = format!("message M {{ optional {ty} f = 1 [default = {value}]; }}");
        let parsed = protox_parse::parse("", &text).ok();
        let default = parsed
            .as_ref()
            .and_then(|file| file.message_type.first()?.field.first()?.default_value.clone());
        field.default_value = Some(default.ok_or_else(|| format!("default = {value}"))?);
    }
    Ok(())
}

/// Attaches each blanked `reserved A, B;` to the innermost declaration around it.
fn reserved_names(
    descriptor: &FileDescriptorProto,
    lowered: &Lowered<'_>,
) -> BTreeMap<Vec<i32>, Vec<Name>> {
    let mut found: BTreeMap<Vec<i32>, Vec<Name>> = BTreeMap::new();
    let locations = descriptor.source_code_info.iter().flat_map(|info| &info.location);
    let mut types: Vec<_> = locations
        .filter(|location| !lowered.reserved.is_empty() && is_type_path(&location.path))
        .filter_map(|location| Some((span(&location.span)?, &location.path)))
        .collect();
    types.sort_by_key(|((start, _), path)| (*start, path.len()));
    // Declarations nest and statements come in order: those around the current place are a stack.
    let mut types = types.into_iter().peekable();
    let mut around: Vec<((i32, i32), &Vec<i32>)> = Vec::new();
    for statement in &lowered.reserved {
        let at = (statement.line, statement.column);
        while let Some(((_, end), path)) = types.next_if(|((start, _), _)| *start <= at) {
            around.retain(|(outer, _)| *outer >= end);
            around.push((end, path));
        }
        while around.pop_if(|(end, _)| *end <= at).is_some() {}
        if let Some((_, owner)) = around.last() {
            let names = statement.names.iter().map(|n| Name::from(n.as_str()));
            found.entry((*owner).clone()).or_default().extend(names);
        }
    }
    found
}

/// Whether a descriptor path names a message or an enum.
fn is_type_path(path: &[i32]) -> bool {
    match path {
        [5, _] | [4, _] => true,
        [4, _, rest @ ..] => is_nested_type_path(rest),
        _ => false,
    }
}

fn is_nested_type_path(path: &[i32]) -> bool {
    match path {
        [] | [4, _] => true,
        [3, _, rest @ ..] => is_nested_type_path(rest),
        _ => false,
    }
}

/// Start and end of a source span.
fn span(span: &[i32]) -> Option<((i32, i32), (i32, i32))> {
    match *span {
        [line, start, end] => Some(((line, start), (line, end))),
        [line, start, end_line, end] => Some(((line, start), (end_line, end))),
        _ => None,
    }
}

struct Collector<'a> {
    lowered: &'a Lowered<'a>,
    overrides: BTreeMap<Vec<i32>, FeatureSet>,
    /// The first thing that cannot be lowered, with its declaration.
    rejected: Option<(Vec<i32>, String)>,
}

impl Collector<'_> {
    fn message(&mut self, path: &mut Vec<i32>, message: &mut DescriptorProto) {
        if let Some(options) = &mut message.options {
            self.take(path, &mut options.uninterpreted_option);
        }
        for (index, field) in message.field.iter_mut().enumerate() {
            self.field(&[path.as_slice(), &[2, index_i32(index)]].concat(), field);
        }
        for (index, extension) in message.extension.iter_mut().enumerate() {
            self.field(&[path.as_slice(), &[6, index_i32(index)]].concat(), extension);
        }
        for range in &mut message.extension_range {
            if let Some(options) = &mut range.options {
                options.uninterpreted_option.retain(|o| !is_feature(o));
            }
        }
        for (index, oneof) in message.oneof_decl.iter_mut().enumerate() {
            if let Some(options) = &mut oneof.options {
                path.extend([8, index_i32(index)]);
                self.take(path, &mut options.uninterpreted_option);
                path.truncate(path.len() - 2);
            }
        }
        for (index, nested) in message.nested_type.iter_mut().enumerate() {
            path.extend([3, index_i32(index)]);
            self.message(path, nested);
            path.truncate(path.len() - 2);
        }
        for (index, nested) in message.enum_type.iter_mut().enumerate() {
            path.extend([4, index_i32(index)]);
            self.enumeration(path, nested);
            path.truncate(path.len() - 2);
        }
    }

    fn field(&mut self, path: &[i32], field: &mut FieldDescriptorProto) {
        if let Some(options) = &mut field.options {
            self.take(path, &mut options.uninterpreted_option);
        }
        if let Err(what) = restore_default(self.lowered, field) {
            self.reject(path, what);
        }
    }

    fn enumeration(&mut self, path: &[i32], enumeration: &mut EnumDescriptorProto) {
        if let Some(options) = &mut enumeration.options {
            self.take(path, &mut options.uninterpreted_option);
        }
        for value in &mut enumeration.value {
            if let Some(options) = &mut value.options {
                options.uninterpreted_option.retain(|o| !is_feature(o));
            }
        }
    }

    /// Moves the `features…` options of one declaration into the overrides.
    fn take(&mut self, path: &[i32], options: &mut Vec<UninterpretedOption>) {
        let mut set = FeatureSet::default();
        for option in options.iter().filter(|o| is_feature(o)) {
            match option.name.as_slice() {
                [_] => {
                    let text = option.aggregate_value.as_deref().unwrap_or("");
                    self.aggregate(path, &mut set, text);
                }
                [_, feature] if !feature.is_extension => {
                    self.set(path, &mut set, &feature.name_part, &option_text(option));
                }
                [_, language, feature]
                    if language.name_part == "pb.cpp"
                        && feature.name_part == "legacy_closed_enum" =>
                {
                    set.legacy_closed = Some(option_text(option) == "true");
                }
                [_, language] if language.name_part == "pb.cpp" => {
                    let text = option.aggregate_value.as_deref().unwrap_or("");
                    self.aggregate(path, &mut set, &format!("[pb.cpp] {{ {text} }}"));
                }
                _ => {} // features of other languages do not touch the wire
            }
        }
        options.retain(|o| !is_feature(o));
        if set != FeatureSet::default() {
            self.overrides.insert(path.to_vec(), set);
        }
    }

    /// `features = { name: VALUE [extension] { … } }`.
    fn aggregate(&mut self, path: &[i32], set: &mut FeatureSet, text: &str) {
        let Some(settings) = text_settings(text) else {
            self.reject(path, format!("features = {{ {text} }}"));
            return;
        };
        for (name, value) in settings {
            match name.as_slice() {
                [feature] => self.set(path, set, feature, value),
                [language, feature]
                    if language == "[pb.cpp]" && feature == "legacy_closed_enum" =>
                {
                    set.legacy_closed = Some(value == "true");
                }
                [language, ..] if language.starts_with('[') => {}
                _ => self.reject(path, format!("features = {{ {text} }}")),
            }
        }
    }

    fn set(&mut self, path: &[i32], set: &mut FeatureSet, feature: &str, value: &str) {
        if !set.set(feature, value) {
            self.reject(path, format!("{feature} = {value}"));
        }
    }

    fn reject(&mut self, path: &[i32], what: String) {
        self.rejected.get_or_insert_with(|| (path.to_vec(), what));
    }
}

/// The scalar settings of a message in text format, each with its path; extension names keep
/// their brackets. `None` for what is no such message.
fn text_settings(text: &str) -> Option<Vec<(Vec<String>, &str)>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '+' | '/');
        let length = match first {
            '"' | '\'' => rest[1..].find(first)? + 2,
            _ if word(first) => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    let mut tokens = tokens.into_iter().peekable();
    let mut settings = Vec::new();
    let mut scope: Vec<String> = Vec::new();
    while let Some(token) = tokens.next() {
        let name = match token {
            "," | ";" => continue,
            "}" | ">" => {
                scope.pop()?;
                continue;
            }
            "[" => {
                let name: String = tokens.by_ref().take_while(|t| *t != "]").collect();
                format!("[{name}]")
            }
            word if word.starts_with(|c: char| c.is_alphabetic() || c == '_') => word.to_owned(),
            _ => return None,
        };
        let colon = tokens.next_if_eq(&":").is_some();
        match tokens.next()? {
            "{" | "<" => scope.push(name),
            value if colon && !matches!(value, "}" | ">" | "," | ";" | "[" | "]" | ":") => {
                settings.push((scope.iter().cloned().chain([name]).collect(), value));
            }
            _ => return None,
        }
        if scope.len() > 8 {
            return None; // features do not nest so deep
        }
    }
    scope.is_empty().then_some(settings)
}

fn is_feature(option: &UninterpretedOption) -> bool {
    option.name.first().is_some_and(|part| !part.is_extension && part.name_part == "features")
}

/// The value of an option as text.
fn option_text(option: &UninterpretedOption) -> String {
    if let Some(value) = &option.identifier_value {
        value.clone()
    } else if let Some(value) = option.positive_int_value {
        value.to_string()
    } else if let Some(value) = option.negative_int_value {
        value.to_string()
    } else if let Some(value) = option.double_value {
        value.to_string()
    } else {
        String::from_utf8_lossy(option.string_value()).into_owned()
    }
}

fn index_i32(index: usize) -> i32 {
    i32::try_from(index).unwrap_or(i32::MAX)
}

/// Reads syntax and features of a serialized `FileDescriptorProto`, and lowers the decoded form.
///
/// # Errors
/// Bytes that are no file descriptor, editions other than 2023.
pub(super) fn decode_file(bytes: &[u8]) -> Result<(FileDescriptorProto, FileFeatures), Error> {
    let undecodable =
        |error: prost::DecodeError| ErrorKind::DescriptorSet { reason: error.to_string() };
    let mut descriptor = FileDescriptorProto::decode(bytes).map_err(undecodable)?;
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
    struct Features {
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
        }
    }

    impl Message {
        fn collect(&self, path: &[i32], overrides: &mut Overrides) {
            put(overrides, path, self.options.as_ref().and_then(|o| o.features.as_ref()));
            let child = |kind: i32, index: usize| [path, &[kind, index_i32(index)]].concat();
            for (index, field) in self.fields.iter().enumerate() {
                let features = field.options.as_ref().and_then(|o| o.features.as_ref());
                put(overrides, &child(2, index), features);
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

#[cfg(test)]
mod tests {
    use super::text_settings;

    #[test]
    fn text_format_settings() {
        let joined = |text| {
            let settings = text_settings(text)?;
            let one = |(path, value): &(Vec<String>, &str)| format!("{}={value}", path.join("/"));
            Some(settings.iter().map(one).collect::<Vec<_>>().join(" "))
        };
        let is =
            |text, expected: Option<&str>| assert_eq!(joined(text).as_deref(), expected, "{text}");
        is("", Some(""));
        is("a : B, c: D ; e:F", Some("a=B c=D e=F"));
        is(
            "a: B [pb . cpp] { x: true y { z: 1 } } c: D",
            Some("a=B [pb.cpp]/x=true [pb.cpp]/y/z=1 c=D"),
        );
        is("a: 'x } y'", Some("a='x } y'"));
        for wrong in [
            "a", "a:", "a B", "a: }", "{", "}", "a {", "a: [B]", "a: B c", "é:", "a: \"x", ": a",
            "[x",
        ] {
            is(wrong, None);
        }
    }
}
