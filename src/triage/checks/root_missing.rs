//! A root message of the contract is gone.
//!
//! ## What it flags
//! A root that base has and head has not: the message was deleted or renamed, or its file is no longer
//! where the policy says. The messages of opaque payloads (`[[contract.opaque]]`) are roots as well.
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
    let roots = base.roots.iter().map(|root| (root, Surface::Proto));
    let payloads = base.json_roots.iter().map(|root| (root, Surface::JsonPayload));
    let gone = roots.chain(payloads).filter(|(root, _)| !head.messages.contains_key(*root) && !head.enums.contains_key(*root));
    gone.map(|(root, surface)| {
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
            surface: surface.name(),
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
                because: "what it holds can be read no more".to_owned(),
            }],
        }
    })
    .collect()
}
