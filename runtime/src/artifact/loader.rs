//! What a loader of a given date or release does with containers.
//!
//! Two sources, kept apart. [`CHANGES`] was read off the history of XLA's source (committers' dates; the
//! history that was read ends on 2026-08-07). What [`ContainerRules`] says of a release was seen: its runtime was
//! run. Where the two disagree, or neither covers a case, a loader's answer is [`Takes::Unknown`].

use super::release::has_thunks;
use super::{Artifact, Container, ContainerRules};

/// A change of a container in XLA's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Day it landed, `YYYY-MM-DD`.
    pub date: &'static str,
    /// Abbreviated commit.
    pub commit: &'static str,
    /// What changed, for writers or loaders.
    pub what: &'static str,
}

/// What happened to the containers, oldest first.
pub const CHANGES: [Change; 9] = [
    Change {
        date: "2026-01-14",
        commit: "631797c84c",
        what: "GpuExecutableProto with thunks is written and read as a split proto",
    },
    Change {
        date: "2026-01-21",
        commit: "4e86f1999a",
        what: "IFRT writes its envelope in front, and reads nothing without it",
    },
    Change {
        date: "2026-01-28",
        commit: "0385ecad0b",
        what: "ExecutableAndOptionsProto is read in both forms; loaded executables write it split, others plain",
    },
    Change {
        date: "2026-03-12",
        commit: "86407a8f68",
        what: "the envelope's ABI entry for GPUs can be read; nothing in that history writes it yet",
    },
    Change { date: "2026-04-24", commit: "", what: "the format with thunks is the default" },
    Change {
        date: "2026-06-17",
        commit: "de9c97e6e6",
        what: "an executable without buffer_allocations_debug_summary is refused",
    },
    Change {
        date: "2026-07-17",
        commit: "dc0a2065b2",
        what: "every executable writes ExecutableAndOptionsProto as a split proto",
    },
    Change {
        date: "2026-07-21",
        commit: "5e940e27e5",
        what: "the plain form is not read any more: the loader looks for a split proto first, and parses what is left behind the bytes it looked at",
    },
    Change {
        date: "2026-07-22",
        commit: "2fc6b30d5f",
        what: "the format without thunks is not read any more",
    },
];

/// jaxlib releases with their days, oldest first.
pub const RELEASE_DATES: [(&str, &str); 13] = [
    ("0.8.0", "2025-10-15"),
    ("0.8.2", "2025-12-18"),
    ("0.9.0", "2026-01-20"),
    ("0.9.1", "2026-02-28"),
    ("0.9.2", "2026-03-18"),
    ("0.10.0", "2026-04-16"),
    ("0.10.1", "2026-05-18"),
    ("0.10.2", "2026-06-17"),
    ("0.11.0", "2026-07-16"),
    ("0.11.1", "2026-08-17"),
    ("0.11.2", "2026-09-17"),
    ("0.12.0", "2026-10-16"),
    ("0.12.0.1", "2026-10-20"),
];

const SPLIT_EXECUTABLE_READ: &str = "2026-01-14";
const ENVELOPE_READ: &str = "2026-01-21";
const SPLIT_OUTER_READ: &str = "2026-01-28";
const SPLIT_OUTER_WRITTEN: &str = "2026-07-17";
const PLAIN_OUTER_GONE: &str = "2026-07-21";
const THUNKLESS_GONE: &str = "2026-07-22";

/// Whether a loader gets through a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Takes {
    /// It does.
    Yes,
    /// It stops there.
    No {
        /// The layer it stops at.
        container: Container,
        /// What is in the way.
        reason: String,
        /// What it reports, where that is known.
        message: Option<&'static str>,
    },
    /// Not known.
    Unknown {
        /// The layer in question.
        container: Container,
        /// Why nobody can tell.
        reason: String,
    },
}

/// The loader of a release, of a day, or of neither known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loader {
    rules: Option<&'static ContainerRules>,
    date: Option<String>,
}

/// The date of a release.
pub fn release_date(release: &str) -> Option<&'static str> {
    RELEASE_DATES.iter().find(|(name, _)| *name == release).map(|(_, date)| *date)
}

impl Loader {
    /// The loader of a release.
    pub fn of_release(release: &str) -> Loader {
        // 0.12.0.1 is 0.12.0 with the same schema and containers.
        let rules = ContainerRules::of(if release == "0.12.0.1" { "0.12.0" } else { release });
        Loader { rules, date: release_date(release).map(str::to_owned) }
    }

    /// The loader of XLA's source on a day, `YYYY-MM-DD`.
    pub fn at(date: &str) -> Loader {
        Loader { rules: None, date: Some(date.to_owned()) }
    }

    /// A loader that nothing is known of.
    pub fn unknown() -> Loader {
        Loader { rules: None, date: None }
    }

