//! Staged rollouts: the stable format `aotgate.rollout/1`, and a text for people.

mod human;

pub use human::render;

use chrono::NaiveDate;
use serde::Serialize;

use super::json::{Layout, to_text};
use crate::rollout::{Event, Fault, Phase, Rollout, Standing};

/// Name and version of the format.
pub const SCHEMA: &str = "aotgate.rollout/1";

/// What is shown.
#[derive(Debug)]
pub struct Input<'a> {
    /// The rollout file, as the policy names it.
    pub file: &'a str,
    /// The date that windows are measured against.
    pub today: NaiveDate,
    /// Entries, each with where it stands and what history says otherwise.
    pub entries: Vec<Entry<'a>>,
}

/// One rollout.
#[derive(Debug)]
pub struct Entry<'a> {
    /// As the file has it.
    pub rollout: &'a Rollout,
    /// Where it stands.
    pub standing: Standing,
    /// What history says otherwise.
    pub faults: Vec<Fault>,
}

impl Entry<'_> {
    /// What may land when, in words.
    pub fn next(&self) -> String {
        let Standing { phase, emit_from, remove_from, .. } = &self.standing;
        let instead = self.rollout.replaces.join(", ");
        match (phase, emit_from, remove_from) {
            (Phase::Planned, ..) => {
                "land the reader; emission follows a forward window later".to_owned()
            }
            (Phase::Waiting, Some(from), _) => format!("may be emitted from {from} on"),
            (Phase::Readable, ..) => "may be emitted".to_owned(),
            (Phase::Emitting, _, Some(from)) => {
                format!("{instead} may be removed from {from} on, if nothing is switched back")
            }
            (Phase::Cleanup, ..) => {
                format!("remove {instead}; reserve numbers and names, and enter `removed`")
            }
            _ => "nothing is left to do".to_owned(),
        }
    }
}

/// The document.
pub fn json(input: &Input<'_>, layout: Layout) -> String {
    let entries = input.entries.iter().map(|entry| {
        let Entry { rollout, standing, faults } = entry;
        EntryDocument {
            feature: rollout.feature.as_deref(),
            constructs: &rollout.constructs,
            replaces: &rollout.replaces,
            flag: rollout.flag.as_deref(),
            phase: standing.phase.name(),
            next: entry.next(),
            reader: rollout.reader.as_ref().map(Day::of),
            emitted: rollout
                .emitted
                .iter()
                .map(|i| Flip { on: Day::of(&i.on), off: i.off.as_ref().map(Day::of) })
                .collect(),
            removed: rollout.removed.as_ref().map(Day::of),
            emit_from: standing.emit_from,
            remove_from: standing.remove_from,
            emitted_early: standing.emitted_early,
            removed_early: standing.removed_early,
            faults: faults
                .iter()
                .map(|f| FaultDocument { key: f.key, message: &f.message, unknown: f.unknown })
                .collect(),
        }
    });
    let document = Document {
        schema: SCHEMA,
        today: input.today,
        file: input.file,
        rollouts: entries.collect(),
    };
    to_text(&document, layout)
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    today: NaiveDate,
    file: &'a str,
    rollouts: Vec<EntryDocument<'a>>,
}

#[derive(Serialize)]
struct EntryDocument<'a> {
    feature: Option<&'a str>,
    constructs: &'a [String],
    replaces: &'a [String],
    flag: Option<&'a str>,
    phase: &'static str,
    next: String,
    reader: Option<Day<'a>>,
    emitted: Vec<Flip<'a>>,
    removed: Option<Day<'a>>,
    emit_from: Option<NaiveDate>,
    remove_from: Option<NaiveDate>,
    emitted_early: Option<i64>,
    removed_early: Option<i64>,
    faults: Vec<FaultDocument<'a>>,
}

#[derive(Serialize)]
struct Flip<'a> {
    on: Day<'a>,
    off: Option<Day<'a>>,
}

#[derive(Serialize)]
struct Day<'a> {
    date: NaiveDate,
    commit: Option<&'a str>,
}

impl<'a> Day<'a> {
    fn of(event: &'a Event) -> Self {
        Day { date: event.date, commit: event.commit.as_deref() }
    }
}

#[derive(Serialize)]
struct FaultDocument<'a> {
    key: &'static str,
    message: &'a str,
    unknown: bool,
}
