//! GitHub workflow annotations.
//!
//! GitHub shows at most ten annotations of each level a step, so findings are folded per construct, the
//! worst come first, and the tenth says how many are left for the job summary.

use super::group::{self, effective_level};
use super::text::{self, put};
use crate::finding::{Finding, Judgement, Level, Side, SourceLocation};

/// Annotations of one level that stand for findings; one more says how many are missing.
const SHOWN: usize = 9;

/// Workflow commands, one a line; empty where there is nothing to say.
pub fn render(judgement: &Judgement) -> String {
    let mut out = String::new();
    for (level, command) in
        [(Level::Error, "error"), (Level::Warning, "warning"), (Level::Note, "notice")]
    {
        let folded = fold(judgement.findings.iter().filter(|f| effective_level(f) == level));
        for findings in folded.iter().take(SHOWN) {
            annotation(&mut out, command, findings);
        }
        let more = folded.len().saturating_sub(SHOWN);
        if more > 0 {
            put(&mut out, format_args!("::{command} title=aotgate::{more} more, see summary\n"));
        }
    }
    out
}

/// Findings of the same construct together, in the order of their first.
fn fold<'a>(findings: impl Iterator<Item = &'a Finding>) -> Vec<Vec<&'a Finding>> {
    let mut folded: Vec<Vec<&Finding>> = Vec::new();
    let mut index = std::collections::HashMap::new();
    for finding in findings {
        let at = *index.entry(&finding.construct).or_insert_with(|| {
            folded.push(Vec::new());
            folded.len() - 1
        });
        if let Some(list) = folded.get_mut(at) {
            list.push(finding);
        }
    }
    folded
}

fn annotation(out: &mut String, command: &str, findings: &[&Finding]) {
    let Some(first) = findings.first() else { return };
    let mut properties = Vec::new();
    if let Some(place) = place(first) {
        let location = &place.location;
        properties.push(format!("file={}", property(&location.file)));
        if location.line > 0 {
            properties.push(format!("line={}", location.line));
            properties.push(format!("endLine={}", group::end_line(location)));
        }
    }
    let title = format!("{} {}", first.check, text::clip(&first.construct, 200));
    properties.push(format!("title={}", property(&title)));
    let bodies: Vec<String> = findings.iter().map(|f| body(f)).collect();
    put(
        out,
        format_args!("::{command} {}::{}\n", properties.join(","), data(&bodies.join("\n\n"))),
    );
}

/// Head's place where there is one with a line, else whatever is known best.
fn place(finding: &Finding) -> Option<&SourceLocation> {
    finding.locations.iter().min_by_key(|p| (p.side != Side::Head, p.location.line == 0))
}

fn body(finding: &Finding) -> String {
    let mut lines = vec![text::clip(&finding.message, 1000)];
    if let Some(step) = group::deciding(finding) {
        let question = step.step.map_or(String::new(), |s| format!("{} ", s.name()));
        lines.push(format!("Why: {question}{}", text::clip(&step.because, 1000)));
    }
    lines.push(format!("Do: {}", text::clip(&finding.remedy, 1000)));
    lines.extend(group::due(finding));
    if let Some(passed) = group::satisfaction(finding) {
        lines.push(text::clip(&passed, 1000));
    }
    lines.push(format!("{}, fingerprint {}", finding.check, finding.fingerprint()));
    lines.join("\n")
}

/// Escapes the text after `::`.
fn data(value: &str) -> String {
    text::block(value).replace('%', "%25").replace('\n', "%0A")
}

/// Escapes a property's value.
fn property(value: &str) -> String {
    data(&text::line(value)).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        assert_eq!(data("50%\r\n::error::x"), "50%25%0A::error::x");
        assert_eq!(property("a,b:c\n"), "a%2Cb%3Ac ");
    }
}
