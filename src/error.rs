//! The library's error type: opaque outside, a diagnostic per cause inside.
//!
//! Every error names the place, what was expected, and the way out. All of them mean that the tool
//! could not judge (exit status 2); what is wrong with a change is a finding, never an error.

use std::path::PathBuf;

use miette::{Diagnostic, NamedSource, SourceSpan};
use thiserror::Error as ThisError;

use crate::descriptor::Location;

/// Why something could not be judged.
#[derive(Debug, Diagnostic, ThisError)]
#[error(transparent)]
#[diagnostic(transparent)]
pub struct Error {
    kind: Box<ErrorKind>,
}

impl Error {
    /// Whether the reason is an object that this clone does not have (shallow or partial clone).
    pub fn is_missing_object(&self) -> bool {
        matches!(*self.kind, ErrorKind::ObjectMissing { .. })
    }

    /// The path in a tree or store that it is about.
    #[cfg(feature = "runtime")]
    pub(crate) fn path(&self) -> Option<String> {
        match &*self.kind {
            ErrorKind::NotAFile { path, .. }
            | ErrorKind::NotADirectory { path, .. }
            | ErrorKind::ListingTooLarge { dir: path, .. }
            | ErrorKind::Golden { path, .. } => Some(path.clone()),
            ErrorKind::Io { path, .. } => Some(path.display().to_string()),
            _ => None,
        }
    }

    /// Whether something about a golden is odd, as opposed to what cannot be looked at.
    #[cfg(feature = "runtime")]
    pub(crate) fn is_about_golden(&self) -> bool {
        matches!(*self.kind, ErrorKind::Golden { .. })
    }

    /// Whether the reason is a language feature that this version does not know.
    pub(crate) fn is_unsupported(&self) -> bool {
        matches!(*self.kind, ErrorKind::Edition { .. })
    }
}

impl Error {
    /// Names the file of an error about an artifact that did not know where it came from.
    #[cfg(feature = "runtime")]
    pub(crate) fn in_artifact(self, path: &str) -> Self {
        let path = path.to_owned();
        match *self.kind {
            ErrorKind::OpenArtifact(error) => {
                ErrorKind::Artifact { path, error: Box::new(error) }.into()
            }
            _ => ErrorKind::InArtifact { path, error: Box::new(self) }.into(),
        }
    }

    /// Names the file of an error about bytes that did not know where they came from.
    pub(crate) fn in_file(mut self, path: &std::path::Path) -> Self {
        if let ErrorKind::DescriptorSet { reason } = &mut *self.kind {
            *reason = format!("{}: {reason}", path.display());
        }
        self
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Error { kind: Box::new(kind) }
    }
}

