//! Outcomes and phrases that several checks share.

use crate::change::{Change, ChangeKind, Severity};
use crate::descriptor::{EnumValue, Field};
use crate::finding::{Evidence, Finding, Level, SourceLocation, TraceStep, Triage, Window};
use crate::history::Confidence;
use crate::triage::{Check, Context, Emission, Former, Outcome};

use super::removed_too_early;

/// `field NAME = NUMBER`.
pub(super) fn field(field: &Field) -> String {
    format!("field {} = {}", field.name, field.number)
}

/// `value NAME = NUMBER`.
pub(super) fn value(value: &EnumValue) -> String {
    format!("value {} = {}", value.name, value.number)
}

/// Whether the slot now holds another field: then the check of reused numbers says it all, and what
/// else differs between the old and the new field is no change of either.
pub(super) fn is_another_field(change: &Change<'_>) -> bool {
    change.repurposed.is_some() && change.kind != ChangeKind::FieldAdded
}

/// Why no artifact that must still be read holds the construct, if that is known.
pub(super) fn absent(context: &Context<'_>, construct: &str) -> Option<String> {
    match context.evidence.emission(construct) {
        Emission::Off => Some("no compiler emits it by default".to_owned()),
        Emission::Ceased(since) if context.windows.backward.satisfied(since, context.today) => {
            Some(format!("no compiler has emitted it since {since}"))
        }
        _ => None,
    }
}

/// Why a number may be taken again, if the policy allows that: it was in use for a short time only.
pub(super) fn short_lived(context: &Context<'_>, former: &Former) -> Option<String> {
    let grace = context.windows.reuse_grace;
    let Former { since, until, .. } = former;
    let known = since.confidence == Confidence::Known && until.confidence == Confidence::Known;
    // A grace of nothing allows nothing.
    let short = known && until.date < grace.after(since.date);
    short.then(|| {
        format!(
            "it was in use from {} to {}, less than the {grace} of the policy",
            since.date, until.date
        )
    })
}

/// When what was there before came and went.
pub(super) fn dated(former: &Former) -> Vec<Evidence> {
    let what = format!("{former} = {}", former.number);
    vec![
        former.since.evidence(format!("{what} was declared")),
        former.until.evidence(format!("{what} was taken away")),
    ]
}

/// How to change what cannot be changed in place: a new field or value beside the old one.
pub(super) fn replace(context: &Context<'_>, new: &str) -> String {
    let emit = context.emission_from();
    format!(
        "Put {new} under a new number and keep reading the old one. If the reader lands today, write the new one from {emit} on and delete the old one from {} on.",
        context.windows.backward.after(emit)
    )
}

/// How to vouch for a change: the line that satisfies the finding.
pub(super) fn attest(check: &str, change: &Change<'_>, condition: &str) -> String {
    format!(
        "If {condition}, say so in the commit message: `AOT-Compat: {check} {} - <reason>`.",
        change.construct
    )
}

/// The outcome of adding something that older runtimes do not know. `what` names it, `effect` says
/// what such a runtime makes of it.
pub(super) fn added(
    change: &Change<'_>,
    context: &Context<'_>,
    what: &str,
    effect: &str,
) -> Outcome {
    let emission = context.evidence.emission(&change.construct);
    let forward = context.windows.forward;
    let unknown = format!("runtimes up to {forward} older do not know it");
    let (triage, message) = match emission {
        Emission::On => {
            (Triage::BreaksForward, format!("{what} is new and emitted at once, but {unknown}"))
        }
        Emission::Unknown => (Triage::NeedsRollout, format!("{what} is new, and {unknown}")),
        Emission::Off | Emission::Ceased(_) => {
            (Triage::NeedsRollout, format!("{what} is new and not emitted yet; {unknown}"))
        }
    };
    let from = context.emission_from();
    let unknown = match emission {
        Emission::Unknown => {
            " Whether compilers emit it is not known here, so a reviewer confirms that (`--fail-on fail` lets such warnings pass)."
        }
        _ => "",
    };
    let remedy = format!(
        "It may land today as long as nothing emits it by default before {from}: only the reader, or an emitter behind a flag that is off.{unknown}"
    );
    let mut outcome = Outcome::new(triage, message, effect, remedy);
    outcome.emission = emission;
    outcome.earliest(from)
}

