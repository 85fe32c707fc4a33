//! Every renderer over the same judgements.

mod fixtures;

use aotgate::report::human::{self, Style};
use aotgate::report::json::{self, Layout};

/// Nothing that a terminal could act on.
fn assert_harmless(text: &str) {
    let bad = text.chars().find(|&c| c != '\n' && aotgate::report::text::is_hostile(c));
    assert_eq!(bad, None, "in {text}");
}

#[test]
fn json_documents() {
    insta::assert_snapshot!(json::render(&fixtures::failing(), Layout::Pretty));
    let many = json::render(&fixtures::many(), Layout::Line);
    assert_eq!(many.lines().count(), 1);
    let value: serde_json::Value = serde_json::from_str(&many).unwrap();
    assert_eq!(value["findings"][15]["satisfied_by"]["kind"], "attestation");
    assert_eq!(value["findings"][16]["satisfied_by"]["expires"], "2026-07-01");
    assert_eq!(value["findings"][0]["locations"][0]["line"], serde_json::Value::Null);
}

#[test]
fn json_keeps_hostile_text_and_escapes_it() {
    let text = json::render(&fixtures::hostile(), Layout::Line);
    assert_harmless(&text);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["findings"][0]["message"], fixtures::HOSTILE);
    let error = json::error("abc", fixtures::HOSTILE, Layout::Line);
    insta::assert_snapshot!(error);
}

#[test]
fn human_reports() {
    let style = Style::default();
    insta::assert_snapshot!("human_failing", human::render(&fixtures::failing(), &style));
    insta::assert_snapshot!("human_passing", human::render(&fixtures::passing(), &style));
    insta::assert_snapshot!("human_many", human::render(&fixtures::many(), &style));
    let narrow = Style { width: 60, unicode: false, ..style };
    insta::assert_snapshot!("human_narrow_ascii", human::render(&fixtures::failing(), &narrow));
    let verbose = Style { verbose: true, ..style };
    let text = human::render(&fixtures::many(), &verbose);
    assert_eq!(text.matches("note[field-removed]").count(), 30);
}

#[test]
fn human_is_harmless() {
    let text = human::render(&fixtures::hostile(), &Style::default());
    assert_harmless(&text);
    insta::assert_snapshot!(text);
}

#[test]
fn human_colors_only_when_asked() {
    let style = Style { color: true, ..Style::default() };
    assert!(human::render(&fixtures::failing(), &style).contains("\u{1b}["));
}
