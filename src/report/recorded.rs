//! Goldens in one line.

use std::collections::BTreeMap;

use super::text::line;
use crate::finding::{CaseOutcome, Execution, GoldenCase, Goldens, NO_PROGRAM};

/// Names given before the rest is a number.
const NAMED: usize = 3;

/// Such as `12 read, 2 lose data, 3 outside the window`, or where goldens were executed `9 executed, 8 equal, 1 differs, 2
/// skipped (not supported: convolution), 3 outside the window`; `None` where there is nothing to say. Of those executed each
/// is equal, different or failed.
pub(super) fn words(goldens: &Goldens) -> Option<String> {
    let [equal, differ, failed, refused] =
        [CaseOutcome::Equal, CaseOutcome::Differ, CaseOutcome::Failed, CaseOutcome::Refused]
            .map(|outcome| goldens.count(outcome));
    let mut parts = Vec::new();
    let mut part = |number: usize, what: &str| {
        if number > 0 {
            parts.push(format!("{number} {what}"));
        }
    };
    if goldens.cases.iter().any(|case| case.execution != Execution::NotAsked) {
        part(goldens.executed(), "executed");
        part(equal, "equal");
        part(differ, if differ == 1 { "differs" } else { "differ" });
        part(failed, "failed");
        part(refused, "refused");
        let (skipped, why) = skipped(goldens);
        part(skipped, &format!("skipped ({why})"));
        let losing = goldens.cases.iter().filter(|case| case.loses.is_some()).count();
        part(losing, if losing == 1 { "loses data" } else { "lose data" });
    } else {
        part(equal + differ + refused, "read");
        part(differ, if differ == 1 { "loses data" } else { "lose data" });
        part(refused, "refused");
    }
    part(goldens.unreadable.len(), "could not be read");
    part(goldens.outside, "outside the window");
    if parts.is_empty() {
        return None;
    }
    for (what, names) in
        [("not covered", &goldens.not_covered), ("not modelled", &goldens.unmodelled)]
    {
        if !names.is_empty() {
            parts.push(format!("{what}: {}", first(names)));
        }
    }
    Some(parts.join(", "))
}

/// How many could not be executed, and the reasons, the commonest first.
fn skipped(goldens: &Goldens) -> (usize, String) {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let skipped = |case: &&GoldenCase| {
        case.execution == Execution::Skipped && case.outcome == CaseOutcome::Skipped
    };
    for case in goldens.cases.iter().filter(skipped) {
        *reasons.entry(brief(case.reason.as_deref())).or_default() += 1;
    }
    let mut sorted: Vec<(&str, usize)> = reasons.into_iter().collect();
    sorted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    // Said once where it is true of all.
    let prefix = "not supported: ";
    let prefix = if sorted.iter().all(|(why, _)| why.starts_with(prefix)) { prefix } else { "" };
    let text = |(why, _): &(&str, usize)| clip_words(&why[prefix.len()..], 80);
    let texts: Vec<String> = sorted.iter().map(text).collect();
    let count = sorted.iter().map(|(_, count)| count).sum();
    (count, format!("{prefix}{}", first(&texts)))
}

/// A reason without what differs from golden to golden.
fn brief(reason: Option<&str>) -> &str {
    match reason {
        Some(reason) if reason.starts_with(NO_PROGRAM) => NO_PROGRAM,
        Some(reason) => reason,
        None => "no reason",
    }
}

/// At most so many characters, in whole words.
fn clip_words(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let end = text.char_indices().nth(max).map_or(text.len(), |(byte, _)| byte);
    let cut = text.get(..end).unwrap_or(text);
    let whole = cut.rsplit_once(' ').map_or(cut, |(whole, _)| whole);
    format!("{} …", whole.trim_end_matches([',', ':', ';']))
}

/// The first of some names, and how many more there are.
pub(super) fn first(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(NAMED).map(|name| line(name)).collect();
    match names.len().checked_sub(NAMED) {
        Some(more) if more > 0 => format!("{} and {more} more", shown.join(", ")),
        _ => shown.join(", "),
    }
}
