//! One file per check. The module comment of a file is the page that `aotgate explain` prints.

use super::{Check, Outcome};
use crate::change::{Change, Severity};
use crate::finding::Triage;

macro_rules! checks {
    ($($module:ident,)*) => {
        $(pub mod $module;)*

        /// All checks with their pages, sorted by id.
        pub static ALL: &[(&Check, &str)] = &[
            $((&$module::CHECK, include_str!(concat!(stringify!($module), ".rs"))),)*
        ];
    };
}

// One line per file of this folder, sorted.
checks! {
    field_added,
    field_removed,
    field_type_changed,
    no_effective_change,
    policy_changed,
    root_missing,
    waiver_expired,
}

/// The check with this id.
pub fn find(id: &str) -> Option<&'static Check> {
    ALL.iter().map(|(check, _)| *check).find(|check| check.id == id)
}

/// The page of a check: its module comment as Markdown.
pub fn page(id: &str) -> Option<String> {
    let (_, source) = ALL.iter().find(|(check, _)| check.id == id)?;
    let lines: Vec<&str> = source
        .lines()
        .take_while(|line| line.starts_with("//!"))
        .map(|line| line.trim_start_matches("//!").strip_prefix(' ').unwrap_or(""))
        .collect();
    Some(lines.join("\n"))
}

/// The outcome that a change's wire effect asks for: what is lost or misread breaks, what suffers for
/// some values only has to be vouched for. `otherwise` applies where the wire is unaffected.
fn by_wire_effect(change: &Change<'_>, otherwise: Triage, message: &str, remedy: &str) -> Outcome {
    let because = |direction: &str, severity: Severity| {
        format!(
            "{direction}: {}",
            match severity {
                Severity::Safe => "read as written",
                Severity::LossyInRange => "some values are read differently",
                Severity::SilentLoss => "the value is dropped without an error",
                Severity::WrongValue => "the value is read as something else",
                Severity::Fail => "the parse fails",
            }
        )
    };
    let backward = because("new runtimes, old artifacts", change.wire.backward);
    let forward = because("old runtimes, new artifacts", change.wire.forward);
    let (triage, because) = if change.wire.backward >= Severity::SilentLoss {
        (Triage::BreaksBackward, backward)
    } else if change.wire.forward >= Severity::SilentLoss {
        (Triage::BreaksForward, forward)
    } else if change.wire.backward == Severity::LossyInRange {
        (Triage::NeedsAttestation, backward)
    } else if change.wire.forward == Severity::LossyInRange {
        (Triage::NeedsAttestation, forward)
    } else {
        (otherwise, "the wire is unaffected".to_owned())
    };
    Outcome::new(triage, message, because, remedy)
}
