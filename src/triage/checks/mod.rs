//! One file per check. The module comment of a file is the page that `aotgate explain` prints.

mod catalog;
mod wording;

pub use catalog::markdown;

use super::Check;

macro_rules! checks {
    ($($module:ident,)*) => {
        $(pub mod $module;)*

        /// All checks with their pages, sorted by id.
        pub static ALL: &[(&Check, &str)] = &[
            $((&$module::CHECK, include_str!(concat!(stringify!($module), ".rs"))),)*
        ];
    };
}

// One line per file of this folder, sorted.
checks! {
    container_ambiguous,
    container_changed,
    container_refused,
    emitted_too_early,
    enum_closedness_changed,
    enum_removed,
    enum_value_added,
    enum_value_name_unreserved,
    enum_value_number_unreserved,
    enum_value_removed,
    enum_value_renamed,
    enum_value_renumbered,
    enum_value_reused,
    extension_range_changed,
    field_added,
    field_default_changed,
    field_encoding_changed,
    field_label_changed,
    field_moved_into_oneof,
    field_moved_out_of_oneof,
    field_name_reused,
    field_name_unreserved,
    field_number_reused,
    field_number_unreserved,
    field_packed_changed,
    field_presence_changed,
    field_removed,
    field_renamed,
    field_renumbered,
    field_type_changed,
    field_utf8_changed,
    golden_changed,
    golden_failed,
    golden_lost_data,
    golden_refused,
    json_payload_changed,
    ledger_contradicts,
    ledger_stale,
    ledger_tombstone_dropped,
    message_removed,
    name_reused_from_history,
    no_effective_change,
    not_covered,
    number_reused_from_history,
    oneof_variant_added,
    policy_changed,
    removed_too_early,
    required_added,
    required_removed,
    reserved_dropped,
    rollout_malformed,
    root_missing,
    semantics_changed,
    thunk_kind_added,
    thunk_kind_removed,
    unreserved_again,
    waiver_expired,
    waiver_malformed,
}

/// The check with this id.
pub fn find(id: &str) -> Option<&'static Check> {
    ALL.iter().map(|(check, _)| *check).find(|check| check.id == id)
}

/// The page of a check: its module comment as Markdown.
pub fn page(id: &str) -> Option<String> {
    let (_, source) = ALL.iter().find(|(check, _)| check.id == id)?;
    let lines: Vec<&str> = source
        .lines()
        .take_while(|line| line.starts_with("//!"))
        .map(|line| line.trim_start_matches("//!").strip_prefix(' ').unwrap_or(""))
        .collect();
    Some(lines.join("\n"))
}
