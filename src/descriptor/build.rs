//! From resolved file descriptors to the [`Contract`] model.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use prost_types::field_descriptor_proto::{Label as ProtoLabel, Type as ProtoType};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
};

use super::features::{FeatureSet, FieldPresence, FileFeatures, encode_file};
use super::model::{
    Contract, Enum, EnumValue, Field, Index, Label, Message, Name, Oneof, Place, Presence, Reach,
    Scalar, Type,
};
use super::parse::ParsedFile;
use super::pool::resolve;
use super::spelling::{spell_double, spell_float};
use crate::error::Error;

/// Resolves all type names and builds the model; reachability is left unset.
///
/// `files` must be closed under imports but for `dangling`, which count as empty files: a set
/// without them is usable as long as nothing refers to their types.
///
/// # Errors
/// What protobuf itself rejects: unknown types, duplicate names or numbers, numbers inside a reserved
/// range, and the like.
pub(super) fn build(
    mut files: Vec<Arc<ParsedFile>>,
    dangling: Vec<&str>,
) -> Result<Contract, Error> {
    files.sort_by(|a, b| a.name.cmp(&b.name));
    let pool = resolve(&files, &dangling)?;
    let mut contract = Contract::empty();
    let mut extensions = Vec::new();
    for (index, file) in files.iter().enumerate() {
        // The pool holds every file just added to it.
        let Some(resolved) = pool.get_file_by_name(&file.name) else { continue };
        declare(&mut contract, &mut extensions, index, file, resolved.file_descriptor_proto());
    }
    contract.files = files;
    add_extensions(&mut contract, extensions);
    close_enum_fields(&mut contract);
    Ok(contract)
}

/// Like [`build`], for files of which some declare what they did in `before`; `None` where that saves nothing or is not
/// sure to give the same. Without extensions and dangling imports.
pub(super) fn build_after(files: &[Arc<ParsedFile>], before: &Contract) -> Option<Contract> {
    let changed = super::reuse::changed(files, &before.files)?;
    let is_changed = |place: &Place| changed.contains(&place.file);
    let pool = super::pool::resolve_some(files, &changed)?;
    let mut contract = before.clone();
    contract.messages.retain(|_, message| !is_changed(&message.place));
    contract.enums.retain(|_, enumeration| !is_changed(&enumeration.place));
    let mut extensions = Vec::new();
    for &index in &changed {
        let file = files.get(index)?;
        let resolved = pool.get_file_by_name(&file.name)?;
        declare(&mut contract, &mut extensions, index, file, resolved.file_descriptor_proto());
    }
    // A field's closedness is part of its message, which may be one of those kept.
    let closed = |contract: &Contract, name: &str| contract.enumeration(name).map(|e| e.closed);
    let enums = before.enums.values().filter(|e| is_changed(&e.place));
    if !extensions.is_empty()
        || enums.into_iter().any(|e| closed(&contract, &e.name).is_some_and(|now| now != e.closed))
    {
        return None;
    }
    contract.files = files.to_vec();
    close_enum_fields(&mut contract);
    Some(contract)
}

/// Adds what a file declares, its types resolved; extensions are put aside.
fn declare(
    contract: &mut Contract,
    extensions: &mut Vec<(Name, Field)>,
    index: usize,
    file: &ParsedFile,
    descriptor: &FileDescriptorProto,
) {
    let builder = Builder {
        file: index,
        features: &file.features,
        proto2: file.features.syntax == super::features::Syntax::Proto2,
    };
    let defaults = file.features.syntax.defaults();
    let outer = builder.override_at(&[]).or(defaults);
    let package = descriptor.package();
    for (at, message) in descriptor.message_type.iter().enumerate() {
        let path = vec![4, index_i32(at)];
        builder.message(contract, package, path, message, outer);
        builder.nested_extensions(extensions, package, &[4, index_i32(at)], message, outer);
    }
    for (at, enumeration) in descriptor.enum_type.iter().enumerate() {
        builder.enumeration(contract, package, vec![5, index_i32(at)], enumeration, outer);
    }
    for (at, extension) in descriptor.extension.iter().enumerate() {
        let path = vec![7, index_i32(at)];
        extensions.push(builder.extension(package, &path, extension, outer));
    }
}

