//! How changes and effects are called in text for people.

use crate::change::{ChangeKind, Severity};
use crate::history::ChangeLine;
use crate::report::text;

/// New runtime, old artifact.
pub(super) const BACKWARD: &str = "old artifacts";
/// Old runtime, new artifact.
pub(super) const FORWARD: &str = "old runtimes";

/// What becomes of the data.
pub(super) fn effect(severity: Severity) -> &'static str {
    match severity {
        Severity::Safe => "read as written",
        Severity::LossyInRange => "some values differ",
        Severity::SilentLoss => "dropped silently",
        Severity::WrongValue => "read as something else",
        Severity::Fail => "parse fails",
    }
}

/// `+` for what is new, `-` for what is gone, `~` for the rest.
pub(in crate::report) fn marker(kind: ChangeKind) -> char {
    match kind {
        ChangeKind::MessageAdded
        | ChangeKind::FieldAdded
        | ChangeKind::EnumAdded
        | ChangeKind::EnumValueAdded
        | ChangeKind::ReservedAdded
        | ChangeKind::ReachabilityGained => '+',
        ChangeKind::MessageRemoved
        | ChangeKind::FieldRemoved
        | ChangeKind::EnumRemoved
        | ChangeKind::EnumValueRemoved
        | ChangeKind::ReservedDropped
        | ChangeKind::ReachabilityLost => '-',
        _ => '~',
    }
}

/// The change in words; the marker says whether something came, went or changed.
pub(in crate::report) fn sentence(change: &ChangeLine) -> String {
    let before = change.before.as_deref().unwrap_or("");
    let after = change.after.as_deref().unwrap_or("");
    let package = package(&change.construct);
    let noun = if change.of_enum { "enum" } else { "message" };
    let construct = &change.construct;
    let name = construct.rsplit('.').next().unwrap_or(construct);
    let named = match change.number {
        Some(number) => format!("{name} = {number}"),
        None => name.to_owned(),
    };
    let from_to = |what: &str| {
        let (before, after) = (short(before, package), short(after, package));
        format!("{named}: {what}{before} -> {after}")
    };
    match change.kind {
        ChangeKind::MessageAdded
        | ChangeKind::MessageRemoved
        | ChangeKind::EnumAdded
        | ChangeKind::EnumRemoved => format!("{noun} {construct}{}", size(change)),
        ChangeKind::MessageRenamed | ChangeKind::EnumRenamed => {
            format!("{noun} {before} -> {after}: renamed")
        }
        ChangeKind::MessageMoved | ChangeKind::EnumMoved => {
            format!("{noun} {construct}: moved here from {before}")
        }
        ChangeKind::ReachabilityGained => format!("{noun} {construct}: now in the contract"),
        ChangeKind::ReachabilityLost => format!("{noun} {construct}: no more in the contract"),
        ChangeKind::FieldAdded => short(after, package),
        ChangeKind::FieldRemoved => short(before, package),
        ChangeKind::EnumValueAdded | ChangeKind::EnumValueRemoved => named,
        ChangeKind::FieldRenumbered | ChangeKind::EnumValueRenumbered => {
            format!("{name}: number {before} -> {after}")
        }
        ChangeKind::FieldRenamed | ChangeKind::EnumValueRenamed | ChangeKind::OneofRenamed => {
            let number = change.number.map_or(String::new(), |n| format!(" = {n}"));
            format!("{before} -> {after}{number}: renamed")
        }
        ChangeKind::FieldTypeChanged => from_to("type "),
        ChangeKind::FieldLabelChanged => from_to("label "),
        ChangeKind::FieldPresenceChanged => from_to("presence "),
        ChangeKind::FieldOneofChanged => match (before, after) {
            ("no oneof", oneof) => format!("{named}: moved into oneof {oneof}"),
            (oneof, "no oneof") => format!("{named}: taken out of oneof {oneof}"),
            _ => from_to("oneof "),
        },
        ChangeKind::FieldPackedChanged | ChangeKind::FieldEncodingChanged => from_to(""),
        ChangeKind::FieldDefaultChanged => from_to("default "),
        ChangeKind::FieldUtf8Changed => from_to("UTF-8 "),
        ChangeKind::FieldDeprecatedChanged => from_to("deprecated "),
        ChangeKind::EnumClosednessChanged => format!("enum {before} -> {after}"),
        ChangeKind::ReservedDropped => format!("reserved {before}"),
        ChangeKind::ReservedAdded => format!("reserved {after}"),
        ChangeKind::ExtensionRangeChanged => format!("extensions {before} -> {after}"),
    }
}

/// Fields of a message or values of an enum, for the line that announces it.
fn size(change: &ChangeLine) -> String {
    let what = if change.of_enum { "value" } else { "field" };
    let number = |size| usize::try_from(size).unwrap_or(usize::MAX);
    change.size.map_or(String::new(), |size| format!(", {}", text::count(number(size), what)))
}

/// The package of a construct by convention: its leading segments in lower case, with the last dot. A
/// field's own name is not part of it, because a type in CamelCase stands before it.
fn package(construct: &str) -> &str {
    let mut end = 0;
    for segment in construct.split_inclusive('.') {
        if !segment.ends_with('.') || segment.starts_with(|c: char| c.is_uppercase()) {
            break;
        }
        end += segment.len();
    }
    construct.get(..end).unwrap_or("")
}

/// A type or declaration without the package that its owner has too.
fn short(text: &str, package: &str) -> String {
    if package.is_empty() {
        return text.to_owned();
    }
    let words: Vec<&str> =
        text.split(' ').map(|word| word.strip_prefix(package).unwrap_or(word)).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages() {
        assert_eq!(package("xla.gpu.ThunkProto.copy_thunk"), "xla.gpu.");
        assert_eq!(package("ThunkProto.copy_thunk"), "");
        assert_eq!(short("repeated xla.gpu.A x = 1", "xla.gpu."), "repeated A x = 1");
        assert_eq!(short("xla.gpu.A", "xla.cpu."), "xla.gpu.A");
    }
}
