//! SARIF 2.1.0, for GitHub code scanning and other viewers.
//!
//! Results are anchored in head, since that is what a viewer has open: a deleted field at its enclosing
//! message. Base's place is a related location.

mod place;

use std::collections::HashMap;

use serde_json::{Value, json};

use super::group;
use super::json::{Layout, to_text};
use super::recorded;
use super::text::{block, count, line};
use crate::finding::{Finding, Judgement, Level, Side};
use crate::triage::checks;

/// GitHub keeps the first 5,000 results of a run.
const MAX_RESULTS: usize = 5_000;
/// GitHub refuses more than 10 MB (compressed); this counts uncompressed bytes of results.
const MAX_BYTES: usize = 9_000_000;

/// The log, with one run.
pub fn render(judgement: &Judgement) -> String {
    let mut rules = Rules::default();
    let mut repeats = HashMap::new();
    let mut results = Vec::new();
    let mut bytes = 0;
    for finding in judgement.findings.iter().take(MAX_RESULTS) {
        let result = result(finding, &mut rules, &mut repeats);
        bytes += result.to_string().len();
        if bytes > MAX_BYTES {
            break;
        }
        results.push(result);
    }
    let left_out = judgement.findings.len() - results.len();
    let mut invocation = json!({ "executionSuccessful": true });
    if left_out > 0
        && let Some(object) = invocation.as_object_mut()
    {
        let text = format!(
            "{} left out; `aotgate check --format json` shows everything",
            count(left_out, "finding")
        );
        object.insert(
            "toolExecutionNotifications".to_owned(),
            json!([{ "level": "warning", "message": { "text": text } }]),
        );
    }
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "aotgate",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules.list,
            } },
            "automationDetails": { "id": "aotgate/check/" },
            "columnKind": "unicodeCodePoints",
            "invocations": [invocation],
            "properties": {
                "verdict": judgement.verdict().name(),
                "triage": judgement.triage().name(),
                "goldens": recorded::words(&judgement.goldens).map(|words| line(&words)),
                "base": line(&judgement.base.revision),
                "head": line(&judgement.head.revision),
            },
            "results": results,
        }],
    });
    // One line: indentation would count against the limit.
    to_text(&log, Layout::Line)
}

/// Rules that results refer to, in the order of their first use.
#[derive(Default)]
struct Rules {
    list: Vec<Value>,
    index: HashMap<&'static str, usize>,
}

impl Rules {
    fn index(&mut self, id: &'static str) -> usize {
        let list = &mut self.list;
        *self.index.entry(id).or_insert_with(|| {
            list.push(rule(id));
            list.len() - 1
        })
    }
}

/// Metadata of a check: its page is the help, the page's first sentence the short description.
fn rule(id: &'static str) -> Value {
    let page = checks::page(id).unwrap_or_default();
    let title = page.lines().next().unwrap_or(id).to_owned();
    let description: Vec<&str> =
        page.lines().skip(1).take_while(|l| !l.starts_with("## Why")).collect();
    let description = description.join("\n").replace("## What it flags", "");
    let full =
        if description.trim().is_empty() { title.clone() } else { description.trim().to_owned() };
    let title = if title.is_empty() { id.to_owned() } else { title };
    let help = if page.is_empty() { id.to_owned() } else { page };
    let check = checks::find(id);
    let level = check.and_then(|c| c.level).unwrap_or(Level::Error);
    json!({
        "id": id,
        "name": id,
        "shortDescription": { "text": title },
        "fullDescription": { "text": if full.is_empty() { id.to_owned() } else { full } },
        "help": { "text": help, "markdown": help },
        "defaultConfiguration": { "level": level.name() },
        "properties": {
            "tags": ["compatibility"],
            "step": check.and_then(|c| c.step).map(|s| s.name()),
        },
    })
}

fn result(finding: &Finding, rules: &mut Rules, repeats: &mut HashMap<String, usize>) -> Value {
    let fingerprint = finding.fingerprint();
    let repeat = repeats.entry(fingerprint.clone()).or_default();
    *repeat += 1;
    let anchor = finding.locations.iter().find(|p| p.side == Side::Head);
    let anchor = anchor.or_else(|| finding.locations.first());
    // Where nothing stood before, base has nothing to show.
    let related = finding.locations.iter().filter(|place| {
        anchor.is_none_or(|a| !std::ptr::eq(*place, a))
            && (place.side == Side::Head || finding.before.is_some())
    });
    let related: Vec<Value> =
        related.enumerate().map(|(id, place)| place::related(place, id + 1)).collect();
    let mut value = json!({
        "ruleId": finding.check,
        "ruleIndex": rules.index(finding.check),
        "level": finding.level.name(),
        "kind": "fail",
        "message": { "text": message(finding) },
        "locations": anchor.map(|p| place::location(p, &finding.construct)).into_iter().collect::<Vec<_>>(),
        "partialFingerprints": {
            "primaryLocationLineHash": format!("{fingerprint}:{repeat}"),
            "aotgate/v1": fingerprint,
        },
        "properties": {
            "triage": finding.triage.name(),
            "window": finding.window.map(|w| w.name()),
            "surface": finding.surface,
            "construct": line(&finding.construct),
            "earliestSafe": finding.earliest_safe.map(|d| d.to_string()),
        },
    });
    if let Some(object) = value.as_object_mut() {
        if !related.is_empty() {
            object.insert("relatedLocations".to_owned(), Value::from(related));
        }
        if let Some(satisfied) = group::satisfaction(finding) {
            let suppression = json!({
                "kind": "external",
                "status": "accepted",
                "justification": line(&satisfied),
            });
            object.insert("suppressions".to_owned(), json!([suppression]));
        }
    }
    value
}

fn message(finding: &Finding) -> String {
    let mut lines = vec![format!("{}: {}", line(&finding.construct), line(&finding.message))];
    if let Some(step) = group::deciding(finding) {
        let question = step.step.map_or(String::new(), |s| format!("{} ", s.name()));
        lines.push(format!("Why: {question}{}: {}", line(&step.answer), line(&step.because)));
    }
    lines.push(format!("Do: {}", line(&finding.remedy)));
    lines.extend(group::due(finding));
    lines.extend(finding.capped.as_ref().map(|why| format!("Capped: {}", line(why))));
    block(&lines.join("\n"))
}
