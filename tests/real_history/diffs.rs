//! Changes against the exact descriptor changes of real commits.
//!
//! The recorded changes use slightly other kinds: a renamed type is removed and added, its fields are not
//! compared, and a field's `optional` keyword counts also where presence does not change.

use std::collections::{BTreeMap, BTreeSet};

use aotgate::change::{Change, ChangeKind, Subject, Surface, compare};
use aotgate::descriptor::Contract;
use aotgate::gate::Gate;
use aotgate::revision::RevisionSpec;
use aotgate::triage::policy;

type Fact = (String, String);

#[test]
#[ignore = "needs AOTGATE_XLA_REPO and AOTGATE_CORPUS"]
fn recorded_descriptor_changes() {
    let repository = super::repository();
    let policy = policy::built_in().unwrap();
    let mut gate = Gate::new(Some(&repository));
    let (mut equal, mut all) = (0, 0);
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let mut unexplained = Vec::new();
    for row in super::corpus("proto_diffs.jsonl") {
        let sha = row["sha"].as_str().unwrap();
        let commit = repository.commit(sha).unwrap();
        let parent = repository.first_parent(&commit).unwrap().unwrap();
        let open = |rev: &git2::Oid| gate.open(&RevisionSpec::Git(rev.to_string())).unwrap();
        let (base, head) = (open(&parent.id), open(&commit.id));
        let both = gate.compare(&base, &head, &policy).unwrap();
        let changes = compare(&both.base, &both.head);
        let ours = facts(&changes);
        let theirs = recorded(&row, &both.base, &both.head);
        all += 1;
        if ours == theirs {
            equal += 1;
            continue;
        }
        println!("{} {}", &sha[..10], row["subject"].as_str().unwrap());
        let differences = ours
            .difference(&theirs)
            .map(|fact| ("ours", fact))
            .chain(theirs.difference(&ours).map(|fact| ("theirs", fact)));
        for (whose, fact) in differences {
            let (kind, construct) = fact;
            match explain(whose, kind, construct, &ours, &both.base, &both.head) {
                Some(reason) => {
                    println!("    only {whose}: {kind} {construct} ({reason})");
                    *reasons.entry(reason).or_default() += 1;
                }
                None => {
                    println!("    only {whose}: {kind} {construct} UNEXPLAINED");
                    unexplained.push((sha[..10].to_owned(), fact.clone()));
                }
            }
        }
    }
    println!("{equal} of {all} equal; differences by reason:");
    for (reason, count) in reasons {
        println!("    {count:3} {reason}");
    }
    assert!(unexplained.is_empty(), "unexplained differences: {unexplained:?}");
}

/// Why a difference is none of ours.
fn explain(
    whose: &str,
    kind: &str,
    construct: &str,
    ours: &BTreeSet<Fact>,
    base: &Contract,
    head: &Contract,
) -> Option<&'static str> {
    let is_enum = base.enumeration(construct).or(head.enumeration(construct)).is_some();
    let has = |kind: &str| ours.contains(&(kind.to_owned(), construct.to_owned()));
    match (whose, kind) {
        ("ours", "reserved_changed") if is_enum => {
            Some("the data leaves out reserved ranges of enums")
        }
        ("theirs", "field_p3opt_changed") => {
            Some("the field became, or was, a message: the type says it")
        }
        ("ours", "reachability") if is_enum => Some("the data leaves out reachability of enums"),
        ("ours", "field_renumbered") => {
            Some("the data lists a renumbered field only where nothing took the old number")
        }
        ("ours", "reachability") | ("theirs", "message_added" | "enum_added")
            if has("reachability") && base.messages.contains_key(construct) || is_enum =>
        {
            Some("the type existed in a file that only the JSON payload messages import")
        }
        ("ours", "message_removed") if !base.message(construct)?.reach.wire => {
            Some("a rename that made the type reachable; the data lists the addition only")
        }
        _ => None,
    }
}

