//! The changes for a person: numbers first, then by file and type, one line a change.

use std::collections::BTreeMap;

use super::fold::Folded;
use super::{Input, location, words};
use crate::change::{Change, ChangeKind, Severity};
use crate::finding::SideInfo;
use crate::history::ChangeLine;
use crate::report::human::Style;
use crate::report::text::{self, put};

/// Sections with more lines are grouped by effect.
const LONG_SECTION: usize = 12;

/// The whole text.
pub fn render(input: &Input<'_>, style: &Style) -> String {
    let mut out = String::new();
    put(&mut out, format_args!("{}\n", style.paint("1", "Contract diff")));
    for (name, side) in [("base", input.base), ("head", input.head)] {
        put(&mut out, format_args!("  {name}  {}\n", describe(side)));
    }
    if input.changes.is_empty() {
        out.push_str("\nNo change.\n");
        return out;
    }
    summary(&mut out, input.changes, style);
    let folded = Folded::of(input.changes);
    let mut files: BTreeMap<String, BTreeMap<&str, Vec<usize>>> = BTreeMap::new();
    for (at, change) in input.changes.iter().enumerate() {
        if folded.hidden.contains(&at) {
            continue;
        }
        let file = location(input, change).map_or(String::new(), |l| l.file.to_string());
        files.entry(file).or_default().entry(section(change)).or_default().push(at);
    }
    for (file, sections) in files {
        put(&mut out, format_args!("\n{}\n", style.paint("1;4", &text::line(&file))));
        for (owner, mut indices) in sections {
            if !owner.is_empty() {
                put(&mut out, format_args!("  {}\n", style.paint("1", &text::line(owner))));
            }
            indices.sort_by_key(|&at| input.changes.get(at).map(|c| (c.number, c.kind)));
            let entries = indices.iter().filter_map(|&at| {
                let remarks = folded.remarks.get(&at).map(Vec::as_slice).unwrap_or_default();
                Some(Line::of(input.changes.get(at)?, remarks))
            });
            list(&mut out, entries.collect(), !owner.is_empty(), style);
        }
    }
    out
}

fn describe(side: &SideInfo) -> String {
    let date = side.date.map_or(String::new(), |d| format!(", {d}"));
    format!("{}{date}, contract {}", text::line(&side.revision), text::line(&side.fingerprint))
}

