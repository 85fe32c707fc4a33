//! From a revision's files to its contract: entry files, their import closure, the model.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use prost_types::{DescriptorProto, FileDescriptorProto};
use protox::file::{FileResolver, GoogleFileResolver};

use super::build::{build, build_after};
use super::features::{FileFeatures, Syntax, decode_file};
use super::model::{Contract, Name};
use super::parse::{ParseCache, ParsedFile, Spans};
use crate::error::{Error, ErrorKind};

/// More files than this in one import closure are refused (the real one has 46).
const MAX_FILES: usize = 20_000;

/// More source text than this in one import closure is refused (the real one has 0.6 MB): parsed files
/// take up to 150 times their size.
const MAX_BYTES: usize = 4 << 20;

/// What the contract consists of; comes from the policy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContractSpec {
    /// Messages that are serialized on their own.
    pub roots: Vec<RootSpec>,
    /// Messages that travel in an opaque field.
    pub opaque: Vec<OpaqueSpec>,
    /// Include roots that `import` statements are looked up in, relative to the prefix.
    pub include: Vec<String>,
    /// Places in the tree where the governed project may live, such as `third_party/xla`.
    pub prefixes: Vec<String>,
}

impl ContractSpec {
    /// Paths in the tree where the files of the roots are looked for.
    pub fn candidates(&self) -> Vec<String> {
        self.roots
            .iter()
            .flat_map(|root| &root.files)
            .flat_map(|file| self.all_candidates(file))
            .collect()
    }

    /// Paths of one file in search order, whatever the prefix.
    fn all_candidates(&self, file: &str) -> Vec<String> {
        let top = [String::new()];
        let prefixes = if self.prefixes.is_empty() { &top } else { &self.prefixes[..] };
        let include = if self.include.is_empty() { &top } else { &self.include[..] };
        let paths = prefixes
            .iter()
            .flat_map(|prefix| include.iter().map(move |root| join(&[prefix, root, file])));
        paths.collect()
    }
}

/// A root message and the files that declare it or once did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootSpec {
    /// Full name; a trailing `*` matches every message and enum whose name starts so.
    pub message: String,
    /// Import names of the files that hold it, whichever exist.
    pub files: Vec<String>,
}

/// A message that travels in an opaque field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpaqueSpec {
    /// The field that carries the payload.
    pub field: String,
    /// The message inside it.
    pub message: String,
    /// Import name of the file that declares it.
    pub file: String,
}

/// Read access to the files of one revision.
pub trait FileTree {
    /// The blob at a path, or `None` if there is no such file.
    ///
    /// # Errors
    /// An object that should exist but cannot be read, or something that is no regular file.
    fn find(&self, path: &str) -> Result<Option<git2::Oid>, Error>;

    /// The content of a blob that [`FileTree::find`] returned for this path.
    ///
    /// # Errors
    /// Missing objects and input errors.
    fn read(&self, path: &str, blob: git2::Oid) -> Result<Vec<u8>, Error>;
}

/// The files of a contract, parsed but not resolved: the import closure of the entry files, or a
/// whole descriptor set of which [`SourceClosure::contract`] takes what the roots import.
#[derive(Debug, Clone, Default)]
pub struct SourceClosure {
    /// Where in the tree the governed project was found.
    prefix: Option<String>,
    files: BTreeMap<Arc<str>, Arc<ParsedFile>>,
    /// Files of a descriptor set that cannot be represented; they matter only when a root needs them.
    unusable: BTreeMap<Arc<str>, Arc<Unusable>>,
}

/// A file that cannot be represented, and why.
#[derive(Debug)]
struct Unusable {
    reason: String,
    descriptor: FileDescriptorProto,
}

