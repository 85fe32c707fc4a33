//! The history of a contract: the stable format `aotgate.history/1`, and a text for people.

mod events;
mod human;

pub use human::render;

use chrono::NaiveDate;
use serde::Serialize;

use super::diff::words;
use super::json::{Layout, to_text};
use crate::history::{
    Begin, ChangeLine, Confidence, History, Landed, Moment, Period, Position, Reuse, Scope, Used,
};

/// Name and version of the format.
pub const SCHEMA: &str = "aotgate.history/1";

/// What is shown.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The history.
    pub history: &'a History,
    /// Commits up to this one are left out; `None` for all.
    pub after: Option<Position>,
    /// What of it.
    pub shown: &'a Shown<'a>,
}

/// What of a history is shown.
#[derive(Debug, Clone)]
pub enum Shown<'a> {
    /// Commits with their changes.
    Commits,
    /// Messages and enums, or some of their fields or values.
    Constructs(Vec<Selected<'a>>),
    /// Numbers and names with another meaning than before.
    Reuses,
}

/// A message or an enum, and which of its uses, by index; `None` for the whole of it.
pub type Selected<'a> = (&'a Scope, Option<Vec<usize>>);

impl<'a> Input<'a> {
    /// Commits that touched the contract, newest first.
    fn landed(&self) -> impl Iterator<Item = &'a Landed> {
        let after = self.after;
        let landed = self.history.timeline.landed.iter().rev();
        landed
            .filter(move |l| !l.changes.is_empty() && after.is_none_or(|after| l.position > after))
    }

    /// Reuses of what artifacts can carry, with the name that the scope has now.
    fn reuses(&self) -> Vec<(&'a str, Reuse<'a>)> {
        let view = self.history.latest();
        let mut reuses: Vec<_> = view
            .scopes()
            .filter(|scope| !scope.wire.is_empty() || !scope.json.is_empty())
            .flat_map(|scope| view.reuses(scope).into_iter().map(move |r| (view.name_of(scope), r)))
            .filter(|(_, r)| self.after.is_none_or(|after| r.holds.from.position > after))
            .collect();
        reuses.sort_by_key(|(name, reuse)| {
            (std::cmp::Reverse(reuse.holds.from.position), *name, reuse.by_name, reuse.now.number)
        });
        reuses
    }

    /// Commits that undid one.
    fn undone_by(&self, landed: &Landed) -> Vec<&'a Landed> {
        let names = |other: &&Landed| {
            other.undoes.iter().any(|undo| undo.position == Some(landed.position))
        };
        self.history.timeline.landed.iter().filter(names).collect()
    }
}

/// The document.
pub fn json(input: &Input<'_>, layout: Layout) -> String {
    let history = input.history;
    let chain = &history.chain.commits;
    let day = |at: Option<&(git2::Oid, NaiveDate)>| {
        at.map(|(id, date)| Day { commit: id.to_string(), date: *date })
    };
    let (mut commits, mut constructs, mut reuses) = (Vec::new(), Vec::new(), Vec::new());
    match input.shown {
        Shown::Commits => commits.extend(input.landed().map(|landed| commit(input, landed))),
        Shown::Constructs(scopes) => {
            constructs.extend(scopes.iter().map(|(scope, uses)| construct(input, scope, uses)));
        }
        Shown::Reuses => reuses.extend(input.reuses().iter().map(|(name, r)| reuse(name, r))),
    }
    let gaps = history.timeline.gaps.iter().map(|gap| {
        let at = |position: Position| history.chain.at(position);
        GapEntry {
            from: day(at(gap.from).as_ref()),
            until: day(gap.until.and_then(at).as_ref()),
            reason: &gap.reason,
        }
    });
    let document = Document {
        schema: SCHEMA,
        begin: history.timeline.begin,
        first: day(chain.first()),
        tip: day(chain.last()),
        gaps: gaps.collect(),
        commits,
        constructs,
        reuses,
    };
    to_text(&document, layout)
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    begin: Begin,
    first: Option<Day>,
    tip: Option<Day>,
    gaps: Vec<GapEntry<'a>>,
    commits: Vec<Commit<'a>>,
    constructs: Vec<Construct<'a>>,
    reuses: Vec<ReuseEntry<'a>>,
}

#[derive(Serialize)]
struct Day {
    commit: String,
    date: NaiveDate,
}

#[derive(Serialize)]
struct GapEntry<'a> {
    from: Option<Day>,
    until: Option<Day>,
    reason: &'a str,
}

#[derive(Serialize)]
struct Commit<'a> {
    commit: &'a str,
    date: NaiveDate,
    confidence: Confidence,
    subject: &'a str,
    undoes: Vec<Undone<'a>>,
    relands: bool,
    undone_by: Vec<&'a str>,
    changes: Vec<Change<'a>>,
}

#[derive(Serialize)]
struct Undone<'a> {
    named: &'a str,
    commit: Option<&'a str>,
}

#[derive(Serialize)]
struct Change<'a> {
    kind: &'static str,
    surface: &'static str,
    construct: &'a str,
    number: Option<i32>,
    before: Option<&'a str>,
    after: Option<&'a str>,
    text: String,
    repurposed: Option<&'a str>,
}

