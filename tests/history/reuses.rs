//! What a timeline says of numbers and names that come, go and come back.

use std::collections::BTreeMap;

use aotgate::history::{Cache, Confidence, History, Options};
use git2::Oid;

use crate::repository::Project;
use crate::spec;

/// One commit after the other, each with these declarations.
fn history(bodies: &[&str]) -> (History, Vec<Oid>) {
    let mut project = Project::new();
    let mut chain: Vec<Oid> = Vec::new();
    for body in bodies {
        let text = format!("syntax = \"proto3\";\npackage p;\n{body}\n");
        let files: BTreeMap<_, _> = [("a/root.proto".to_owned(), text)].into();
        let parents: Vec<Oid> = chain.last().copied().into_iter().collect();
        let message = match chain.last() {
            Some(last) if body.starts_with("// revert") => format!("Fix\n\nReverts {last}\n"),
            _ => "Change".to_owned(),
        };
        chain.push(project.commit(&files, &parents, &message));
    }
    let options = Options::new(None, Cache::Off);
    let tip = *chain.last().unwrap();
    (History::open(&project.open(), &spec(), tip, &options, &|_, _| {}).unwrap(), chain)
}

/// Reuses of everything: `Root number 1: a @0-1 -> b @2`.
fn reuses(bodies: &[&str]) -> Vec<String> {
    let (history, _) = history(bodies);
    let view = history.latest();
    let list = view.scopes().flat_map(|scope| {
        view.reuses(scope).into_iter().map(move |r| {
            let what = if r.by_name {
                format!("name {}", r.now.name)
            } else {
                format!("number {}", r.now.number)
            };
            format!(
                "{} {what}: {} @{} -> {} @{}",
                view.name_of(scope).trim_start_matches("p."),
                r.before.name,
                r.held.until.unwrap().position.0,
                r.now.name,
                r.holds.from.position.0
            )
        })
    });
    list.collect()
}

#[test]
fn a_number_that_was_free_in_between() {
    let found = reuses(&[
        "message Root { int32 a = 1; }",
        "message Root {}",
        "message Root { int32 b = 1; }",
    ]);
    assert_eq!(found, ["Root number 1: a @1 -> b @2"]);
}

#[test]
fn a_reland_is_no_reuse() {
    let found = reuses(&[
        "message Root { int32 a = 1; }",
        "message Root {}",
        "message Root { int32 a = 1; }",
        "message Root { int32 renamed_a = 1; }",
        "message Root { int32 a = 1; }",
    ]);
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn a_reland_after_another_meaning_is_one() {
    let found = reuses(&[
        "message Root { int32 a = 1; }",
        "message Root {}",
        "message Root { int32 b = 1; }",
        "message Root {}",
        "message Root { int32 a = 1; }",
    ]);
    assert_eq!(found, ["Root number 1: a @1 -> b @2", "Root number 1: b @3 -> a @4"]);
}

#[test]
fn a_name_with_another_type() {
    let found = reuses(&[
        "message Root { int32 a = 1; }",
        "message Root {}",
        "message Root { string a = 2; }",
    ]);
    assert_eq!(found, ["Root name a: a @1 -> a @2"]);
}

#[test]
fn numbers_stay_with_a_message_that_is_renamed() {
    let found = reuses(&[
        "message Root { Old x = 1; } message Old { int32 a = 1; int32 b = 2; int32 c = 3; }",
        "message Root { Old x = 1; } message Old { int32 a = 1; int32 b = 2; }",
        "message Root { New x = 1; } message New { int32 a = 1; int32 b = 2; }",
        "message Root { New x = 1; } message New { int32 a = 1; int32 b = 2; bool d = 3; }",
    ]);
    assert_eq!(found, ["New number 3: c @1 -> d @3"]);
}

#[test]
fn enum_values_and_messages_that_come_back() {
    let found = reuses(&[
        "message Root { E x = 1; } enum E { ZERO = 0; ONE = 1; }",
        "message Root {}",
        "message Root { E x = 1; } enum E { ZERO = 0; }",
        "message Root { E x = 1; } enum E { ZERO = 0; EINS = 1; }",
    ]);
    assert_eq!(found, ["E number 1: ONE @1 -> EINS @3"]);
}

#[test]
fn aliases_take_nothing_away() {
    let found = reuses(&[
        "message Root { E x = 1; } enum E { ZERO = 0; ONE = 1; }",
        "message Root { E x = 1; } enum E { option allow_alias = true; ZERO = 0; ONE = 1; EINS = 1; }",
        "message Root { E x = 1; } enum E { ZERO = 0; EINS = 1; }",
    ]);
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn views_know_nothing_later() {
    let (history, chain) = history(&[
        "message Root { int32 a = 1; }",
        "message Root { reserved 1; reserved \"a\"; }",
        "// revert\nmessage Root { int32 a = 1; }",
    ]);
    let then = history.as_of(chain[0]).unwrap();
    let root = then.scope_named("p.Root").unwrap();
    assert_eq!(then.last_seen("p.Root.a"), None);
    assert_eq!(then.number_reserved(root, 1), []);
    let between = history.as_of(chain[1]).unwrap();
    let last = between.last_seen("p.Root.a").unwrap();
    assert_eq!((last.commit, last.confidence), (&*chain[1].to_string(), Confidence::Known));
    assert_eq!(between.number_reserved(root, 1).len(), 1);
    let now = history.latest();
    assert_eq!(now.last_seen("p.Root.a"), None);
    assert_eq!(now.first_seen("p.Root.a").unwrap().commit, chain[0].to_string());
    assert!(now.name_reserved(root, "a")[0].until.is_some());
    let uses = now.uses_of_number(root, 1);
    assert_eq!((uses.len(), uses[0].periods.len()), (1, 2));
    assert_eq!(history.timeline.landed[2].undoes[0].position.map(|p| p.0), Some(1));
}

#[test]
fn what_does_not_compile_is_a_gap() {
    let (history, chain) = history(&[
        "message Root { int32 a = 1; }",
        "message {",
        "message Root { int32 a = 1; int32 b = 2; }",
    ]);
    let view = history.latest();
    let b = view.first_seen("p.Root.b").unwrap();
    assert_eq!((b.commit, b.confidence), (&*chain[2].to_string(), Confidence::Unknown));
    assert_eq!(view.first_seen("p.Root.a").unwrap().confidence, Confidence::Known);
    assert_eq!(history.timeline.gaps.len(), 1);
}