impl SourceClosure {
    /// Reads the entry files of `spec` that exist in `tree`, and everything they import.
    ///
    /// # Errors
    /// Unreadable files, syntax errors, imports that are not found; each names file and line.
    pub fn read(
        tree: &dyn FileTree,
        spec: &ContractSpec,
        cache: &mut ParseCache,
    ) -> Result<Self, Error> {
        Self::read_after(tree, spec, cache, None)
    }

    /// Like [`SourceClosure::read`], for the later of two revisions: a file that the earlier one found
    /// at some path is the file at that path as long as it exists, so that a copy which comes first in
    /// the search order cannot stand in for it.
    ///
    /// # Errors
    /// Those of [`SourceClosure::read`].
    pub fn read_after(
        tree: &dyn FileTree,
        spec: &ContractSpec,
        cache: &mut ParseCache,
        before: Option<&SourceClosure>,
    ) -> Result<Self, Error> {
        let roots = spec.roots.iter().flat_map(|r| &r.files);
        let entries: Vec<&String> = roots.chain(spec.opaque.iter().map(|o| &o.file)).collect();
        let mut lookup = Lookup { tree, spec, before, prefix: None };
        // Names to read, with the file and the import that asks for them.
        type Asked = (String, Option<(Arc<ParsedFile>, usize)>);
        let mut queue: Vec<Asked> = Vec::new();
        for entry in entries {
            if lookup.settle_prefix(entry)? {
                queue.push((entry.clone(), None));
            }
        }
        let mut closure =
            SourceClosure { prefix: lookup.prefix.clone(), ..SourceClosure::default() };
        let mut bytes = 0usize;
        while let Some((name, importer)) = queue.pop() {
            if closure.files.contains_key(name.as_str()) {
                continue;
            }
            if closure.files.len() >= MAX_FILES {
                return Err(ErrorKind::TooManyFiles { limit: MAX_FILES }.into());
            }
            let file = match lookup.find(&name)? {
                Some((path, blob)) => cache.get(&name, &path, blob, || tree.read(&path, blob))?,
                None => match (bundled(&name)?, importer) {
                    (Some(file), _) => Arc::new(file),
                    (None, Some((importer, at))) => {
                        return Err(import_not_found(&name, &importer, at, &lookup));
                    }
                    (None, None) => continue, // an entry file that this revision does not have
                },
            };
            bytes = bytes.saturating_add(file.source.as_deref().map_or(0, str::len));
            if bytes > MAX_BYTES {
                return Err(ErrorKind::TooManyBytes { limit: MAX_BYTES }.into());
            }
            for (at, import) in file.descriptor.dependency.iter().enumerate() {
                queue.push((import.clone(), Some((file.clone(), at))));
            }
            closure.files.insert(name.as_str().into(), file);
        }
        Ok(closure)
    }

    /// Decodes a serialized `FileDescriptorSet`.
    ///
    /// # Errors
    /// Bytes that are no descriptor set.
    pub fn from_descriptor_set(bytes: &[u8]) -> Result<Self, Error> {
        let set = RawSet::decode_files(bytes)?;
        Self::from_file_descriptors(set.iter().map(Vec::as_slice))
    }

    /// Decodes serialized `FileDescriptorProto`s.
    ///
    /// # Errors
    /// Bytes that are no file descriptor.
    pub fn from_file_descriptors<'a>(
        files: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<Self, Error> {
        let mut closure = SourceClosure::default();
        for bytes in files {
            match decode_file(bytes) {
                Ok(file) => closure.add(file),
                // A set may hold far more than the contract.
                Err(error) if error.is_unsupported() => closure.set_aside(bytes, &error),
                Err(error) => return Err(error),
            }
        }
        closure.add_bundled_imports()?;
        Ok(closure)
    }

    /// Decodes the `FileDescriptorProto`s that were found in a released binary; what turns out to be
    /// none is left out.
    pub(crate) fn from_embedded<'a>(
        files: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<Self, Error> {
        let decodes = |bytes: &&[u8]| !matches!(decode_file(bytes), Err(e) if !e.is_unsupported());
        Self::from_file_descriptors(files.into_iter().filter(decodes))
    }

