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

use crate::change::{Change, Pairs, Surface};
use crate::descriptor::{Contract, Name};
use crate::finding::{Finding, Level, Side, SourceLocation, Step, Triage, Window};
use crate::triage::{Check, Context, Outcome};

use super::wording;

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

/// One finding per root that head lacks. One that was renamed and is a root under its new name too is
/// none: what is compared then is the renamed message.
pub(in crate::triage) fn missing(base: &Contract, head: &Contract) -> Vec<Finding> {
    let gone = |roots: &[Name]| -> Vec<Name> {
        let there = |name: &Name| head.messages.contains_key(name) || head.enums.contains_key(name);
        roots.iter().filter(|root| !there(root)).cloned().collect()
    };
    let (roots, payloads) = (gone(&base.roots), gone(&base.json_roots));
    if roots.is_empty() && payloads.is_empty() {
        return Vec::new();
    }
    let pairs = Pairs::new(base, head);
    let renamed = |name: &Name, roots: &[Name]| {
        pairs.message_in_head(name).or(pairs.enum_in_head(name)).is_some_and(|n| roots.contains(n))
    };
    let roots = roots.iter().filter(|root| !renamed(root, &head.roots));
    let payloads = payloads.iter().filter(|root| !renamed(root, &head.json_roots));
    let roots = roots.map(|root| finding(base, root, Surface::Proto, "[[contract.root]]"));
    let payloads =
        payloads.map(|root| finding(base, root, Surface::JsonPayload, "[[contract.opaque]]"));
    roots.chain(payloads).collect()
}

fn finding(base: &Contract, root: &Name, surface: Surface, table: &str) -> Finding {
    let location = base.message(root).and_then(|message| {
        Some(SourceLocation {
            side: Side::Base,
            location: base.locate(&message.place)?,
            label: "the root, before".to_owned(),
            source: base.file(&message.place).and_then(|f| f.source.clone()),
        })
    });
    let outcome = Outcome::new(
        Triage::BreaksBackward,
        "the root message is gone",
        "what it holds can be read no more",
        format!("Bring it back, or name its new place in a `{table}` table of the policy first."),
    );
    let locations = location.into_iter().collect();
    let found =
        wording::input_finding(&CHECK, root.to_string(), Level::Error, outcome, locations);
    Finding { surface: surface.name(), window: Some(Window::Backward), before: Some(root.to_string()), ..found }
}
