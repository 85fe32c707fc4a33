//! Formats that continuous integration reads.

use aotgate::finding::{Finding, Judgement, Level, Triage};
use aotgate::report::{github, html, junit, markdown, sarif};

use serde_json::Value;

use crate::{assert_harmless, fixtures};

#[test]
fn github_annotations() {
    insta::assert_snapshot!("github_failing", github::render(&fixtures::failing()));
    assert_eq!(github::render(&fixtures::passing()), "");
    let many = github::render(&fixtures::many());
    for command in ["::error ", "::warning ", "::notice "] {
        assert_eq!(many.lines().filter(|l| l.starts_with(command)).count(), 10);
    }
    insta::assert_snapshot!("github_many", many);
}

#[test]
fn github_annotations_fold_per_construct() {
    let one = fixtures::finding("xla.A.b", Level::Error, Triage::BreaksBackward);
    let other = Finding { message: "its type changes".to_owned(), ..one.clone() };
    let text = github::render(&Judgement { findings: vec![one, other], ..fixtures::passing() });
    assert_eq!(text.lines().count(), 1);
    assert!(text.contains("%0A%0Aits type changes%0A"));
}

#[test]
fn github_annotations_stay_one_line_each() {
    let text = github::render(&fixtures::hostile());
    assert_harmless(&text);
    assert_eq!(text.lines().count(), 2);
    insta::assert_snapshot!(text);
}

#[test]
fn job_summaries() {
    insta::assert_snapshot!("markdown_failing", markdown::render(&fixtures::failing()));
    insta::assert_snapshot!("markdown_passing", markdown::render(&fixtures::passing()));
    let hostile = markdown::render(&fixtures::hostile());
    assert_harmless(&hostile);
    // Outside code spans, which take everything literally.
    let prose = hostile.lines().filter(|l| l.starts_with("- ") || l.starts_with("<details"));
    assert!(prose.clone().count() > 5);
    assert!(prose.clone().all(|line| !line.contains("<script")));
    insta::assert_snapshot!("markdown_hostile", hostile);
}

#[test]
fn job_summaries_stay_below_a_mebibyte() {
    let mut judgement = fixtures::passing();
    for n in 0..20_000 {
        let construct = format!("xla.gpu.Message{n}.field");
        judgement.findings.push(fixtures::finding(
            &construct,
            Level::Error,
            Triage::BreaksBackward,
        ));
    }
    let text = markdown::render(&judgement);
    assert!(text.len() < 1 << 20);
    assert!(text.ends_with(" do not fit; `aotgate check --format json` shows everything.\n"));
}

#[test]
fn sarif_logs() {
    insta::assert_snapshot!("sarif_failing", without_help(&sarif::render(&fixtures::failing())));
    let passing: Value = serde_json::from_str(&sarif::render(&fixtures::passing())).unwrap();
    assert_eq!(passing["runs"][0]["results"], serde_json::json!([]));
    let hostile = sarif::render(&fixtures::hostile());
    assert_harmless(&hostile);
    let many: Value = serde_json::from_str(&sarif::render(&fixtures::many())).unwrap();
    let results = many["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 60);
    assert_eq!(results.iter().filter(|r| r.get("suppressions").is_some()).count(), 2);
}

/// Pages of checks are edited elsewhere; here it is enough that they are there.
fn without_help(text: &str) -> String {
    let mut log: Value = serde_json::from_str(text).unwrap();
    for rule in log["runs"][0]["tool"]["driver"]["rules"].as_array_mut().unwrap() {
        assert!(rule["help"]["markdown"].as_str().unwrap().contains("## What it flags"));
        for key in ["help", "fullDescription", "shortDescription"] {
            rule[key] = Value::from("…");
        }
    }
    serde_json::to_string_pretty(&log).unwrap()
}

#[test]
fn sarif_logs_stay_inside_githubs_limits() {
    let with = |number, remedy: &str| {
        let finding = |n| Finding {
            remedy: remedy.to_owned(),
            ..fixtures::finding(&format!("xla.M{n}.f"), Level::Error, Triage::BreaksBackward)
        };
        let findings = (0..number).map(finding).collect();
        sarif::render(&Judgement { findings, ..fixtures::passing() })
    };
    for (text, most) in [(with(5_100, "Keep it."), 5_000), (with(110, &"x".repeat(100_000)), 109)] {
        assert!(text.len() < 10_000_000);
        let log: Value = serde_json::from_str(&text).unwrap();
        let run = &log["runs"][0];
        assert!(run["results"].as_array().unwrap().len() <= most);
        let notice = &run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
        assert!(notice.as_str().unwrap().contains("left out"));
    }
}

#[test]
fn junit_reports() {
    insta::assert_snapshot!("junit_failing", junit::render(&fixtures::failing()));
    insta::assert_snapshot!("junit_passing", junit::render(&fixtures::passing()));
    let hostile = junit::render(&fixtures::hostile());
    assert_harmless(&hostile);
    assert!(!hostile.contains("]]>"));
    insta::assert_snapshot!("junit_hostile", hostile);
}

#[test]
fn html_pages() {
    insta::assert_snapshot!("html_failing", html::render(&fixtures::failing()));
    let hostile = html::render(&fixtures::hostile());
    assert_harmless(&hostile);
    assert!(!hostile.contains("<script"));
}