    /// Keeps a file that is an error only when a root needs it.
    fn set_aside(&mut self, bytes: &[u8], error: &Error) {
        if let Ok(descriptor) = <FileDescriptorProto as prost::Message>::decode(bytes) {
            let unusable = Unusable { reason: error.to_string(), descriptor };
            self.unusable.insert(unusable.descriptor.name().into(), Arc::new(unusable));
        }
    }

    fn add(&mut self, (descriptor, features): (FileDescriptorProto, FileFeatures)) {
        let name: Arc<str> = descriptor.name().into();
        let file = ParsedFile {
            path: name.clone(),
            name: name.clone(),
            descriptor,
            features,
            source: None,
            blob: None,
            spans: Spans::default(),
        };
        self.files.entry(name).or_insert_with(|| Arc::new(file));
    }

    /// A file with a root that is there but cannot be used: the root is not absent.
    fn unusable_entry(&self, spec: &ContractSpec) -> Option<(&Arc<str>, &Arc<Unusable>)> {
        let (entries, patterns) = (entry_files(spec), root_messages(spec));
        self.unusable.iter().find(|(name, unusable)| {
            entries.contains(&***name) || declares_any(&unusable.descriptor, &patterns)
        })
    }

    /// The entry files of `spec` and what they import, directly or not; imports that the set lacks
    /// are returned beside it, with the file that names them.
    fn reduced(&self, spec: &ContractSpec) -> (Vec<Arc<ParsedFile>>, Dangling) {
        let (entries, patterns) = (entry_files(spec), root_messages(spec));
        let mut queue: Vec<&Arc<ParsedFile>> = self
            .files
            .values()
            .filter(|f| entries.contains(&*f.name) || declares_any(&f.descriptor, &patterns))
            .collect();
        let mut seen = BTreeMap::new();
        let mut dangling = Dangling::new();
        while let Some(file) = queue.pop() {
            if seen.insert(&*file.name, file.clone()).is_some() {
                continue;
            }
            for import in &file.descriptor.dependency {
                match self.files.get(import.as_str()) {
                    Some(imported) if !seen.contains_key(import.as_str()) => queue.push(imported),
                    Some(_) => {}
                    None => {
                        dangling.entry(import.clone()).or_insert_with(|| file.name.clone());
                    }
                }
            }
        }
        (seen.into_values().collect(), dangling)
    }

    /// Adds `google/protobuf/*.proto` files that a descriptor set imports but leaves out.
    fn add_bundled_imports(&mut self) -> Result<(), Error> {
        let mut queue: Vec<String> =
            self.files.values().flat_map(|f| f.descriptor.dependency.clone()).collect();
        while let Some(name) = queue.pop() {
            if self.files.contains_key(name.as_str()) {
                continue;
            }
            if let Some(file) = bundled(&name)? {
                queue.extend(file.descriptor.dependency.clone());
                self.files.insert(name.into(), Arc::new(file));
            }
        }
        Ok(())
    }

    /// Whether both closures consist of the same blobs, so that their contracts are equal.
    pub fn same_blobs(&self, other: &SourceClosure) -> bool {
        self.files.len() == other.files.len()
            && self.files.iter().zip(&other.files).all(|((a_name, a), (b_name, b))| {
                let same = match (a.blob, b.blob) {
                    (Some(a), Some(b)) => a == b,
                    // Bundled files and those of descriptor sets have no blobs.
                    (None, None) => a.descriptor == b.descriptor && a.features == b.features,
                    _ => false,
                };
                a_name == b_name && (Arc::ptr_eq(a, b) || same)
            })
    }

    /// Whether both closures declare the same, comments and layout aside: their contracts differ in places only.
    pub fn same_declarations(&self, other: &SourceClosure) -> bool {
        self.files.len() == other.files.len()
            && self.files.iter().zip(&other.files).all(|((a_name, a), (b_name, b))| {
                a_name == b_name && (Arc::ptr_eq(a, b) || a.same_declarations(b))
            })
    }