/// The outcome of taking away something that artifacts may hold; `None` where
/// [`removed-too-early`](super::removed_too_early) says it. `what` names it, `effect` says what a runtime without it
/// makes of such an artifact.
pub(super) fn removed(
    change: &Change<'_>,
    context: &Context<'_>,
    what: &str,
    effect: &str,
) -> Option<Outcome> {
    if let Some(why) = absent(context, &change.construct) {
        return Some(Outcome::safe(format!("{what} is removed, and {why}"), why));
    }
    if removed_too_early::ceased(&change.construct, context).is_some() {
        return None;
    }
    let emission = context.evidence.emission(&change.construct);
    let backward = context.windows.backward;
    let from = context.removal_from();
    let mut outcome = Outcome::new(
        Triage::BreaksBackward,
        format!("{what} is removed, and artifacts of the last {backward} may hold it"),
        effect,
        format!(
            "Stop emitting it and keep reading it. If no compiler emits it from today on, remove it from {from} on, and reserve its number and name. If none has emitted it for {backward} already, waive this and name the commit that stopped it."
        ),
    );
    outcome.emission = emission;
    Some(outcome.earliest(from))
}

/// The outcome that a change's wire effect asks for: what is lost or misread breaks, what suffers for
/// some values only has to be vouched for. `remedy` says what to do instead.
pub(super) fn by_wire_effect(
    check: &str,
    change: &Change<'_>,
    context: &Context<'_>,
    message: impl Into<String>,
    remedy: impl Into<String>,
) -> Outcome {
    let (message, remedy) = (message.into(), remedy.into());
    let (backward, forward) = (change.wire.backward, change.wire.forward);
    if change.wire.is_safe() {
        return Outcome::safe(message, "readers on either side read it as written");
    }
    if let Some(why) = absent(context, &change.construct) {
        return Outcome::safe(format!("{message}; {why}"), why);
    }
    let old_data = format!("new runtimes, old artifacts: {}", effect(backward));
    let new_data = format!("old runtimes, new artifacts: {}", effect(forward));
    if backward >= Severity::SilentLoss || forward >= Severity::SilentLoss {
        let (triage, because) = if backward >= Severity::SilentLoss {
            (Triage::BreaksBackward, old_data)
        } else {
            (Triage::BreaksForward, new_data)
        };
        // It may never land in place; what may be written when is in the remedy.
        return Outcome::new(triage, message, because, remedy);
    }
    let (because, window, whose) = if backward > Severity::Safe {
        let last = format!("every artifact of the last {}", context.windows.backward);
        (old_data, Window::Backward, last)
    } else {
        let older = format!("every runtime up to {} older", context.windows.forward);
        (new_data, Window::Forward, older)
    };
    let vouch = attest(check, change, &format!("the result stays right for {whose}"));
    let mut outcome = Outcome::new(
        Triage::NeedsAttestation,
        message,
        because,
        format!("{vouch} {}", otherwise(&remedy)),
    );
    outcome.window = Some(window);
    outcome
}

/// A remedy as the second choice.
pub(super) fn otherwise(remedy: &str) -> String {
    let mut rest = remedy.chars();
    let first = rest.next().map(|c| c.to_ascii_lowercase());
    format!("Otherwise {}{}", first.map_or(String::new(), String::from), rest.as_str())
}

/// What happens to a value, in words.
fn effect(severity: Severity) -> &'static str {
    match severity {
        Severity::Safe => "read as written",
        Severity::LossyInRange => "some values are read differently",
        Severity::SilentLoss => "the value is dropped without an error",
        Severity::WrongValue => "the value is read as something else",
        Severity::Fail => "the parse fails",
    }
}

/// A finding about the tool's own inputs, which no change of a schema triggers.
pub(super) fn input_finding(
    check: &'static Check,
    construct: String,
    level: Level,
    outcome: Outcome,
    locations: Vec<SourceLocation>,
) -> Finding {
    Finding {
        check: check.id,
        step: check.step,
        triage: outcome.triage,
        level: check.level.unwrap_or(level),
        capped: None,
        satisfied_by: None,
        window: None,
        surface: check.surface.name(),
        construct,
        wire: None,
        before: None,
        after: None,
        message: outcome.message,
        remedy: outcome.remedy,
        earliest_safe: outcome.earliest_safe,
        evidence: outcome.evidence,
        locations,
        trace: vec![TraceStep {
            step: check.step,
            answer: "yes".to_owned(),
            because: outcome.because,
        }],
    }
}
