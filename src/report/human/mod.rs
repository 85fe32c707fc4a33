//! `check` for a person at a terminal: verdict first, then findings by construct, worst first.

mod miette_view;

pub use miette_view::Style;

use std::collections::{BTreeMap, BTreeSet};

use miette::{GraphicalReportHandler, Severity};

use self::miette_view::show;
use crate::finding::{Evidence, Finding, Judgement, Level, Side, SourceLocation, Triage, Verdict};
use crate::report::excerpt::Excerpt;
use crate::report::group::{self, Counts, Group};
use crate::report::recorded;
use crate::report::text::{self, put};

/// Findings shown in full before the rest shrinks to one line each.
const FULL: usize = 30;
/// Notes shown in full before the rest shrinks to one line each.
const FULL_NOTES: usize = 3;
/// Goldens shown in full of one check, and as evidence of one finding, before the rest is a number.
const FULL_GOLDENS: usize = 3;
/// How a fact begins that only names goldens.
const SO_DO: &str = "so do golden:";
/// Notes shown on one line each before the rest shrinks to numbers.
const LINE_NOTES: usize = 15;

/// The whole report.
pub fn render(judgement: &Judgement, style: &Style) -> String {
    let mut out = String::new();
    summary(&mut out, judgement, style);
    let handler = style.handler();
    let mut full_notes = 0;
    let mut goldens: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    let (mut shown, mut more, mut folded) = (Vec::new(), Vec::new(), Vec::new());
    let mut rest = judgement.findings.as_slice();
    while let [finding, later @ ..] = rest {
        rest = later;
        // A note that comes before something loud is its cause.
        let cause = finding.level == Level::Note && later.iter().any(|f| f.level > Level::Note);
        // What passed because somebody vouched for it is shown; what is harmless only in numbers.
        let loud = finding.level > Level::Note;
        let telling = cause || finding.triage > Triage::Safe && full_notes < FULL_NOTES;
        if (loud || telling) && is_golden(finding) {
            let of_check = goldens.entry(finding.check).or_default();
            of_check.push(finding);
            if !style.verbose && of_check.len() > FULL_GOLDENS {
                continue;
            }
        }
        if style.verbose || ((loud || telling) && shown.len() < FULL) {
            full_notes += usize::from(!loud && !cause);
            shown.push(finding);
        } else if loud {
            more.push(finding);
        } else {
            folded.push(finding);
        }
    }
    for group in group::groups(shown) {
        construct(&mut out, judgement, &group, &handler, style);
        if !style.verbose {
            // Below the last of them that is shown.
            for finding in &group.findings {
                let of_check = goldens.get(finding.check).map_or(&[][..], Vec::as_slice);
                let last = of_check.get(FULL_GOLDENS - 1);
                if last.is_some_and(|last| std::ptr::eq(*last, *finding)) {
                    more_goldens(&mut out, finding.check, &of_check[FULL_GOLDENS..], style);
                }
            }
        }
    }
    if !more.is_empty() {
        let title =
            format!("{} (--verbose shows them in full)", text::count(more.len(), "more finding"));
        lines(&mut out, &title, &more, style);
    }
    notes(&mut out, &folded, style);
    out
}

/// Whether it is about one golden, or a set of them.
fn is_golden(finding: &Finding) -> bool {
    finding.construct.starts_with("golden:")
}

/// The goldens that are not shown, by name.
fn more_goldens(out: &mut String, check: &str, rest: &[&Finding], style: &Style) {
    if rest.is_empty() {
        return;
    }
    let names: Vec<String> = rest.iter().map(|f| f.construct.replacen("golden:", "", 1)).collect();
    let text = format!(
        "{check} of {}: {} (--verbose shows them in full)",
        text::count(rest.len(), "more golden"),
        recorded::first(&names)
    );
    put(out, format_args!("\n{}\n", text::wrap("  and ", &text, style.width)));
}

fn summary(out: &mut String, judgement: &Judgement, style: &Style) {
    let verdict = judgement.verdict();
    let (word, color) = match verdict {
        Verdict::Pass => ("PASS", "1;32"),
        Verdict::Review => ("REVIEW", "1;33"),
        Verdict::Fail => ("FAIL", "1;31"),
    };
    let (base, head) =
        (text::clip(&judgement.base.revision, 60), text::clip(&judgement.head.revision, 60));
    put(
        out,
        format_args!(
            "{}  {head} against {base}: {}\n",
            style.paint(color, word),
            Counts::of(judgement).words()
        ),
    );
    let indent = " ".repeat(word.len() + 2);
    if let Some(subject) = &judgement.subject {
        let room = style.width.saturating_sub(indent.len()).max(20);
        put(out, format_args!("{indent}{}\n", text::clip(subject, room)));
    }
    let facts = format!(
        "worst: {}; judged as of {}; policy {} ({})",
        judgement.triage().name(),
        judgement.today,
        text::clip(&judgement.policy_source, 80),
        text::clip(&judgement.policy_hash, 16)
    );
    out.push_str(&style.paint("2", &text::wrap(&indent, &facts, style.width)));
    out.push('\n');
    if let Some(words) = recorded::words(&judgement.goldens) {
        let line = text::wrap(&indent, &format!("goldens: {words}"), style.width);
        put(out, format_args!("{}\n", style.paint("2", &line)));
    }
}

fn construct(
    out: &mut String,
    judgement: &Judgement,
    group: &Group<'_>,
    handler: &GraphicalReportHandler,
    style: &Style,
) {
    put(out, format_args!("\n{}\n", style.paint("1", &text::clip(group.name, 200))));
    for finding in &group.findings {
        out.push('\n');
        full(out, judgement, finding, handler, style);
    }
}