    /// Whether no entry file was found.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Repository paths of all files.
    pub fn paths(&self) -> impl Iterator<Item = &Arc<str>> {
        self.files.values().map(|f| &f.path)
    }

    /// Resolves the types and marks what the roots reach.
    ///
    /// # Errors
    /// What protobuf itself rejects.
    pub fn contract(&self, spec: &ContractSpec) -> Result<Contract, Error> {
        if let Some((path, unusable)) = self.unusable_entry(spec) {
            let (path, reason) = (path.to_string(), unusable.reason.clone());
            return Err(ErrorKind::UnusableFile { path, reason }.into());
        }
        let (files, dangling) = self.reduced(spec);
        self.build(spec, files, &dangling)
    }

    /// Like [`SourceClosure::contract`], and the same contract, sooner when `before` has most of it: types of files that
    /// did not change are taken from there.
    ///
    /// # Errors
    /// Those of [`SourceClosure::contract`].
    pub fn contract_after(
        &self,
        spec: &ContractSpec,
        before: &Contract,
    ) -> Result<Contract, Error> {
        if !self.unusable.is_empty() {
            return self.contract(spec);
        }
        let (files, dangling) = self.reduced(spec);
        let reused = dangling.is_empty().then(|| build_after(&files, before)).flatten();
        match reused {
            Some(mut contract) => {
                contract.govern(spec);
                Ok(contract)
            }
            None => self.build(spec, files, &dangling),
        }
    }

    fn build(
        &self,
        spec: &ContractSpec,
        files: Vec<Arc<ParsedFile>>,
        dangling: &Dangling,
    ) -> Result<Contract, Error> {
        let imports = dangling.keys().map(String::as_str).collect();
        let mut contract =
            build(files, imports).map_err(|error| match dangling.first_key_value() {
                // Without the file its types are unknown, which is what the error says at length.
                Some((import, importer)) => ErrorKind::DanglingImport {
                    importer: importer.to_string(),
                    import: import.clone(),
                    why: match self.unusable.get(import.as_str()) {
                        Some(unusable) => format!("cannot be used: {}", unusable.reason),
                        None => "the set does not have".to_owned(),
                    },
                }
                .into(),
                None => error,
            })?;
        contract.govern(spec);
        Ok(contract)
    }
}

impl Contract {
    /// Marks what the roots of `spec` reach.
    pub(crate) fn govern(&mut self, spec: &ContractSpec) {
        let named = |patterns: Vec<&str>| -> Vec<Name> {
            let mut names: Vec<Name> =
                patterns.iter().flat_map(|pattern| matching(self, pattern)).collect();
            names.sort();
            names.dedup();
            names
        };
        let roots = named(spec.roots.iter().map(|r| &*r.message).collect());
        let json_roots = named(spec.opaque.iter().map(|o| &*o.message).collect());
        self.set_roots(roots, json_roots);
    }

    /// Marks what some roots reach.
    pub(crate) fn set_roots(&mut self, roots: Vec<Name>, json_roots: Vec<Name>) {
        self.roots = roots;
        self.json_roots = json_roots;
        self.mark_reachable();
    }
}

/// Imports without a file, each with the first file that names it.
type Dangling = BTreeMap<String, Arc<str>>;

