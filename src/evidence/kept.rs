//! Goldens of base that head has otherwise, or no more.

use crate::golden::{Golden, Manifest, Store};

/// What head did to a golden of base.
pub(super) struct Edit<'a> {
    /// As base has it.
    pub(super) golden: &'a Golden,
    pub(super) kind: EditKind<'a>,
}

pub(super) enum EditKind<'a> {
    Deleted,
    Changed {
        /// As head has it.
        now: &'a Golden,
        /// Whether its artifact's bytes differ.
        artifact: bool,
        /// What else differs, in words.
        others: Vec<String>,
    },
}

/// All goldens of base that head has not just so, by id. Those that are not usable in base are left out.
pub(super) fn edits<'a>(base: &'a Store<'_>, head: &'a Store<'_>) -> Vec<Edit<'a>> {
    let usable = base.goldens().iter().filter(|golden| golden.problem.is_none());
    usable.filter_map(|golden| edit(base, golden, head)).collect()
}

fn edit<'a>(base: &Store<'_>, golden: &'a Golden, head: &'a Store<'_>) -> Option<Edit<'a>> {
    let Some(now) = head.find(&golden.id) else {
        return Some(Edit { golden, kind: EditKind::Deleted });
    };
    let artifact = match &now.problem {
        // What is wrong is said below, and the artifact's name is not known.
        Some(_) if now.manifest.is_none() && golden.manifest.is_some() => false,
        _ => !base.same_file(&golden.artifact, head, &now.artifact),
    };
    let mut others = Vec::new();
    match (&golden.manifest, &now.manifest) {
        (Some(before), Some(after)) => {
            others = arrays(base, golden, before, head, now, after);
            others.extend(keys(before, after));
        }
        (Some(_), None) => others.push("golden.toml, which cannot be read any more".to_owned()),
        (None, _) => {}
    }
    let differs = artifact || !others.is_empty();
    differs.then_some(Edit { golden, kind: EditKind::Changed { now, artifact, others } })
}

/// Which arrays differ, whatever their files are called.
fn arrays(
    base: &Store<'_>,
    golden: &Golden,
    before: &Manifest,
    head: &Store<'_>,
    now: &Golden,
    after: &Manifest,
) -> Vec<String> {
    let same = |one: &Option<String>, two: &Option<String>| match (one, two) {
        (Some(one), Some(two)) => {
            let (one, two) = (format!("{}/{one}", golden.dir), format!("{}/{two}", now.dir));
            base.same_file(&one, head, &two)
        }
        (one, two) => one.is_none() && two.is_none(),
    };
    let pairs = || before.devices.iter().zip(&after.devices);
    let fewer = before.devices.len() != after.devices.len();
    let mut found = Vec::new();
    if fewer || !pairs().all(|(one, two)| same(&one.inputs, &two.inputs)) {
        found.push("the inputs".to_owned());
    }
    if fewer || !pairs().all(|(one, two)| same(&one.expected, &two.expected)) {
        found.push("the expected outputs".to_owned());
    }
    found
}

/// Which keys of `golden.toml` say something else; notes decide nothing.
fn keys(before: &Manifest, after: &Manifest) -> Vec<String> {
    let differ = [
        ("emitted_at", before.emitted_at != after.emitted_at),
        ("producer", before.producer != after.producer),
        ("target", before.target != after.target),
        ("program", before.program != after.program),
        ("cannot_run", before.cannot_run != after.cannot_run),
    ];
    let differ = differ.into_iter().filter(|(_, differs)| *differs);
    differ.map(|(key, _)| format!("`{key}` of golden.toml")).collect()
}
