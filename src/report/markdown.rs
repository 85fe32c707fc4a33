//! The job summary (`GITHUB_STEP_SUMMARY`) in GitHub's Markdown.

use super::excerpt::Excerpt;
use super::group::{self, Counts, effective_level};
use super::recorded;
use super::text::{self, put};
use crate::finding::{Finding, Judgement, Level, Side, Verdict};

/// GitHub refuses summaries of 1 MiB and more; several steps share none of it, but leave some room.
const LIMIT: usize = 1_000_000;
/// The table may take this much of it.
const TABLE_LIMIT: usize = 400_000;

/// The whole summary; what does not fit is left out, and how much that is stands at the end.
pub fn render(judgement: &Judgement) -> String {
    let mut out = String::new();
    summary(&mut out, judgement);
    if judgement.findings.is_empty() {
        return out;
    }
    out.push_str("\n| | check | construct | what | when |\n|---|---|---|---|---|\n");
    let mut rows = 0;
    for finding in &judgement.findings {
        let row = row(finding);
        if out.len() + row.len() > TABLE_LIMIT {
            break;
        }
        out.push_str(&row);
        rows += 1;
    }
    missing(&mut out, judgement.findings.len() - rows, "row");
    let loud: Vec<&Finding> = judgement.findings.iter().filter(|f| f.level > Level::Note).collect();
    let mut shown = 0;
    for finding in &loud {
        let section = details(finding);
        if out.len() + section.len() > LIMIT {
            break;
        }
        out.push_str(&section);
        shown += 1;
    }
    missing(&mut out, loud.len() - shown, "section");
    out
}

fn missing(out: &mut String, number: usize, what: &str) {
    if number > 0 {
        let rows = text::count(number, what);
        let verb = if number == 1 { "does" } else { "do" };
        put(
            out,
            format_args!(
                "\n{rows} {verb} not fit; `aotgate check --format json` shows everything.\n"
            ),
        );
    }
}

fn summary(out: &mut String, judgement: &Judgement) {
    let icon = match judgement.verdict() {
        Verdict::Pass => "✅",
        Verdict::Review => "⚠️",
        Verdict::Fail => "❌",
    };
    put(
        out,
        format_args!(
            "## {icon} aotgate: {}\n\n{} against {}: {}",
            judgement.verdict().name(),
            code(&text::clip(&judgement.head.revision, 100)),
            code(&text::clip(&judgement.base.revision, 100)),
            Counts::of(judgement).words(),
        ),
    );
    if let Some(subject) = &judgement.subject {
        put(out, format_args!("  \n{}", escape(&text::clip(subject, 200))));
    }
    put(
        out,
        format_args!(
            "\n\nWorst: **{}**. Judged as of {}, policy {}.\n",
            judgement.triage().name(),
            judgement.today,
            code(&text::clip(&judgement.policy_source, 100)),
        ),
    );
    if let Some(words) = recorded::words(&judgement.goldens) {
        put(out, format_args!("\nGoldens: {}.\n", escape(&text::clip(&words, 500))));
    }
}

/// The level, or a tick for what somebody vouched for.
fn status(finding: &Finding) -> &'static str {
    match effective_level(finding) {
        Level::Error => "❌ error",
        Level::Warning => "⚠️ warning",
        Level::Note if finding.level > Level::Note => "☑️ satisfied",
        Level::Note => "note",
    }
}

fn row(finding: &Finding) -> String {
    format!(
        "| {} | `{}` | {} | {} | {} |\n",
        status(finding),
        finding.check,
        code(&text::clip(&finding.construct, 200)).replace('|', "\\|"),
        escape(&text::clip(&finding.message, 300)),
        group::due(finding).unwrap_or_default(),
    )
}

fn details(finding: &Finding) -> String {
    let mut out = format!(
        "\n<details{}><summary>{} <b>{}</b> {}</summary>\n\n",
        if effective_level(finding) == Level::Error { " open" } else { "" },
        status(finding),
        finding.check,
        text::markup(&text::clip(&finding.construct, 200)),
    );
    put(&mut out, format_args!("{}\n\n", escape(&text::clip(&finding.message, 2000))));
    // Where nothing stood before, base has nothing to show.
    let places = finding.locations.iter();
    for place in places.filter(|p| p.side == Side::Head || finding.before.is_some()) {
        let side = match place.side {
            Side::Base => "before",
            Side::Head => "now",
        };
        let line = match place.location.line {
            0 => String::new(),
            line => format!(":{line}"),
        };
        let position = text::clip(&format!("{}{line}", place.location.file), 300);
        put(&mut out, format_args!("{side}, {}\n", code(&position)));
        if let Some(excerpt) = Excerpt::new(place, 1) {
            let fence = "`".repeat(longest_run(excerpt.text(), '`').max(2) + 1);
            put(&mut out, format_args!("\n{fence}proto\n{}{fence}\n", excerpt.text()));
        }
        out.push('\n');
    }
    let mut item = |key: &str, value: &str| {
        put(&mut out, format_args!("- **{key}** {}\n", escape(&text::clip(value, 2000))));
    };
    if let Some(step) = group::deciding(finding) {
        let question = step.step.map_or(String::new(), |s| format!("{} ", s.name()));
        item("why", &format!("{question}{}: {}", step.answer, step.because));
    }
    for evidence in finding.evidence.iter().take(20) {
        let date = evidence.date.map_or(String::new(), |d| format!(" ({d})"));
        let commit = evidence.commit.as_deref().map_or(String::new(), |c| format!(" {c}"));
        item("evidence", &format!("{}{commit}{date}", evidence.what));
    }
    item("do", &finding.remedy);
    for (key, value) in [
        ("when", group::due(finding)),
        ("capped", finding.capped.clone()),
        ("passed", group::satisfaction(finding)),
        ("or", group::way_out(finding)),
        ("fingerprint", Some(finding.fingerprint())),
    ] {
        if let Some(value) = value {
            item(key, &value);
        }
    }
    out.push_str("\n</details>\n");
    out
}

/// Text that Markdown shows as it is, on one line.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text::line(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '+' | '!' | '|'
            | '~' | '$' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    // GitHub turns these into links without any markup.
    out.replace("://", ":&#47;/").replace("www.", "www&#46;")
}

/// A code span that its content cannot leave.
pub(super) fn code(text: &str) -> String {
    let text = text::line(text);
    if text.trim().is_empty() {
        return String::new();
    }
    let run = longest_run(&text, '`');
    if run == 0 {
        return format!("`{text}`");
    }
    let fence = "`".repeat(run + 1);
    format!("{fence} {text} {fence}")
}

fn longest_run(text: &str, of: char) -> usize {
    let mut longest = 0;
    let mut current = 0;
    for c in text.chars() {
        current = if c == of { current + 1 } else { 0 };
        longest = longest.max(current);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_spans_hold() {
        assert_eq!(code("a.b"), "`a.b`");
        assert_eq!(code("a``b"), "``` a``b ```");
        assert_eq!(escape("<b> | `y` http://z"), "&lt;b&gt; \\| \\`y\\` http:&#47;/z");
    }
}