/// Whether a file declares a type that one of the patterns names.
fn declares_any(file: &FileDescriptorProto, patterns: &[&str]) -> bool {
    fn any(scope: &str, messages: &[DescriptorProto], patterns: &[&str]) -> bool {
        messages.iter().any(|message| {
            let name = match scope {
                "" => message.name().to_owned(),
                _ => format!("{scope}.{}", message.name()),
            };
            let named = patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(prefix) => name.starts_with(prefix),
                None => name == *pattern,
            });
            // Nested messages only where a name can still match.
            let within = |p: &&str| {
                p.starts_with(&name) || p.strip_suffix('*').is_some_and(|p| name.starts_with(p))
            };
            named || (patterns.iter().any(within) && any(&name, &message.nested_type, patterns))
        })
    }
    // A pattern takes enums as well.
    let enums = file.enum_type.iter().any(|enumeration| {
        let name = match file.package() {
            "" => enumeration.name().to_owned(),
            package => format!("{package}.{}", enumeration.name()),
        };
        patterns.iter().filter_map(|p| p.strip_suffix('*')).any(|p| name.starts_with(p))
    });
    enums || any(file.package(), &file.message_type, patterns)
}

/// Import names of the files that roots may be in.
fn entry_files(spec: &ContractSpec) -> BTreeSet<&str> {
    let roots = spec.roots.iter().flat_map(|r| &r.files);
    roots.chain(spec.opaque.iter().map(|o| &o.file)).map(String::as_str).collect()
}

/// Names or patterns of the root messages.
fn root_messages(spec: &ContractSpec) -> Vec<&str> {
    let roots = spec.roots.iter().map(|r| &*r.message);
    roots.chain(spec.opaque.iter().map(|o| &*o.message)).collect()
}

/// The message with this name; a trailing `*` matches every message and enum whose name starts so.
fn matching(contract: &Contract, pattern: &str) -> Vec<Name> {
    match pattern.strip_suffix('*') {
        Some(prefix) => contract
            .messages
            .values()
            .filter(|m| !m.map_entry)
            .map(|m| &m.name)
            .chain(contract.enums.keys())
            .filter(|name| name.starts_with(prefix))
            .cloned()
            .collect(),
        None => {
            contract.messages.get_key_value(pattern).map(|(n, _)| n.clone()).into_iter().collect()
        }
    }
}

struct Lookup<'a> {
    tree: &'a dyn FileTree,
    spec: &'a ContractSpec,
    before: Option<&'a SourceClosure>,
    prefix: Option<String>,
}

impl Lookup<'_> {
    /// Whether an entry file exists; the first one found fixes the prefix.
    fn settle_prefix(&mut self, entry: &str) -> Result<bool, Error> {
        if self.prefix.is_some() {
            return Ok(self.find(entry)?.is_some());
        }
        if self.find_as_before(entry)?.is_some() {
            self.prefix = self.before.and_then(|before| before.prefix.clone());
            return Ok(true);
        }
        let prefixes = self.spec.prefixes.iter().cloned();
        let none = self.spec.prefixes.is_empty().then(String::new);
        for prefix in prefixes.chain(none) {
            self.prefix = Some(prefix);
            if self.find(entry)?.is_some() {
                return Ok(true);
            }
        }
        self.prefix = None;
        Ok(false)
    }

    fn candidates(&self, name: &str) -> Vec<String> {
        let none = [String::new()];
        let include = if self.spec.include.is_empty() { &none } else { &self.spec.include[..] };
        let prefix = self.prefix.as_deref().unwrap_or("");
        include.iter().map(|root| join(&[prefix, root, name])).collect()
    }

    fn find(&self, name: &str) -> Result<Option<(String, git2::Oid)>, Error> {
        // `..` and absolute names cannot leave the tree: they are not found.
        if name.split('/').any(|part| part.is_empty() || part == "." || part == "..") {
            return Ok(None);
        }
        if let Some(found) = self.find_as_before(name)? {
            return Ok(Some(found));
        }
        for path in self.candidates(name) {
            if let Some(blob) = self.tree.find(&path)? {
                return Ok(Some((path, blob)));
            }
        }
        Ok(None)
    }
}

