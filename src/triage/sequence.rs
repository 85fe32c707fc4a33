//! The decision sequence: every change through the checks, every outcome to a finding.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use chrono::NaiveDate;

use super::policy::{Policy, Waiver};
use super::{Check, Context, Emission, EvidenceSource, Firm, Outcome, checks};
use crate::change::{Change, ChangeKind, Surface, compare};
use crate::descriptor::{Contract, Field, Message, Name};
use crate::finding::{Finding, Level, Satisfaction, Side, SourceLocation, Step, TraceStep, Triage};

/// What is judged.
pub struct Input<'a> {
    /// The older contract.
    pub base: &'a Contract,
    /// The newer contract.
    pub head: &'a Contract,
    /// The policy; base's, where base has one.
    pub policy: &'a Policy,
    /// The date that windows are measured against.
    pub today: NaiveDate,
    /// Dated facts.
    pub evidence: &'a dyn EvidenceSource,
    /// Judge advisory classes and history like everything else.
    pub strict: bool,
}

/// Judges all changes between two contracts; worst finding first, then by construct.
pub fn judge(input: &Input<'_>) -> Vec<Finding> {
    let context = input.context();
    let firm = Firm::new(input.policy, input.base, input.head);
    let mut findings = Vec::new();
    findings.extend(checks::root_missing::missing(input.base, input.head));
    for change in compare(input.base, input.head) {
        let in_contract = match change.surface {
            Surface::Proto => change.reach.wire,
            Surface::JsonPayload => change.reach.json,
            Surface::Container | Surface::Golden | Surface::Policy | Surface::Ledger => false,
        };
        if !in_contract {
            continue;
        }
        for (check, _) in checks::ALL {
            if check.surface != change.surface || !check.kinds.contains(&change.kind) {
                continue;
            }
            if let Some(outcome) = (check.judge)(&change, &context) {
                findings.extend(finding(input, &firm, Rule::of(check), &change, outcome));
            }
        }
    }
    sort(&mut findings);
    findings
}

/// Judges the messages of containers, `input.base` and `input.head` being their contracts, by the rules of the
/// wire. Fields named in `stop` are not followed; types for which `elsewhere` is true are reported with the contract.
pub fn judge_containers(
    input: &Input<'_>,
    stop: &[&str],
    elsewhere: impl Fn(&str) -> bool,
) -> Vec<Finding> {
    let context = input.context();
    let firm = Firm::new(input.policy, input.base, input.head);
    let within = |contract: &Contract| -> HashSet<Name> {
        let follow = |message: &Message, field: &Field| {
            !stop
                .iter()
                .any(|s| s.strip_prefix(&*message.name) == Some(&format!(".{}", field.name)))
        };
        contract.reachable_from(&contract.roots, follow).into_iter().cloned().collect()
    };
    let (in_base, in_head) = (within(input.base), within(input.head));
    let mut findings = Vec::new();
    for mut change in compare(input.base, input.head) {
        let owners = change.subject.owners();
        let governed = owners[0].is_some_and(|name| in_base.contains(name))
            || owners[1].is_some_and(|name| in_head.contains(name));
        if !governed || owners.into_iter().flatten().any(&elsewhere) {
            continue;
        }
        for (check, _) in checks::ALL {
            if check.surface != Surface::Proto || !check.kinds.contains(&change.kind) {
                continue;
            }
            if let Some(outcome) = (check.judge)(&change, &context) {
                change.surface = Surface::Container;
                let outcome = checks::container_changed::restate(check, outcome);
                let rule = Rule { reported: &checks::container_changed::CHECK, ..Rule::of(check) };
                findings.extend(finding(input, &firm, rule, &change, outcome));
            }
        }
    }
    findings
}

/// The check that judged a change, and the one under whose name that is reported.
#[derive(Clone, Copy)]
struct Rule {
    judged: &'static Check,
    reported: &'static Check,
}

impl Rule {
    fn of(check: &'static Check) -> Self {
        Rule { judged: check, reported: check }
    }
}

impl<'a> Input<'a> {
    fn context(&self) -> Context<'a> {
        Context {
            today: self.today,
            windows: self.policy.windows,
            dispatch: &self.policy.dispatch,
            evidence: self.evidence,
        }
    }
}

