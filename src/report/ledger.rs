//! What `aotgate ledger` did: the stable format `aotgate.ledger/1`, and text for people.

use serde::Serialize;

use super::json::{Layout, to_text};
use super::text;
use crate::history::ledger::{Counts, Difference};

/// Name and version of the format.
pub const SCHEMA: &str = "aotgate.ledger/1";

/// People read so many differences.
const MOST: usize = 40;

/// What was done with the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It was compared.
    Verified,
    /// It was written.
    Written,
    /// It was as it has to be.
    Unchanged,
}

/// What is reported.
#[derive(Debug)]
pub struct Input<'a> {
    /// Path of the ledger.
    pub path: &'a str,
    /// What was done.
    pub action: Action,
    /// What it has to hold.
    pub counts: Counts,
    /// What the file that is (or was) there says otherwise; `None` where none was.
    pub differences: Option<&'a [Difference]>,
    /// What a user should know.
    pub notes: &'a [String],
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    path: &'a str,
    action: &'static str,
    agrees: bool,
    counts: CountsEntry,
    differences: Vec<Entry<'a>>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct CountsEntry {
    messages: usize,
    enums: usize,
    fields_and_values: usize,
    tombstones: usize,
}

#[derive(Serialize)]
struct Entry<'a> {
    kind: &'static str,
    construct: &'a str,
    subject: &'a str,
    expected: Option<&'a str>,
    found: Option<&'a str>,
}

/// The document.
pub fn json(input: &Input<'_>, layout: Layout) -> String {
    let differences = input.differences.unwrap_or_default();
    let entries = differences.iter().map(|difference| Entry {
        kind: difference.kind.name(),
        construct: &difference.construct,
        subject: &difference.subject,
        expected: difference.expected.as_deref(),
        found: difference.found.as_deref(),
    });
    let Counts { messages, enums, uses, tombstones } = input.counts;
    let document = Document {
        schema: SCHEMA,
        path: input.path,
        action: match input.action {
            Action::Verified => "verified",
            Action::Written => "written",
            Action::Unchanged => "unchanged",
        },
        agrees: input.differences.is_some_and(<[_]>::is_empty),
        counts: CountsEntry { messages, enums, fields_and_values: uses, tombstones },
        differences: entries.collect(),
        notes: input.notes,
    };
    to_text(&document, layout)
}

/// Text for people.
pub fn render(input: &Input<'_>) -> String {
    let mut out = String::new();
    let path = text::line(input.path);
    let Counts { messages, enums, uses, tombstones } = input.counts;
    let differences = input.differences.unwrap_or_default();
    let lines = text::count(differences.len(), "line");
    let done = match (input.action, input.differences) {
        (Action::Verified, _) if differences.is_empty() => {
            "agrees with the protos, and with history as far as that is here".to_owned()
        }
        (Action::Verified, _) => format!("differs in {lines}"),
        (Action::Written, None) => "written".to_owned(),
        (Action::Written, Some(_)) => {
            format!("written; the one that was there is otherwise in {lines}")
        }
        (Action::Unchanged, _) => "up to date".to_owned(),
    };
    text::put(&mut out, format_args!("{path}: {done}\n"));
    let counts = [
        text::count(messages, "message"),
        text::count(enums, "enum"),
        format!("{uses} fields and values"),
        text::count(tombstones, "tombstone"),
    ];
    text::put(&mut out, format_args!("  {}\n", counts.join(", ")));
    for difference in differences.iter().take(MOST) {
        let kind = difference.kind.name();
        text::put(&mut out, format_args!("{kind}: {}\n", text::line(&difference.to_string())));
        for (word, line) in [("is", &difference.found), ("must be", &difference.expected)] {
            if let Some(line) = line {
                text::put(&mut out, format_args!("  {word:8} {}\n", text::line(line)));
            }
        }
    }
    if differences.len() > MOST {
        let more = differences.len() - MOST;
        text::put(&mut out, format_args!("{more} more; `--format json` lists all\n"));
    }
    if input.action == Action::Verified && !differences.is_empty() {
        out.push_str("Run `aotgate ledger` and commit what it writes.\n");
    }
    for note in input.notes {
        text::put(&mut out, format_args!("note: {}\n", text::line(note)));
    }
    out
}
