//! Which uses mean the same.

use std::collections::HashMap;

use crate::history::Use;
use crate::history::ledger::position;
use crate::history::timeline::FieldShape;

/// The root of a meaning.
fn root(meanings: &[usize], mut at: usize) -> usize {
    // Each step goes to another entry of the same meaning; a list of that length has no longer way.
    for _ in 0..meanings.len() {
        match meanings.get(at) {
            Some(next) if *next != at => at = *next,
            _ => break,
        }
    }
    at
}

/// Lets two uses mean the same.
pub(super) fn join(meanings: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root(meanings, a), root(meanings, b));
    if let Some(entry) = meanings.get_mut(a.max(b)) {
        *entry = a.min(b);
    }
}

/// Uses in the order in which they were first seen, each with the first of its meaning.
pub(super) fn order(uses: Vec<Use>, meanings: &[usize]) -> Vec<Use> {
    let mut listed: Vec<(usize, Use)> = uses
        .into_iter()
        .enumerate()
        .map(|(at, used)| (root(meanings, at), used))
        .filter(|(_, used)| !used.spans.is_empty())
        .collect();
    listed.sort_by(|(_, a), (_, b)| {
        let key = |used: &Use| (used.spans.first().map(|span| span.from), used.number);
        key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name))
    });
    let mut first: HashMap<usize, u32> = HashMap::new();
    let listed = listed.into_iter().enumerate();
    listed
        .map(|(at, (root, mut used))| {
            used.meaning = *first.entry(root).or_insert(position(at).0);
            used
        })
        .collect()
}

pub(super) fn same_shape(a: Option<&FieldShape>, b: Option<&FieldShape>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => {
            a.same_type(b) && a.label == b.label && a.presence == b.presence && a.oneof == b.oneof
        }
        (a, b) => a.is_none() && b.is_none(),
    }
}
