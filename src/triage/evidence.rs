//! What triage may know besides the two revisions.

use chrono::NaiveDate;

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

/// Dated facts about constructs, by full name.
///
/// History and the scan of C++ sources fill this; without them everything is unknown.
pub trait EvidenceSource {
    /// Whether compilers emit a construct at head.
    fn emission(&self, construct: &str) -> Emission;
}

/// Two revisions and nothing else.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHistory;

impl EvidenceSource for NoHistory {
    fn emission(&self, _construct: &str) -> Emission {
        Emission::Unknown
    }
}