#[derive(Debug, Diagnostic, ThisError)]
pub(crate) enum ErrorKind {
    // Sources
    #[error("{path} has {bytes} bytes; files over {limit} bytes are not read")]
    #[diagnostic(
        code(aotgate::file_too_large),
        help("no hand-written source and no golden has this size; check what was committed")
    )]
    FileTooLarge { path: String, bytes: usize, limit: usize },

    #[error("{path}:{line}: not UTF-8 text")]
    #[diagnostic(code(aotgate::not_utf8), help("save the file as UTF-8"))]
    NotUtf8 { path: String, line: usize },

    #[error("{path}:{line}: {what} is not supported")]
    #[diagnostic(
        code(aotgate::edition),
        help(
            "aotgate reads proto2, proto3 and edition 2023; write the declaration in one of those, or pass a descriptor set made by protoc"
        )
    )]
    Edition { path: String, line: usize, what: String },

    #[error(transparent)]
    #[diagnostic(transparent)]
    Parse(Box<SyntaxError>),

    #[error("{place}{error}")]
    #[diagnostic(forward(error))]
    Check { place: String, error: Box<prost_reflect::DescriptorError> },

    #[error("{path}:{line}: import cycle: {chain}")]
    #[diagnostic(
        code(aotgate::import_cycle),
        help("protobuf does not allow cycles; move what both files need into a third one")
    )]
    ImportCycle {
        path: String,
        line: u32,
        chain: String,
        #[label("closes the cycle")]
        span: Option<SourceSpan>,
        #[source_code]
        source_code: NamedSource<String>,
    },

    #[error("{path}:{line}: import '{import}' not found")]
    #[diagnostic(
        code(aotgate::import_not_found),
        help(
            "looked for {tried}; add the directory to `contract.include` in the policy, or fix the import"
        )
    )]
    ImportNotFound {
        import: String,
        path: String,
        line: u32,
        tried: String,
        #[label("imported here")]
        span: Option<SourceSpan>,
        #[source_code]
        source_code: NamedSource<String>,
    },

    #[error("the import closure has more than {limit} files")]
    #[diagnostic(code(aotgate::too_many_files), help("check the entry files of the policy"))]
    TooManyFiles { limit: usize },

    #[error("public imports make more than {limit} files visible")]
    #[diagnostic(
        code(aotgate::public_imports),
        help("import the files that are needed instead of passing on long chains of others")
    )]
    PublicImports { limit: usize },

    #[error("'{name}' is at {used} in base, and head adds {path}, which comes first")]
    #[diagnostic(
        code(aotgate::shadowed),
        help("keep one copy: delete {used} in the same change, or name the new file differently")
    )]
    Shadowed { name: String, path: String, used: String },

    #[error("the import closure has more than {limit} bytes of source")]
    #[diagnostic(
        code(aotgate::too_many_bytes),
        help("check the entry files of the policy, and what they import")
    )]
    TooManyBytes { limit: usize },

    #[error("a file bundled with protox cannot be read: {reason}")]
    #[diagnostic(code(aotgate::bundled), help("this is a defect of the build; please report it"))]
    Bundled { reason: String },

    #[error("not a descriptor set: {reason}")]
    #[diagnostic(
        code(aotgate::descriptor_set),
        help("make one with `protoc --include_imports --descriptor_set_out=FILE`")
    )]
    DescriptorSet { reason: String },

    #[error("no embedded file descriptor found in {path}")]
    #[diagnostic(
        code(aotgate::released_binary),
        help(
            "a released binary holds serialized FileDescriptorProtos; check that this is the plugin's .so or the wheel with it"
        )
    )]
    NoEmbeddedDescriptors { path: PathBuf },

    #[error("{path}: {reason}")]
    #[diagnostic(
        code(aotgate::released_binary),
        help("name a plugin's .so, a wheel with it, or a descriptor set")
    )]
    ReleasedBinary { path: PathBuf, reason: String },

    #[error("{path} cannot be used: {reason}")]
    #[diagnostic(
        code(aotgate::unusable_file),
        help("the contract needs this file; a newer aotgate may be able to read it")
    )]
    UnusableFile { path: String, reason: String },

    #[error("{importer} imports '{import}', which {why}")]
    #[diagnostic(
        code(aotgate::dangling_import),
        help(
            "the types that it declares are needed; make a complete set with `protoc --include_imports --descriptor_set_out=FILE`"
        )
    )]
    DanglingImport { importer: String, import: String, why: String },

    // Revisions
    #[error("no git repository at {dir} or above")]
    #[diagnostic(
        code(aotgate::no_repository),
        help(
            "run inside the repository, pass `--repo DIR`, or compare descriptor sets (`aotgate diff base.binpb head.binpb`)"
        )
    )]
    NoRepository { dir: PathBuf },

    #[error("'{rev}' is no revision of this repository")]
    #[diagnostic(code(aotgate::unknown_revision), help("{help}"))]
    UnknownRevision { rev: String, help: String },

    #[error("the branch '{branch}' has no commit yet")]
    #[diagnostic(
        code(aotgate::unborn_branch),
        help("commit once, or judge uncommitted files with `--base EMPTY --head WORKTREE`")
    )]
    UnbornBranch { branch: String },

    #[error("{what} ({oid}) is not in this clone")]
    #[diagnostic(code(aotgate::missing_object), help("{help}"))]
    ObjectMissing { what: String, oid: String, help: String },

    #[error("{path} is {what}, not a regular file")]
    #[diagnostic(
        code(aotgate::not_a_file),
        help("aotgate reads regular files only; replace it by the file it stands for")
    )]
    NotAFile { path: String, what: &'static str },

    #[error("{path} is {what}, not a directory")]
    #[diagnostic(
        code(aotgate::not_a_directory),
        help("links are not followed; put the directory itself there, or name another one")
    )]
    NotADirectory { path: String, what: &'static str },

    #[error("{dir} holds more than {limit} {what}")]
    #[diagnostic(
        code(aotgate::listing_too_large),
        help("no store of goldens has this many; name the store's own directory")
    )]
    ListingTooLarge { dir: String, limit: usize, what: &'static str },

    #[error("no base to compare with: {why}")]
    #[diagnostic(code(aotgate::no_base), help("{help}"))]
    NoBase { why: String, help: String },

    #[error("no root of the contract ({roots}) in {revisions}")]
    #[diagnostic(
        code(aotgate::root_absent),
        help(
            "policy {policy} looks for {files}; name the entry files in `[[contract.root]]`, relative to the directories of `contract.include`. Base's policy judges: try another with `--policy FILE`"
        )
    )]
    RootAbsent { revisions: String, roots: String, files: String, policy: String },

    #[error("a bare repository has no {what}")]
    #[diagnostic(code(aotgate::bare_repository), help("name a commit, branch or tag"))]
    Bare { what: &'static str },

    #[error("git: {message}")]
    #[diagnostic(code(aotgate::git), help("{help}"))]
    Git { message: String, help: String },

    #[error("{path}: {error}")]
    #[diagnostic(code(aotgate::io), help("check that the path exists and may be read"))]
    Io { path: PathBuf, error: std::io::Error },

    // History
    #[error("the history of the contract has more than {limit} facts")]
    #[diagnostic(
        code(aotgate::history_too_large),
        help("walk less of it with `--since`, and check the entry files of the policy")
    )]
    HistoryTooLarge { limit: usize },

    #[error("a commit of the history could not be looked at")]
    #[diagnostic(
        code(aotgate::history_defect),
        help("this is a defect; please report it with the output of `aotgate history --no-cache`")
    )]
    HistoryDefect,

    // Artifacts
    #[cfg(feature = "runtime")]
    #[error("{path}: {error}")]
    #[diagnostic(forward(error))]
    Artifact { path: String, error: Box<aotgate_runtime::Error> },

    #[cfg(feature = "runtime")]
    #[error("{path} has more than {limit} bytes")]
    #[diagnostic(
        code(aotgate::artifact_too_large),
        help("no artifact is that large, since one message holds at most 2 GiB; check the file")
    )]
    ArtifactTooLarge { path: String, limit: u64 },

    #[cfg(feature = "runtime")]
    #[error("{path}: {message}")]
    #[diagnostic(code(aotgate::convert), help("{help}"))]
    Convert { path: String, message: String, help: String },

    // Ledger
    #[error("{path}:{line}: {what}")]
    #[diagnostic(
        code(aotgate::ledger),
        help(
            "run `aotgate ledger` again: it writes the file anew from the protos, the ledger of the last commit and the history that is there; `git checkout HEAD -- {path}` brings the last one back"
        )
    )]
    Ledger { path: String, line: usize, what: String },

    // Policy
    #[error("{message}")]
    #[diagnostic(code(aotgate::policy))]
    Policy {
        message: String,
        #[help]
        help: Option<String>,
        #[label("{label}")]
        span: Option<SourceSpan>,
        label: String,
        #[source_code]
        source_code: NamedSource<String>,
    },

    // Goldens
    #[error("{message}")]
    #[diagnostic(code(aotgate::golden_manifest))]
    Manifest {
        message: String,
        #[help]
        help: Option<String>,
        #[label("here")]
        span: Option<SourceSpan>,
        #[source_code]
        source_code: NamedSource<String>,
    },

    #[error("{path}: {what}")]
    #[diagnostic(code(aotgate::golden), help("{help}"))]
    Golden { path: String, what: String, help: String },

    #[error("{path} is a Git LFS pointer, not the file itself")]
    #[diagnostic(
        code(aotgate::lfs_pointer),
        help(
            "the content is outside git's object database: run `git lfs pull` and name the worktree, or commit the file itself (goldens are small)"
        )
    )]
    LfsPointer { path: String },

    #[cfg(feature = "runtime")]
    #[error("{path}: {error}")]
    #[diagnostic(forward(error))]
    InArtifact { path: String, error: Box<Error> },

    #[cfg(feature = "runtime")]
    #[error(transparent)]
    #[diagnostic(transparent)]
    OpenArtifact(aotgate_runtime::Error),

    #[cfg(feature = "runtime")]
    #[error("serialized_executable of the text golden: {0}")]
    #[diagnostic(forward(0))]
    SerializedExecutable(aotgate_runtime::Error),

    #[cfg(feature = "runtime")]
    #[error("text golden, {0}")]
    #[diagnostic(forward(0))]
    Text(crate::view::text::TextRefused),

    #[cfg(feature = "runtime")]
    #[error("{message}")]
    #[diagnostic(code(aotgate::text_message), help("{help}"))]
    TextMessage { message: String, help: String },

    #[cfg(feature = "runtime")]
    #[error("{message} cannot be read with this contract: {reason}")]
    #[diagnostic(
        code(aotgate::unreadable_artifact),
        help(
            "use the contract of the release that wrote the artifact, with the outer message in it"
        )
    )]
    Unreadable { message: &'static str, reason: String },

    // Usage
    #[error("{message}")]
    #[diagnostic(code(aotgate::usage), help("{help}"))]
    Usage { message: String, help: String },
}

