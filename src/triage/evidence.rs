//! What triage may know besides the two revisions.

use std::fmt;

use chrono::NaiveDate;

use crate::descriptor::{Field, Type};
use crate::finding::Evidence;
use crate::history::Confidence;

/// Whether compilers put a construct into artifacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emission {
    /// Nothing is known; the conservative level applies.
    Unknown,
    /// Some default build emits it.
    On,
    /// Shown absent, or behind a flag that is off.
    Off,
    /// No compiler has emitted it since this date.
    Ceased(NaiveDate),
}

/// A dated event of the past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The commit, shortened; `None` where only a date is on record.
    pub commit: Option<String>,
    /// When it landed.
    pub date: NaiveDate,
    /// Whether it happened then, or at some time before.
    pub confidence: Confidence,
}

/// What a number or a name stood for before base, and does no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Former {
    /// Field or enum number.
    pub number: i32,
    /// Simple name.
    pub name: String,
    /// Type of a field as written in a `.proto` file, with full names; `None` for an enum value.
    pub ty: Option<String>,
    /// Since when.
    pub since: Seen,
    /// When it was taken away.
    pub until: Seen,
    /// Those of one message or enum that have the same meaning followed one another by a rename or a change of type.
    pub meaning: u32,
}

/// Dated facts about constructs, by full name, as of base.
///
/// History, ledger and rollouts fill this; without them everything is unknown. What is asked for costs: a
/// source may have to read history first.
pub trait EvidenceSource {
    /// Whether compilers emit a construct at head.
    fn emission(&self, construct: &str) -> Emission;

    /// What a number of a message or enum stood for before base, oldest first.
    fn number_before(&self, _scope: &str, _number: i32) -> Vec<Former> {
        Vec::new()
    }

    /// What a name in a message or enum stood for before base, oldest first.
    fn name_before(&self, _scope: &str, _name: &str) -> Vec<Former> {
        Vec::new()
    }

    /// Since when a construct that base declares has been declared without a break.
    fn introduced(&self, _construct: &str) -> Option<Seen> {
        None
    }

    /// Since when a message or enum that base has reserves a number.
    fn number_reserved(&self, _scope: &str, _number: i32) -> Option<Seen> {
        None
    }

    /// Since when a message or enum that base has reserves a name.
    fn name_reserved(&self, _scope: &str, _name: &str) -> Option<Seen> {
        None
    }

    /// Why the past is not known, with the command that would supply it; `None` where it is.
    fn missing(&self) -> Option<String> {
        None
    }
}

/// Two revisions and nothing else.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHistory;

impl EvidenceSource for NoHistory {
    fn emission(&self, _construct: &str) -> Emission {
        Emission::Unknown
    }
}

impl Seen {
    /// As evidence of a finding.
    pub fn evidence(&self, what: impl Into<String>) -> Evidence {
        let what = match self.confidence {
            Confidence::Known => what.into(),
            Confidence::Assumed | Confidence::Unknown => {
                format!("{} (by that day; earlier history was not read)", what.into())
            }
        };
        Evidence {
            what,
            commit: self.commit.clone(),
            date: Some(self.date),
            file: None,
            line: None,
        }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.confidence != Confidence::Known {
            f.write_str("some day up to ")?;
        }
        write!(f, "{}", self.date)?;
        match &self.commit {
            Some(commit) => write!(f, " ({commit})"),
            None => Ok(()),
        }
    }
}

impl Former {
    /// What was there last, unless that is the very thing that comes back, under whatever name it went meanwhile.
    pub fn last_but(before: Vec<Former>, same: impl Fn(&Former) -> bool) -> Option<Former> {
        let back: Vec<u32> = before.iter().filter(|f| same(f)).map(|f| f.meaning).collect();
        before
            .into_iter()
            .filter(|former| !back.contains(&former.meaning))
            .max_by_key(|former| former.until.date)
    }

    /// Whether a field under the same number and name is this one that comes back: of the same type, or of a
    /// message or enum, which may have been renamed meanwhile.
    pub fn is(&self, field: &Field) -> bool {
        self.number == field.number && self.name == *field.name && self.fits(field)
    }

    /// Whether a field is of the type that it had.
    pub fn fits(&self, field: &Field) -> bool {
        let Some(ty) = &self.ty else { return false };
        match &field.ty {
            Type::Scalar(scalar) => *ty == scalar.name(),
            Type::Message(_) | Type::Enum(_) => {
                ty.contains(['.', '<']) || *ty == field.ty.to_string()
            }
        }
    }
}

impl fmt::Display for Former {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(ty) = &self.ty {
            write!(f, "{ty} ")?;
        }
        f.write_str(&self.name)
    }
}
