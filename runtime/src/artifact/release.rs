//! Which containers a release's loader accepts, and which one its compiler writes.

use std::fmt;

use super::riegeli::Compression;
use super::wire::Fields;
use super::write::{Encoding, EnvelopeForm, Form};
use super::{Artifact, Container};

/// Number of the entry sequence in a GpuExecutableProto.
const THUNKS: u32 = 13;

/// What a release does with containers.
///
/// Found by loading the artifacts of each release in the runtimes of the others, on an H200. Nothing
/// is known of releases that are not in [`RELEASES`](ContainerRules::RELEASES).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContainerRules {
    /// The jaxlib release.
    pub release: &'static str,
    /// What its compiler writes. Large messages are stored uncompressed and in several chunks there,
    /// which loaders do not mind.
    pub writes: Form,
    /// The outer layer that its loader accepts.
    pub outer: Container,
    /// Whether its loader accepts an envelope with an ABI entry.
    pub abi_entry: bool,
    /// What its loader says of the other outer layer.
    outer_message: &'static str,
}

/// Why a release's loader refuses an artifact's container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The release.
    pub release: &'static str,
    /// The layer it stops at.
    pub container: Container,
    /// What is in the way.
    pub reason: &'static str,
    /// What the loader reports, where that was seen.
    pub message: Option<&'static str>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal { release, container, reason, message } = self;
        write!(f, "{release} refuses the {}: {reason}", container.name())?;
        match message {
            Some(message) => write!(f, " (\"{message}\")"),
            None => Ok(()),
        }
    }
}

const PLAIN_FAILED: &str = "Proto deserialization failed";
const SPLIT_FAILED: &str = "Failed to parse message of type xla.ExecutableAndOptionsProto";

const SNAPPY: Encoding = Encoding::Split(Compression::Snappy);

impl ContainerRules {
    /// The releases whose rules are known, oldest first.
    pub const RELEASES: [ContainerRules; 3] = [
        // Its own artifacts: outer message serialized, executable_version of the envelope empty.
        ContainerRules {
            release: "0.10.1",
            writes: Form {
                envelope: Some(EnvelopeForm::WithoutAbi),
                outer: Some(Encoding::Plain),
                executable: SNAPPY,
            },
            outer: Container::PlainOuter,
            abi_entry: false,
            outer_message: PLAIN_FAILED,
        },
        // XLA's source means to accept a serialized outer message as well, but the released loader
        // refuses all artifacts of 0.10.1 there. It gets that far, so a missing ABI entry is accepted.
        ContainerRules {
            release: "0.11.2",
            writes: Form {
                envelope: Some(EnvelopeForm::WithAbi),
                outer: Some(SNAPPY),
                executable: SNAPPY,
            },
            outer: Container::SplitOuter,
            abi_entry: true,
            outer_message: SPLIT_FAILED,
        },
        // As 0.11.2; the two run each other's artifacts. It does not compress the outer message, whose
        // largest part is compressed already.
        ContainerRules {
            release: "0.12.0",
            writes: Form {
                envelope: Some(EnvelopeForm::WithAbi),
                outer: Some(Encoding::Split(Compression::None)),
                executable: SNAPPY,
            },
            outer: Container::SplitOuter,
            abi_entry: true,
            outer_message: SPLIT_FAILED,
        },
    ];

    /// The rules of a release, where they are known.
    pub fn of(release: &str) -> Option<&'static ContainerRules> {
        const RELEASES: &[ContainerRules] = &ContainerRules::RELEASES;
        RELEASES.iter().find(|rules| rules.release == release)
    }

    /// Whether the release's loader gets through the artifact's containers to the executable.
    ///
    /// `Ok` says nothing about the executable itself.
    pub fn accept(&self, artifact: &Artifact) -> Result<(), Refusal> {
        let refuse = |container, reason, message| {
            Err(Refusal { release: self.release, container, reason, message })
        };
        for layer in artifact.layers() {
            let container = layer.container;
            match container {
                Container::IfrtEnvelope => {
                    let abi = artifact.envelope().is_some_and(|e| e.abi_version().is_some());
                    if abi && !self.abi_entry {
                        let reason = "it does not know the ABI entry";
                        return refuse(container, reason, Some(PLAIN_FAILED));
                    }
                }
                Container::PlainOuter | Container::SplitOuter if container != self.outer => {
                    let reason = if self.outer == Container::SplitOuter {
                        "it reads this message as a split proto only"
                    } else {
                        "it reads this message in serialized form only"
                    };
                    return refuse(container, reason, Some(self.outer_message));
                }
                // In this container XLA's loaders expect the older format.
                Container::PlainExecutable if has_thunks(artifact) => {
                    let reason =
                        "it takes a serialized executable for one of the format without thunks";
                    return refuse(container, reason, None);
                }
                Container::Text => return refuse(container, "a text golden is no artifact", None),
                Container::PlainOuter
                | Container::SplitOuter
                | Container::PlainExecutable
                | Container::SplitExecutable => {}
            }
        }
        Ok(())
    }
}

pub(super) fn has_thunks(artifact: &Artifact) -> bool {
    let mut fields = Fields::new(artifact.executable());
    while let Ok(Some(field)) = fields.next_field() {
        if field.number == THUNKS {
            return true;
        }
    }
    false
}
