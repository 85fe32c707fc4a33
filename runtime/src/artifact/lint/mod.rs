//! Authoring rules, held against a real artifact.
//!
//! One file per rule; its module comment is the rule's page. All rules run in one walk over the serialized
//! message by its schema, so that a new kind of thunk is covered without a change here: rules
//! look for slices, code and ids wherever they are. An occurrence is judged as it is written; that a later
//! occurrence of a singular field would be merged with it is not considered.

mod catalog;
mod code;
mod elf;
mod finding;
mod hlo;
mod place;
mod rule;
mod scope;
mod subject;
mod walk;

mod allocation_dangling;
mod allocation_unused;
mod async_dangling;
mod code_not_elf;
mod code_wrong_target;
mod constant_mismatch;
mod hlo_id_dangling;
mod host_code;
mod kernel_dangling;
mod name_dangling;
mod payload_stored_twice;
mod results_overlap;
mod shape_exceeds_slice;
mod slice_out_of_bounds;
mod thunk_id_repeated;
mod thunk_kind_unset;
mod unknown_field;

pub use self::catalog::{RULES, find, page};
pub use self::finding::{Finding, Level, Report};
pub use self::rule::RuleInfo;

use self::finding::Sink;
use self::rule::Rules;
use self::scope::Allocations;
use super::limits::Budget;
use super::{Artifact, EXECUTABLE, Limits, outer};
use crate::artifact::rope::Rope;
use crate::deep::on_deep_stack;
use crate::error::Error;

/// Full name of the envelope's metadata.
const ENVELOPE: &str = "xla.ifrt.SerializedXlaExecutableMetadata";

/// Holds every rule against an artifact. Findings come in the order of the rules, and within one in the order of the
/// artifact.
///
/// # Errors
/// An artifact whose messages are no well-formed protobuf, nest deeper than loaders read, or have more
/// fields than `limits` allow.
pub fn lint(artifact: &Artifact, limits: &Limits) -> Result<Report, Error> {
    on_deep_stack(|| {
        let executable = artifact.executable();
        let root = Allocations::of_executable(executable)?;
        let mut budget = Budget::new(limits);
        let mut sink = Sink::default();
        let mut rules = Rules::new(executable)?;
        rules.walk(EXECUTABLE, executable, "", root, &mut sink, &mut budget)?;
        let nothing = Allocations::default;
        if let Some(outer) = artifact.outer() {
            let prefix = "outer";
            rules.walk(
                outer::MESSAGE,
                outer.message(),
                prefix,
                nothing(),
                &mut sink,
                &mut budget,
            )?;
        }
        if let Some(envelope) = artifact.envelope() {
            let metadata = Rope::from(envelope.metadata_bytes().clone());
            rules.walk(ENVELOPE, &metadata, "envelope", nothing(), &mut sink, &mut budget)?;
        }
        rules.finish(&mut sink);
        Ok(sink.into_report())
    })
}
