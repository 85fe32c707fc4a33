//! `artifact diff`: two artifacts side by side, and `aotgate.artifact-diff/1`.

use std::collections::BTreeMap;

use aotgate_runtime::artifact::Layer;
use aotgate_runtime::artifact::diff::{Change, Diff, FieldChange, NamedChange, Section};
use serde::Serialize;

use super::for_locale;
use super::tree::LONG;
use crate::report::human::Style;
use crate::report::json::{Layout, to_text};
use crate::report::text::{self, count, put};

/// Name and version of the format.
pub const SCHEMA: &str = "aotgate.artifact-diff/1";

/// The document.
pub fn json(files: [&str; 2], diff: &Diff, layout: Layout) -> String {
    #[derive(Serialize)]
    struct OfFiles<'a> {
        #[serde(flatten)]
        diff: &'a Diff,
        equal: bool,
        files: [&'a str; 2],
    }
    to_text(&OfFiles { diff, equal: diff.is_equal(), files }, layout)
}

/// The text: what is the same, then what differs by section.
pub fn render(files: [&str; 2], diff: &Diff, style: &Style) -> String {
    let mut out = String::new();
    put(&mut out, format_args!("{}\n", style.paint("1", &verdict(diff))));
    for (side, file, layers) in [("a", files[0], &diff.a), ("b", files[1], &diff.b)] {
        let line = format!("{}  {}", text::line(file), containers(layers));
        put(&mut out, format_args!("{}\n", text::wrap(&format!("  {side}  "), &line, style.width)));
    }
    versions(&mut out, diff, style);
    named(&mut out, "Kernels", &diff.kernels, style);
    named(&mut out, "Constants", &diff.constants, style);
    let mut sections: BTreeMap<Section, Vec<&FieldChange>> = BTreeMap::new();
    for field in &diff.fields {
        sections.entry(field.section).or_default().push(field);
    }
    for (section, fields) in sections {
        fields_of(&mut out, section, &fields, style);
    }
    if diff.omitted > 0 {
        put(&mut out, format_args!("\n{} not listed\n", count(diff.omitted, "more difference")));
    }
    for_locale(out, style)
}

fn verdict(diff: &Diff) -> String {
    if diff.is_equal() {
        let verdict = if diff.same_containers {
            "Same executable, same container"
        } else {
            "Same executable, other container"
        };
        return verdict.to_owned();
    }
    let mut parts = Vec::new();
    parts.push(if diff.same_executable { "Same executable" } else { "Other executable" });
    if !diff.same_options {
        parts.push("other options");
    }
    if !diff.same_envelope {
        parts.push("other envelope");
    }
    parts.join(", ")
}

fn containers(layers: &[Layer]) -> String {
    let layers: Vec<_> =
        layers.iter().map(|l| format!("{} ({})", l.container.name(), l.size)).collect();
    layers.join(" > ")
}

/// Versions that the layers state, where they differ.
fn versions(out: &mut String, diff: &Diff, style: &Style) {
    let all = |layers: &[Layer]| -> BTreeMap<String, String> {
        layers.iter().flat_map(|layer| layer.versions.iter().cloned()).collect()
    };
    let (a, b) = (all(&diff.a), all(&diff.b));
    let names: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
    for name in names.into_iter().filter(|name| a.get(*name) != b.get(*name)) {
        let text = |side: &BTreeMap<String, String>| {
            side.get(name).map_or("none".to_owned(), |version| text::line(version))
        };
        let line = format!("{}: {} -> {}", text::line(name), text(&a), text(&b));
        put(out, format_args!("{}\n", text::wrap("     ", &line, style.width)));
    }
}

fn heading(out: &mut String, title: &str, number: usize, style: &Style) {
    let title = style.paint("1", title);
    put(out, format_args!("\n{title}  {}\n", count(number, "difference")));
}

fn named(out: &mut String, title: &str, changes: &[NamedChange], style: &Style) {
    if changes.is_empty() {
        return;
    }
    heading(out, title, changes.len(), style);
    list(out, changes, style, |change| {
        let side = |payload: &Option<aotgate_runtime::artifact::diff::Payload>| {
            payload.as_ref().map(|payload| {
                let size = payload.size.map_or("in the HLO module".to_owned(), super::bytes);
                let hash = payload.sha256.as_deref().and_then(|hash| hash.get(..12));
                let hash = hash.map_or(String::new(), |hash| format!(" sha256 {hash}"));
                format!("{} {size}{hash}", payload.form).trim_start().to_owned()
            })
        };
        (change.change, sentence(&change.name, change.change, side(&change.a), side(&change.b)))
    });
}

