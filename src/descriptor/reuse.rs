//! Which files' types may be taken from the contract before.
//!
//! What a name in a file refers to depends on the names that other files declare. A file that did not change keeps its
//! types if no name that came, went or became another kind of thing in a changed file ends in a word that it uses in a
//! reference: every name that is looked up for a reference ends in one of its words.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
};

use super::parse::ParsedFile;

/// Options are resolved against the messages of this file.
const DESCRIPTOR: &str = "google/protobuf/descriptor.proto";

/// Indices of the files that declare something else than before, both lists sorted by name; `None` where the types of
/// the others may have changed with them, or where that is not simple enough to tell.
pub(super) fn changed(files: &[Arc<ParsedFile>], before: &[Arc<ParsedFile>]) -> Option<Vec<usize>> {
    let same_files =
        files.len() == before.len() && files.iter().zip(before).all(|(a, b)| a.name == b.name);
    if !same_files || files.iter().any(|file| &*file.name == DESCRIPTOR) {
        return None;
    }
    let differs = |at: &usize| match (files.get(*at), before.get(*at)) {
        (Some(a), Some(b)) => !Arc::ptr_eq(a, b) && !a.same_declarations(b),
        _ => true,
    };
    let changed: Vec<usize> = (0..files.len()).filter(differs).collect();
    let mut kinds = HashMap::new();
    let mut kinds_before = HashMap::new();
    for &at in &changed {
        let (file, before) = (&files.get(at)?.descriptor, &before.get(at)?.descriptor);
        let same_imports = file.package == before.package
            && file.dependency == before.dependency
            && file.public_dependency == before.public_dependency;
        if !same_imports {
            return None;
        }
        Names { kinds: &mut kinds, at }.file(file);
        Names { kinds: &mut kinds_before, at }.file(before);
    }
    let new = kinds.iter().filter(|(name, kind)| kinds_before.get(*name) != Some(*kind));
    let gone = kinds_before.keys().filter(|name| !kinds.contains_key(*name));
    let words: HashSet<&str> =
        new.map(|(name, _)| name).chain(gone).filter_map(|name| name.rsplit('.').next()).collect();
    for (at, file) in files.iter().enumerate() {
        let file = &file.descriptor;
        let known = !changed.contains(&at);
        let free = file.extension.is_empty()
            && file.message_type.iter().all(|m| is_free(m, known.then_some(&words)));
        if !free {
            return None;
        }
    }
    Some(changed)
}

/// Whether a message is without extensions and without references that one of the words may concern.
fn is_free(message: &DescriptorProto, words: Option<&HashSet<&str>>) -> bool {
    let concerns = |field: &FieldDescriptorProto| {
        words.is_some_and(|words| {
            let mut parts = field.type_name().split('.').chain([field.default_value()]);
            parts.any(|part| words.contains(part))
        })
    };
    message.extension.is_empty()
        && !message.field.iter().any(concerns)
        && message.nested_type.iter().all(|nested| is_free(nested, words))
}

/// What a name stands for, as far as it makes a difference to those who refer to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Message,
    MapEntry,
    Enum,
    Other,
}

/// Full names that a file declares.
struct Names<'n> {
    /// What each stands for, and the index of the file: not every file sees every other.
    kinds: &'n mut HashMap<String, (Kind, usize)>,
    at: usize,
}

impl Names<'_> {
    fn file(&mut self, file: &FileDescriptorProto) {
        let scope = file.package();
        file.message_type.iter().for_each(|message| self.message(scope, message));
        file.enum_type.iter().for_each(|enumeration| self.enumeration(scope, enumeration));
    }

    fn message(&mut self, scope: &str, message: &DescriptorProto) {
        let name = qualify(scope, message.name());
        let map_entry = message.options.as_ref().is_some_and(|options| options.map_entry());
        let fields = message.field.iter().map(|field| field.name());
        let oneofs = message.oneof_decl.iter().map(|oneof| oneof.name());
        for member in fields.chain(oneofs) {
            self.add(qualify(&name, member), Kind::Other);
        }
        message.nested_type.iter().for_each(|nested| self.message(&name, nested));
        message.enum_type.iter().for_each(|nested| self.enumeration(&name, nested));
        self.add(name, if map_entry { Kind::MapEntry } else { Kind::Message });
    }

    fn enumeration(&mut self, scope: &str, enumeration: &EnumDescriptorProto) {
        for value in &enumeration.value {
            self.add(qualify(scope, value.name()), Kind::Other);
        }
        self.add(qualify(scope, enumeration.name()), Kind::Enum);
    }

    fn add(&mut self, name: String, kind: Kind) {
        self.kinds.insert(name, (kind, self.at));
    }
}

fn qualify(scope: &str, name: &str) -> String {
    if scope.is_empty() { name.to_owned() } else { format!("{scope}.{name}") }
}