/// Worst first, then by construct. Of what is equally bad, goldens come last, and what goldens show comes right after the
/// findings about the schema that it is shown of: those are its cause, and rank as high as the worst that it does.
pub fn sort(findings: &mut [Finding]) {
    let golden = Surface::Golden.name();
    let mut shown: HashMap<&str, (Level, Triage)> = HashMap::new();
    for finding in findings.iter().filter(|finding| finding.surface == golden) {
        let facts = finding.evidence.iter().filter(|fact| fact.file.is_some());
        for name in facts.map(|fact| &*fact.what).chain([&*finding.construct]) {
            let worst = shown.entry(name).or_insert((finding.level, finding.triage));
            *worst = (*worst).max((finding.level, finding.triage));
        }
    }
    let rank = |finding: &Finding| {
        let own = (finding.level, finding.triage);
        if finding.surface == golden {
            return own;
        }
        let facts = finding.evidence.iter().filter(|fact| fact.file.is_some());
        let names = facts.map(|fact| &*fact.what).chain([&*finding.construct]);
        names.filter_map(|name| shown.get(name).copied()).fold(own, Ord::max)
    };
    let mut ranked: Vec<((Level, Triage), Finding)> =
        findings.iter().map(|finding| (rank(finding), finding.clone())).collect();
    ranked.sort_by(|(a_rank, a), (b_rank, b)| {
        let own = |f: &Finding| (f.surface == golden, Reverse((f.level, f.triage)));
        let names = (&a.construct, a.check, &a.before, &a.after);
        b_rank
            .cmp(a_rank)
            .then_with(|| own(a).cmp(&own(b)))
            .then_with(|| names.cmp(&(&b.construct, b.check, &b.before, &b.after)))
    });
    for (place, (_, finding)) in findings.iter_mut().zip(ranked) {
        *place = finding;
    }
}

fn finding(
    input: &Input<'_>,
    firm: &Firm,
    rule: Rule,
    change: &Change<'_>,
    outcome: Outcome,
) -> Option<Finding> {
    let Rule { judged: check, reported } = rule;
    let own = default_level(check, &outcome);
    let wanted = match input.policy.levels.get(reported.id) {
        Some(None) => return None,
        Some(Some(level)) => *level,
        None => own,
    };
    let (level, capped) = cap(input, firm, reported, change, wanted);
    let entered = entered_class(input, firm, change);
    // What becomes advice is judged as such from the next change on: somebody should see that.
    let level = if entered.is_some() { level.max(Level::Warning) } else { level };
    let message = match entered {
        Some(class) => format!("{}; it enters the advisory class {class}", outcome.message),
        None => outcome.message.clone(),
    };
    let mut locations = Vec::new();
    for (side, contract, place) in [
        (Side::Head, input.head, change.subject.head_place()),
        (Side::Base, input.base, change.subject.base_place()),
    ] {
        let Some(place) = place else { continue };
        let (Some(location), Some(file)) = (contract.locate(place), contract.file(place)) else {
            continue;
        };
        locations.push(SourceLocation {
            side,
            location,
            label: label(side, change),
            source: file.source.clone(),
        });
    }
    let effective = check.id != checks::no_effective_change::CHECK.id;
    Some(Finding {
        check: reported.id,
        step: if effective { check.step } else { None },
        triage: outcome.triage,
        level,
        capped,
        satisfied_by: None,
        window: outcome.window,
        surface: change.surface.name(),
        construct: change.construct.clone(),
        wire: Some(change.wire),
        before: change.before.clone(),
        after: change.after.clone(),
        message,
        remedy: outcome.remedy.clone(),
        earliest_safe: outcome.earliest_safe,
        evidence: outcome.evidence.clone(),
        locations,
        trace: trace(check, change, &outcome),
    })
}

fn label(side: Side, change: &Change<'_>) -> String {
    let text = match side {
        Side::Base => change.before.as_deref(),
        Side::Head => change.after.as_deref(),
    };
    match (side, text) {
        (Side::Base, Some(text)) => format!("before: {text}"),
        (Side::Head, Some(text)) => format!("now: {text}"),
        (Side::Base, None) => "declared here before".to_owned(),
        (Side::Head, None) => "gone from here".to_owned(),
    }
}

fn default_level(check: &Check, outcome: &Outcome) -> Level {
    if let Some(level) = check.level {
        return level;
    }
    match outcome.triage {
        Triage::BreaksBackward | Triage::BreaksForward => Level::Error,
        Triage::NeedsRollout => match outcome.emission {
            Emission::On => Level::Error,
            Emission::Unknown => Level::Warning,
            Emission::Off | Emission::Ceased(_) => Level::Note,
        },
        Triage::NeedsAttestation => Level::Warning,
        Triage::Safe => Level::Note,
    }
}

/// The advisory class that a renamed construct enters, if it was in none before.
fn entered_class<'p>(input: &Input<'p>, firm: &Firm, change: &Change<'_>) -> Option<&'p str> {
    let renamed = matches!(
        change.kind,
        ChangeKind::MessageRenamed | ChangeKind::EnumRenamed | ChangeKind::FieldRenamed
    );
    let history = input.policy.baseline.is_some_and(|baseline| input.today < baseline);
    if !renamed || input.strict || history {
        return None;
    }
    let names: Vec<(&str, String)> = change.names().collect();
    let [(base_owner, base), (head_owner, head)] = names.as_slice() else { return None };
    let class = input.policy.class_of(head_owner, head)?;
    let outside = input.policy.class_of(base_owner, base).is_none() && firm.contains(base_owner);
    outside.then_some(&*class.name)
}

