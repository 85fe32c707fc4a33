//! Kernels and constants that differ, by name.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::artifact::inspect::{Inspection, Kernel, Thunk};

/// What happened, seen from the first artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Only the second has it.
    Added,
    /// Only the first has it.
    Removed,
    /// Both have it, with other content.
    Changed,
    /// Both have the elements, in another order.
    Reordered,
}

/// A kernel or constant that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NamedChange {
    /// Its name; `#2` and so on behind it where several have the same.
    pub name: String,
    /// What happened.
    pub change: Change,
    /// What it is in the first.
    pub a: Option<Payload>,
    /// What it is in the second.
    pub b: Option<Payload>,
}

/// Bytes of a kernel or constant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Payload {
    /// Form and architecture of a kernel; empty for a constant.
    pub form: String,
    /// Number of bytes; `None` where they are not beside the HLO module.
    pub size: Option<usize>,
    /// SHA-256 of them.
    pub sha256: Option<String>,
}

pub(super) fn kernels(a: &Inspection, b: &Inspection) -> Vec<NamedChange> {
    fn collect(thunks: &[Thunk], found: &mut Vec<(String, Payload)>) {
        for thunk in thunks {
            if let Some(kernel) = &thunk.kernel {
                found.push((kernel.name.clone(), payload(kernel)));
            }
            collect(&thunk.thunks, found);
        }
    }
    let all = |inspection: &Inspection| {
        let mut found = Vec::new();
        collect(&inspection.thunks, &mut found);
        found
    };
    compare(all(a), all(b))
}

pub(super) fn constants(a: &Inspection, b: &Inspection) -> Vec<NamedChange> {
    let all = |inspection: &Inspection| {
        let constants = inspection.constants.iter();
        let view = |constant: &crate::artifact::inspect::Constant| {
            let (size, sha256) = (constant.size, constant.sha256.clone());
            (constant.symbol.clone(), Payload { form: String::new(), size, sha256 })
        };
        constants.map(view).collect()
    };
    compare(all(a), all(b))
}

fn payload(kernel: &Kernel) -> Payload {
    let form = match &kernel.architecture {
        Some(architecture) => format!("{} {architecture}", kernel.form.name()),
        None => kernel.form.name().to_owned(),
    };
    Payload { form, size: Some(kernel.size), sha256: kernel.sha256.clone() }
}

fn compare(a: Vec<(String, Payload)>, b: Vec<(String, Payload)>) -> Vec<NamedChange> {
    let (a, mut b) = (by_name(a), by_name(b));
    let mut changes = Vec::new();
    for (key, before) in a {
        let after = b.remove(&key);
        if after.as_ref() == Some(&before) {
            continue;
        }
        let change = if after.is_some() { Change::Changed } else { Change::Removed };
        changes.push(NamedChange { name: name(&key), change, a: Some(before), b: after });
    }
    changes.extend(b.into_iter().map(|(key, payload)| NamedChange {
        name: name(&key),
        change: Change::Added,
        a: None,
        b: Some(payload),
    }));
    changes
}

/// By name, and by how many of the same name came before.
fn by_name(all: Vec<(String, Payload)>) -> BTreeMap<(String, usize), Payload> {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for (name, payload) in all {
        let seen = count.entry(name.clone()).or_default();
        found.insert((name, *seen), payload);
        *seen += 1;
    }
    found
}

fn name((name, seen): &(String, usize)) -> String {
    if *seen == 0 { name.clone() } else { format!("{name} #{}", seen + 1) }
}
