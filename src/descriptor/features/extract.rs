//! Features from source text: what the parser left as options, and what lowering took away.

use std::collections::BTreeMap;

use prost_types::field_descriptor_proto::Type as ProtoType;
use prost_types::uninterpreted_option::NamePart;
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    UninterpretedOption,
};

use super::super::edition::Lowered;
use super::super::model::Name;
use super::{FeatureSet, FileFeatures, Syntax, index_i32};
use crate::error::{Error, ErrorKind};

/// Takes feature options out of a parsed file and lowers its syntax to what prost-reflect accepts.
pub(in crate::descriptor) fn extract(
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

/// Puts a default that [`super::super::edition::lower`] set aside back into its field, spelled as
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
