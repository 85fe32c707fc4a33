//! prost-reflect's part: checking the files and resolving their names.

use std::sync::Arc;

use prost_reflect::DescriptorPool;
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    UninterpretedOption,
};

use super::parse::ParsedFile;
use crate::error::{Error, ErrorKind};

/// Lets prost-reflect check the files and resolve their names.
///
/// Source information is most of a parsed file and the pool would copy it, so it goes along only
/// when there is an error to place.
pub(super) fn resolve(
    files: &[Arc<ParsedFile>],
    dangling: &[&str],
) -> Result<DescriptorPool, Error> {
    let visible = super::imports::visible_through_public(files)?;
    let prepared = |whole: bool| -> Vec<FileDescriptorProto> {
        let files = files.iter().zip(&visible).map(|(file, visible)| {
            let mut prepared = pool_file(&file.descriptor);
            prepared.dependency.extend(visible.iter().map(|name| name.to_string()));
            if whole {
                prepared.source_code_info = file.descriptor.source_code_info.clone();
            }
            prepared
        });
        let stubs = dangling.iter().map(|name| FileDescriptorProto {
            name: Some((*name).to_owned()),
            ..Default::default()
        });
        files.chain(stubs).collect()
    };
    let mut pool = DescriptorPool::new();
    if pool.add_file_descriptor_protos(prepared(false)).is_ok() {
        return Ok(pool);
    }
    let mut pool = DescriptorPool::new();
    match pool.add_file_descriptor_protos(prepared(true)) {
        Ok(()) => Ok(pool),
        Err(error) => {
            let file = error.file().and_then(|name| files.iter().find(|f| &*f.name == name));
            let place = match (file, error.line()) {
                (Some(file), Some(line)) => format!("{}:{}: ", file.path, line + 1),
                (Some(file), None) => format!("{}: ", file.path),
                (None, _) => String::new(),
            };
            let error = match file.and_then(|f| f.source.as_deref()) {
                Some(source) => error.with_source_code(source),
                None => error,
            };
            Err(ErrorKind::Check { place, error: Box::new(error) }.into())
        }
    }
}

/// Lets prost-reflect check and resolve some of the files, the others known to be right; `None` when there is an error.
///
/// Of the others only names are taken that can be referred to, or that can collide with another file's.
pub(super) fn resolve_some(files: &[Arc<ParsedFile>], some: &[usize]) -> Option<DescriptorPool> {
    let visible = super::imports::visible_through_public(files).ok()?;
    let prepared = files.iter().zip(&visible).enumerate().map(|(at, (file, visible))| {
        if some.contains(&at) {
            let mut prepared = pool_file(&file.descriptor);
            prepared.dependency.extend(visible.iter().map(|name| name.to_string()));
            return prepared;
        }
        FileDescriptorProto {
            name: file.descriptor.name.clone(),
            package: file.descriptor.package.clone(),
            message_type: file.descriptor.message_type.iter().map(names_of).collect(),
            enum_type: file.descriptor.enum_type.iter().map(values_of).collect(),
            syntax: file.descriptor.syntax.clone(),
            ..Default::default()
        }
    });
    let prepared: Vec<FileDescriptorProto> = prepared.collect();
    let mut pool = DescriptorPool::new();
    pool.add_file_descriptor_protos(prepared).ok().map(|()| pool)
}

/// A message with its nested types and without fields.
fn names_of(message: &DescriptorProto) -> DescriptorProto {
    DescriptorProto {
        name: message.name.clone(),
        nested_type: message.nested_type.iter().map(names_of).collect(),
        enum_type: message.enum_type.iter().map(values_of).collect(),
        ..Default::default()
    }
}

/// An enum whose values can be defaults of fields.
fn values_of(enumeration: &EnumDescriptorProto) -> EnumDescriptorProto {
    let mut copy = enumeration.clone();
    copy.reserved_range.clear();
    plain_enum(&mut copy);
    copy
}

/// What the pool needs of a file: no services, no source information, and no custom options, which
/// have no effect on the wire and may nest without bound. Public imports are expanded instead.
fn pool_file(file: &FileDescriptorProto) -> FileDescriptorProto {
    let mut copy = FileDescriptorProto {
        name: file.name.clone(),
        package: file.package.clone(),
        dependency: file.dependency.clone(),
        public_dependency: Vec::new(),
        weak_dependency: Vec::new(),
        message_type: file.message_type.clone(),
        enum_type: file.enum_type.clone(),
        service: Vec::new(),
        extension: file.extension.clone(),
        options: file.options.clone(),
        source_code_info: None,
        syntax: file.syntax.clone(),
    };
    if let Some(options) = &mut copy.options {
        plain(&mut options.uninterpreted_option);
    }
    copy.message_type.iter_mut().for_each(plain_message);
    copy.enum_type.iter_mut().for_each(plain_enum);
    copy.extension.iter_mut().for_each(plain_field);
    copy
}

fn plain_message(message: &mut DescriptorProto) {
    if let Some(options) = &mut message.options {
        plain(&mut options.uninterpreted_option);
    }
    message.field.iter_mut().chain(&mut message.extension).for_each(plain_field);
    message.enum_type.iter_mut().for_each(plain_enum);
    for options in message.oneof_decl.iter_mut().filter_map(|o| o.options.as_mut()) {
        plain(&mut options.uninterpreted_option);
    }
    for options in message.extension_range.iter_mut().filter_map(|r| r.options.as_mut()) {
        options.uninterpreted_option.clear();
    }
    message.nested_type.iter_mut().for_each(plain_message);
}

fn plain_field(field: &mut FieldDescriptorProto) {
    if let Some(options) = &mut field.options {
        plain(&mut options.uninterpreted_option);
    }
}

fn plain_enum(enumeration: &mut EnumDescriptorProto) {
    let values = enumeration.value.iter_mut().filter_map(|v| v.options.as_mut());
    values.for_each(|o| plain(&mut o.uninterpreted_option));
    if let Some(options) = &mut enumeration.options {
        plain(&mut options.uninterpreted_option);
    }
}

/// Keeps protobuf's own scalar options.
fn plain(options: &mut Vec<UninterpretedOption>) {
    options.retain(|option| {
        option.aggregate_value.is_none() && !option.name.iter().any(|part| part.is_extension)
    });
}
