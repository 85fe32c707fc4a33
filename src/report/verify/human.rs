//! The table for people: one block per set, one line per golden.

use super::{Counts, Report};
use crate::execute::{furthest, worst};
use crate::golden::verify::{Case, Outcome};
use crate::report::human::Style;
use crate::report::output;
use crate::report::text::{clip, count, line, put, wrap};

/// Columns of names; longer ones push the rest to the right.
const NAME: usize = 28;
/// Columns of the largest error.
const ERROR: usize = 28;

/// The verification as text.
pub fn render(report: &Report<'_>, style: &Style) -> String {
    let mut out = String::new();
    let set = |case: &Case| case.golden.rsplit_once('/').map(|(set, _)| set.to_owned());
    for cases in report.cases.chunk_by(|one, two| set(one) == set(two)) {
        let name = cases.first().and_then(set).unwrap_or_default();
        put(&mut out, format_args!("{}\n", line(&name)));
        for case in cases {
            row(&mut out, case, style);
        }
        out.push('\n');
    }
    for problem in report.problems {
        put(&mut out, format_args!("{}\n", wrap("! ", &line(&problem.message), style.width)));
        if let Some(help) = &problem.help {
            put(&mut out, format_args!("{}\n", wrap("  do: ", &line(help), style.width)));
        }
    }
    let counts = Counts::of(report.cases);
    let bad = counts.failed + counts.unreadable;
    let word = match (bad, report.problems.len(), counts.passed + counts.ran) {
        (0, 0, 0) => style.paint("1;33", "NOTHING EXECUTED"),
        (0, 0, _) => style.paint("1;32", "PASS"),
        // What was executed is well; there may be more.
        (0, _, _) => style.paint("1;31", "INCOMPLETE"),
        _ => style.paint("1;31", "FAIL"),
    };
    let mut words = vec![format!("{} passed", counts.passed)];
    for (number, what) in [
        (counts.ran, "ran with nothing to compare"),
        (counts.failed, "failed"),
        (counts.skipped, "skipped"),
        (counts.unreadable, "could not be read"),
    ] {
        if number > 0 {
            words.push(format!("{number} {what}"));
        }
    }
    if !report.problems.is_empty() {
        words.push(format!("{} of the store", count(report.problems.len(), "problem")));
    }
    let text = format!(
        "{} of {} in {} executed on the {} backend: {}",
        counts.executed,
        count(counts.selected, "golden"),
        line(report.revision),
        report.backend,
        words.join(", ")
    );
    put(&mut out, format_args!("{word}  {text}\n"));
    out
}

fn row(out: &mut String, case: &Case, style: &Style) {
    let (word, color) = match case.outcome {
        Outcome::Passed => ("passed ", "32"),
        Outcome::Ran => ("ran    ", "33"),
        Outcome::Failed => ("FAILED ", "1;31"),
        Outcome::Skipped => ("skipped", "33"),
        Outcome::Unreadable => ("UNREAD ", "1;31"),
    };
    let name = case.golden.rsplit_once('/').map_or(&*case.golden, |(_, name)| name);
    let name = format!("{:NAME$}", clip(name, style.width.max(NAME)));
    let name = format!("  {} {name}", style.paint(color, word));
    let compared = furthest(&case.outputs).and_then(|o| Some((o, o.comparison.as_ref()?)));
    if let Some((output, comparison)) = compared {
        let mut error = output::largest(comparison);
        if comparison.furthest.is_some() {
            let indices = case.outputs.iter().map(|output| output.index);
            if indices.max() != Some(0) {
                error.push_str(&format!(" of {}", output.index));
            }
            if case.devices != Some(1) {
                error.push_str(&format!(" on device {}", output.device));
            }
        }
        put(out, format_args!("{name} {error:ERROR$} {}\n", comparison.rule));
        let decides = worst(&case.outputs).and_then(|output| output.comparison.as_ref());
        if let Some(comparison) = decides.filter(|_| case.outcome == Outcome::Failed) {
            let text = output::difference(comparison);
            put(out, format_args!("{}\n", wrap("          ", &text, style.width)));
        }
    } else if let Some(reason) = &case.reason {
        let reason = line(reason);
        if case.outcome == Outcome::Failed || case.outcome == Outcome::Unreadable {
            let reason = wrap("          ", &reason, style.width);
            put(out, format_args!("{}\n{reason}\n", name.trim_end()));
        } else {
            put(out, format_args!("{name} {reason}\n"));
        }
    } else {
        put(out, format_args!("{}\n", name.trim_end()));
    }
}
