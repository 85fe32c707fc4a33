//! The JSON form of an opaque payload changed.
//!
//! ## What it flags
//! Keys and value names of messages that travel as JSON text inside an opaque field (`[[contract.opaque]]` in the
//! policy), such as `xla.gpu.GpuBackendConfig` in `backend_config`: added, removed, renamed, or written in another
//! form.
//!
//! ## Why it breaks
//! The text has original names, holds every field without presence, set or not, and is read with unknown names
//! rejected. So a new field without presence fails every older runtime, one with presence those that get it set;
//! and a removed or renamed field fails on artifacts that have the old key. Numbers do not matter here.
//!
//! ## What to do
//! Give a new field presence (`optional`, or a message type) and set it 2 weeks after the reader landed. Keep a
//! field that is not needed any more for 6 months after it was last written; a field without presence always is,
//! so first make it `optional` and stop setting it.
//!
//! ## Example
//! ```proto
//! message BlockLevelFusionConfig {
//!   optional int32 waves_per_eu = 8;   // absent from the text unless set
//! }
//! ```

use crate::change::{Change, ChangeKind, Severity, Subject, Surface};
use crate::descriptor::Presence;
use crate::finding::{Step, Triage};
use crate::triage::{Check, Context, Emission, Outcome};

use super::wording;

/// See the module comment.
pub static CHECK: Check = Check {
    id: "json-payload-changed",
    step: Some(Step::R2),
    kinds: &[
        ChangeKind::FieldAdded,
        ChangeKind::FieldRemoved,
        ChangeKind::FieldRenamed,
        ChangeKind::FieldTypeChanged,
        ChangeKind::FieldPresenceChanged,
        ChangeKind::EnumValueAdded,
        ChangeKind::EnumValueRemoved,
    ],
    surface: Surface::JsonPayload,
    level: None,
    judge,
};

fn judge(change: &Change<'_>, context: &Context<'_>) -> Option<Outcome> {
    let message = format!("{}: {}", subject(change)?, change.detail.as_deref()?);
    let because = "the payload is JSON text, and its reader rejects what it does not know";
    let (emit, remove) = (context.emission_from(), context.removal_from());
    let (backward, forward) = (change.wire.backward, change.wire.forward);
    if backward >= Severity::SilentLoss {
        if let Some(why) = unset_in_artifacts(change, context) {
            return Some(Outcome::safe(format!("{message}; {why}"), why));
        }
        let removed =
            matches!(change.kind, ChangeKind::FieldRemoved | ChangeKind::EnumValueRemoved);
        let (remedy, earliest) = if removed {
            let remedy = format!(
                "{} If no compiler writes it from today on, remove it from {remove} on.",
                stop_writing(change)
            );
            (remedy, Some(remove))
        } else {
            let until = context.windows.backward.after(emit);
            let remedy = format!(
                "Add the new form under a new name, write it from {emit} on, and keep the old one in the schema until {until}."
            );
            (remedy, None)
        };
        let outcome = Outcome::new(Triage::BreaksBackward, message, because, remedy);
        return Some(Outcome { earliest_safe: earliest, ..outcome });
    }
    if forward >= Severity::SilentLoss {
        let how = match added_presence(change) {
            Some(Presence::Repeated) => "Wrap the list in a message field",
            _ => "Give it presence (`optional`)",
        };
        let remedy =
            format!("{how}, so that it is written only when set, and set it from {emit} on.");
        return Some(Outcome::new(Triage::BreaksForward, message, because, remedy));
    }
    if forward == Severity::LossyInRange && backward == Severity::Safe {
        let emission = context.evidence.emission(&change.construct);
        let triage = match emission {
            Emission::On => Triage::BreaksForward,
            _ => Triage::NeedsRollout,
        };
        let remedy = format!("Land the reader first. If it lands today, set it from {emit} on.");
        let mut outcome = Outcome::new(triage, message, because, remedy).earliest(emit);
        outcome.emission = emission;
        return Some(outcome);
    }
    let remedy = wording::replace(context, "the new form");
    Some(wording::by_wire_effect(CHECK.id, change, context, message, remedy))
}

/// How to get a key out of the text before it leaves the schema.
fn stop_writing(change: &Change<'_>) -> &'static str {
    let Subject::Field(_, field) = &change.subject else {
        return "Keep it in the schema and stop writing it.";
    };
    match field.base.map(|field| field.presence) {
        Some(Presence::Implicit) => {
            "Keep it in the schema, make it `optional` and stop setting it: without presence it is always written."
        }
        Some(Presence::Repeated) => {
            "A list is always written, so let the loader drop the key from older payloads before it parses them, and keep the field until then."
        }
        _ => "Keep it in the schema and stop setting it.",
    }
}

fn added_presence(change: &Change<'_>) -> Option<Presence> {
    match &change.subject {
        Subject::Field(_, field) => field.head.map(|field| field.presence),
        _ => None,
    }
}

fn subject(change: &Change<'_>) -> Option<String> {
    match &change.subject {
        Subject::Field(_, field) => Some(format!("key {}", field.head.or(field.base)?.name)),
        Subject::EnumValue(_, value) => Some(format!("value {}", value.head.or(value.base)?.name)),
        _ => None,
    }
}

/// Why no artifact has the old key, if that is known: it is written when set, and was not.
fn unset_in_artifacts(change: &Change<'_>, context: &Context<'_>) -> Option<String> {
    let construct = match &change.subject {
        Subject::Field(owner, field) => {
            let (owner, field) = (owner.base?, field.base?);
            if field.presence != Presence::Explicit {
                return None;
            }
            format!("{}.{}", owner.name, field.name)
        }
        _ => change.construct.clone(),
    };
    wording::absent(context, &construct)
}