/// Our changes in the terms of the recorded ones.
fn facts(changes: &[Change<'_>]) -> BTreeSet<Fact> {
    let mut facts = BTreeSet::new();
    let renamed = renamed_types(changes);
    for change in changes.iter().filter(|c| c.surface == Surface::Proto && c.reach.wire) {
        let mut fact = |kind: &str, construct: &str| {
            facts.insert((kind.to_owned(), construct.to_owned()));
        };
        let construct = &change.construct;
        let [base_owner, head_owner] = change.subject.owners();
        let of_renamed =
            [base_owner, head_owner].into_iter().flatten().any(|o| renamed.contains(o));
        let is_type = matches!(change.subject, Subject::Message(_) | Subject::Enum(_));
        if of_renamed && !is_type {
            continue;
        }
        match change.kind {
            ChangeKind::MessageAdded => fact("message_added", construct),
            ChangeKind::MessageRemoved => fact("message_removed", construct),
            ChangeKind::MessageRenamed | ChangeKind::EnumRenamed => {
                let what =
                    if change.kind == ChangeKind::MessageRenamed { "message" } else { "enum" };
                let (from, to) =
                    (change.before.as_deref().unwrap(), change.after.as_deref().unwrap());
                fact(&format!("{what}_removed"), from);
                fact(&format!("{what}_added"), to);
            }
            ChangeKind::MessageMoved if !of_renamed => fact("message_moved", construct),
            ChangeKind::EnumMoved if !of_renamed => fact("enum_moved", construct),
            ChangeKind::FieldAdded => fact("field_added", construct),
            ChangeKind::FieldRemoved => fact("field_removed", construct),
            ChangeKind::FieldRenumbered => fact("field_renumbered", construct),
            ChangeKind::FieldRenamed => fact("field_name_changed", construct),
            ChangeKind::FieldTypeChanged => fact("field_type_changed", construct),
            ChangeKind::FieldLabelChanged => fact("field_label_changed", construct),
            ChangeKind::FieldOneofChanged => fact("field_oneof_changed", construct),
            ChangeKind::FieldDeprecatedChanged => fact("field_dep_changed", construct),
            ChangeKind::FieldPresenceChanged => fact("field_p3opt_changed", construct),
            ChangeKind::EnumAdded => fact("enum_added", construct),
            ChangeKind::EnumRemoved => fact("enum_removed", construct),
            ChangeKind::EnumValueAdded => fact("enum_value_added", construct),
            ChangeKind::EnumValueRemoved => fact("enum_value_removed", construct),
            ChangeKind::EnumValueRenamed | ChangeKind::EnumValueRenumbered => {
                // Recorded as removed under one name or number and added under another.
                if let Subject::EnumValue(owner, value) = &change.subject {
                    let owner = &owner.head.unwrap().name;
                    fact("enum_value_removed", &format!("{owner}.{}", value.base.unwrap().name));
                    fact("enum_value_added", &format!("{owner}.{}", value.head.unwrap().name));
                }
            }
            ChangeKind::ReservedAdded | ChangeKind::ReservedDropped if !of_renamed => {
                fact("reserved_changed", construct);
            }
            ChangeKind::ReachabilityGained | ChangeKind::ReachabilityLost if !of_renamed => {
                fact("reachability", construct);
            }
            _ => {}
        }
    }
    facts
}

fn renamed_types(changes: &[Change<'_>]) -> BTreeSet<String> {
    changes
        .iter()
        .filter(|c| matches!(c.kind, ChangeKind::MessageRenamed | ChangeKind::EnumRenamed))
        .flat_map(|c| [c.before.clone().unwrap(), c.after.clone().unwrap()])
        .collect()
}

/// The recorded changes of reachable constructs, less those that are no change in our terms.
fn recorded(row: &serde_json::Value, base: &Contract, head: &Contract) -> BTreeSet<Fact> {
    let entry =
        |name: &str| [base, head].iter().any(|c| c.message(name).is_some_and(|m| m.map_entry));
    let mut facts = BTreeSet::new();
    for change in row["diff"].as_array().unwrap() {
        let text = |at: usize| change[at].as_str().unwrap_or("");
        if text(0) != "reach" {
            continue;
        }
        let construct = text(2).trim_start_matches('.');
        // A map entry comes and goes with its map field.
        if !text(1).starts_with("field") && entry(construct) {
            continue;
        }
        if text(1) == "field_p3opt_changed" {
            let (owner, _) = construct.rsplit_once('.').unwrap();
            let number = i32::try_from(change[3].as_i64().unwrap()).unwrap();
            let presence =
                |c: &Contract| c.message(owner).and_then(|m| m.field(number)).map(|f| f.presence);
            if presence(base) == presence(head) {
                continue; // messages and oneof members have presence with and without `optional`
            }
        }
        facts.insert((text(1).to_owned(), construct.to_owned()));
    }
    facts
}