/// Advisory classes and history cap a level, each with its reason.
fn cap(
    input: &Input<'_>,
    firm: &Firm,
    check: &Check,
    change: &Change<'_>,
    level: Level,
) -> (Level, Option<String>) {
    if input.strict {
        return (level, None);
    }
    if let Some(baseline) = input.policy.baseline
        && input.today < baseline
        && level > Level::Note
    {
        let why = format!("history: dated before the baseline {baseline}");
        return (Level::Note, Some(why));
    }
    // What either side does not treat as advice is none: a break cannot be moved into a class.
    let mut cap: Option<(Level, String)> = None;
    for (owner, construct) in change.names() {
        let (class_cap, why, except_checks) = match input.policy.class_of(owner, &construct) {
            Some(class) => (
                class.cap,
                format!("advisory class {}: {}", class.name, class.reason),
                class.except_checks.iter().collect::<Vec<_>>(),
            ),
            None if firm.contains(owner) => return (level, None),
            None => match input.policy.classes.iter().max_by_key(|class| class.cap) {
                Some(class) => (
                    class.cap,
                    "reachable through advisory classes only".to_owned(),
                    class.except_checks.iter().collect(),
                ),
                None => return (level, None),
            },
        };
        if except_checks.iter().any(|id| *id == check.id) {
            return (level, None);
        }
        if cap.as_ref().is_none_or(|(lowest, _)| class_cap > *lowest) {
            cap = Some((class_cap, why));
        }
    }
    match cap {
        Some((cap, why)) if level > cap => (cap, Some(why)),
        _ => (level, None),
    }
}

/// The sequence as it was answered.
fn trace(check: &Check, change: &Change<'_>, outcome: &Outcome) -> Vec<TraceStep> {
    let carrier = match change.surface {
        Surface::Proto => "reachable from the root message",
        Surface::JsonPayload => "travels as JSON inside an opaque field",
        Surface::Container => "wraps every artifact",
        Surface::Golden => "recorded artifacts hold it",
        Surface::Policy => "decides what is judged",
        Surface::Ledger => "tells what was before",
    };
    let step = |step, answer: &str, because: &str| TraceStep {
        step: Some(step),
        answer: answer.to_owned(),
        because: because.to_owned(),
    };
    let mut trace = vec![step(Step::R1, "yes", carrier)];
    let Some(last) = check.step else {
        trace.push(TraceStep {
            step: None,
            answer: "no effective change".to_owned(),
            because: outcome.because.clone(),
        });
        return trace;
    };
    for passed in Step::ALL.into_iter().filter(|s| *s > Step::R1 && *s < last) {
        trace.push(step(passed, "no", passed_because(passed, change.kind)));
    }
    // A question about existing artifacts that turned out to leave them as they are.
    let answer = if outcome.triage == Triage::Safe && last == Step::R2 { "no" } else { "yes" };
    trace.push(step(last, answer, &outcome.because));
    if outcome.triage == Triage::Safe {
        trace.push(TraceStep {
            step: None,
            answer: "safe".to_owned(),
            because: outcome.message.clone(),
        });
    }
    trace
}

/// Why a question that was passed did not stop the sequence.
fn passed_because(step: Step, kind: ChangeKind) -> &'static str {
    match (step, kind) {
        (Step::R2, ChangeKind::FieldRemoved | ChangeKind::EnumValueRemoved) => {
            "what remains keeps number, type and meaning"
        }
        (Step::R2, _) => "existing artifacts do not hold it",
        (Step::R3, _) => "nothing is removed by it",
        (Step::R4, _) => "compilers emit nothing new by it",
        _ => "no registered name is touched by it",
    }
}

/// Waivers that cover a finding satisfy it; an expired one that would have is a finding of its own.
pub fn apply_waivers(
    findings: &mut [Finding],
    waivers: &[Waiver],
    today: NaiveDate,
) -> Vec<Finding> {
    let mut expired = Vec::new();
    for finding in findings {
        let covering = |waiver: &&Waiver| waiver.covers(finding);
        let valid = waivers.iter().filter(covering).max_by_key(|w| w.expires);
        let Some(waiver) = valid else { continue };
        if waiver.expires >= today {
            finding.satisfied_by = Some(Satisfaction::Waiver {
                reason: waiver.reason.clone(),
                by: waiver.approved_by.clone(),
                expires: waiver.expires,
            });
        } else {
            expired.extend(checks::waiver_expired::finding(waiver, today, Vec::new()));
        }
    }
    expired
}
