//! Goldens in one line.

use super::text::line;
use crate::finding::{CaseOutcome, Goldens};

/// Names given before the rest is a number.
const NAMED: usize = 3;

/// Such as `12 read, 2 lose data, 3 outside the window`; `None` where there is nothing to say.
pub(super) fn words(goldens: &Goldens) -> Option<String> {
    let [equal, differ, failed] =
        [CaseOutcome::Equal, CaseOutcome::Differ, CaseOutcome::Failed].map(|o| goldens.count(o));
    let unreadable = goldens.unreadable.len();
    let refused = failed.saturating_sub(unreadable);
    let read = equal + differ + refused;
    let loses = if differ == 1 { "loses data" } else { "lose data" };
    let mut parts = Vec::new();
    let mut part = |number: usize, what: &str| {
        if number > 0 {
            parts.push(format!("{number} {what}"));
        }
    };
    part(read, "read");
    part(differ, loses);
    part(refused, "refused");
    part(unreadable, "could not be read");
    part(goldens.outside, "outside the window");
    if parts.is_empty() {
        return None;
    }
    if !goldens.not_covered.is_empty() {
        parts.push(format!("not covered: {}", first(&goldens.not_covered)));
    }
    Some(parts.join(", "))
}

/// The first of some names, and how many more there are.
fn first(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(NAMED).map(|name| line(name)).collect();
    match names.len().checked_sub(NAMED) {
        Some(more) if more > 0 => format!("{} and {more} more", shown.join(", ")),
        _ => shown.join(", "),
    }
}
