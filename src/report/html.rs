//! One self-contained page: no scripts, nothing loaded from anywhere.

use super::excerpt::Excerpt;
use super::group::{self, Counts, effective_level};
use super::recorded;
use super::text::{line, markup, put};
use crate::finding::{Finding, Judgement, Level, Side};

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}\
h1 span{padding:.1em .5em;border-radius:.3em;color:#fff}\
.pass{background:#1a7f37}.review{background:#9a6700}.fail{background:#cf222e}\
article{border-left:4px solid #8888;margin:1rem 0;padding:.1rem 1rem}\
article.error{border-color:#cf222e}article.warning{border-color:#d4a72c}\
pre{overflow:auto;background:#8882;padding:.5rem}mark{background:#d4a72c66;color:inherit}\
dt{float:left;clear:left;width:7rem;font-weight:600}dd{margin-left:8rem;overflow-wrap:anywhere}\
code{overflow-wrap:anywhere}";

/// The page.
pub fn render(judgement: &Judgement) -> String {
    let verdict = judgement.verdict().name();
    let revisions =
        format!("{} against {}", line(&judgement.head.revision), line(&judgement.base.revision));
    let mut out = String::from(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n",
    );
    put(
        &mut out,
        format_args!(
            "<title>aotgate: {verdict}</title>\n<style>{STYLE}</style>\n<h1><span class=\"{verdict}\">{verdict}</span> {}</h1>\n",
            markup(&revisions)
        ),
    );
    if let Some(subject) = &judgement.subject {
        put(&mut out, format_args!("<p>{}</p>\n", markup(&line(subject))));
    }
    put(
        &mut out,
        format_args!(
            "<p>{}. Worst: <b>{}</b>. Judged as of {}, policy <code>{}</code>.</p>\n",
            markup(&Counts::of(judgement).words()),
            judgement.triage().name(),
            judgement.today,
            markup(&line(&judgement.policy_source))
        ),
    );
    if let Some(words) = recorded::words(&judgement.goldens) {
        put(&mut out, format_args!("<p>Goldens: {}.</p>\n", markup(&words)));
    }
    for group in group::groups(&judgement.findings) {
        put(&mut out, format_args!("<h2><code>{}</code></h2>\n", markup(&line(group.name))));
        for finding in group.findings {
            article(&mut out, finding);
        }
    }
    out.push_str("</html>\n");
    out
}

fn article(out: &mut String, finding: &Finding) {
    let class = match effective_level(finding) {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    };
    put(
        out,
        format_args!(
            "<article class=\"{class}\" id=\"{}\">\n<h3>{} <code>{}</code> {}</h3>\n",
            finding.fingerprint(),
            finding.level.name(),
            finding.check,
            markup(&line(&finding.message))
        ),
    );
    let places = finding.locations.iter();
    for place in places.filter(|p| p.side == Side::Head || finding.before.is_some()) {
        let side = match place.side {
            Side::Base => "before",
            Side::Head => "now",
        };
        let at = match place.location.line {
            0 => String::new(),
            number => format!(":{number}"),
        };
        put(
            out,
            format_args!(
                "<p>{side}: <code>{}{at}</code></p>\n",
                markup(&line(&place.location.file))
            ),
        );
        if let Some(excerpt) = Excerpt::new(place, 1) {
            let (text, span) = (excerpt.text(), excerpt.span());
            let (from, to) = (span.offset(), span.offset() + span.len());
            let parts = [text.get(..from), text.get(from..to), text.get(to..)];
            let [before, marked, after] = parts.map(|part| markup(part.unwrap_or_default()));
            put(out, format_args!("<pre>{before}<mark>{marked}</mark>{after}</pre>\n"));
        }
    }
    out.push_str("<dl>\n");
    let mut row = |key: &str, value: &str| {
        put(out, format_args!("<dt>{key}</dt><dd>{}</dd>\n", markup(&line(value))));
    };
    row("construct", &finding.construct);
    for step in &finding.trace {
        let question = step.step.map_or(String::new(), |s| format!("{} ", s.name()));
        row("trace", &format!("{question}{}: {}", step.answer, step.because));
    }
    for evidence in &finding.evidence {
        let date = evidence.date.map_or(String::new(), |d| format!(" ({d})"));
        let commit = evidence.commit.as_deref().map_or(String::new(), |c| format!(" {c}"));
        row("evidence", &format!("{}{commit}{date}", evidence.what));
    }
    row("do", &finding.remedy);
    for (key, value) in [
        ("when", group::due(finding)),
        ("capped", finding.capped.clone()),
        ("passed", group::satisfaction(finding)),
        ("or", group::way_out(finding)),
        ("fingerprint", Some(finding.fingerprint())),
    ] {
        if let Some(value) = value {
            row(key, &value);
        }
    }
    out.push_str("</dl>\n</article>\n");
}
