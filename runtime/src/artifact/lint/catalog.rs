//! The rules, their pages, and how they are made for an artifact.

use super::rule::{Rule, RuleInfo};
use super::{
    allocation_dangling, allocation_unused, async_dangling, code_not_elf, code_wrong_target,
    constant_mismatch, hlo_id_dangling, host_code, kernel_dangling, name_dangling,
    payload_stored_twice, results_overlap, shape_exceeds_slice, slice_out_of_bounds,
    subject::Subject, thunk_id_repeated, thunk_kind_unset, unknown_field,
};
use crate::artifact::rope::Rope;
use crate::error::Error;

macro_rules! catalog {
    ($($module:ident,)*) => {
        /// All rules with their pages, sorted by id.
        pub static RULES: &[(&RuleInfo, &str)] = &[
            $((&$module::RULE, include_str!(concat!(stringify!($module), ".rs"))),)*
        ];

        /// A fresh instance of each rule for an executable.
        pub(super) fn rules(executable: &Rope) -> Result<Vec<Box<dyn Rule>>, Error> {
            let subject = Subject::new(executable)?;
            Ok(vec![$(Box::new($module::Check::new(&subject)),)*])
        }
    };
}

catalog! {
    allocation_dangling,
    allocation_unused,
    async_dangling,
    code_not_elf,
    code_wrong_target,
    constant_mismatch,
    hlo_id_dangling,
    host_code,
    kernel_dangling,
    name_dangling,
    payload_stored_twice,
    results_overlap,
    shape_exceeds_slice,
    slice_out_of_bounds,
    thunk_id_repeated,
    thunk_kind_unset,
    unknown_field,
}

/// The rule with this id.
pub fn find(id: &str) -> Option<&'static RuleInfo> {
    RULES.iter().map(|(rule, _)| *rule).find(|rule| rule.id == id)
}

/// The page of a rule: its module comment as Markdown.
pub fn page(id: &str) -> Option<String> {
    let (_, source) = RULES.iter().find(|(rule, _)| rule.id == id)?;
    let lines: Vec<&str> = source
        .lines()
        .take_while(|line| line.starts_with("//!"))
        .map(|line| line.trim_start_matches("//!").strip_prefix(' ').unwrap_or(""))
        .collect();
    Some(lines.join("\n"))
}

/// Place of a rule in the order of the rules.
pub(super) fn position(id: &str) -> usize {
    RULES.iter().position(|(rule, _)| rule.id == id).unwrap_or(RULES.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_page_and_ids_are_sorted() {
        let ids: Vec<&str> = RULES.iter().map(|(rule, _)| rule.id).collect();
        assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
        for id in ids {
            let page = page(id).unwrap();
            for part in ["What it flags", "Why it matters", "What to do"] {
                assert!(page.contains(&format!("## {part}")), "{id}: {part}");
            }
            assert_eq!(find(id).unwrap().id, id);
        }
    }
}
