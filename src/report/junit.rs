//! JUnit XML: one test case per check and construct; what blocks is a failure.

use std::collections::BTreeMap;

use super::group::{self, Counts, effective_level};
use super::text::{line, markup, put};
use crate::finding::{Finding, Judgement, Level};

/// The report as one suite.
pub fn render(judgement: &Judgement) -> String {
    let mut cases: BTreeMap<(&str, &str), Vec<&Finding>> = BTreeMap::new();
    for finding in &judgement.findings {
        cases.entry((finding.check, &finding.construct)).or_default().push(finding);
    }
    let failed = cases.values().filter(|findings| findings.iter().any(|f| blocks(f))).count();
    let skipped = cases.values().filter(|findings| vouched(findings)).count();
    // A report without a case is an error to many readers.
    let tests = cases.len().max(1);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let suite =
        format!("{} against {}", line(&judgement.head.revision), line(&judgement.base.revision));
    put(
        &mut out,
        format_args!(
            "<testsuites name=\"aotgate\" tests=\"{tests}\" failures=\"{failed}\" errors=\"0\">\n  <testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failed}\" errors=\"0\" skipped=\"{skipped}\">\n    <properties>\n",
            markup(&suite)
        ),
    );
    for (name, value) in [
        ("verdict", judgement.verdict().name().to_owned()),
        ("triage", judgement.triage().name().to_owned()),
        ("today", judgement.today.to_string()),
        ("policy", line(&judgement.policy_source)),
    ] {
        put(
            &mut out,
            format_args!("      <property name=\"{name}\" value=\"{}\"/>\n", markup(&value)),
        );
    }
    out.push_str("    </properties>\n");
    if cases.is_empty() {
        let words = Counts::of(judgement).words();
        put(
            &mut out,
            format_args!("    <testcase classname=\"aotgate\" name=\"{}\"/>\n", markup(&words)),
        );
    }
    for ((check, construct), findings) in &cases {
        case(&mut out, check, construct, findings);
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn blocks(finding: &Finding) -> bool {
    effective_level(finding) > Level::Note
}

/// Nothing blocks, because somebody vouched for it.
fn vouched(findings: &[&Finding]) -> bool {
    !findings.iter().any(|f| blocks(f)) && findings.iter().any(|f| f.satisfied_by.is_some())
}

fn case(out: &mut String, check: &str, construct: &str, findings: &[&Finding]) {
    put(
        out,
        format_args!(
            "    <testcase classname=\"{}\" name=\"{}\"",
            markup(check),
            markup(&line(construct))
        ),
    );
    let head = findings.iter().flat_map(|f| &f.locations).next();
    if let Some(place) = head {
        put(out, format_args!(" file=\"{}\"", markup(&line(&place.location.file))));
        if place.location.line > 0 {
            put(out, format_args!(" line=\"{}\"", place.location.line));
        }
    }
    out.push_str(">\n");
    let blocking: Vec<&&Finding> = findings.iter().filter(|f| blocks(f)).collect();
    if let Some(first) = blocking.first() {
        let body: Vec<String> = blocking.iter().map(|f| describe(f)).collect();
        put(
            out,
            format_args!(
                "      <failure type=\"{}\" message=\"{}\">{}</failure>\n",
                first.triage.name(),
                markup(&line(&first.message)),
                markup(&body.join("\n\n"))
            ),
        );
    } else {
        if vouched(findings)
            && let Some(passed) = findings.iter().find_map(|f| group::satisfaction(f))
        {
            put(out, format_args!("      <skipped message=\"{}\"/>\n", markup(&line(&passed))));
        }
        let body: Vec<String> = findings.iter().map(|f| describe(f)).collect();
        put(out, format_args!("      <system-out>{}</system-out>\n", markup(&body.join("\n\n"))));
    }
    out.push_str("    </testcase>\n");
}

fn describe(finding: &Finding) -> String {
    let mut lines = vec![format!("{}: {}", finding.level.name(), line(&finding.message))];
    if let Some(step) = group::deciding(finding) {
        let question = step.step.map_or(String::new(), |s| format!("{} ", s.name()));
        lines.push(format!("why: {question}{}: {}", line(&step.answer), line(&step.because)));
    }
    lines.push(format!("do: {}", line(&finding.remedy)));
    lines.extend(group::due(finding).map(|due| format!("when: {due}")));
    lines.extend(finding.capped.as_ref().map(|why| format!("capped: {}", line(why))));
    lines.push(format!("fingerprint: {}", finding.fingerprint()));
    lines.join("\n")
}
