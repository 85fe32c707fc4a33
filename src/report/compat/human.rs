//! The answer as text.

use super::Input;
use crate::compat::{Difference, Obstacle, Outcome, Promise, Runtime, Verdict};
use crate::report::text::{self, clip, line, put};

/// Harmless differences are counted, not listed, unless everything is asked for.
pub fn render(input: &Input<'_>, verbose: bool) -> String {
    let mut out = String::new();
    put(&mut out, format_args!("{}\n", line(input.artifact)));
    put(&mut out, format_args!("  written with  {}\n", line(input.writer)));
    put(&mut out, format_args!("  promised      {}\n", promise(&input.promise)));
    for (runtime, outcome) in input.runtimes {
        one(&mut out, runtime, outcome, verbose);
    }
    if input.runtimes.len() > 1 {
        table(&mut out, input);
    }
    if !input.unseen.is_empty() {
        out.push_str("\nno schema shows, so this says nothing about\n");
        for unseen in input.unseen {
            put(&mut out, format_args!("  {}\n", clip(unseen, 300)));
        }
    }
    out
}

fn promise(promise: &Promise) -> String {
    if let (Some(emitted), Some(until)) = (promise.emitted, promise.until) {
        return format!("until {until}, as it was emitted on {emitted}");
    }
    let unknown = "unknown: the artifact does not say when it was emitted (--emitted-at)";
    match promise.until_at_latest {
        Some(latest) => format!("{unknown}; by its container no later than {latest}"),
        None => unknown.to_owned(),
    }
}

fn one(out: &mut String, runtime: &Runtime, outcome: &Outcome, verbose: bool) {
    put(out, format_args!("\n{}: {}\n", name(runtime), verdict(outcome.verdict)));
    for obstacle in &outcome.obstacles {
        self::obstacle(out, obstacle);
    }
    let (harmless, matters): (Vec<&Difference>, Vec<&Difference>) =
        outcome.differences.iter().partition(|difference| difference.harmless.is_some());
    for difference in matters {
        put(out, format_args!("  {}\n", clip(&difference.loss.to_string(), 400)));
    }
    if verbose {
        for difference in harmless {
            let why = difference.harmless.as_deref().unwrap_or_default();
            put(out, format_args!("  harmless: {}\n", clip(&difference.loss.to_string(), 400)));
            put(out, format_args!("    {}\n", line(why)));
        }
    } else if !harmless.is_empty() {
        let count = text::count(harmless.len(), "harmless difference");
        put(out, format_args!("  {count} (--verbose lists them)\n"));
    }
    if outcome.verdict == Verdict::Refused && outcome.reads_executable() {
        out.push_str("  in a container that it takes, it would read the executable as meant\n");
    }
}

fn obstacle(out: &mut String, obstacle: &Obstacle) {
    let refuses = if obstacle.certain { "refuses" } else { "may refuse" };
    let reason = clip(&obstacle.reason, 400);
    put(out, format_args!("  {refuses} the {}: {reason}\n", obstacle.layer.name()));
    if let Some(construct) = &obstacle.construct {
        put(out, format_args!("    what      {}\n", line(construct)));
    }
    if let Some(path) = obstacle.path.as_ref().filter(|path| !path.is_empty()) {
        put(out, format_args!("    at        {}\n", line(path)));
    }
    if let Some(message) = obstacle.message {
        put(out, format_args!("    it says   {message}\n"));
    }
}

fn table(out: &mut String, input: &Input<'_>) {
    out.push('\n');
    let names: Vec<String> = input.runtimes.iter().map(|(runtime, _)| name(runtime)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (name, (_, outcome)) in names.iter().zip(input.runtimes) {
        let failure = outcome.first_failure().map(|failure| line(&failure)).unwrap_or_default();
        let row = format!("{name:width$}  {:18} {failure}", verdict(outcome.verdict));
        put(out, format_args!("{}\n", row.trim_end()));
    }
    match input.minimum() {
        Some(runtime) => {
            put(out, format_args!("oldest that reads it as meant: {}\n", name(runtime)))
        }
        None => out.push_str("none of them is known to read it as meant\n"),
    }
}

fn name(runtime: &Runtime) -> String {
    let label = line(&runtime.label);
    match (runtime.era.release, runtime.era.date) {
        (Some(release), Some(date)) => format!("{label} ({release}, {date})"),
        (None, Some(date)) => format!("{label} ({date})"),
        _ => label,
    }
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reads => "reads as meant",
        Verdict::Unknown => "cannot tell",
        Verdict::ReadsDifferently => "reads differently",
        Verdict::Refused => "refused",
    }
}
