//! A root message of the contract is gone.
//!
//! ## What it flags
//! A root that base has and head has not: the message was deleted or renamed, or its file is no longer
//! where the policy says.
//!
//! ## Why it breaks
//! Without the root nothing is left to compare, and every artifact that exists starts with it.
//!
//! ## What to do
//! If the file moved or the message was renamed, name the new place in `[[contract.root]]` of the policy
//! (in a change of its own, since base's policy judges). If it was deleted, bring it back.
//!
//! ## Example
//! ```toml
//! [[contract.root]]
//! message = "xla.gpu.GpuExecutableProto"
//! files = ["xla/service/gpu/gpu_executable.proto", "xla/service/gpu/executable.proto"]
//! ```

use crate::change::{Change, Surface};
use crate::descriptor::Contract;
use crate::finding::{Finding, Level, Side, SourceLocation, Step, TraceStep, Triage, Window};
use crate::triage::{Check, Context, Outcome};

/// See the module comment.
pub static CHECK: Check = Check {
    id: "root-missing",
    step: Some(Step::R3),
    kinds: &[],
    surface: Surface::Proto,
    level: None,
    judge,
};

fn judge(_change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    None
}

/// One finding per root that head lacks.
pub(in crate::triage) fn missing(base: &Contract, head: &Contract) -> Vec<Finding> {
    let gone = base.roots.iter().filter(|root| !head.messages.contains_key(*root));
    gone.map(|root| {
        let message = base.message(root);
        let location = message.and_then(|m| {
            Some(SourceLocation {
                side: Side::Base,
                location: base.locate(&m.place)?,
                label: "the root, before".to_owned(),
                source: base.file(&m.place).and_then(|f| f.source.clone()),
            })
        });
        Finding {
            check: CHECK.id,
            step: CHECK.step,
            triage: Triage::BreaksBackward,
            level: Level::Error,
            capped: None,
            satisfied_by: None,
            window: Some(Window::Backward),
            surface: Surface::Proto.name(),
            construct: root.to_string(),
            before: Some(root.to_string()),
            after: None,
            message: "the root message is gone".to_owned(),
            remedy: "Bring it back, or name its new place in `[[contract.root]]` of the policy first."
                .to_owned(),
            earliest_safe: None,
            evidence: Vec::new(),
            locations: location.into_iter().collect(),
            trace: vec![TraceStep {
                step: CHECK.step,
                answer: "yes".to_owned(),
                because: "every artifact starts with the root".to_owned(),
            }],
        }
    })
    .collect()
}