fn fields_of(out: &mut String, section: Section, fields: &[&FieldChange], style: &Style) {
    let title = match section {
        Section::Envelope => "Envelope",
        Section::Options => "Compile options",
        Section::DebugOptions => "Debug options",
        Section::Program => "Program",
        Section::Module => "HLO module",
        Section::Thunks => "Thunks",
        Section::Allocations => "Allocations",
        Section::Constants => "Constants, field by field",
        Section::Other => "Other fields",
    };
    if section == Section::DebugOptions {
        let options = debug_options(fields);
        heading(out, title, options.len(), style);
        return list(out, &options, style, |(field, name)| {
            (field.change, sentence(name, field.change, field.a.clone(), field.b.clone()))
        });
    }
    heading(out, title, fields.len(), style);
    list(out, fields, style, |field| {
        let path = if field.path.is_empty() { "the whole layer" } else { &field.path };
        (field.change, sentence(path, field.change, field.a.clone(), field.b.clone()))
    });
}

/// Debug options by their own names; what happened to both the compilation's and the module's is one line.
fn debug_options<'a>(fields: &[&'a FieldChange]) -> Vec<(&'a FieldChange, String)> {
    let own = |field: &'a FieldChange| match field.path.split_once("debug_options.") {
        Some((owner, name)) => (owner.starts_with("compile_options"), name),
        None => (true, field.path.as_str()),
    };
    let mut by_name: BTreeMap<_, Vec<&FieldChange>> = BTreeMap::new();
    for field in fields {
        by_name.entry((own(field).1, field.change, &field.a, &field.b)).or_default().push(field);
    }
    let mut lines = Vec::new();
    for ((name, ..), same) in by_name {
        let Some(field) = same.first() else { continue };
        let place = match (same.len(), own(field).0) {
            (1, true) => " (of the compilation)",
            (1, false) => " (of the HLO module)",
            _ => "",
        };
        lines.push((*field, format!("{name}{place}")));
    }
    lines
}

fn sentence(name: &str, change: Change, a: Option<String>, b: Option<String>) -> String {
    let none = || "none".to_owned();
    match change {
        Change::Added => format!("{name}: {}", b.unwrap_or_else(none)),
        Change::Removed => format!("{name}: {}", a.unwrap_or_else(none)),
        Change::Changed => {
            format!("{name}: {} -> {}", a.unwrap_or_else(none), b.unwrap_or_else(none))
        }
        Change::Reordered => format!("{name}: other order, {}", b.unwrap_or_else(none)),
    }
}

fn list<T>(out: &mut String, all: &[T], style: &Style, line: impl Fn(&T) -> (Change, String)) {
    let most = if style.verbose || all.len() <= LONG + 1 { all.len() } else { LONG };
    for entry in all.iter().take(most) {
        let (change, text) = line(entry);
        let (marker, color) = match change {
            Change::Added => ("+", "32"),
            Change::Removed => ("-", "31"),
            Change::Changed | Change::Reordered => ("~", "33"),
        };
        let wrapped = text::wrap("    ", &text::line(&text), style.width);
        let body = wrapped.get(4..).unwrap_or_default();
        put(out, format_args!("  {} {body}\n", style.paint(color, marker)));
    }
    if let Some(left @ [_, ..]) = all.get(most..) {
        let mut changes: BTreeMap<Change, usize> = BTreeMap::new();
        for entry in left {
            *changes.entry(line(entry).0).or_default() += 1;
        }
        let words: Vec<_> = changes.iter().map(|(c, n)| format!("{n} {}", word(*c))).collect();
        put(
            out,
            format_args!(
                "    and {} more: {} (--verbose shows them)\n",
                left.len(),
                words.join(", ")
            ),
        );
    }
}

fn word(change: Change) -> &'static str {
    match change {
        Change::Added => "added",
        Change::Removed => "removed",
        Change::Changed => "changed",
        Change::Reordered => "reordered",
    }
}