    /// Whether it gets through the artifact's containers to the executable.
    ///
    /// `Yes` says nothing about the executable itself.
    pub fn takes(&self, artifact: &Artifact) -> Takes {
        if let Some(rules) = self.rules {
            return match rules.accept(artifact) {
                Ok(()) => Takes::Yes,
                Err(refusal) => Takes::No {
                    container: refusal.container,
                    reason: refusal.reason.to_owned(),
                    message: refusal.message,
                },
            };
        }
        let mut unknown = None;
        for layer in artifact.layers() {
            match self.layer(artifact, layer.container) {
                Takes::Yes => {}
                no @ Takes::No { .. } => return no,
                maybe @ Takes::Unknown { .. } => unknown = unknown.or(Some(maybe)),
            }
        }
        unknown.unwrap_or(Takes::Yes)
    }

    fn layer(&self, artifact: &Artifact, container: Container) -> Takes {
        let no =
            |reason: &str, message| Takes::No { container, reason: reason.to_owned(), message };
        let unknown = |reason: &str| Takes::Unknown { container, reason: reason.to_owned() };
        let Some(date) = self.date.as_deref() else {
            return unknown("neither release nor date of the runtime is known");
        };
        // ISO dates compare as text.
        let before = |day: &str| date < day;
        match container {
            Container::IfrtEnvelope if before(ENVELOPE_READ) => {
                no("it is older than the envelope (2026-01-21)", None)
            }
            Container::IfrtEnvelope => {
                let abi = artifact.envelope().is_some_and(|e| e.abi_version().is_some());
                if abi && before(SPLIT_OUTER_WRITTEN) {
                    unknown(
                        "it is older than the artifacts with an ABI entry, and 0.10.1, built in its time, refuses them",
                    )
                } else {
                    Takes::Yes
                }
            }
            Container::PlainOuter if before(PLAIN_OUTER_GONE) => Takes::Yes,
            Container::PlainOuter => no(
                "it reads this message as a split proto only (since 2026-07-21)",
                Some("Failed to parse message of type xla.ExecutableAndOptionsProto"),
            ),
            Container::SplitOuter if before(SPLIT_OUTER_READ) => {
                no("it reads this message in serialized form only", None)
            }
            Container::SplitOuter if before(SPLIT_OUTER_WRITTEN) => unknown(
                "its source reads both forms, but 0.10.1, built in its time, refuses the split one",
            ),
            Container::SplitOuter => Takes::Yes,
            Container::SplitExecutable if before(SPLIT_EXECUTABLE_READ) => {
                no("it reads this message in serialized form only", None)
            }
            Container::SplitExecutable => Takes::Yes,
            Container::PlainExecutable if has_thunks(artifact) => {
                no("it takes a serialized executable for one of the format without thunks", None)
            }
            Container::PlainExecutable if before(THUNKLESS_GONE) => Takes::Yes,
            Container::PlainExecutable => {
                no("it does not read the format without thunks (since 2026-07-22)", None)
            }
            Container::Text => no("a text golden is no artifact", None),
        }
    }
}

/// The days between which an artifact's container was written: not before the first, not after the
/// second; open where `None`.
pub fn written_between(artifact: &Artifact) -> (Option<&'static str>, Option<&'static str>) {
    let (mut from, mut to) = (None, None);
    for layer in artifact.layers() {
        let (first, last) = match layer.container {
            Container::SplitExecutable => (Some(SPLIT_EXECUTABLE_READ), None),
            Container::IfrtEnvelope => (Some(ENVELOPE_READ), None),
            Container::SplitOuter => (Some(SPLIT_OUTER_READ), None),
            Container::PlainOuter => (None, Some(SPLIT_OUTER_WRITTEN)),
            Container::PlainExecutable | Container::Text => (None, None),
        };
        from = from.max(first);
        to = match (to, last) {
            (Some(a), Some(b)) => Some(std::cmp::min(a, b)),
            (a, b) => a.or(b),
        };
    }
    (from, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_in_order() {
        assert!(CHANGES.is_sorted_by_key(|change| change.date));
        assert!(RELEASE_DATES.is_sorted_by_key(|(_, date)| *date));
        for day in [SPLIT_EXECUTABLE_READ, ENVELOPE_READ, SPLIT_OUTER_READ, SPLIT_OUTER_WRITTEN] {
            assert!(CHANGES.iter().any(|change| change.date == day), "{day}");
        }
        for day in [PLAIN_OUTER_GONE, THUNKLESS_GONE] {
            assert!(CHANGES.iter().any(|change| change.date == day), "{day}");
        }
        for rules in &ContainerRules::RELEASES {
            assert!(release_date(rules.release).is_some());
        }
    }
}
