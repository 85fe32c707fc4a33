//! `artifact size`: what takes up a file, and `aotgate.size/1`.

use aotgate_runtime::artifact::size::{Breakdown, Duplicate, Part, PartKind};

use super::tree::LONG;
use super::{OfFile, bytes, for_locale};
use crate::report::human::Style;
use crate::report::json::{Layout, to_text};
use crate::report::text::{self, count, put};

/// Name and version of the format.
pub const SCHEMA: &str = "aotgate.size/1";

/// Parts that are shown unless all are asked for.
const LONG_TABLE: usize = 24;

/// The document.
pub fn json(file: &str, breakdown: &Breakdown, layout: Layout) -> String {
    to_text(&OfFile { content: breakdown, file }, layout)
}

/// The table.
pub fn render(file: &str, breakdown: &Breakdown, style: &Style) -> String {
    let mut out = String::new();
    let title =
        format!("{}  {}, {} unpacked", text::line(file), bytes(breakdown.size), breakdown.unpacked);
    put(&mut out, format_args!("{}\n", style.paint("1", &title)));
    let containers: Vec<_> = breakdown.containers.iter().map(|c| c.name()).collect();
    put(&mut out, format_args!("{}\n\n", text::wrap("  ", &containers.join(" > "), style.width)));
    let parts = &breakdown.parts;
    let most =
        if style.verbose || parts.len() <= LONG_TABLE + 1 { parts.len() } else { LONG_TABLE };
    let (shown, folded) = parts.split_at(most);
    let widest = breakdown.size.max(breakdown.unpacked).to_string().len().max("unpacked".len());
    put(&mut out, format_args!("  {:>widest$}        {:>widest$}  part\n", "stored", "unpacked"));
    let mut row = |stored: usize, unpacked: usize, name: &str| {
        let share = stored as f64 * 100.0 / breakdown.size.max(1) as f64;
        let first = format!("  {stored:>widest$}  {share:4.1}%  {unpacked:>widest$}  ");
        put(&mut out, format_args!("{}\n", text::wrap(&first, &text::line(name), style.width)));
    };
    for part in shown {
        row(part.stored, part.unpacked, &describe(part));
    }
    if !folded.is_empty() {
        let sum = |size: fn(&Part) -> usize| folded.iter().map(size).sum();
        let name = format!("{} (--verbose shows them)", count(folded.len(), "more part"));
        row(sum(|p| p.stored), sum(|p| p.unpacked), &name);
    }
    duplicates(&mut out, &breakdown.duplicates, style);
    for_locale(out, style)
}

fn duplicates(out: &mut String, duplicates: &[Duplicate], style: &Style) {
    if duplicates.is_empty() {
        return;
    }
    put(out, format_args!("\n{}\n", style.paint("1", "Held more than once")));
    let most = if style.verbose { duplicates.len() } else { LONG };
    for duplicate in duplicates.iter().take(most) {
        let Duplicate { size, sha256, places } = duplicate;
        let hash = sha256.get(..12).unwrap_or(sha256);
        let shown = if style.verbose { places.len() } else { 4 };
        let mut names: Vec<_> = places.iter().take(shown).map(|name| text::line(name)).collect();
        if places.len() > shown {
            names.push(format!("{} more", places.len() - shown));
        }
        let first = format!("  {} x {size} bytes  ", places.len());
        let line = format!("sha256 {hash}: {}", names.join(", "));
        put(out, format_args!("{}\n", text::wrap(&first, &line, style.width)));
    }
    if let Some(left @ [_, ..]) = duplicates.get(most..) {
        put(out, format_args!("  and {} more (--verbose shows them)\n", left.len()));
    }
}

fn describe(part: &Part) -> String {
    let kind = match part.kind {
        PartKind::Envelope => "IFRT envelope",
        PartKind::OuterMessage => "outer message",
        PartKind::CompileOptions => "compile options",
        PartKind::DebugOptions => "debug options",
        PartKind::HloModule => "HLO module",
        PartKind::HloComputations => "HLO computations",
        PartKind::HloLiteral => "HLO literal",
        PartKind::HloConfig => "HLO module configuration",
        PartKind::BufferAssignment => "buffer assignment",
        PartKind::Allocations => "allocations:",
        PartKind::Constant => "constant",
        PartKind::ModuleCode => "module code",
        PartKind::Kernel => "kernel",
        PartKind::Ptx => "PTX",
        PartKind::CudnnGraph => "cuDNN graph",
        PartKind::Thunks => "thunks",
        PartKind::OtherFields => "other fields:",
        PartKind::UnknownFields => "unknown fields of",
        PartKind::Container => "headers of the",
        PartKind::Text => "text",
    };
    match (part.kind, part.name.as_str()) {
        (PartKind::OtherFields, "") => "other fields".to_owned(),
        (_, "") => kind.to_owned(),
        (_, name) => format!("{kind} {name}"),
    }
}
