//! Edits of a ledger, held against the one before.

use std::sync::Arc;

use aotgate::descriptor::Contract;
use aotgate::history::ledger::{BreachKind, Change, Ledger, breaches};

use crate::common::{Files, everything};
use crate::whole::day;

const BASE: &str = "syntax = \"proto3\"; message M { int32 a = 1; int32 b = 2; } enum E { A = 0; }";
const NEXT: &str = "syntax = \"proto3\"; message M { int32 a = 1; int64 c = 3; } enum E { A = 0; }";

fn contract(text: &str) -> Arc<Contract> {
    let files = Files::new(&[("a.proto", text)]);
    Arc::new(files.contract(&everything(["a.proto".to_owned()])).unwrap())
}

/// A ledger with a tombstone and a date that is not confirmed.
fn base() -> Ledger {
    let older = contract(&BASE.replace("A = 0;", "A = 0; GONE = 7;"));
    Ledger::without_history(older, day("2026-01-05")).observe(&contract(BASE), day("2026-02-01"))
}

fn edited(text: &str, edits: &[(&str, &str)]) -> Ledger {
    let mut text = text.to_owned();
    for (from, to) in edits {
        assert!(text.contains(from), "{from} in\n{text}");
        text = text.replace(from, to);
    }
    Ledger::read("aotgate.lock", text.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

#[track_caller]
fn expect(head_protos: &str, head: &Ledger, expected: &[(BreachKind, &str)]) {
    let base = base();
    let (before, after) = (contract(BASE), contract(head_protos));
    let found = breaches(&Change {
        base: Some(&base),
        head,
        base_contract: &before,
        head_contract: &after,
        since: Some(day("2026-04-30")),
        today: day("2026-05-04"),
    });
    let found: Vec<_> = found.iter().map(|b| (b.kind, &*b.subject)).collect();
    assert_eq!(found, expected, "{}", head.write());
}

use BreachKind::{Contradicts, Dropped, Stale};

#[test]
fn what_the_command_writes_is_right() {
    let today = base().observe(&contract(NEXT), day("2026-05-04"));
    expect(NEXT, &today, &[]);
    // Written some days before it lands, or when it has landed.
    expect(NEXT, &base().observe(&contract(NEXT), day("2026-05-01")), &[]);
    let text = today.write();
    expect(NEXT, &edited(&text, &[("+2026-05-04", "2026-05-02@0123456789ab")]), &[]);
    // Where history is complete, vague dates become exact.
    let known = [
        ("?2026-01-05..", "2025-07-01@0123456789ab.."),
        ("..+2026-02-01", "..2026-02-03@abcdef012345"),
    ];
    expect(NEXT, &edited(&text, &known), &[]);
    expect(BASE, &base(), &[]);
}

#[test]
fn what_was_left_undone_is_stale() {
    expect(NEXT, &base(), &[(Stale, "field M 2 b"), (Stale, "field M 3 c")]);
    // Something is done, something is not.
    let half = contract("syntax = \"proto3\"; message M { int32 a = 1; } enum E { A = 0; }");
    let half = base().observe(&half, day("2026-05-04"));
    expect(NEXT, &half, &[(Stale, "field M 3 c")]);
}

#[test]
fn edits_by_hand_are_breaches() {
    let text = base().observe(&contract(NEXT), day("2026-05-04")).write();
    let lines: Vec<&str> = text.lines().collect();
    let line = |subject: &str| -> String {
        let line = lines.iter().find(|line| line.starts_with(subject)).unwrap();
        format!("{line}\n")
    };
    let gone = line("value E 7 GONE");
    let removed = line("field M 2 b");
    let field = line("field M 3 c");
    for (from, to, kind, subject) in [
        (&*gone, "", Dropped, "value E 7 GONE"),
        (&removed, "", Dropped, "field M 2 b"),
        (&gone, &*gone.replace("..+2026-02-01", "..+2026-01-20"), Dropped, "value E 7 GONE"),
        (&gone, &gone.replace("?2026-01-05..", "+2026-01-10.."), Dropped, "value E 7 GONE"),
        (&removed, &removed.replace("..+2026-05-04", "..+2026-03-01"), Dropped, "field M 2 b"),
        (
            &field,
            &field.replace("+2026-05-04", "2026-03-01@0123456789ab"),
            Contradicts,
            "field M 3 c",
        ),
        (&field, &field.replace("+2026-05-04", "~2026-03-01"), Contradicts, "field M 3 c"),
        (&field, &field.replace("int64", "sint64"), Contradicts, "field M 3 c"),
        (&field, &field.replace("implicit", "explicit"), Contradicts, "field M 3 c"),
        (&field, &*format!("{field}{}", field.replace("3 c", "4 d")), Contradicts, "field M 4 d"),
        (&field, "", Stale, "field M 3 c"),
        (&removed, &removed.replace("..+2026-05-04", ".."), Stale, "field M 2 b"),
    ] {
        if from == to {
            panic!("{subject} is not edited");
        }
        let head = edited(&text, &[(from, to)]);
        expect(NEXT, &head, &[(kind, subject)]);
    }
}

#[test]
fn a_first_ledger_has_to_be_what_the_protos_are() {
    let (before, after) = (contract(BASE), contract(NEXT));
    let check = |head: &Ledger| {
        let change = Change {
            base: None,
            head,
            base_contract: &before,
            head_contract: &after,
            since: Some(day("2026-04-30")),
            today: day("2026-05-04"),
        };
        breaches(&change).len()
    };
    assert_eq!(check(&Ledger::without_history(after.clone(), day("2026-05-04"))), 0);
    assert_eq!(check(&base()), 2);
}
