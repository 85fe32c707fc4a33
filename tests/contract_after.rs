//! A contract that takes over what it can from the one before is the one that is made anew.
#![allow(clippy::panic, clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use aotgate::Error;
use aotgate::change::compare;
use aotgate::descriptor::{Contract, ContractSpec, ParseCache, RootSpec, SourceClosure};
use common::Files;

fn spec() -> ContractSpec {
    ContractSpec {
        roots: vec![RootSpec { message: "p.q.Root".into(), files: vec!["a.proto".into()] }],
        ..ContractSpec::default()
    }
}

const FILES: [(&str, &str); 3] = [
    (
        "a.proto",
        "syntax = \"proto2\"; package p.q; import \"b.proto\"; import \"c.proto\";
         message Root {
           optional Part part = 1; optional Kind kind = 2 [default = SOME]; map<string, Part> parts = 3;
           repeated Part.In inside = 4; optional Whole whole = 5; optional Kind first = 6; optional p.Far far = 7;
         }",
    ),
    (
        "b.proto",
        "syntax = \"proto2\"; package p;
         message Part { optional int32 size = 1; message In { optional string text = 1; } }
         enum Kind { NONE = 0; SOME = 1; }",
    ),
    (
        "c.proto",
        "syntax = \"proto2\"; package p;
         message Whole { optional int32 size = 1; } message Far {}",
    ),
];

/// Replaces text in the files: file, what, with what.
type Edit<'e> = (&'e str, &'e str, &'e str);

fn closure(edits: &[Edit<'_>]) -> SourceClosure {
    let mut files: BTreeMap<&str, String> =
        FILES.iter().map(|(name, text)| (*name, (*text).to_owned())).collect();
    for (name, what, with) in edits {
        let text = files.get_mut(name).unwrap();
        assert!(text.contains(what), "{what}");
        *text = text.replace(what, with);
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, &**text)).collect();
    SourceClosure::read(&Files::new(&files), &spec(), &mut ParseCache::default()).unwrap()
}

fn told(contract: &Result<Contract, Error>) -> String {
    let contract = match contract {
        Ok(contract) => contract,
        Err(error) => return format!("{error}\n"),
    };
    let mut text = format!("{:?}\n", (&contract.roots, &contract.json_roots));
    for message in contract.messages.values() {
        // What is made when first needed is no part of it.
        let (message, _) = (format!("{message:?}"), message.field_named(""));
        let _ = writeln!(text, "{}", message.split("by_name").next().unwrap());
    }
    for enumeration in contract.enums.values() {
        let enumeration = format!("{enumeration:?}");
        let _ = writeln!(text, "{}", enumeration.split("by_name").next().unwrap());
    }
    text
}

fn changes(before: &Contract, after: &Contract) -> Vec<String> {
    let line = |c: &aotgate::change::Change<'_>| {
        let what = (c.kind, c.surface, &c.construct, c.number, &c.before, &c.after);
        format!("{what:?} {:?} {:?} {:?} {:?}", c.wire, c.detail, c.reach, c.repurposed)
    };
    compare(before, after).iter().map(line).collect()
}

