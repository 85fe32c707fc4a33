//! The table for people: one block per set, one line per golden.

use std::collections::BTreeSet;

use super::{Entry, Listing, Problem};
use crate::golden::{Emission, Standing};
use crate::report::human::Style;
use crate::report::text::{clip, count, line, put, wrap};

/// Columns of names; longer ones push the rest to the right.
const NAME: usize = 28;

/// The listing as text.
pub fn render(listing: &Listing<'_>, style: &Style) -> String {
    let mut out = String::new();
    let evidence = listing.entries.iter().filter(|entry| entry.is_evidence()).count();
    put(
        &mut out,
        format_args!(
            "{} in {}, {evidence} of them evidence on {}\n",
            count(listing.entries.len(), "golden"),
            line(listing.revision),
            listing.today
        ),
    );
    let set_of =
        |entry: &Entry<'_>| entry.golden.id.rsplit_once('/').map(|(set, _)| set.to_owned());
    for entries in listing.entries.chunk_by(|one, two| set_of(one) == set_of(two)) {
        // One date for all of a set is said once.
        let dates: BTreeSet<String> = entries.iter().map(standing).collect();
        let shared = dates.first().filter(|_| dates.len() == 1);
        let set = entries.first().and_then(set_of).unwrap_or_default();
        let date = shared.map_or_else(String::new, |date| format!("  {date}"));
        put(&mut out, format_args!("\n{}{date}\n", line(&set)));
        for entry in entries {
            row(&mut out, entry, shared.is_none(), style);
        }
    }
    if !listing.problems.is_empty() {
        out.push_str("\nproblems\n");
        for problem in &listing.problems {
            put_problem(&mut out, "  ", problem, style);
        }
    }
    if !listing.skipped.is_empty() {
        if style.verbose {
            out.push_str("\nskipped\n");
            for skipped in listing.skipped {
                let text = format!("{}: {}", line(&skipped.path), skipped.why);
                out.push_str(&wrap("  ", &text, style.width));
                out.push('\n');
            }
        } else {
            let files = count(listing.skipped.len(), "file");
            put(&mut out, format_args!("\n{files} skipped; `--verbose` lists them\n"));
        }
    }
    out
}

/// When it was emitted, and what that makes of it.
fn standing(entry: &Entry<'_>) -> String {
    if entry.is_empty() {
        return format!("no evidence: {}", crate::golden::EMPTY);
    }
    match (entry.standing, entry.golden.emission) {
        (Standing::Evidence { until }, Emission::On(date)) => {
            format!("emitted {date}, evidence until {until}")
        }
        (Standing::Future, Emission::On(date)) => format!("emitted {date}, in the future"),
        (_, Emission::On(date)) => format!("emitted {date}, too old"),
        (Standing::TooOld, Emission::Before(date)) => format!("emitted before {date}, too old"),
        (_, Emission::Before(date)) => format!("emitted before {date}"),
        _ => "no date of emission".to_owned(),
    }
}

fn row(out: &mut String, entry: &Entry<'_>, dated: bool, style: &Style) {
    let golden = entry.golden;
    let name = golden.id.rsplit_once('/').map_or(&*golden.id, |(_, name)| name);
    let devices = golden.devices().map_or_else(|| "?".to_owned(), |devices| devices.to_string());
    let size = entry.size.map_or_else(|| "?".to_owned(), bytes);
    let kinds = match &entry.contents {
        None => String::new(),
        Some(contents) => match &contents.thunk_kinds {
            Some(kinds) => kinds.iter().map(|kind| line(kind)).collect::<Vec<_>>().join(" "),
            None => contents.containers.join(" "),
        },
    };
    let name = format!("{:NAME$}", clip(name, style.width.max(NAME)));
    let first = format!("  {name} {devices:>3}x {size:>9}  ");
    put(out, format_args!("{}\n", wrap(&first, &kinds, style.width).trim_end()));
    if dated {
        put(out, format_args!("      {}\n", standing(entry)));
    }
    if let Some(manifest) = &golden.manifest {
        for part in &manifest.cannot_run {
            let text = format!("cannot run outside: {}", line(part));
            put(out, format_args!("{}\n", wrap("      ", &text, style.width)));
        }
    }
    if let Some(problem) = &entry.problem {
        put_problem(out, "    ", problem, style);
    }
}

fn put_problem(out: &mut String, indent: &str, problem: &Problem, style: &Style) {
    let first = format!("{indent}! ");
    put(out, format_args!("{}\n", wrap(&first, &line(&problem.message), style.width)));
    if let Some(help) = &problem.help {
        let first = format!("{indent}  do: ");
        put(out, format_args!("{}\n", wrap(&first, &line(help), style.width)));
    }
}

fn bytes(size: u64) -> String {
    if size < 10_000 {
        return format!("{size} B");
    }
    let kilobytes = size / 1000;
    if kilobytes < 10_000 { format!("{kilobytes} kB") } else { format!("{} MB", kilobytes / 1000) }
}