/// One finding in full: message, both sides' sources, reason, remedy, dates, ways out.
fn full(
    out: &mut String,
    judgement: &Judgement,
    finding: &Finding,
    handler: &GraphicalReportHandler,
    style: &Style,
) {
    let severity = match finding.level {
        Level::Error => Severity::Error,
        Level::Warning => Severity::Warning,
        Level::Note => Severity::Advice,
    };
    let mut places = finding.locations.iter();
    let first = places.next();
    let excerpt = first.and_then(|place| Excerpt::new(place, 1));
    let mut has_excerpt = excerpt.is_some();
    let title =
        format!("{}[{}] {}", finding.level.name(), finding.check, text::line(&finding.message));
    show(out, handler, severity, title, first, excerpt);
    // Where nothing stood before, base has nothing to show.
    for place in places.filter(|p| p.side == Side::Head || finding.before.is_some()) {
        if let Some(excerpt) = Excerpt::new(place, 1) {
            let side = match place.side {
                Side::Base => &judgement.base,
                Side::Head => &judgement.head,
            };
            let title = format!("in {} ({})", place.side.name(), text::clip(&side.revision, 60));
            show(out, handler, Severity::Advice, title, Some(place), Some(excerpt));
            has_excerpt = true;
        }
    }
    let mut row = |key: &str, value: &str| {
        let first = format!("    {key:<9}");
        out.push_str(&text::wrap(&first, &text::line(value), style.width.max(40)));
        out.push('\n');
    };
    if finding.construct != group::owner(&finding.construct) {
        row("what", &finding.construct);
    }
    if !has_excerpt {
        for (key, value) in [("before", &finding.before), ("now", &finding.after)] {
            if let Some(value) = value {
                row(key, value);
            }
        }
        if let Some(place) = first {
            row("where", &position(place));
        }
    }
    if let Some(step) = group::deciding(finding) {
        let question = step.step.map_or(String::new(), |s| format!("{} ", s.name()));
        row("why", &format!("{question}{}: {}", step.answer, step.because));
    }
    let is_of_golden = |fact: &&Evidence| fact.what.starts_with("golden:");
    let all = finding.evidence.iter().filter(is_of_golden).count();
    let folded = !style.verbose && all > FULL_GOLDENS;
    let (mut goldens, mut more) = (BTreeSet::new(), BTreeSet::new());
    for evidence in &finding.evidence {
        if folded && is_of_golden(&evidence) {
            let name = evidence.what.split(' ').next().unwrap_or_default();
            if goldens.len() >= FULL_GOLDENS {
                more.insert(name);
                continue;
            }
            goldens.insert(name);
        } else if folded && evidence.what.starts_with(SO_DO) {
            continue; // names of others, without what they say
        }
        let date = evidence.date.map_or(String::new(), |d| format!(" ({d})"));
        let commit = evidence.commit.as_deref().map_or(String::new(), |c| format!(" {c}"));
        row("evidence", &format!("{}{commit}{date}", evidence.what));
    }
    let more = more.difference(&goldens).count();
    if more > 0 {
        let more = text::count(more, "more golden");
        row("evidence", &format!("and {more} (--verbose shows them)"));
    }
    row("do", &finding.remedy);
    if let Some(due) = group::due(finding) {
        row("when", &due);
    }
    if let Some(capped) = &finding.capped {
        row("capped", capped);
    }
    match group::satisfaction(finding) {
        Some(satisfied) => row("passed", &satisfied),
        None => {
            if let Some(way_out) = group::way_out(finding) {
                row("or", &way_out);
            }
        }
    }
    let fingerprint = finding.fingerprint();
    row("more", &format!("aotgate explain {}; fingerprint {fingerprint}", finding.check));
}

/// `file:line`, or the file alone.
fn position(place: &SourceLocation) -> String {
    match place.location.line {
        0 => format!("{} ({})", place.location.file, place.side.name()),
        line => format!("{}:{line} ({})", place.location.file, place.side.name()),
    }
}

/// One line a finding, wrapped.
fn lines(out: &mut String, title: &str, findings: &[&Finding], style: &Style) {
    put(out, format_args!("\n{}\n", style.paint("1", title)));
    let widest = findings.iter().map(|f| f.check.len()).max().unwrap_or(0);
    for finding in findings {
        let level = match finding.level {
            Level::Note => String::new(),
            level => format!("{:<9}", level.name()),
        };
        let head = format!("  {level}{:<widest$}  ", finding.check);
        let mut body = format!("{}: {}", finding.construct, finding.message);
        if let Some(due) = group::due(finding) {
            put(&mut body, format_args!("; {due}"));
        }
        if let Some(passed) = group::satisfaction(finding) {
            put(&mut body, format_args!(" [{passed}]"));
        }
        if let Some(capped) = &finding.capped {
            put(&mut body, format_args!(" [{capped}]"));
        }
        out.push_str(&text::wrap(&head, &text::line(&body), style.width));
        out.push('\n');
    }
}

fn notes(out: &mut String, folded: &[&Finding], style: &Style) {
    if folded.is_empty() {
        return;
    }
    lines(out, "Notes", folded.get(..LINE_NOTES).unwrap_or(folded), style);
    let rest = folded.get(LINE_NOTES..).unwrap_or_default();
    if !rest.is_empty() {
        let mut counts = BTreeMap::<&str, usize>::new();
        for finding in rest {
            *counts.entry(finding.check).or_default() += 1;
        }
        let counts: Vec<String> = counts.iter().map(|(id, n)| format!("{n} {id}")).collect();
        let line = format!(
            "and {}: {} (--verbose shows them)",
            text::count(rest.len(), "more note"),
            counts.join(", ")
        );
        out.push_str(&text::wrap("  ", &line, style.width));
        out.push('\n');
    }
}
