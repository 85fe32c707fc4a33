//! History for a person: newest commit first, one line a change.

use super::events::{self, short, slot};
use super::{Confidence, Input, Landed, Moment, Shown, words};
use crate::history::Begin;
use crate::report::human::Style;
use crate::report::text::{self, put};

/// Changes of one commit that are shown; `--verbose` shows all.
const CHANGES: usize = 8;

/// The whole text.
pub fn render(input: &Input<'_>, style: &Style) -> String {
    let mut out = String::new();
    match input.shown {
        Shown::Commits => {
            for landed in input.landed() {
                commit(&mut out, input, landed, style);
            }
        }
        Shown::Constructs(scopes) => {
            for (scope, uses) in scopes {
                let name = input.history.latest().name_of(scope);
                put(&mut out, format_args!("{}\n", style.paint("1", &text::line(name))));
                for event in events::of(input, scope, uses) {
                    let date = date(&event.when);
                    let first = format!("  {date}  {}  ", short(event.when.commit));
                    let marker = style.paint(color(event.marker), &event.marker.to_string());
                    let line = text::line(&event.text);
                    put(&mut out, format_args!("{first}{marker} {line}\n"));
                }
                out.push('\n');
            }
        }
        Shown::Reuses => reuses(&mut out, input, style),
    }
    summary(&mut out, input);
    out
}

fn color(marker: char) -> &'static str {
    match marker {
        '+' => "32",
        '-' => "31",
        '!' => "1;31",
        _ => "33",
    }
}

/// A date with what is known of it, always as wide.
fn date(moment: &Moment<'_>) -> String {
    let sign = match moment.confidence {
        Confidence::Known => ' ',
        Confidence::Assumed => '<',
        Confidence::Unknown => '?',
    };
    format!("{sign}{}", moment.date)
}

fn commit(out: &mut String, input: &Input<'_>, landed: &Landed, style: &Style) {
    let sign = input.history.timeline.moment(landed.position).map_or(String::new(), |m| date(&m));
    let id = style.paint("33", short(&landed.id));
    let room = style.width.saturating_sub(24).max(20);
    put(out, format_args!("{sign} {id} {}\n", text::clip(&landed.subject, room)));
    let mut remarks = Vec::new();
    for undo in &landed.undoes {
        let found = undo.position.and_then(|at| input.history.timeline.landed_at(at));
        remarks.push(match found {
            Some(found) => format!("undoes {} of {}", short(&found.id), found.date),
            None => format!("undoes {}", short(&undo.named)),
        });
    }
    if landed.relands {
        remarks.push("brings back what was undone".to_owned());
    }
    for other in input.undone_by(landed) {
        remarks.push(format!("undone by {} on {}", short(&other.id), other.date));
    }
    for remark in remarks {
        put(out, format_args!("    ({})\n", text::line(&remark)));
    }
    let shown = if style.verbose { landed.changes.len() } else { CHANGES };
    for change in landed.changes.iter().take(shown) {
        let marker = words::marker(change.kind);
        let owner = change.construct.rsplit_once('.').map_or("", |(owner, _)| owner);
        let mut line = words::sentence(change);
        if change.number.is_some() || change.before.is_some() && !line.contains(owner) {
            line = format!("{owner}: {line}");
        }
        if let Some(why) = &change.repurposed {
            put(&mut line, format_args!(" (reused: {why})"));
        }
        if change.surface == crate::change::Surface::JsonPayload {
            line.push_str(" [JSON payload]");
        }
        let marker = style.paint(color(marker), &marker.to_string());
        let wrapped = text::wrap("      ", &text::line(&line), style.width);
        put(out, format_args!("    {marker} {}\n", wrapped.trim_start()));
    }
    if landed.changes.len() > shown {
        let more = text::count(landed.changes.len() - shown, "more change");
        put(out, format_args!("      {more} (--verbose shows all)\n"));
    }
}

fn reuses(out: &mut String, input: &Input<'_>, style: &Style) {
    for (name, reuse) in input.reuses() {
        let what = match reuse.by_name {
            true => format!("name {}", reuse.now.name),
            false => format!("number {}", reuse.now.number),
        };
        let title = format!("{} {what}", text::line(name));
        put(out, format_args!("{}\n", style.paint("1", &text::line(&title))));
        let from = &reuse.holds.from;
        if let Some(until) = &reuse.held.until {
            let was = text::line(&slot(reuse.before));
            put(
                out,
                format_args!(
                    "  {}  {}  {} {was}\n",
                    date(until),
                    short(until.commit),
                    style.paint("31", "-")
                ),
            );
        }
        let is = text::line(&slot(reuse.now));
        put(
            out,
            format_args!(
                "  {}  {}  {} {is}\n",
                date(from),
                short(from.commit),
                style.paint("32", "+")
            ),
        );
    }
    if !out.is_empty() {
        out.push('\n');
    }
}

/// How far back it goes, and what is not known.
fn summary(out: &mut String, input: &Input<'_>) {
    let history = input.history;
    let commits = &history.chain.commits;
    let touching = input.landed().count();
    let (Some((_, first)), Some((_, last))) = (commits.first(), commits.last()) else { return };
    let begin = match history.timeline.begin {
        Begin::Root => "the first commit",
        Begin::Since => "what came before counts as older",
        Begin::Cut => "this clone does not go back further: run `git fetch --unshallow`",
    };
    put(
        out,
        format_args!(
            "{} to {last}: {} of {} changed the contract ({begin})\n",
            first,
            text::count(touching, "commit"),
            commits.len()
        ),
    );
    for gap in &history.timeline.gaps {
        let at = history.chain.at(gap.from);
        let Some((id, date)) = at else { continue };
        let until = gap.until.and_then(|until| history.chain.at(until));
        let until = until.map_or("the end".to_owned(), |(id, _)| short(&id.to_string()).to_owned());
        let id = id.to_string();
        let reason = text::clip(&gap.reason, 160);
        put(out, format_args!("unreadable from {} ({date}) to {until}: {reason}\n", short(&id)));
    }
}