/// A syntax error as the parser reports it, over the text as it was written.
#[derive(Debug, Diagnostic, ThisError)]
#[error("{place}{message}")]
#[diagnostic(code(aotgate::syntax))]
pub(crate) struct SyntaxError {
    pub(crate) place: String,
    pub(crate) message: String,
    #[help]
    pub(crate) help: Option<String>,
    #[label(collection)]
    pub(crate) labels: Vec<miette::LabeledSpan>,
    #[source_code]
    pub(crate) source_code: NamedSource<std::sync::Arc<str>>,
    #[related]
    pub(crate) related: Vec<SyntaxError>,
}

/// Byte range of a location in its source text, for labels; `None` without source information.
pub(crate) fn byte_span(source: &str, location: &Location) -> Option<SourceSpan> {
    let offset = |line: u32, column: u32| -> Option<usize> {
        let line = usize::try_from(line.checked_sub(1)?).ok()?;
        let column = usize::try_from(column.checked_sub(1)?).ok()?;
        let start: usize = source.split_inclusive('\n').take(line).map(str::len).sum();
        let mut at = (start + column).min(source.len());
        while !source.is_char_boundary(at) {
            at -= 1;
        }
        Some(at)
    };
    let start = offset(location.line, location.column)?;
    let end = offset(location.end_line, location.end_column)?.max(start);
    Some((start, end - start).into())
}
