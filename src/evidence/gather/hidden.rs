//! What a change hides in its stores of goldens: links, submodules, names that are no text, too many files.

use std::collections::BTreeSet;

use crate::descriptor::Location;
use crate::error::Error;
use crate::finding::{Finding, Goldens, Side, SourceLocation};
use crate::golden::Store;
use crate::triage::Loudness;
use crate::triage::checks::golden_refused;

/// Findings about what is wrong with head's stores and was not with base's. Objects that this clone lacks are no deed
/// of head's: they are listed as unreadable.
pub(super) fn findings(
    base: &Store<'_>,
    head: &Store<'_>,
    goldens: &mut Goldens,
    loudness: Loudness<'_>,
) -> Vec<Finding> {
    let known: BTreeSet<String> = base.problems().iter().map(Error::to_string).collect();
    let mut findings = Vec::new();
    for problem in head.problems() {
        let why = problem.to_string();
        if known.contains(&why) {
            continue;
        }
        let Some(path) = problem.path().filter(|_| !problem.is_missing_object()) else {
            goldens.unreadable.push(why);
            continue;
        };
        let construct = format!("golden:{path}");
        let location =
            Location { file: (*path).into(), line: 0, column: 0, end_line: 0, end_column: 0 };
        let label = "in the store".to_owned();
        let locations = vec![SourceLocation { side: Side::Head, location, label, source: None }];
        let finding = match problem.is_about_golden() {
            true => golden_refused::unreadable(&construct, &why, locations),
            false => golden_refused::hidden(&construct, &why, locations),
        };
        findings.extend(loudness.settle(finding));
    }
    findings
}
