//! Parsing one `.proto` file, and the cache that lets two revisions share a parsed blob.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use prost_types::FileDescriptorProto;

use super::features::FileFeatures;
use super::model::Location;
use super::{edition, features};
use crate::error::{Error, ErrorKind, SyntaxError};

/// Larger `.proto` files are refused: the largest real one has 100 kB, and some checks of the
/// libraries take time quadratic in a file's length.
const MAX_FILE_BYTES: usize = 1 << 20;

/// One parsed file, shared between revisions that hold the same blob.
#[derive(Debug)]
pub struct ParsedFile {
    /// Import name, such as `xla/xla_data.proto`.
    pub name: Arc<str>,
    /// Path inside the repository; the import name for descriptor sets.
    pub path: Arc<str>,
    /// Descriptor, lowered to proto2 or proto3 syntax; type names are not resolved yet.
    pub descriptor: FileDescriptorProto,
    /// Syntax and feature settings that the lowered descriptor cannot express.
    pub features: FileFeatures,
    /// Source text, if the revision has sources.
    pub source: Option<Arc<str>>,
    /// Object id of the blob (hash of the content where there is no object database).
    pub blob: Option<git2::Oid>,
    /// Source spans by descriptor path, made when first needed.
    pub(super) spans: Spans,
}

/// Source spans by descriptor path.
#[derive(Debug, Default)]
pub(super) struct Spans(OnceLock<HashMap<Vec<i32>, Vec<i32>>>);

impl ParsedFile {
    /// Parses the text of a `.proto` file.
    ///
    /// # Errors
    /// Bytes that are not UTF-8, files over 1 MiB, syntax errors, and edition features that cannot be
    /// lowered; each names file and line.
    pub fn from_source(
        name: &str,
        path: &str,
        blob: Option<git2::Oid>,
        bytes: &[u8],
    ) -> Result<Self, Error> {
        if bytes.len() > MAX_FILE_BYTES {
            return Err(ErrorKind::FileTooLarge {
                path: path.to_owned(),
                bytes: bytes.len(),
                limit: MAX_FILE_BYTES,
            }
            .into());
        }
        let text = match std::str::from_utf8(bytes) {
            // Editors on Windows may start a file with a byte order mark.
            Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
            Err(error) => {
                return Err(ErrorKind::NotUtf8 {
                    path: path.to_owned(),
                    line: bytes[..error.valid_up_to()].iter().filter(|b| **b == b'\n').count() + 1,
                }
                .into());
            }
        };
        let lowered = edition::lower(path, text)?;
        let mut descriptor = protox_parse::parse(path, &lowered.text)
            .map_err(|error| syntax_error(&error, path, text, &lowered))?;
        descriptor.name = Some(name.to_owned());
        let features = features::extract(path, text, &mut descriptor, &lowered)?;
        Ok(ParsedFile {
            name: name.into(),
            path: path.into(),
            descriptor,
            features,
            source: Some(text.into()),
            blob,
            spans: Spans::default(),
        })
    }

    /// A file of which nothing is known but its import name.
    pub(crate) fn without_declarations(name: &str) -> Self {
        ParsedFile {
            name: name.into(),
            path: name.into(),
            descriptor: FileDescriptorProto { name: Some(name.to_owned()), ..Default::default() },
            features: FileFeatures {
                syntax: features::Syntax::Proto2,
                overrides: Default::default(),
                reserved_names: Default::default(),
            },
            source: None,
            blob: None,
            spans: Spans::default(),
        }
    }

    /// Whether two versions of a file declare the same, comments and layout aside.
    pub fn same_declarations(&self, other: &ParsedFile) -> bool {
        let (a, b) = (&self.descriptor, &other.descriptor);
        self.name == other.name
            && self.path == other.path
            && self.features == other.features
            && a.package == b.package
            && a.dependency == b.dependency
            && a.public_dependency == b.public_dependency
            && a.weak_dependency == b.weak_dependency
            && a.message_type == b.message_type
            && a.enum_type == b.enum_type
            && a.extension == b.extension
            && a.options == b.options
            && a.syntax == b.syntax
    }

