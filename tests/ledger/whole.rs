//! Contracts through a ledger and back.

use std::path::Path;
use std::sync::Arc;

use aotgate::change::compare;
use aotgate::descriptor::{Contract, SourceClosure};
use aotgate::history::ledger::Ledger;

use crate::common::{everything, xla};
use crate::random::Random;
use crate::schema::Schema;

pub(crate) fn day(text: &str) -> chrono::NaiveDate {
    text.parse().unwrap()
}

pub(crate) fn fresh(contract: Contract) -> Ledger {
    Ledger::without_history(Arc::new(contract), day("2026-05-04"))
}

/// Written, read and written again it is the same, and so is the contract in it.
#[track_caller]
pub(crate) fn round_trip(ledger: &Ledger) -> Ledger {
    let text = ledger.write();
    let back = Ledger::read("aotgate.lock", text.as_bytes());
    let back = back.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let again = back.write();
    if again != text {
        let differ = text.lines().zip(again.lines()).find(|(a, b)| a != b);
        panic!("{differ:?}\n{text}");
    }
    let (before, after) = (ledger.contract(), back.contract());
    assert_eq!(before.fingerprint(), after.fingerprint());
    for (base, head) in [(before, after), (after, before)] {
        let changes: Vec<String> = compare(base, head)
            .iter()
            .map(|c| format!("{} {} {:?} {:?}", c.kind.name(), c.construct, c.before, c.after))
            .collect();
        assert!(changes.is_empty(), "{changes:#?}\n{text}");
    }
    back
}

#[test]
fn random_contracts() {
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let schema = Schema::random(&mut random);
        let sources = schema.sources_with_reserved(&mut random);
        round_trip(&fresh(crate::schema::contract(&sources)));
    }
}

#[test]
fn released_contracts_and_our_own() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut bytes = 0;
    for release in ["0.10.0", "0.10.1", "0.11.2", "0.12.0"] {
        let path = dir.join(format!("tests/data/released/{release}.fds"));
        let closure = SourceClosure::from_descriptor_set(&std::fs::read(path).unwrap()).unwrap();
        let contract = closure.contract(&xla()).unwrap();
        assert!(contract.messages.len() > 100, "{release}");
        let ledger = fresh(contract);
        round_trip(&ledger);
        bytes = bytes.max(ledger.write().len());
    }
    assert!(bytes < 1 << 20, "{bytes} bytes");
    let files = crate::common::directory(&dir.join("proto"));
    round_trip(&fresh(files.contract(&xla()).unwrap()));
    let spec = everything(files.0.keys().cloned());
    round_trip(&fresh(files.contract(&spec).unwrap()));
}

#[test]
fn what_a_contract_can_have_is_in_it() {
    let files = crate::common::Files::new(&[(
        "a.proto",
        "syntax = \"proto2\";\npackage p;\n\
         message M {\n  option message_set_wire_format = true;\n  extensions 4 to max;\n}\n\
         message N {\n  extensions 100 to 199;\n  reserved 5, 7 to 9;\n  reserved \"old\", \"older\";\n\
         \x20 optional string s = 1 [default = \"a b\\n%: 2026..\", json_name = \"X y\", deprecated = true];\n\
         \x20 map<string, N> m = 2;\n  optional E e = 3 [default = B];\n  optional float f = 4 [default = inf];\n\
         \x20 optional group G = 6 { optional bytes b = 1; }\n}\n\
         extend N { repeated int32 ext = 100 [packed = true]; }\n\
         extend M { optional N other = 4; }\n\
         enum E {\n  option allow_alias = true;\n  reserved 9, -5 to -2;\n  reserved \"GONE\";\n\
         \x20 B = 3; A = 0; Z = 3; C = -1;\n}\n",
    )]);
    let ledger = fresh(files.contract(&everything(["a.proto".to_owned()])).unwrap());
    let text = ledger.write();
    let back = round_trip(&ledger);
    let values = |l: &Ledger| -> Vec<_> {
        let e = l.contract().enumeration("p.E").unwrap();
        let first = e.values[0].name.clone();
        let aliases = [3, 0, -1].map(|n| e.value(n).unwrap().name.clone());
        [&[first][..], &aliases].concat()
    };
    assert_eq!(values(&ledger), values(&back));
    insta::assert_snapshot!("every_kind_of_line", text);
}
