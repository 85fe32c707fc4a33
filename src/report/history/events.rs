//! What happened to a construct, one line an event.

use super::{Input, Scope, Used, chosen};
use crate::history::{Moment, Period, Position, Use};

/// Something that happened.
pub(super) struct Happened<'a> {
    pub(super) when: Moment<'a>,
    /// `+`, `-` or `~`.
    pub(super) marker: char,
    pub(super) text: String,
}

/// What happened to a scope and those of its uses that are shown, oldest first.
pub(super) fn of<'a>(
    input: &Input<'a>,
    scope: &'a Scope,
    uses: &Option<Vec<usize>>,
) -> Vec<Happened<'a>> {
    let view = input.history.latest();
    let mut events = Vec::new();
    if uses.is_none() {
        both(&mut events, &view.life(scope), "declared", "gone");
        both(&mut events, &view.wire(scope), "in the contract", "no more in the contract");
        both(&mut events, &view.json(scope), "in a JSON payload", "no more in a JSON payload");
        for titled in scope.names.iter().skip(1) {
            let renamed = titled.spans.iter().filter_map(|s| input.history.timeline.moment(s.from));
            events.extend(renamed.map(|when| Happened {
                when,
                marker: '~',
                text: format!("now called {}", titled.name),
            }));
        }
    }
    let shown = chosen(input, scope, uses);
    let all = view.all_uses(scope);
    let mut reserved: Vec<(i32, &str)> = Vec::new();
    for used in &shown {
        declared(&mut events, used, &all);
        reserved.push((used.what.number, &used.what.name));
    }
    for (at, (number, name)) in reserved.iter().enumerate() {
        let earlier = reserved.get(..at).unwrap_or_default();
        if !earlier.iter().any(|(other, _)| other == number) {
            let periods = view.number_reserved(scope, *number);
            both(
                &mut events,
                &periods,
                &format!("reserved {number}"),
                &format!("{number} no more reserved"),
            );
        }
        if !earlier.iter().any(|(_, other)| other == name) {
            let periods = view.name_reserved(scope, name);
            both(
                &mut events,
                &periods,
                &format!("reserved \"{name}\""),
                &format!("\"{name}\" no more reserved"),
            );
        }
    }
    for reuse in view.reuses(scope) {
        let of_shown = shown.iter().any(|used| std::ptr::eq(used.what, reuse.now));
        if let (true, Some(until)) = (of_shown, reuse.held.until) {
            let (what, was) = match reuse.by_name {
                true => (format!("name {}", reuse.now.name), slot(reuse.before)),
                false => (format!("number {}", reuse.now.number), slot(reuse.before)),
            };
            events.push(Happened {
                when: reuse.holds.from,
                marker: '!',
                text: format!(
                    "{what} reused: it was {was} until {} ({})",
                    until.date,
                    short(until.commit)
                ),
            });
        }
    }
    events.sort_by_key(|event| event.when.position);
    events
}

/// The first ten digits of an id.
pub(super) fn short(id: &str) -> &str {
    id.get(..10).unwrap_or(id)
}

/// `bool x = 5`, or `X = 5` for an enum value.
pub(super) fn slot(used: &Use) -> String {
    match &used.field {
        Some(field) => format!("{} {} = {}", field.ty, used.name, used.number),
        None => format!("{} = {}", used.name, used.number),
    }
}

fn both<'a>(events: &mut Vec<Happened<'a>>, periods: &[Period<'a>], came: &str, went: &str) {
    for period in periods {
        events.push(Happened { when: period.from, marker: '+', text: came.to_owned() });
        if let Some(when) = period.until {
            events.push(Happened { when, marker: '-', text: went.to_owned() });
        }
    }
}

/// When a use came, came again, followed another one, and went.
fn declared<'a>(events: &mut Vec<Happened<'a>>, used: &Used<'a>, all: &[Used<'a>]) {
    let related = |other: &&Used<'a>| {
        other.what.meaning == used.what.meaning && !std::ptr::eq(other.what, used.what)
    };
    let ended = |other: &Used<'a>, at: Position| {
        other.periods.iter().any(|p| p.until.is_some_and(|until| until.position == at))
    };
    let began =
        |other: &Used<'a>, at: Position| other.periods.iter().any(|p| p.from.position == at);
    for (index, period) in used.periods.iter().enumerate() {
        let at = period.from.position;
        let text = match all.iter().filter(related).find(|other| ended(other, at)) {
            Some(other) => format!("{} -> {}", describe(other.what), describe(used.what)),
            None if index > 0 => format!("{} again", describe(used.what)),
            None => describe(used.what),
        };
        let marker = if text.contains(" -> ") { '~' } else { '+' };
        events.push(Happened { when: period.from, marker, text });
        let Some(when) = period.until else { continue };
        if !all.iter().filter(related).any(|other| began(other, when.position)) {
            events.push(Happened { when, marker: '-', text: describe(used.what) });
        }
    }
}

/// A use with what tells it from others of its meaning.
fn describe(used: &Use) -> String {
    use crate::descriptor::{Label, Presence};
    let Some(field) = &used.field else { return slot(used) };
    let label = match (field.label, field.presence) {
        (Label::Repeated, _) if field.ty.starts_with("map<") => "",
        (Label::Repeated, _) => "repeated ",
        (Label::Required, _) => "required ",
        (_, Presence::Explicit) if field.oneof.is_none() && field.of.is_none() => "optional ",
        _ => "",
    };
    let oneof = field.oneof.as_ref().map_or(String::new(), |oneof| format!(" in oneof {oneof}"));
    format!("{label}{}{oneof}", slot(used))
}
