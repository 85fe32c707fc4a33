//! The table for people: one block per set, one line per golden.

use super::{Entry, Listing, Problem};
use crate::golden::{Emission, Standing};
use crate::report::human::Style;
use crate::report::text::{clip, count, line, put, wrap};

/// Columns of names; longer ones push the rest to the right.
const NAME: usize = 28;

/// The listing as text.
pub fn render(listing: &Listing<'_>, style: &Style) -> String {
    let mut out = String::new();
    let evidence =
        listing.entries.iter().filter(|e| matches!(e.standing, Standing::Evidence { .. })).count();
    put(
        &mut out,
        format_args!(
            "{} in {}, {evidence} of them evidence on {}\n",
            count(listing.entries.len(), "golden"),
            line(listing.revision),
            listing.today
        ),
    );
    let mut last = "";
    for entry in &listing.entries {
        let (set, name) = entry.golden.id.rsplit_once('/').unwrap_or(("", &entry.golden.id));
        if set != last {
            put(&mut out, format_args!("\n{}\n", line(set)));
            last = set;
        }
        row(&mut out, name, entry, style);
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

fn row(out: &mut String, name: &str, entry: &Entry<'_>, style: &Style) {
    let golden = entry.golden;
    let devices = golden.devices().map_or_else(|| "?".to_owned(), |devices| devices.to_string());
    let size = entry.size.map_or_else(|| "?".to_owned(), bytes);
    let standing = match (entry.standing, golden.emission) {
        (Standing::Evidence { until }, Emission::On(date)) => format!("{date} until {until}"),
        (Standing::Future, Emission::On(date)) => format!("{date} is in the future"),
        (_, Emission::On(date)) => format!("{date} is too old"),
        (_, Emission::Before(date)) => format!("before {date}"),
        _ => "undated".to_owned(),
    };
    let kinds = match &entry.contents {
        None => String::new(),
        Some(contents) => match &contents.thunk_kinds {
            Some(kinds) => kinds.iter().map(|kind| line(kind)).collect::<Vec<_>>().join(" "),
            None => contents.containers.join(" "),
        },
    };
    let name = format!("{:NAME$}", clip(name, style.width.max(NAME)));
    let first = format!("  {name} {devices:>3}x {size:>9}  {standing:27}  ");
    if first.chars().count() + 20 > style.width {
        put(out, format_args!("{}\n", first.trim_end()));
        if !kinds.is_empty() {
            put(out, format_args!("{}\n", wrap("      ", &kinds, style.width)));
        }
    } else {
        put(out, format_args!("{}\n", wrap(&first, &kinds, style.width).trim_end()));
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