/// Makes the contract both ways, from the files as they are and back again. Whether `Root` was taken over.
#[track_caller]
fn same(edits: &[Edit<'_>]) -> bool {
    let (before, after) = (closure(&[]), closure(edits));
    let mut shared = false;
    for (from, to) in [(&before, &after), (&after, &before)] {
        let (Ok(from), anew) = (from.contract(&spec()), to.contract(&spec())) else { continue };
        let reused = to.contract_after(&spec(), &from);
        assert_eq!(told(&reused), told(&anew));
        if let (Ok(reused), Ok(anew)) = (reused, anew) {
            let root = |contract: &Contract| contract.messages.get("p.q.Root").cloned();
            shared = root(&reused).zip(root(&from)).is_some_and(|(a, b)| Arc::ptr_eq(&a, &b));
            assert_eq!(changes(&from, &reused), changes(&from, &anew));
            assert_eq!(changes(&reused, &from), changes(&anew, &from));
            assert_eq!(reused.fingerprint(), anew.fingerprint());
        }
    }
    shared
}

#[test]
fn what_did_not_change_is_shared() {
    assert!(same(&[]));
    assert!(same(&[("b.proto", "int32 size = 1", "int64 size = 1; optional int32 more = 2")]));
    assert!(same(&[("b.proto", "enum Kind", "message New {} enum Kind")]));
    assert!(same(&[("c.proto", "message Far {}", "message Far { optional Far far = 1; }")]));
    assert!(!same(&[("a.proto", "whole = 5", "whole = 8")]));
}

#[test]
fn names_that_mean_something_else() {
    // Nearer than the one that was meant.
    let near = [
        ("b.proto", "package p;", "package p.q;"),
        ("a.proto", "p.Far", "Far"),
        ("c.proto", "Whole {", "Whole { optional p.Far far = 2;"),
    ];
    same(&near);
    same(&[("c.proto", "message Far {}", "message Far {} message q {}")]);
    same(&[("c.proto", "message Far {}", "message Far {} message Other { message Part {} }")]);
    // Of another kind.
    same(&[("c.proto", "message Far {}", "enum Far { ZERO = 0; }")]);
    same(&[("c.proto", "message Far {}", "")]);
    same(&[(
        "b.proto",
        "message In { optional string text = 1; }",
        "map<int32, int32> in = 4; message In { optional string text = 1; }",
    )]);
    // Where another file cannot see it.
    same(&[
        ("b.proto", "enum Kind", "message Far {} enum Kind"),
        ("c.proto", "message Far {}", ""),
        ("a.proto", "import \"b.proto\";", "import \"b.proto\";"),
    ]);
    // Twice.
    same(&[("c.proto", "message Far {}", "message Far {} enum Late { NONE = 0; }")]);
    same(&[("c.proto", "message Far {}", "message Far {} message Part {}")]);
}

#[test]
fn what_a_field_takes_from_its_type() {
    // The default, its number, and what is read of what was not written.
    same(&[("b.proto", "SOME = 1;", "")]);
    same(&[("b.proto", "SOME = 1;", "SOME = 3;")]);
    same(&[("b.proto", "NONE = 0; SOME = 1;", "SOME = 1; NONE = 0;")]);
    same(&[("b.proto", "NONE = 0; SOME = 1;", "NONE = 7; SOME = 1;")]);
    // Whether the enum is closed.
    let open = [("b.proto", "proto2", "proto3"), ("b.proto", "optional ", "")];
    same(&open);
    same(&[("b.proto", "NONE", "NONE_AT_ALL")]);
    // Whether it can be reached.
    same(&[(
        "c.proto",
        "message Far {}",
        "message Far {} message Away { optional Part part = 1; }",
    )]);
    same(&[("a.proto", "optional p.Far far = 7;", "")]);
    same(&[("a.proto", "optional Whole whole = 5;", "")]);
}

#[test]
fn files_that_come_and_go() {
    same(&[("a.proto", "import \"c.proto\";", ""), ("a.proto", "optional Whole whole = 5;", "")]);
    same(&[
        ("a.proto", "import \"c.proto\";", ""),
        ("a.proto", "optional Whole whole = 5;", ""),
        ("a.proto", "optional p.Far far = 7;", ""),
    ]);
    same(&[
        ("a.proto", "import \"c.proto\";", ""),
        ("b.proto", "package p;", "package p; import public \"c.proto\";"),
    ]);
    same(&[("b.proto", "package p;", "package p; import \"a.proto\";")]);
}

#[test]
fn extensions_belong_to_another_files_message() {
    let open = ("b.proto", "message Part {", "message Part { extensions 100 to 200;");
    let extend = "extend Part { optional int32 more = 100; } message Far {}";
    assert!(!same(&[
        open,
        ("c.proto", "message Far {}", extend),
        ("c.proto", "package p;", "package p; import \"b.proto\";")
    ]));
    same(&[open]);
}