impl Lookup<'_> {
    /// The file at the path where the earlier revision had it.
    fn find_as_before(&self, name: &str) -> Result<Option<(String, git2::Oid)>, Error> {
        let Some(file) = self.before.and_then(|before| before.files.get(name)) else {
            return Ok(None);
        };
        if file.blob.is_none() {
            return Ok(None); // bundled, or from a descriptor set
        }
        let Some(blob) = self.tree.find(&file.path)? else { return Ok(None) };
        // Base had nothing that comes before it in the search order. What does now would be found
        // first from the next change on, and nobody would have judged it.
        for path in self.spec.all_candidates(name) {
            if *path == *file.path {
                break;
            }
            if self.tree.find(&path)?.is_some() {
                let used = file.path.to_string();
                return Err(ErrorKind::Shadowed { name: name.to_owned(), path, used }.into());
            }
        }
        Ok(Some((file.path.to_string(), blob)))
    }
}

fn join(parts: &[&str]) -> String {
    let parts: Vec<&str> =
        parts.iter().map(|p| p.trim_matches('/')).filter(|p| !p.is_empty()).collect();
    parts.join("/")
}

/// The `google/protobuf/*.proto` files that come with every protobuf compiler.
fn bundled(name: &str) -> Result<Option<ParsedFile>, Error> {
    match GoogleFileResolver::new().open_file(name) {
        Ok(file) => {
            let descriptor = file.file_descriptor_proto().clone();
            let syntax =
                if descriptor.syntax() == "proto3" { Syntax::Proto3 } else { Syntax::Proto2 };
            Ok(Some(ParsedFile {
                name: name.into(),
                path: name.into(),
                descriptor,
                features: FileFeatures {
                    syntax,
                    overrides: BTreeMap::new(),
                    reserved_names: BTreeMap::new(),
                },
                source: None,
                blob: None,
                spans: Spans::default(),
            }))
        }
        // Feature extensions of single languages: the options that need them are taken out before
        // anything is resolved, so the files may be empty.
        Err(error)
            if error.is_file_not_found()
                && name
                    .strip_prefix("google/protobuf/")
                    .is_some_and(|n| n.ends_with("_features.proto") && !n.contains('/')) =>
        {
            Ok(Some(ParsedFile {
                name: name.into(),
                path: name.into(),
                descriptor: FileDescriptorProto {
                    name: Some(name.to_owned()),
                    ..Default::default()
                },
                features: FileFeatures {
                    syntax: Syntax::Proto2,
                    overrides: BTreeMap::new(),
                    reserved_names: BTreeMap::new(),
                },
                source: None,
                blob: None,
                spans: Spans::default(),
            }))
        }
        Err(error) if error.is_file_not_found() => Ok(None),
        Err(error) => Err(ErrorKind::Bundled { reason: error.to_string() }.into()),
    }
}

fn import_not_found(import: &str, importer: &ParsedFile, at: usize, lookup: &Lookup<'_>) -> Error {
    let at = i32::try_from(at).unwrap_or(0);
    let location = importer.locate(&[3, at]);
    let source = importer.source.as_deref().unwrap_or("");
    ErrorKind::ImportNotFound {
        import: import.to_owned(),
        path: importer.path.to_string(),
        line: location.line,
        tried: lookup.candidates(import).join(", "),
        span: crate::error::byte_span(source, &location),
        source_code: miette::NamedSource::new(&importer.path, source.to_owned()),
    }
    .into()
}

/// `google.protobuf.FileDescriptorSet` with its files left encoded, so that features survive.
#[derive(Clone, PartialEq, prost::Message)]
struct RawSet {
    #[prost(bytes = "vec", repeated, tag = "1")]
    file: Vec<Vec<u8>>,
}

impl RawSet {
    fn decode_files(bytes: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        let set = <RawSet as prost::Message>::decode(bytes)
            .map_err(|error| ErrorKind::DescriptorSet { reason: error.to_string() })?;
        if set.file.is_empty() {
            return Err(ErrorKind::DescriptorSet { reason: "it holds no file".to_owned() }.into());
        }
        Ok(set.file)
    }
}