    /// Position of a descriptor path; falls back to the closest enclosing declaration, and to
    /// line 0 where the file carries no source information.
    pub fn locate(&self, path: &[i32]) -> Location {
        let spans = self.spans.0.get_or_init(|| {
            let locations = self.descriptor.source_code_info.iter().flat_map(|i| &i.location);
            let mut spans: HashMap<Vec<i32>, Vec<i32>> = HashMap::new();
            for location in locations {
                spans.entry(location.path.clone()).or_insert_with(|| location.span.clone());
            }
            spans
        });
        let best = (0..=path.len()).rev().find_map(|length| spans.get(path.get(..length)?));
        let span = match best.map(Vec::as_slice) {
            Some([line, column, end]) => [*line, *column, *line, *end],
            Some([line, column, end_line, end]) => [*line, *column, *end_line, *end],
            _ => [-1, -1, -1, -1],
        };
        let [line, column, end_line, end_column] =
            span.map(|v| u32::try_from(v.saturating_add(1)).unwrap_or(0));
        Location { file: self.path.clone(), line, column, end_line, end_column }
    }
}

/// The parser's error, with its places in the text as written.
fn syntax_error(
    error: &protox_parse::ParseError,
    path: &str,
    text: &str,
    lowered: &edition::Lowered<'_>,
) -> Error {
    const SHOWN: usize = 5;
    let source: Arc<str> = text.into();
    let convert = |error: &dyn miette::Diagnostic| {
        let shift = |label: miette::LabeledSpan| {
            let start = lowered.original_offset(label.offset()).min(text.len());
            let end = lowered.original_offset(label.offset() + label.len()).min(text.len());
            miette::LabeledSpan::new(
                label.label().map(str::to_owned),
                start,
                end.saturating_sub(start),
            )
        };
        let labels: Vec<_> = error.labels().into_iter().flatten().map(shift).collect();
        let place = labels.first().map_or_else(
            || format!("{path}: "),
            |label| format!("{path}:{}: ", edition::line_of(text, label.offset())),
        );
        SyntaxError {
            place,
            message: error.to_string(),
            help: error.help().map(|h| h.to_string()),
            labels,
            source_code: miette::NamedSource::new(path, source.clone()),
            related: Vec::new(),
        }
    };
    let mut first = convert(error);
    first.related =
        miette::Diagnostic::related(error).into_iter().flatten().take(SHOWN).map(convert).collect();
    ErrorKind::Parse(Box::new(first)).into()
}

/// Import name, path and blob id of a file.
type BlobKey = (Arc<str>, Arc<str>, git2::Oid);

/// Parsed files by path and blob id.
///
/// Base and head of a check share nearly all blobs, so each is parsed once. Files that the last two
/// checks did not use are forgotten, so that a run over thousands of commits stays small.
#[derive(Debug, Default)]
pub struct ParseCache {
    files: HashMap<BlobKey, (Arc<ParsedFile>, usize)>,
    generation: usize,
}

impl ParseCache {
    /// Looks a blob up, or parses it with `read`.
    ///
    /// # Errors
    /// Those of `read` and of [`ParsedFile::from_source`].
    pub fn get(
        &mut self,
        name: &str,
        path: &str,
        blob: git2::Oid,
        read: impl FnOnce() -> Result<Vec<u8>, Error>,
    ) -> Result<Arc<ParsedFile>, Error> {
        let key = (Arc::from(name), Arc::from(path), blob);
        if let Some((file, used)) = self.files.get_mut(&key) {
            *used = self.generation;
            return Ok(file.clone());
        }
        let file = Arc::new(ParsedFile::from_source(name, path, Some(blob), &read()?)?);
        self.files.insert(key, (file.clone(), self.generation));
        Ok(file)
    }

    /// Marks the start of another check.
    pub fn advance(&mut self) {
        self.generation += 1;
        let oldest = self.generation.saturating_sub(2);
        self.files.retain(|_, (_, used)| *used >= oldest);
    }
}
