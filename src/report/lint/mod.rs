//! What the authoring rules find in artifacts: the stable format `aotgate.lint/1`, and text for people.

use aotgate_runtime::artifact::lint::{Finding, Level, Report};
use serde::Serialize;

use super::json::{Layout, to_text};
use super::text;

/// Name and version of the format.
pub const SCHEMA: &str = "aotgate.lint/1";

/// One file that was linted.
#[derive(Debug, Clone, Serialize)]
pub struct Linted {
    /// As the user named it.
    pub file: String,
    /// Why it could not be read.
    pub error: Option<String>,
    /// What was found; empty where it could not be read.
    #[serde(flatten)]
    pub report: Report,
}

/// The document.
pub fn json(files: &[Linted], layout: Layout) -> String {
    #[derive(Serialize)]
    struct Document<'a> {
        schema: &'static str,
        files: &'a [Linted],
    }
    to_text(&Document { schema: SCHEMA, files }, layout)
}

/// Text for people.
pub fn render(files: &[Linted]) -> String {
    let mut out = String::new();
    for file in files {
        let name = text::line(&file.file);
        if let Some(error) = &file.error {
            text::put(
                &mut out,
                format_args!("{name}: could not be read\n  {}\n", text::line(error)),
            );
            continue;
        }
        text::put(&mut out, format_args!("{name}: {}\n", summary(&file.report)));
        for finding in &file.report.findings {
            self::finding(&mut out, finding);
        }
        for (rule, count) in &file.report.omitted {
            text::put(&mut out, format_args!("  {count} more of {rule} are not listed\n"));
        }
    }
    out
}

fn summary(report: &Report) -> String {
    let levels = [Level::Error, Level::Warning, Level::Note];
    let counts = levels.map(|level| (report.count(level), level.name()));
    let parts: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| text::count(count, name))
        .collect();
    if parts.is_empty() { "no findings".to_owned() } else { parts.join(", ") }
}

fn finding(out: &mut String, finding: &Finding) {
    let Finding { rule, level, message, .. } = finding;
    let message = text::clip(message, 300);
    text::put(out, format_args!("  {}[{rule}] {message}\n", level.name()));
    if !finding.path.is_empty() {
        text::put(out, format_args!("    at    {}\n", text::line(&finding.path)));
    }
    if let Some(thunk) = &finding.thunk {
        text::put(out, format_args!("    in    {}\n", text::clip(thunk, 200)));
    }
    for also in &finding.also {
        text::put(out, format_args!("    also  {}\n", text::line(also)));
    }
    let bytes = finding.bytes.map(|bytes| format!("{bytes} bytes"));
    let count = (finding.count > 1).then(|| format!("{} times", finding.count));
    let more: Vec<String> = bytes.into_iter().chain(count).collect();
    if !more.is_empty() {
        text::put(out, format_args!("    {}\n", more.join(", ")));
    }
}