impl Contract {
    /// The files as a serialized `google.protobuf.FileDescriptorSet`: types and options resolved, no source
    /// information, edition files with their features.
    ///
    /// # Errors
    /// None for a contract that was built.
    pub fn descriptor_set(&self) -> Result<Vec<u8>, Error> {
        let known = |name: &&str| self.files.iter().any(|f| &*f.name == *name);
        let imports = self.files.iter().flat_map(|f| &f.descriptor.dependency).map(String::as_str);
        let mut dangling: Vec<&str> = imports.filter(|name| !known(name)).collect();
        dangling.sort_unstable();
        dangling.dedup();
        let pool = resolve(&self.files, &dangling)?;
        let mut set = Vec::new();
        for file in &self.files {
            let Some(resolved) = pool.get_file_by_name(&file.name) else { continue };
            let mut descriptor = resolved.file_descriptor_proto().clone();
            descriptor.dependency.clone_from(&file.descriptor.dependency);
            let bytes = encode_file(&descriptor, &file.features);
            prost::encoding::bytes::encode(1, &bytes, &mut set);
        }
        Ok(set)
    }
}

/// An extension counts as a field of the message that it extends: the wire does not tell them apart.
fn add_extensions(contract: &mut Contract, extensions: Vec<(Name, Field)>) {
    let mut extended = HashSet::new();
    for (extendee, field) in extensions {
        if let Some(message) = contract.messages.get_mut(&extendee) {
            Arc::make_mut(message).fields.push(field);
            extended.insert(extendee);
        }
    }
    for name in extended {
        if let Some(message) = contract.messages.get_mut(&name) {
            Arc::make_mut(message).fields.sort_by_key(|f| f.number);
        }
    }
}

/// A field's enum is closed when the enum is, or when C++ treats the field so (already set).
fn close_enum_fields(contract: &mut Contract) {
    let closed: BTreeMap<Name, bool> =
        contract.enums.values().map(|e| (e.name.clone(), e.closed)).collect();
    let closes = |field: &Field| {
        !field.closed_enum
            && matches!(&field.ty, Type::Enum(name) if closed.get(name).is_some_and(|closed| *closed))
    };
    for message in contract.messages.values_mut() {
        if message.fields.iter().any(closes) {
            let fields = &mut Arc::make_mut(message).fields;
            fields.iter_mut().filter(|f| closes(f)).for_each(|f| f.closed_enum = true);
        }
    }
}

struct Builder<'a> {
    file: usize,
    features: &'a FileFeatures,
    proto2: bool,
}