/// Numbers by kind, then the worst effects per direction.
fn summary(out: &mut String, changes: &[Change<'_>], style: &Style) {
    let mut kinds: BTreeMap<ChangeKind, usize> = BTreeMap::new();
    for change in changes {
        *kinds.entry(change.kind).or_default() += 1;
    }
    // A number and its noun stay on one line.
    let kinds: Vec<String> =
        kinds.iter().map(|(kind, n)| format!("{n}\u{a0}{}", kind.name())).collect();
    let total = text::count(changes.len(), "change");
    let kinds = text::wrap(&format!("{total}: "), &kinds.join(", "), style.width);
    put(out, format_args!("\n{}\n", kinds.replace('\u{a0}', " ")));
    let times = if style.unicode { "×" } else { "x" };
    for (direction, effect) in [
        (words::BACKWARD, (|c| c.wire.backward) as fn(&Change<'_>) -> Severity),
        (words::FORWARD, |c| c.wire.forward),
    ] {
        let mut severities: BTreeMap<Severity, usize> = BTreeMap::new();
        for severity in changes.iter().map(effect).filter(|s| *s > Severity::Safe) {
            *severities.entry(severity).or_default() += 1;
        }
        let mut parts: Vec<String> = severities
            .iter()
            .rev()
            .map(|(s, n)| format!("{n}{times} {}", words::effect(*s)))
            .collect();
        if parts.is_empty() {
            parts.push("no change in how anything is read".to_owned());
        }
        let first = format!("  {direction:<13}  ");
        put(out, format_args!("{}\n", text::wrap(&first, &parts.join(", "), style.width)));
    }
}

/// The type that a change is listed under; changes of whole types stand at the file's own level.
fn section<'a>(change: &Change<'a>) -> &'a str {
    let whole = matches!(
        change.kind,
        ChangeKind::MessageAdded
            | ChangeKind::MessageRemoved
            | ChangeKind::MessageRenamed
            | ChangeKind::MessageMoved
            | ChangeKind::EnumAdded
            | ChangeKind::EnumRemoved
            | ChangeKind::EnumRenamed
            | ChangeKind::EnumMoved
            | ChangeKind::ReachabilityGained
            | ChangeKind::ReachabilityLost
    );
    let owners = change.subject.owners();
    if whole { "" } else { owners[1].or(owners[0]).unwrap_or("") }
}

/// One change, ready to be aligned.
struct Line {
    marker: char,
    text: String,
    effects: Vec<String>,
}

impl Line {
    fn of(change: &Change<'_>, remarks: &[String]) -> Self {
        let marker = words::marker(change.kind);
        let mut text = words::sentence(&ChangeLine::of(change));
        if let Some(detail) = &change.detail
            && change.repurposed.is_none()
        {
            put(&mut text, format_args!(" ({detail})"));
        }
        if let Some(repurposed) = &change.repurposed {
            put(&mut text, format_args!(" (reused: {repurposed})"));
        }
        if change.surface == crate::change::Surface::JsonPayload {
            text.push_str(" [JSON payload]");
        }
        if !change.reach.any() {
            text.push_str(" [not in the contract]");
        }
        if !remarks.is_empty() {
            put(&mut text, format_args!(" ({})", remarks.join(", ")));
        }
        let mut effects = Vec::new();
        for (direction, severity) in
            [(words::BACKWARD, change.wire.backward), (words::FORWARD, change.wire.forward)]
        {
            if severity > Severity::Safe {
                effects.push(format!("{direction}: {}", words::effect(severity)));
            }
        }
        Line { marker, text: text::line(&text), effects }
    }
}

/// Lines of one section. In a long one, what suffers the same stands together under one heading.
fn list(out: &mut String, lines: Vec<Line>, indented: bool, style: &Style) {
    let indent = if indented { "    " } else { "  " };
    if lines.len() <= LONG_SECTION {
        return print(out, &lines, indent, style);
    }
    let mut by_effect: BTreeMap<String, Vec<Line>> = BTreeMap::new();
    for line in lines {
        by_effect.entry(line.effects.join("; ")).or_default().push(line);
    }
    for (effects, mut lines) in by_effect {
        if lines.len() > 3 && !effects.is_empty() {
            lines.iter_mut().for_each(|line| line.effects.clear());
            put(out, format_args!("{indent}{}\n", style.paint("31", &effects)));
            print(out, &lines, &format!("{indent}  "), style);
        } else {
            print(out, &lines, indent, style);
        }
    }
}

/// Lines of one section: effects in a column of their own where that fits, else below.
fn print(out: &mut String, lines: &[Line], indent: &str, style: &Style) {
    let length = |line: &Line| line.text.chars().count();
    let room = style.width.saturating_sub(indent.len() + 2);
    let effects = |line: &Line| line.effects.join("; ");
    let fits = |line: &&Line| length(line) + 2 + effects(line).chars().count() <= room;
    let column = lines
        .iter()
        .filter(|line| !line.effects.is_empty())
        .filter(fits)
        .map(length)
        .max()
        .unwrap_or(0);
    for line in lines {
        let color = match line.marker {
            '+' => "32",
            '-' => "31",
            _ => "33",
        };
        let marker = style.paint(color, &line.marker.to_string());
        let first = format!("{indent}  ");
        let wrapped = text::wrap(&first, &line.text, style.width);
        let body = wrapped.get(first.len()..).unwrap_or_default();
        put(out, format_args!("{indent}{marker} {body}"));
        let effects = effects(line);
        if !effects.is_empty() {
            let effects_length = effects.chars().count();
            let padding = column.max(length(line)) - length(line) + 2;
            if length(line) + padding + effects_length <= room {
                out.push_str(&" ".repeat(padding));
            } else {
                put(out, format_args!("\n{indent}      "));
            }
            out.push_str(&style.paint("31", &effects));
        }
        out.push('\n');
    }
}
