//! The policy: what is governed, how strictly, and who was excused.

mod container;
mod edits;
mod file;
mod pattern;
mod resolve;
mod waiver;

pub use edits::{Edit, edits, rollout_edits, waiver_edits};
pub use file::closest;
pub(crate) use file::{date, suggestion, toml_error};
pub use pattern::Pattern;
pub use resolve::{BUILT_IN_NAME, LOCATIONS, built_in, find, parse};
pub use waiver::{Waiver, parse_waivers};

use std::collections::BTreeMap;

use chrono::NaiveDate;

use crate::container::Containers;
use crate::descriptor::ContractSpec;
use crate::finding::Level;
use crate::rollout::windows::Windows;

/// A resolved policy.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Where it came from: a path, or `built-in:xla-gpu`.
    pub source: String,
    /// First 16 hex digits of the SHA-256 of its text and that of what it extends.
    pub hash: String,
    /// Roots, entry files, include roots, prefixes, opaque payloads.
    pub contract: ContractSpec,
    /// Oneofs whose members are kinds of program steps.
    pub dispatch: Vec<String>,
    /// Before this date findings are history, not violations.
    pub baseline: Option<NaiveDate>,
    /// The promised windows.
    pub windows: Windows,
    /// Advisory classes.
    pub classes: Vec<Class>,
    /// Levels per check; `None` switches a check off.
    pub levels: BTreeMap<String, Option<Level>>,
    /// What wraps an executable.
    pub containers: Containers,
    /// Path of the waiver file in the governed tree.
    pub waiver_file: Option<String>,
    /// Path of the rollout file in the governed tree.
    pub rollout_file: Option<String>,
    /// Where goldens are kept.
    pub goldens: GoldenPaths,
    /// Path of the ledger in the governed tree.
    pub ledger: String,
}

/// Where the ledger is unless the policy says otherwise.
pub const LEDGER: &str = "aotgate.lock";

/// Where goldens are kept. Directories are relative to each of the prefixes; those that are absent are
/// passed over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GoldenPaths {
    /// Stores of this tool: `<set>/<program>/golden.toml`.
    pub paths: Vec<String>,
    /// XLA's own layout: `<target>/v<N>/<test>.pbtxt`.
    pub upstream: Vec<String>,
    /// Those of the contract.
    pub prefixes: Vec<String>,
    /// When they are executed.
    pub execute: Execute,
}

/// When `check` executes goldens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Execute {
    /// Where the contract, the containers or the goldens change, and with `--goldens all`.
    #[default]
    OnChange,
    /// With every check.
    Always,
    /// Never: they are looked at only.
    Never,
}

impl GoldenPaths {
    /// All directories that are looked at, of either layout and below every prefix.
    pub fn places(&self) -> Vec<String> {
        let dirs = self.paths.iter().chain(&self.upstream);
        dirs.flat_map(|dir| self.below_prefixes(dir)).collect()
    }

    /// A directory of either list below every prefix, in order, each once.
    pub fn below_prefixes(&self, dir: &str) -> Vec<String> {
        let mut places = Vec::new();
        for prefix in &self.prefixes {
            let place = match prefix.trim_matches('/') {
                "" => dir.to_owned(),
                prefix => format!("{prefix}/{dir}"),
            };
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }
}

/// Constructs whose findings are capped.
#[derive(Debug, Clone)]
pub struct Class {
    /// Name shown in findings.
    pub name: String,
    /// Why they are advisory.
    pub reason: String,
    /// Messages, enums or fields that belong to it.
    pub constructs: Vec<Pattern>,
    /// Constructs that do not, although a pattern matches.
    pub except: Vec<Pattern>,
    /// Checks whose findings are not capped.
    pub except_checks: Vec<String>,
    /// Highest level of its findings.
    pub cap: Level,
}

impl Policy {
    /// The class that a construct of a type belongs to by name.
    pub fn class_of(&self, owner: &str, construct: &str) -> Option<&Class> {
        self.classes.iter().find(|class| {
            let any = |patterns: &[Pattern]| {
                patterns.iter().any(|p| p.matches(owner) || p.matches(construct))
            };
            any(&class.constructs) && !any(&class.except)
        })
    }
}
