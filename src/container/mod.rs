//! The containers of an artifact as part of the contract.
//!
//! Two things can break a container. Its messages can change ([`ContainerMessage`]): descriptors show that, and the
//! checks of the wire rules judge it. And the loader or the compiler can change what it reads or writes ([`Era`]): that
//! is C++ behaviour that no descriptor shows, so the policy declares it with dates, and [`changes`] compares what is
//! declared for base with what is declared for head.

mod era;
#[cfg(feature = "runtime")]
mod form_of;

pub use era::{EraChange, Turn, changes};
#[cfg(feature = "runtime")]
pub use form_of::forms_of;

use chrono::NaiveDate;

use crate::descriptor::RootSpec;

/// One way in which a layer of an artifact is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// IFRT's length-prefixed metadata in front of everything.
    IfrtEnvelope,
    /// An ABI version inside that metadata.
    IfrtAbiEntry,
    /// `ExecutableAndOptionsProto`, serialized.
    PlainOuter,
    /// `ExecutableAndOptionsProto` as a split proto.
    SplitOuter,
    /// `GpuExecutableProto` with thunks, serialized.
    PlainExecutable,
    /// `GpuExecutableProto` with thunks as a split proto.
    SplitExecutable,
}

impl Form {
    /// All forms, outermost layer first.
    pub const ALL: [Form; 6] = [
        Form::IfrtEnvelope,
        Form::IfrtAbiEntry,
        Form::PlainOuter,
        Form::SplitOuter,
        Form::PlainExecutable,
        Form::SplitExecutable,
    ];

    /// The name in policies and, after `container:`, in constructs.
    pub fn name(self) -> &'static str {
        match self {
            Form::IfrtEnvelope => "ifrt-envelope",
            Form::IfrtAbiEntry => "ifrt-abi-entry",
            Form::PlainOuter => "plain-outer",
            Form::SplitOuter => "split-outer",
            Form::PlainExecutable => "plain-executable",
            Form::SplitExecutable => "split-executable",
        }
    }

    /// The form of this name.
    pub fn named(name: &str) -> Option<Form> {
        Form::ALL.into_iter().find(|form| form.name() == name)
    }

    /// How findings name it.
    pub fn construct(self) -> String {
        format!("container:{}", self.name())
    }
}

/// Names joined by " + ", as one container is spoken of.
pub fn names(forms: &[Form]) -> String {
    match forms {
        [] => "no known container".to_owned(),
        _ => forms.iter().map(|form| form.name()).collect::<Vec<_>>().join(" + "),
    }
}

/// A message of a container, with all that it reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerMessage {
    /// Its name and the files that declare it or once did.
    pub root: RootSpec,
    /// Its fields whose types are no part of the container, such as compile options.
    pub stop: Vec<String>,
}

/// What loaders read and compilers write from a day on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Era {
    /// Its first day.
    pub since: NaiveDate,
    /// The commit that began it; tells apart what landed on the same day.
    pub commit: Option<String>,
    /// Forms that the loader reads.
    pub reads: Vec<Form>,
    /// Forms that some compiler writes.
    pub writes: Vec<Form>,
}

/// What a policy says of containers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Containers {
    /// The messages that they consist of.
    pub messages: Vec<ContainerMessage>,
    /// Eras, the oldest first.
    pub eras: Vec<Era>,
}

impl Containers {
    /// The number of the era in force at a revision of this date; `contains` tells whether the revision has a commit,
    /// where that is known.
    pub fn era_at(
        &self,
        date: NaiveDate,
        contains: impl Fn(&str) -> Option<bool>,
    ) -> Option<usize> {
        let begun = |era: &Era| match (&era.commit, era.since == date) {
            // On the very day the commit tells.
            (Some(commit), true) => contains(commit).unwrap_or(true),
            _ => era.since <= date,
        };
        self.eras.iter().rposition(begun)
    }

    /// Whether any era speaks of a form; what none speaks of is not judged.
    pub fn declares(&self, form: Form) -> bool {
        self.eras.iter().any(|era| era.reads.contains(&form) || era.writes.contains(&form))
    }

    /// The first of an artifact's forms that an era's loaders refuse.
    pub fn refused(&self, era: &Era, forms: &[Form]) -> Option<Form> {
        forms.iter().copied().find(|form| self.declares(*form) && !era.reads.contains(form))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for form in Form::ALL {
            assert_eq!(Form::named(form.name()), Some(form));
        }
        assert_eq!(Form::named("zip"), None);
    }

    #[test]
    fn the_commit_tells_on_the_day_itself() {
        let era = |since: &str, commit: Option<&str>| Era {
            since: since.parse().unwrap(),
            commit: commit.map(str::to_owned),
            reads: vec![],
            writes: vec![],
        };
        let eras = vec![era("2026-01-01", None), era("2026-02-01", Some("c"))];
        let containers = Containers { messages: vec![], eras };
        let at = |date: &str, known| containers.era_at(date.parse().unwrap(), |_| known);
        assert_eq!(at("2025-12-31", None), None);
        assert_eq!(at("2026-01-31", Some(true)), Some(0));
        assert_eq!(at("2026-02-01", Some(false)), Some(0));
        assert_eq!(at("2026-02-01", Some(true)), Some(1));
        assert_eq!(at("2026-02-01", None), Some(1));
        assert_eq!(at("2026-02-02", Some(false)), Some(1));
    }
}
