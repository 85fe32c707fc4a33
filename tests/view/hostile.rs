//! Bytes that nobody should have written.

use aotgate::descriptor::Contract;
use aotgate::view::{Limits, Reason, Refused, decode, losses};

use crate::common::{Files, everything};
use crate::message::{Noise, delimited, message, tag, varint};
use crate::oracle::{protoc, write};
use crate::random::Random;
use crate::schema::Schema;

const TREE: &str = "syntax = \"proto3\"; message M { M m = 1; map<int32, M> t = 2; repeated M list = 3; \
                    repeated fixed32 f = 4; string s = 5; repeated bool b = 6; bytes blob = 7; }";

fn contract(text: &str) -> Contract {
    Files::new(&[("a.proto", text)]).contract(&everything(["a.proto".to_owned()])).unwrap()
}

fn refused(bytes: &[u8]) -> Refused {
    decode(bytes, &contract(TREE), "M", Limits::default()).unwrap_err()
}

#[test]
fn each_refusal_names_its_place() {
    for (bytes, text) in [
        (&b"\x80"[..], "at byte 0: the bytes end inside a value"),
        (b"\x08", "at byte 1: the bytes end inside a value"),
        (b"\x00", "at byte 0: field number 0"),
        (b"\x0f", "at byte 0: wire type 7 does not exist"),
        (b"\x0c", "at byte 0: end of group 1, which is not the open one"),
        (b"\x7b\x08\x01", "at byte 3: group 15 is not closed"),
        (b"\x7b\x84\x01", "at byte 1: end of group 16, which is not the open one"),
        (b"\x0a\x03\x0a\x05x", "m.m at byte 4: the bytes end inside a value"),
        (b"\x0a\xff\xff\xff\xff\x0f", "m at byte 1: a length of 2 GiB or more"),
        (b"\x1a\x00\x1a\x03\x2a\x01\xff", "list[1].s at byte 6: a string is not valid UTF-8"),
        (b"\x22\x03abc", "f at byte 2: a packed list of 4-byte elements has 3 bytes"),
        (b"\x32\x01\x80", "b at byte 2: the bytes end inside a value"),
        (b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "at byte 1: a varint is too long"),
        (b"\x12\x03\x12\x01\x08", "t at byte 5: the bytes end inside a value"),
        (b"\x12\x01\x0c", "t at byte 2: end of group 1, which is not the open one"),
    ] {
        assert_eq!(refused(bytes).to_string(), text, "{}", bytes.escape_ascii());
    }
    let none = decode(b"", &contract(TREE), "N", Limits::default()).unwrap_err();
    assert_eq!(none.to_string(), "at byte 0: the contract has no message N");
}

/// C++ counts messages, map entries and unknown groups alike.
#[test]
fn nesting_is_limited_as_in_cpp() {
    let contract = contract(TREE);
    let dir = write(&[("a.proto", TREE.to_owned())]);
    // Some way to put a message into another, and how many levels it takes.
    type Wrap = fn(&[u8]) -> Vec<u8>;
    fn field(number: i32, inner: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        tag(number, 2, &mut out);
        delimited(inner, &mut out);
        out
    }
    let wraps: [(Wrap, usize); 4] = [
        (|inner| field(1, inner), 1),
        (|inner| field(3, inner), 1),
        (|inner| field(2, &field(2, inner)), 2),
        (|inner| [b"\x7b", inner, b"\x7c"].concat(), 1),
    ];
    for (at, (wrap, levels)) in wraps.into_iter().enumerate() {
        for depth in [100 / levels, 100 / levels + 1] {
            let bytes = (0..depth).fold(Vec::new(), |inner, _| wrap(&inner));
            let ours = decode(&bytes, &contract, "M", Limits::default());
            let theirs = protoc(dir.path(), &["--decode=M"], &bytes);
            assert_eq!(ours.is_ok(), theirs.parsed, "wrap {at}, depth {depth}");
            assert_eq!(ours.is_ok(), depth * levels <= 100, "wrap {at}, depth {depth}");
        }
    }
    let bomb = b"\x7b".repeat(1_000_000);
    assert_eq!(refused(&bomb).reason, Reason::TooDeep(100));
}

#[test]
fn memory_is_bounded() {
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    let contract = contract(TREE);
    let packed = {
        let mut out = Vec::new();
        tag(6, 2, &mut out);
        delimited(&vec![1; 1 << 20], &mut out);
        out
    };
    for bytes in [b"\x1a\x00".repeat(1 << 18), b"\x78\x01".repeat(1 << 18), packed] {
        let refused = decode(&bytes, &contract, "M", limits).unwrap_err();
        assert_eq!(refused.reason, Reason::TooLarge(1 << 20));
    }
    // Payloads are borrowed.
    let mut large = Vec::new();
    tag(7, 2, &mut large);
    varint(1 << 24, &mut large);
    large.resize(large.len() + (1 << 24), 7);
    let held = decode(&large, &contract, "M", limits).unwrap();
    assert_eq!(held.canonical(), large);
}

#[test]
fn damaged_messages_do_no_harm() {
    let noise = Noise { foreign: 10, not_utf8: 5, missing: 10 };
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let schema = Schema::random(&mut random);
        let contract = schema.contract();
        let other = schema.edited(&mut random).contract();
        let bytes = message(&schema, 0, 0, &noise, &mut random);
        let mut tries: Vec<Vec<u8>> = vec![bytes.clone()];
        for _ in 0..20 {
            tries.push(bytes[..random.below(bytes.len() + 1)].to_vec());
            let mut flipped = bytes.clone();
            for _ in 0..1 + random.below(4) {
                let at = random.below(bytes.len());
                if let Some(byte) = flipped.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            tries.push(flipped);
            tries.push((0..random.below(64)).map(|_| random.next() as u8).collect());
        }
        for bytes in tries {
            let decoded = decode(&bytes, &contract, "M0", Limits::default());
            match decoded {
                Ok(held) => {
                    let canonical = held.canonical_with_unknown();
                    let again = decode(&canonical, &contract, "M0", Limits::default()).unwrap();
                    assert_eq!(again.canonical_with_unknown(), canonical);
                }
                Err(refused) => assert!(refused.offset <= bytes.len()),
            }
            // Only what is out of reach of the reader's own schema is lost to it.
            let own = losses(&bytes, &contract, &contract, "M0");
            assert!(own.iter().all(|l| l.kind == aotgate::view::LossKind::Refused), "{own:?}");
            let _ = losses(&bytes, &contract, &other, "M0");
        }
    }
}