impl Builder<'_> {
    fn override_at(&self, path: &[i32]) -> FeatureSet {
        self.features.overrides.get(path).copied().unwrap_or_default()
    }

    fn place(&self, path: &[i32]) -> Place {
        Place { file: self.file, path: path.to_vec() }
    }

    fn reserved_names(&self, path: &[i32], written: &[String]) -> Vec<Name> {
        let identifiers = self.features.reserved_names.get(path).into_iter().flatten().cloned();
        let mut names: Vec<Name> =
            written.iter().map(|n| Name::from(n.as_str())).chain(identifiers).collect();
        names.sort();
        names.dedup();
        names
    }

    fn message(
        &self,
        contract: &mut Contract,
        scope: &str,
        path: Vec<i32>,
        descriptor: &DescriptorProto,
        outer: FeatureSet,
    ) {
        let name = qualify(scope, descriptor.name());
        let features = self.override_at(&path).or(outer);
        let child = |kind: i32, at: usize| [path.as_slice(), &[kind, index_i32(at)]].concat();

        let in_map_entry = descriptor.options.as_ref().is_some_and(|o| o.map_entry());
        let map_entries: HashSet<Name> = descriptor
            .nested_type
            .iter()
            .filter(|m| m.options.as_ref().is_some_and(|o| o.map_entry()))
            .map(|m| qualify(&name, m.name()))
            .collect();
        let is_map = |ty: &Type| ty.named().is_some_and(|n| map_entries.contains(n));
        let map_fields: HashMap<&str, usize> = descriptor
            .field
            .iter()
            .enumerate()
            .filter(|_| !map_entries.is_empty())
            .map(|(at, f)| (f.type_name().trim_start_matches('.'), at))
            .collect();
        let synthetic: HashSet<i32> = descriptor
            .field
            .iter()
            .filter(|f| f.proto3_optional())
            .filter_map(|f| f.oneof_index)
            .collect();
        let oneof_features: Vec<FeatureSet> = (0..descriptor.oneof_decl.len())
            .map(|at| self.override_at(&child(8, at)).or(features))
            .collect();
        let mut fields: Vec<Field> = descriptor
            .field
            .iter()
            .enumerate()
            .map(|(at, field)| {
                let path = child(2, at);
                let oneof = field
                    .oneof_index
                    .filter(|_| !field.proto3_optional())
                    .and_then(|index| usize::try_from(index).ok());
                let outer = oneof.and_then(|at| oneof_features.get(at)).copied();
                let resolved = self.override_at(&path).or(outer.unwrap_or(features));
                let oneof = oneof
                    .and_then(|at| descriptor.oneof_decl.get(at))
                    .map(|oneof| Name::from(oneof.name()));
                let mut field = self.field(field, &path, oneof, resolved);
                // Maps and what is in them are never written as groups.
                field.delimited &= !in_map_entry && !is_map(&field.ty);
                field
            })
            .collect();
        fields.sort_by_key(|f| f.number);

        let oneofs = descriptor
            .oneof_decl
            .iter()
            .enumerate()
            .filter(|(at, _)| !synthetic.contains(&index_i32(*at)))
            .map(|(at, oneof)| Oneof {
                name: oneof.name().into(),
                place: self.place(&child(8, at)),
            })
            .collect();
        // Message ranges exclude their end.
        let range = |start: i32, end: i32| (start, end.saturating_sub(1));
        let reserved_numbers =
            sorted(descriptor.reserved_range.iter().map(|r| range(r.start(), r.end())));
        let extension_ranges =
            sorted(descriptor.extension_range.iter().map(|r| range(r.start(), r.end())));

        for (at, nested) in descriptor.nested_type.iter().enumerate() {
            let mut outer = features;
            if nested.options.as_ref().is_some_and(|o| o.map_entry()) {
                // The entry's key and value take over what is set on the map field.
                let field = map_fields.get(&*qualify(&name, nested.name()));
                outer = field.map_or(outer, |at| self.override_at(&child(2, *at)).or(outer));
            }
            self.message(contract, &name, child(3, at), nested, outer);
        }
        for (at, nested) in descriptor.enum_type.iter().enumerate() {
            self.enumeration(contract, &name, child(4, at), nested, features);
        }
        let options = descriptor.options.as_ref();
        contract.messages.insert(
            name.clone(),
            Arc::new(Message {
                name,
                fields,
                oneofs,
                reserved_numbers,
                reserved_names: self.reserved_names(&path, &descriptor.reserved_name),
                extension_ranges,
                map_entry: options.is_some_and(|o| o.map_entry()),
                message_set: options.is_some_and(|o| o.message_set_wire_format()),
                reach: Reach::default(),
                place: self.place(&path),
                by_name: Index::default(),
            }),
        );
    }

    fn field(
        &self,
        descriptor: &FieldDescriptorProto,
        path: &[i32],
        oneof: Option<Name>,
        features: FeatureSet,
    ) -> Field {
        let ty = field_type(descriptor);
        let label = match descriptor.label() {
            ProtoLabel::Repeated => Label::Repeated,
            ProtoLabel::Required => Label::Required,
            ProtoLabel::Optional if features.presence == Some(FieldPresence::LegacyRequired) => {
                Label::Required
            }
            ProtoLabel::Optional => Label::Singular,
        };
        let is_message = matches!(ty, Type::Message(_));
        let presence = if label == Label::Repeated {
            Presence::Repeated
        } else if is_message
            || oneof.is_some()
            || descriptor.proto3_optional()
            || label == Label::Required
            || features.presence != Some(FieldPresence::Implicit)
        {
            Presence::Explicit
        } else {
            Presence::Implicit
        };
        let packable = match &ty {
            Type::Scalar(scalar) => scalar.packable(),
            Type::Enum(_) => true,
            Type::Message(_) => false,
        };
        let packed_option = descriptor.options.as_ref().and_then(|o| {
            o.packed.or_else(|| {
                // Parsed files still carry options as written.
                o.uninterpreted_option
                    .iter()
                    .find(|u| u.name.len() == 1 && u.name[0].name_part == "packed")
                    .map(|u| u.identifier_value() == "true")
            })
        });
        let is_group = descriptor.r#type() == ProtoType::Group && descriptor.r#type.is_some();
        Field {
            name: descriptor.name().into(),
            number: descriptor.number(),
            label,
            presence,
            oneof,
            packed: label == Label::Repeated
                && packable
                && packed_option.or(features.packed).unwrap_or(false),
            default: descriptor.default_value.as_deref().map(|text| match &ty {
                Type::Scalar(Scalar::Double) => spell_double(text),
                Type::Scalar(Scalar::Float) => spell_float(text),
                _ => text.into(),
            }),
            json_name: descriptor.json_name().into(),
            deprecated: descriptor.options.as_ref().is_some_and(|o| o.deprecated()),
            verify_utf8: ty == Type::Scalar(Scalar::String)
                && features.verify_utf8.unwrap_or(false),
            delimited: is_group || (is_message && features.delimited.unwrap_or(false)),
            closed_enum: matches!(ty, Type::Enum(_))
                && (self.proto2 || features.legacy_closed.unwrap_or(false)),
            ty,
            place: self.place(path),
        }
    }

    /// An extension as a field named `[full.name]`, and the message that it extends.
    fn extension(
        &self,
        scope: &str,
        path: &[i32],
        descriptor: &FieldDescriptorProto,
        outer: FeatureSet,
    ) -> (Name, Field) {
        let features = self.override_at(path).or(outer);
        // Extensions always have presence.
        let presence = Some(match features.presence {
            Some(FieldPresence::LegacyRequired) => FieldPresence::LegacyRequired,
            _ => FieldPresence::Explicit,
        });
        let field = self.field(descriptor, path, None, FeatureSet { presence, ..features });
        let name = format!("[{}]", qualify(scope, descriptor.name())).into();
        let extendee = descriptor.extendee().trim_start_matches('.').into();
        (extendee, Field { name, ..field })
    }

    /// Extensions declared inside a message, at any depth.
    fn nested_extensions(
        &self,
        found: &mut Vec<(Name, Field)>,
        scope: &str,
        path: &[i32],
        descriptor: &DescriptorProto,
        outer: FeatureSet,
    ) {
        let name = qualify(scope, descriptor.name());
        let features = self.override_at(path).or(outer);
        let child = |kind: i32, at: usize| [path, &[kind, index_i32(at)]].concat();
        for (at, extension) in descriptor.extension.iter().enumerate() {
            found.push(self.extension(&name, &child(6, at), extension, features));
        }
        for (at, nested) in descriptor.nested_type.iter().enumerate() {
            self.nested_extensions(found, &name, &child(3, at), nested, features);
        }
    }

    fn enumeration(
        &self,
        contract: &mut Contract,
        scope: &str,
        path: Vec<i32>,
        descriptor: &EnumDescriptorProto,
        outer: FeatureSet,
    ) {
        let name = qualify(scope, descriptor.name());
        let features = self.override_at(&path).or(outer);
        let values = descriptor
            .value
            .iter()
            .enumerate()
            .map(|(at, value)| EnumValue {
                name: value.name().into(),
                number: value.number(),
                place: self.place(&[path.as_slice(), &[2, index_i32(at)]].concat()),
            })
            .collect();
        // Enum ranges include their end.
        let reserved_numbers =
            sorted(descriptor.reserved_range.iter().map(|r| (r.start(), r.end())));
        contract.enums.insert(
            name.clone(),
            Arc::new(Enum {
                name,
                values,
                closed: features.closed.unwrap_or(false),
                reserved_numbers,
                reserved_names: self.reserved_names(&path, &descriptor.reserved_name),
                reach: Reach::default(),
                place: self.place(&path),
                by_name: Index::default(),
                by_number: Index::default(),
            }),
        );
    }
}

