//! Rollouts for people.

use super::{Entry, Input};
use crate::report::text::{count, line, put};
use crate::rollout::{Event, Interval};

/// One block a rollout, in the order of the file.
pub fn render(input: &Input<'_>) -> String {
    let mut out = String::new();
    for entry in &input.entries {
        block(&mut out, entry);
    }
    let wrong = input.entries.iter().filter(|e| e.faults.iter().any(|f| !f.unknown)).count();
    let ready =
        input.entries.iter().filter(|e| e.standing.phase == crate::rollout::Phase::Cleanup).count();
    put(
        &mut out,
        format_args!(
            "{} in {} as of {}: {} ready for cleanup, {} that history contradicts\n",
            count(input.entries.len(), "rollout"),
            line(input.file),
            input.today,
            ready,
            wrong
        ),
    );
    out
}

fn block(out: &mut String, entry: &Entry<'_>) {
    let Entry { rollout, standing, faults } = entry;
    put(out, format_args!("{:<9} {}\n", standing.phase.name(), line(rollout.title())));
    let mut row =
        |key: &str, text: String| put(out, format_args!("    {key:<9} {}\n", line(&text)));
    if rollout.feature.is_some() {
        row("new", rollout.constructs.join(", "));
    }
    if !rollout.replaces.is_empty() {
        row("instead of", rollout.replaces.join(", "));
    }
    if let Some(flag) = &rollout.flag {
        row("flag", flag.clone());
    }
    if let Some(reader) = &rollout.reader {
        row("reader", day(reader));
    }
    for Interval { on, off } in &rollout.emitted {
        let until = off.as_ref().map_or("on".to_owned(), |off| format!("until {}", day(off)));
        row("emitted", format!("from {} {until}", day(on)));
    }
    if let Some(removed) = &rollout.removed {
        row("removed", day(removed));
    }
    for (days, what) in [
        (standing.emitted_early, "emitted {} too early for older runtimes"),
        (standing.removed_early, "removed {} too early for older artifacts"),
    ] {
        if let Some(days) = days {
            row("broke", what.replace("{}", &count(days.unsigned_abs() as usize, "day")));
        }
    }
    for fault in faults {
        let key = if fault.unknown { "unknown" } else { "wrong" };
        row(key, format!("{}: {}", fault.key, fault.message));
    }
    row("next", entry.next());
    out.push('\n');
}

fn day(event: &Event) -> String {
    match &event.commit {
        Some(commit) => format!("{} ({commit})", event.date),
        None => event.date.to_string(),
    }
}