fn commit<'a>(input: &Input<'a>, landed: &'a Landed) -> Commit<'a> {
    let timeline = &input.history.timeline;
    let undoes = landed.undoes.iter().map(|undo| Undone {
        named: &undo.named,
        commit: undo.position.and_then(|at| timeline.landed_at(at)).map(|l| &*l.id),
    });
    let change = |line: &'a ChangeLine| Change {
        kind: line.kind.name(),
        surface: line.surface.name(),
        construct: &line.construct,
        number: line.number,
        before: line.before.as_deref(),
        after: line.after.as_deref(),
        text: words::sentence(line),
        repurposed: line.repurposed.as_deref(),
    };
    Commit {
        commit: &landed.id,
        date: landed.date,
        confidence: timeline.confidence(landed.position),
        subject: &landed.subject,
        undoes: undoes.collect(),
        relands: landed.relands,
        undone_by: input.undone_by(landed).into_iter().map(|l| &*l.id).collect(),
        changes: landed.changes.iter().map(change).collect(),
    }
}

#[derive(Serialize)]
struct Event<'a> {
    commit: &'a str,
    date: NaiveDate,
    confidence: Confidence,
}

#[derive(Serialize)]
struct Interval<'a> {
    from: Event<'a>,
    until: Option<Event<'a>>,
}

fn event<'a>(moment: Moment<'a>) -> Event<'a> {
    Event { commit: moment.commit, date: moment.date, confidence: moment.confidence }
}

fn intervals<'a>(periods: &[Period<'a>]) -> Vec<Interval<'a>> {
    let interval = |p: &Period<'a>| Interval { from: event(p.from), until: p.until.map(event) };
    periods.iter().map(interval).collect()
}

#[derive(Serialize)]
struct Construct<'a> {
    construct: &'a str,
    kind: crate::history::ScopeKind,
    former_names: Vec<&'a str>,
    declared: Vec<Interval<'a>>,
    wire: Vec<Interval<'a>>,
    json: Vec<Interval<'a>>,
    uses: Vec<UseEntry<'a>>,
}

#[derive(Serialize)]
struct UseEntry<'a> {
    #[serde(flatten)]
    slot: Slot<'a>,
    label: Option<crate::descriptor::Label>,
    presence: Option<crate::descriptor::Presence>,
    oneof: Option<&'a str>,
    declared: Vec<Interval<'a>>,
    number_reserved: Vec<Interval<'a>>,
    name_reserved: Vec<Interval<'a>>,
}

#[derive(Serialize)]
struct Slot<'a> {
    number: i32,
    name: &'a str,
    r#type: Option<&'a str>,
}

fn slot(used: &crate::history::Use) -> Slot<'_> {
    Slot {
        number: used.number,
        name: &used.name,
        r#type: used.field.as_ref().map(|field| &*field.ty),
    }
}

/// Uses of a scope that are shown.
fn chosen<'a>(input: &Input<'a>, scope: &'a Scope, uses: &Option<Vec<usize>>) -> Vec<Used<'a>> {
    let all = input.history.latest().all_uses(scope).into_iter().enumerate();
    let wanted = |at: usize| uses.as_ref().is_none_or(|uses| uses.contains(&at));
    all.filter(|(at, _)| wanted(*at)).map(|(_, used)| used).collect()
}

fn construct<'a>(input: &Input<'a>, scope: &'a Scope, uses: &Option<Vec<usize>>) -> Construct<'a> {
    let view = input.history.latest();
    let name = view.name_of(scope);
    let entry = |used: Used<'a>| {
        let field = used.what.field.as_ref();
        UseEntry {
            slot: slot(used.what),
            label: field.map(|field| field.label),
            presence: field.map(|field| field.presence),
            oneof: field.and_then(|field| field.oneof.as_deref()),
            declared: intervals(&used.periods),
            number_reserved: intervals(&view.number_reserved(scope, used.what.number)),
            name_reserved: intervals(&view.name_reserved(scope, &used.what.name)),
        }
    };
    Construct {
        construct: name,
        kind: scope.kind,
        former_names: scope.names.iter().map(|t| &*t.name).filter(|n| *n != name).collect(),
        declared: intervals(&view.life(scope)),
        wire: intervals(&view.wire(scope)),
        json: intervals(&view.json(scope)),
        uses: chosen(input, scope, uses).into_iter().map(entry).collect(),
    }
}

#[derive(Serialize)]
struct ReuseEntry<'a> {
    construct: &'a str,
    what: &'static str,
    before: Slot<'a>,
    freed: Option<Event<'a>>,
    now: Slot<'a>,
    taken: Event<'a>,
    ended: Option<Event<'a>>,
}

fn reuse<'a>(name: &'a str, reuse: &Reuse<'a>) -> ReuseEntry<'a> {
    ReuseEntry {
        construct: name,
        what: if reuse.by_name { "name" } else { "number" },
        before: slot(reuse.before),
        freed: reuse.held.until.map(event),
        now: slot(reuse.now),
        taken: event(reuse.holds.from),
        ended: reuse.holds.until.map(event),
    }
}