/// Ranges in order, those that overlap joined.
fn sorted(ranges: impl Iterator<Item = (i32, i32)>) -> Vec<(i32, i32)> {
    let mut ranges: Vec<(i32, i32)> = ranges.collect();
    ranges.sort_unstable();
    let mut joined: Vec<(i32, i32)> = Vec::with_capacity(ranges.len());
    for (lo, hi) in ranges {
        match joined.last_mut() {
            Some((_, end)) if lo <= *end => *end = hi.max(*end),
            _ => joined.push((lo, hi)),
        }
    }
    joined
}

fn field_type(descriptor: &FieldDescriptorProto) -> Type {
    let named = || Name::from(descriptor.type_name().trim_start_matches('.'));
    match descriptor.r#type() {
        ProtoType::Message | ProtoType::Group => Type::Message(named()),
        ProtoType::Enum => Type::Enum(named()),
        ProtoType::Double => Type::Scalar(Scalar::Double),
        ProtoType::Float => Type::Scalar(Scalar::Float),
        ProtoType::Int64 => Type::Scalar(Scalar::Int64),
        ProtoType::Uint64 => Type::Scalar(Scalar::Uint64),
        ProtoType::Int32 => Type::Scalar(Scalar::Int32),
        ProtoType::Fixed64 => Type::Scalar(Scalar::Fixed64),
        ProtoType::Fixed32 => Type::Scalar(Scalar::Fixed32),
        ProtoType::Bool => Type::Scalar(Scalar::Bool),
        ProtoType::String => Type::Scalar(Scalar::String),
        ProtoType::Bytes => Type::Scalar(Scalar::Bytes),
        ProtoType::Uint32 => Type::Scalar(Scalar::Uint32),
        ProtoType::Sfixed32 => Type::Scalar(Scalar::Sfixed32),
        ProtoType::Sfixed64 => Type::Scalar(Scalar::Sfixed64),
        ProtoType::Sint32 => Type::Scalar(Scalar::Sint32),
        ProtoType::Sint64 => Type::Scalar(Scalar::Sint64),
    }
}

fn qualify(scope: &str, name: &str) -> Name {
    if scope.is_empty() { name.into() } else { format!("{scope}.{name}").into() }
}

fn index_i32(index: usize) -> i32 {
    i32::try_from(index).unwrap_or(i32::MAX)
}
