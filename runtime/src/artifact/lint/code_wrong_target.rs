//! Device code is for another GPU generation than the artifact.
//!
//! ## What it flags
//!
//! Machine code that the artifact's stated compute capability cannot run (error), code for an older minor
//! generation of it (note), and code for different targets in one artifact (warning).
//!
//! ## Why it matters
//!
//! A cubin runs on GPUs of its own major generation with the same or a later minor one, and on no others. A
//! loader compares the artifact's capability with the device, not each cubin's.
//!
//! ## What to do
//!
//! Compile every kernel for the artifact's target, also those that come from other compilers (Triton,
//! Pallas, hand-written).

use std::collections::BTreeMap;

use prost_reflect::FieldDescriptor;

use super::code::is_device_code;
use super::finding::{Draft, Level, Sink};
use super::rule::{At, Rule, RuleInfo};
use super::subject::Subject;
use crate::artifact::inspect::cubin;
use crate::artifact::rope::Rope;

pub(super) static RULE: RuleInfo = RuleInfo { id: "code-wrong-target", level: Level::Error };

pub(super) struct Check {
    target: Option<i32>,
    /// By architecture: where the first is, and how many there are.
    seen: BTreeMap<String, (String, u64)>,
}

impl Check {
    pub(super) fn new(subject: &Subject) -> Self {
        let number = |(major, minor): (i32, i32)| major.saturating_mul(10).saturating_add(minor);
        Check { target: subject.cuda.map(number), seen: BTreeMap::new() }
    }
}

impl Rule for Check {
    fn content(&mut self, at: &mut At<'_>, field: &FieldDescriptor, bytes: &Rope) {
        if !is_device_code(field) {
            return;
        }
        let Some(name) = cubin::architecture(&bytes.to_bytes()) else { return };
        let architecture: Option<i32> = name.trim_start_matches("sm_").parse().ok();
        if let (Some(target), Some(architecture)) = (self.target, architecture)
            && target != architecture
        {
            let runs = architecture / 10 == target / 10 && architecture < target;
            let text = format!("code for {name} in an artifact for sm_{target}");
            let draft = Draft::new(text).bytes(bytes.len());
            let draft = if runs { draft.level(Level::Note) } else { draft };
            at.report(&RULE, draft);
        }
        self.seen.entry(name).or_insert_with(|| (at.path(), 0)).1 += 1;
    }

    fn finish(&mut self, sink: &mut Sink) {
        if self.seen.len() < 2 {
            return;
        }
        let list: Vec<String> =
            self.seen.iter().map(|(name, (_, count))| format!("{name} ({count})")).collect();
        let mut paths = self.seen.values().map(|(path, _)| path.clone());
        let first = paths.next().unwrap_or_default();
        let draft = Draft::new(format!("code for different targets: {}", list.join(", ")));
        let draft = draft.also(paths.collect()).level(Level::Warning);
        sink.add(&RULE, || (first, None), draft);
    }
}
