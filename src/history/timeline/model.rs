//! What a timeline consists of.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::change::{ChangeKind, Surface};
use crate::descriptor::{Label, Presence};

/// A place on a chain of first parents; 0 is the oldest commit that was walked.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Position(pub u32);

/// From the commit at `from` on, up to and without the commit at `until`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// The first commit that has it.
    pub from: Position,
    /// The first commit that does not have it any more; `None` while it lasts.
    pub until: Option<Position>,
}

/// Why a chain of commits begins where it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Begin {
    /// With a root commit: what it declares is new.
    Root,
    /// With the last commit before the day that was asked for: what it declares is older.
    Since,
    /// Where a shallow clone ends, or a partial one lacks objects: nothing is known of what was before.
    Cut,
}

/// How well the date of an event is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// It happened with that commit.
    Known,
    /// It is older than the beginning of what was walked, on purpose: the date is an upper bound.
    Assumed,
    /// It happened at that commit or at some time before it, in a gap or where the clone ends.
    Unknown,
}

/// When something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment<'t> {
    /// Full id of the commit, in hex.
    pub commit: &'t str,
    /// The day on which it landed: its committer's local calendar date, or that of the latest ancestor if that is
    /// later (dates never run backwards along first parents, so a forged one proves nothing).
    pub date: NaiveDate,
    /// First line of the commit's message.
    pub subject: &'t str,
    /// Place on the chain.
    pub position: Position,
    /// Whether it really was that commit.
    pub confidence: Confidence,
}

/// Between which commits something was declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period<'t> {
    /// The commit that declared it.
    pub from: Moment<'t>,
    /// The commit that took it away; `None` while it lasts.
    pub until: Option<Moment<'t>>,
}

/// Identity of a [`Scope`], counted in the order in which scopes were first seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ScopeId(pub u32);

/// What a [`Scope`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScopeKind {
    /// A message; its uses are fields.
    Message,
    /// An enum; its uses are values.
    Enum,
}

/// A message or an enum through all its moves and renames.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    /// Its identity; also its index in [`Timeline::scopes`].
    pub id: ScopeId,
    /// Message or enum.
    pub kind: ScopeKind,
    /// Full names without a leading dot, oldest first.
    pub names: Vec<Titled>,
    /// When it existed in the import closure of the entry files.
    pub life: Vec<Span>,
    /// When a root of the binary contract reached it.
    pub wire: Vec<Span>,
    /// When a message that travels as JSON reached it.
    pub json: Vec<Span>,
    /// Every field or value that it ever declared, in the order in which they were first seen.
    pub uses: Vec<Use>,
    /// Reserved numbers, both ends inclusive: numbers that were reserved over the same span stand together. Sorted by
    /// span, then number.
    pub reserved_numbers: Vec<(i32, i32, Span)>,
    /// Reserved names, in the order in which they were first seen.
    pub reserved_names: Vec<Titled>,
}

/// A name with the spans over which it held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Titled {
    /// The name.
    pub name: String,
    /// When, oldest first.
    pub spans: Vec<Span>,
}

/// A number of a scope under one name, type, label and presence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Use {
    /// Field or enum number.
    pub number: i32,
    /// Simple name.
    pub name: String,
    /// The rest of a field; `None` for an enum value.
    pub field: Option<FieldShape>,
    /// Index of the first use of the scope that meant the same: uses with another meaning hold other data.
    pub meaning: u32,
    /// When it was declared so, oldest first; never empty.
    pub spans: Vec<Span>,
}

/// What a field is besides number and name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldShape {
    /// Type as written in a `.proto` file, with full names (those of the time when it was first seen);
    /// `map<K, V>` for maps.
    pub ty: String,
    /// The message or enum that the type names.
    pub of: Option<ScopeId>,
    /// Cardinality.
    pub label: Label,
    /// How absence shows.
    pub presence: Presence,
    /// The real oneof that it is a member of.
    pub oneof: Option<String>,
}

/// A commit that touched the contract (or began the chain).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Landed {
    /// Place on the chain.
    pub position: Position,
    /// Full id in hex.
    pub id: String,
    /// The day on which it landed; see [`Moment::date`].
    pub date: NaiveDate,
    /// First line of its message.
    pub subject: String,
    /// Number of the pull request that it is, by its subject (`PR #123: ...`).
    pub pull_request: Option<u64>,
    /// Number of the change list that it is, by its message (`PiperOrigin-RevId: 123`).
    pub changelist: Option<u64>,
    /// What its message says it undoes.
    pub undoes: Vec<Undo>,
    /// Whether it brings back what an earlier commit undid: it says so, or reverts a revert.
    pub relands: bool,
    /// Contract changes against the contract before it; none for the commit that begins the chain.
    pub changes: Vec<ChangeLine>,
}

/// What a revert undoes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// As the message names it: a commit id, `PR #123`, `changelist 123`.
    pub named: String,
    /// Where on the chain that is, where it touched the contract; `None` if it is older, elsewhere or made up.
    pub position: Option<Position>,
}

/// One change of the contract, without what only its two contracts can tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeLine {
    /// What kind of change.
    pub kind: ChangeKind,
    /// Binary descriptors or a JSON payload.
    pub surface: Surface,
    /// Full name of the construct: the new one where it has changed.
    pub construct: String,
    /// Whether the construct is an enum, or a value of one.
    pub of_enum: bool,
    /// Field or enum number, where the construct has one.
    pub number: Option<i32>,
    /// The changed property before.
    pub before: Option<String>,
    /// The changed property after.
    pub after: Option<String>,
    /// Fields or values, of a whole type.
    pub size: Option<u32>,
    /// Why the number now holds something else, if it does.
    pub repurposed: Option<String>,
}

/// Commits in a row whose contract cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// The first of them.
    pub from: Position,
    /// The first commit after them that can be read.
    pub until: Option<Position>,
    /// Why the first cannot be read.
    pub reason: String,
}

/// The history of a contract over a chain of commits.
///
/// Facts are asked of a [`View`](super::View), which knows nothing later than some commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// Why the chain begins where it does.
    pub begin: Begin,
    /// Commits at which something happened, oldest first.
    pub landed: Vec<Landed>,
    /// Commits that cannot be read, oldest first.
    pub gaps: Vec<Gap>,
    /// Every message and enum ever declared, by id.
    pub scopes: Vec<Scope>,
    /// The newest commit that was observed.
    pub end: Position,
}

impl Span {
    /// Whether it holds at a commit.
    pub fn holds(&self, at: Position) -> bool {
        self.from <= at && self.until.is_none_or(|until| at < until)
    }
}
