//! The rules of C++'s text parser, one by one, each against protoc.

use aotgate::descriptor::Contract;
use aotgate::view::text::{Reason, TextRefused, parse};
use aotgate::view::{Limits, decode};

use crate::common::{Files, everything};
use crate::oracle::{protoc, write};

pub(crate) const SCHEMA: &str = r#"
syntax = "proto2";
import "google/protobuf/any.proto";
message M {
  optional int32 a = 1;
  repeated int32 r = 2;
  optional M m = 3;
  repeated M ms = 4;
  optional string s = 5;
  optional float f = 6;
  optional double d = 7;
  optional bool b = 8;
  optional E e = 9;
  map<int32, M> mp = 10;
  optional google.protobuf.Any any = 11;
  optional group Gr = 12 { optional int32 x = 1; }
  optional bytes by = 13;
  repeated string rs = 14;
  repeated E re = 15;
  optional uint32 u = 16;
  optional int64 l = 17;
  optional uint64 ul = 18;
  oneof o { int32 oa = 19; M om = 20; }
  repeated group Rg = 21 { optional int32 x = 1; }
  optional sint64 z = 22;
  repeated fixed32 p = 23 [packed = true];
  repeated float rf = 24;
  reserved "gone", "Gone";
  extensions 100 to 200;
}
message Required { required int32 q = 1; }
message Sender { optional google.protobuf.Any any = 1; repeated Required list = 2; }
enum E { Z = 0; ONE = 1; ALSO_ONE = 1; option allow_alias = true; reserved "OLD"; }
extend M { optional int32 ext = 100; repeated M exts = 101; }
"#;

const IMPLICIT: &str = r#"
syntax = "proto3";
message M {
  int32 a = 1; string s = 2; bytes by = 3; E e = 4; float f = 5; M m = 6; optional int32 o = 7;
  map<string, E> mp = 8; repeated E re = 9; oneof c { int32 ca = 10; string cs = 11; }
}
enum E { Z = 0; ONE = 1; }
"#;

pub(crate) fn contract(text: &str) -> Contract {
    Files::new(&[("a.proto", text)]).contract(&everything(["a.proto".to_owned()])).unwrap()
}

/// Both accept and hold the same, or both refuse.
fn check(schema: &str, texts: &[&[u8]]) {
    let (contract, dir) = (contract(schema), write(&[("a.proto", schema.to_owned())]));
    let mut errors = Vec::new();
    for text in texts {
        let ours = parse(text, &contract, "M", Limits::default());
        let theirs = protoc(dir.path(), &["--encode=M", "--deterministic_output"], text);
        let held = theirs
            .parsed
            .then(|| decode(&theirs.bytes, &contract, "M", Limits::default()).unwrap().canonical());
        let text = text.escape_ascii();
        match (ours, held) {
            (Ok(ours), Some(held)) if ours.bytes != held => errors.push(format!(
                "{text}: holds {}, protoc {}",
                ours.bytes.escape_ascii(),
                held.escape_ascii()
            )),
            (Ok(_), None) => errors.push(format!("{text}: accepted, protoc {}", theirs.stderr)),
            (Err(refused), Some(_)) => errors.push(format!("{text}: {refused}, protoc accepts")),
            _ => {}
        }
    }
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

fn refused(text: &[u8]) -> TextRefused {
    parse(text, &contract(SCHEMA), "M", Limits::default()).unwrap_err()
}

#[test]
fn messages_lists_and_separators() {
    check(
        SCHEMA,
        &[
            b"",
            b"# only a comment",
            b" \x0b\x0c\r\n\t",
            b"a: 1",
            b"a :1",
            b"a:1;",
            b"a:1,",
            b"a:1 u:2",
            b"a: 1,, u: 2",
            b"a: 1;;",
            b";a: 1",
            b"a 1",
            b"a: [1]",
            b"A: 1",
            b"m {a:1}",
            b"m: {a:1}",
            b"m <a:1>",
            b"m: <a:1>",
            b"m <a:1}",
            b"m {a:1>",
            b"m { a: 5",
            b"m { a: 5 }}",
            b"a: 5 }",
            b"{ a: 5 }",
            b"m: [{a:1}]",
            b"m: 5",
            b"m: \"x\"",
            b"m",
            b"m:",
            b"ms: [{a:1}, <a:2>] ms {}",
            b"ms [{a:1}]",
            b"ms: []",
            b"ms []",
            b"ms: [{},]",
            b"ms: [{} {}]",
            b"ms: [{}; {}]",
            b"r: [1,2] r: 3",
            b"r: [1,2,]",
            b"r: [1 2]",
            b"r: [ ]",
            b"r: []",
            b"r []",
            b"r: [",
            b"r:",
            b"r: [,]",
            b"r: [[1]]",
            b"m {a: 1, ms {}; }",
            b"a: 1 # c\n u: 2",
            b"a:#c\n1",
            b"a: 1 /* c */",
            b"a: 1 // c",
            b"a: 1\\",
            b"a: 1 \x01",
            b"a: 1 # \x01",
            b"a: 1 # \x00",
            b"a\x00: 1",
            b"\xef\xbb\xbfa: 1",
            b"a\xff: 1",
            b"# \xff\na: 1",
            b"1: 5",
            b"a.b: 1",
            b"zz: 5",
            b"\"a\": 1",
            b"a: 1 a: 2",
            b"m {} m {}",
            b"s: '' s: ''",
            b"mp { key: 1 key: 2 }",
            b"oa: 1 om {}",
            b"om {} oa: 1",
            b"oa: 1 oa: 1",
            b"om { oa: 1 } a: 1",
            b"p: [1, 0x2, 03] p: 4",
        ],
    );
}

#[test]
fn reserved_names_are_passed_over() {
    check(
        SCHEMA,
        &[
            b"gone: 1",
            b"gone: 1, a: 2",
            b"gone: 1; a: 2",
            b"gone { x: 1 }, a: 2",
            b"gone <x: 1> a: 2",
            b"gone: {x: 1} ;",
            b"gone: 5;;",
            b"gone: 'a' \"b\" a: 1",
            b"gone: -1",
            b"gone: - inf",
            b"gone: -nan",
            b"gone: -NaN",
            b"gone: -infinity",
            b"gone: -foo",
            b"gone: -inff",
            b"gone: inff",
            b"gone: FOO",
            b"gone: 1.5e3f",
            b"gone: []",
            b"gone: [1, {x:1}, \"a\" \"b\", -1, [FOO], <>]",
            b"gone: [[1]]",
            b"gone: [,]",
            b"gone: [1,",
            b"gone: [1,]",
            b"gone [{}]",
            b"gone",
            b"gone:",
            b"gone 5",
            b"gone {",
            b"gone: {x: 1 >",
            b"gone: <x: 1}",
            b"gone: @",
            b"gone: 1 gone: 2",
            b"gone {a: 1,; b: 2}",
            b"gone {a: 1; b: 2,}",
            b"gone { 1: 2 }",
            b"gone { 3x: 1}",
            b"gone { x y: 1 }",
            b"gone { x { } y: <> }",
            b"gone { [a.b]: 3 [c.d] { } }",
            b"gone { [a.b/c.d]: 3 }",
            b"gone { [a-b/c]: 1 }",
            b"gone { [a/b-c]: 1 }",
            b"gone { [1]: 1 }",
            b"gone { [a.b: 1 }",
            b"gone {[]: 1}",
            b"gone {[/a]: 1}",
            b"gone {[a//b]: 1}",
            b"gone {[3/b]: 1}",
            b"gone {[a..b]: 1}",
            b"gone {[a%20]: 1}",
            b"gone {[a%20/b]: 1}",
            b"gone {[a%2/b]: 1}",
            b"gone: 0x",
            b"gone: 09",
            b"gone: \"\\q\"",
            b"gone: 1 . 5",
            b"Gone { x: 1 }",
            b"GONE: 1",
            b"gr { x: 1 }",
            b"m { gone { } a: 1 }",
            b"ms [{ gone: 1 }]",
            b"e: OLD",
            b"re: [OLD]",
            b"not_reserved: 1",
            b"not_reserved {}",
        ],
    );
    let text = b"a: 1\ngone: [1]\nm { Gone {} gone { gone: 1 } }\n gone: 'x'";
    let parsed = parse(text, &contract(SCHEMA), "M", Limits::default()).unwrap();
    let skipped: Vec<String> = parsed
        .skipped
        .iter()
        .map(|s| format!("{} x{} from {}", s.field, s.times, s.first))
        .collect();
    assert_eq!(skipped, ["M.Gone x1 from line 3, column 5", "M.gone x3 from line 2, column 1"]);
}

#[test]
fn strings() {
    check(
        SCHEMA,
        &[
            br#"s: "a" 'b'"c""#,
            br#"s: "a"s: "b""#,
            br#"s: "a' b: 'c""#,
            br#"s: "a" + "b""#,
            br#"s: "\a\b\f\n\r\t\v\\\?\'\"""#,
            br#"by: "\0\12\123\1234\400\777\8""#,
            br#"by: "\0\12\123\1234\400\777""#,
            br#"by: "\x4\x41\x414\Xff\xff""#,
            br#"by: "\x""#,
            br#"by: "\xg""#,
            br#"s: "\u00e9\u20ac\U0001F600""#,
            br#"s: "\ud83d\ude00""#,
            br#"by: "\ud83d""#,
            br#"by: "\ude00\ud83d\u0041""#,
            br#"by: "\ud83d\U0000de00""#,
            br#"by: "\U0000d83d\ude00""#,
            br#"s: "\u00e""#,
            br#"s: "\U0010FFFF""#,
            br#"by: "\U00110000\U001fffff""#,
            br#"by: "\U00200000""#,
            br#"by: "\Uffffffff""#,
            br#"s: "\U0010fff""#,
            br#"s: "\q""#,
            br#"s: "\""#,
            b"s: \"abc",
            b"s: 'abc\"",
            b"s: \"a\nb\"",
            b"s: \"a\x01\x7f\tb\"",
            b"s: \"a\x00b\"",
            b"by: \"\xff\\377\xc3\xa9\"",
            b"s: \"\xc3\xa9\"",
            b"s: abc",
            b"s: 1",
            b"s: ['a']",
            b"s: \"\\",
            b"rs: [\"a\" 'b', 'c'] rs: 'd'",
            b"rs: ['a' 'b',]",
            b"s: 'a' # c\n 'b'",
            b"s: \"#\"",
        ],
    );
}

#[test]
fn numbers() {
    check(
        SCHEMA,
        &[
            b"a: 2147483647",
            b"a: 2147483648",
            b"a: -2147483648",
            b"a: -2147483649",
            b"a: 0x7fffffff",
            b"a: 0X7F",
            b"a: 0x80000000",
            b"a: -0x80000000",
            b"a: 017",
            b"a: 09",
            b"a: 00",
            b"a: 0x",
            b"a: 0xg",
            b"a: 1.0",
            b"a: 1f",
            b"a: 1e3",
            b"a: - 5",
            b"a: --5",
            b"a: +5",
            b"a: -#c\n5",
            b"a: ONE",
            b"a: true",
            b"a: '1'",
            b"a: 1x",
            b"a: 1_0",
            b"a: 1u: 2",
            b"a: 1\"\"",
            b"u: 4294967295",
            b"u: 4294967296",
            b"u: -1",
            b"u: -0",
            b"l: 9223372036854775807",
            b"l: 9223372036854775808",
            b"l: -9223372036854775808",
            b"l: -9223372036854775809",
            b"ul: 18446744073709551615",
            b"ul: 18446744073709551616",
            b"ul: 0xffffffffffffffff",
            b"ul: 01777777777777777777777",
            b"ul: 02777777777777777777777",
            b"z: -1",
            b"z: -9223372036854775808",
            b"f: 1",
            b"f: 1f",
            b"f: 1.5F",
            b"f: 1.f",
            b"f: .5f",
            b"f: 0f",
            b"f: 0",
            b"f: -0",
            b"f: 00",
            b"f: 010",
            b"f: 0x10",
            b"f: 08",
            b"f: 1e",
            b"f: 1e5f",
            b"f: 1.e5",
            b"f: 0.e5",
            b"d: 1e+5",
            b"d: 1E-5F",
            b"d: 1..5",
            b"d: 1.5.5",
            b"d: a.5",
            b"d: 01.5",
            b"d: 1e5e",
            b"d: 1ff",
            b"d: .",
            b"d: .5",
            b"d: 1.",
            b"d: -.5",
            b"d: 18446744073709551616",
            b"d: 1e400",
            b"d: -1e400",
            b"d: 1e-400",
            b"d: 4.9e-324",
            b"d: 2.4703282292062327e-324",
            b"d: 123456789012345678901234567890",
            b"f: 1e39",
            b"f: -1e39",
            b"f: 1e-60",
            b"f: 3.4028235677973366e38",
            b"f: -3.4028235677973366e38",
            b"f: 3.4028235677973367e38",
            b"f: 3.4028235e38",
            b"f: 16777217",
            b"f: 1.0000000596046448",
            b"f: 340282356779733661637539395458142568448",
            b"f: inf",
            b"f: -inf",
            b"f: INF",
            b"f: Infinity",
            b"f: nan",
            b"f: -nan",
            b"d: nan",
            b"d: -NaN",
            b"f: nanx",
            b"f: inff",
            b"f: infinit",
            b"f: -",
            b"f: - 1",
            b"f: +1",
            b"f: 'inf'",
            b"rf: [1, -inf, nan, .5]",
            b"b: 1",
            b"b: 0",
            b"b: 2",
            b"b: 00",
            b"b: 0x1",
            b"b: -1",
            b"b: true",
            b"b: True",
            b"b: t",
            b"b: TRUE",
            b"b: T",
            b"b: false",
            b"b: False",
            b"b: f",
            b"b: F",
            b"b: yes",
            b"b: 1.0",
        ],
    );
}

#[test]
fn enums() {
    check(
        SCHEMA,
        &[
            b"e: ONE",
            b"e: ALSO_ONE",
            b"e: 1",
            b"e: 0x1",
            b"e: Z",
            b"e: one",
            b"e: 5",
            b"e: -1",
            b"e: -ONE",
            b"e: \"ONE\"",
            b"e: 1.0",
            b"e: 2147483648",
            b"e: -2147483649",
            b"e: E.ONE",
            b"re: [ONE, 1] re: Z",
            b"re: [ONE, 7]",
            b"re: []",
        ],
    );
    check(
        IMPLICIT,
        &[
            b"e: ONE",
            b"e: 7",
            b"e: -7",
            b"e: 2147483647",
            b"e: 2147483648",
            b"e: SEVEN",
            b"re: [1, 7, Z]",
            b"mp { key: 'a' value: 7 }",
            b"mp { key: 'a' value: NO }",
        ],
    );
}

/// C++ asks whether a field is set, and a zero without presence is not.
#[test]
fn zeros_without_presence_may_be_given_again() {
    check(
        IMPLICIT,
        &[
            b"a: 0 a: 5",
            b"a: 5 a: 0",
            b"a: 0 a: 0",
            b"s: '' s: 'x'",
            b"s: 'x' s: ''",
            b"by: '' by: 'x'",
            b"e: Z e: ONE",
            b"f: 0 f: 1",
            b"f: -0 f: 1",
            b"m {} m {}",
            b"o: 0 o: 0",
            b"ca: 0 ca: 0",
            b"ca: 0 cs: ''",
            b"cs: '' ca: 0",
            b"mp { key: '' key: 'a' }",
            b"mp { key: 'a' key: 'b' }",
            b"mp { value: Z value: ONE }",
        ],
    );
}

#[test]
fn groups_extensions_maps_and_any() {
    check(
        SCHEMA,
        &[
            b"Gr { x: 1 }",
            b"Gr: { x: 1 }",
            b"GR { x: 1 }",
            b"Gr [{ x: 1 }]",
            b"Rg { x: 1 } rg { x: 2 }",
            b"Rg [{ x: 1 }, <>]",
            b"Gr {} Gr {}",
            b"[ext]: 5",
            b"[ ext ]: 5",
            b"[ext # c\n]: 5",
            b"[ext] 5",
            b"[nope]: 5",
            b"[M.ext]: 5",
            b"[.ext]: 5",
            b"[ext.]: 5",
            b"[]: 1",
            b"[1]: 1",
            b"[e xt]: 1",
            b"[a/ext]: 1",
            b"[ext]: 5 [ext]: 6",
            b"[ext].x: 5",
            b"[exts] { a: 1 } [exts]: [{}]",
            b"ext: 5",
            b"m { [ext]: 1 }",
            b"[ext]: [1]",
            b"[ext]: 1, [exts] {}; a: 1",
            b"mp { key: 1 value { a: 1 } }",
            b"mp { value { a: 1 } }",
            b"mp { key: 1 }",
            b"mp { }",
            b"mp: [{ key: 2 }, { key: 1, value <> }]",
            b"mp { value: [{}] }",
            b"mp { key: 'a' }",
            b"mp { other: 1 }",
            b"any { [type.googleapis.com/M] { a: 1 } }",
            b"any { [ type . googleapis.com / M ] : { a: 1 } }",
            b"any { [type.googleapis.com/M] <a: 1> }",
            b"any { [type.googleapis.com/M]: [{}] }",
            b"any { [type.googleprod.com/M] { mp { key: 1 } mp { key: 2 } } }",
            b"any { [example.com/M] { } }",
            b"any { [type.googleapis.com/Nope] { } }",
            b"any { [a/b/M] { } }",
            b"any { [a/M] { }, }",
            b"any { [a/M] { } type_url: 'x' }",
            b"any { [a/M] { } value: 'x' }",
            b"any { [a/M] { a: 1 } value: 'x' }",
            b"any { type_url: 'x' [a/M] { } }",
            b"any { type_url: '' [a/M] { } }",
            b"any { value: '' [a/M] {} }",
            b"any { [M] { } }",
            b"any { [/M] { } }",
            b"any { [a//M] { } }",
            b"any { [a/.M] { } }",
            b"any { [a/M.] { } }",
            b"any { [a/1M] { } }",
            b"any { [] { } }",
            b"any { [a/] { } }",
            b"any { [a~b!$&()*+,;=/M] { } }",
            b"any { [a:b/M] { } }",
            b"any { [a@b/M] { } }",
            b"any { [a?b/M] { } }",
            b"any { [a'/M] { } }",
            b"any { [1.2.3/M] { } }",
            b"any { [0x/M] { } }",
            b"any { [09/M] { } }",
            b"any { [a%20b/M] { } }",
            b"any { [a%2/M] { } }",
            b"any { [a% 2 0/M] { } }",
            b"any { [a/%4d] { } }",
            b"any { [a b/M] { } }",
            b"any { [a/M b] { } }",
            b"any { [a/M { } }",
            b"any { [a #b]\n/M] { } }",
            b"any { [a\x80/M] { } }",
            b"any { [a\x01/M] { } }",
            b"any { [a/M] { } [a/M] { } }",
            b"any { [a/M] 5 }",
            b"any { [a/M] }",
            b"any { [a/M] { nope: 1 } }",
            b"any { [a/M] { gone: 1 } }",
            b"any { [a/google.protobuf.Any] { [b/M] { a: 2 } } }",
            b"any { type_url: 'a/M' value: '\\010\\001' }",
            b"any { [ext]: 1 }",
        ],
    );
}

#[test]
fn required_fields_must_be_set() {
    let contract = contract(SCHEMA);
    let reason = |root: &str, text: &[u8]| {
        parse(text, &contract, root, Limits::default()).map_err(|e| e.to_string())
    };
    let refused = |text: &str| Err::<Vec<u8>, _>(text.to_owned());
    let bytes = |root: &str, text: &[u8]| reason(root, text).map(|parsed| parsed.bytes);
    assert_eq!(bytes("Required", b"q: 1"), Ok(b"\x08\x01".to_vec()));
    assert_eq!(bytes("Required", b" "), refused("line 1, column 2: required but not set: q"));
    assert_eq!(
        bytes("Sender", b"list { q: 1 }\nlist { }"),
        refused("line 2, column 9: required but not set: list[1].q")
    );
    assert_eq!(
        bytes("Sender", b"any { [a.b/Required] { } }"),
        refused("line 1, column 8, in any: required but not set: q")
    );
}

#[test]
fn each_refusal_names_its_place() {
    for (text, expected) in [
        (
            &b"m {\n  ms { } ms { zz: 1 } }"[..],
            "line 2, column 15, in m.ms[1]: the contract has no field M.zz",
        ),
        (b"a: x", "line 1, column 4, in a: expected an integer, found `x`"),
        (b"a 1", "line 1, column 3, in a: expected `:`, found `1`"),
        (b"m { a: 1", "line 1, column 9, in m: expected the name of a field, found the end"),
        (b"m { a: 1 >", "line 1, column 10, in m: expected a field or `}`, found `>`"),
        (b"m 5", "line 1, column 3, in m: expected `{` or `<`, found `5`"),
        (b"r: [1 2]", "line 1, column 7, in r: expected `,` or `]`, found `2`"),
        (b"a: 1 a: 2", "line 1, column 6: a is no list and is given a second time"),
        (b"oa: 1 om {}", "line 1, column 7: om is given, but oa of M.o has the oneof"),
        (b"e: OLD", "line 1, column 4, in e: the contract has no enum value E.OLD"),
        (b"e: 7", "line 1, column 4, in e: the contract has no enum value E.7"),
        (b"a: -2147483649", "line 1, column 5, in a: `2147483649` is no int32: out of range"),
        (b"b: 2", "line 1, column 4, in b: `2` is no bool: out of range"),
        (b"d: 0x10", "line 1, column 4, in d: expected a decimal number, found `0x10`"),
        (b"s: \"a\\q\"", "line 1, column 6, in s: expected one of the escapes"),
        (
            b"s: \"a\nb\"",
            "line 1, column 6, in s: expected the end of the string that began in line 1, column 4, found the end of the line",
        ),
        (
            b"s: \"ab",
            "line 1, column 7, in s: expected the end of the string that began in line 1, column 4, found the end or NUL",
        ),
        (b"a: 1 \x02", "line 1, column 6, in a: expected text, found control character 2"),
        (
            b"a: 1 \xc3\xa9",
            "line 1, column 6, in a: expected ASCII outside strings, found byte 0xc3",
        ),
        (b"a: 1x", "line 1, column 5, in a: expected a space between a number and a name"),
        (b"[x.y]: 1", "line 1, column 1: the contract has no extension [x.y] of M"),
        (b"any { [a/Nope] {} }", "line 1, column 8, in any: the contract has no type Nope"),
        (
            b"any { [Nope] {} }",
            "line 1, column 8, in any: expected a type URL, such as type.googleapis.com/x.Y, in the brackets",
        ),
    ] {
        let refused = refused(text).to_string();
        assert!(refused.starts_with(expected), "{}: {refused}", text.escape_ascii());
    }
    let none = parse(b"", &contract(SCHEMA), "N", Limits::default()).unwrap_err();
    assert_eq!(none.reason, Reason::NoSuchType("N".to_owned()));
}

/// C++ writes such bytes all the same, and then no reader takes them.
#[test]
fn a_string_that_must_be_utf8_is_checked() {
    let contract = contract(IMPLICIT);
    let parse = |text| parse(text, &contract, "M", Limits::default());
    assert_eq!(
        parse(b"a: 1 s: 'a' '\\377'").unwrap_err().to_string(),
        "line 1, column 9, in s: expected a string in UTF-8, found other bytes"
    );
    assert_eq!(parse(b"s: \"\xff\"").unwrap_err().reason, Reason::InvalidUtf8);
    assert!(parse(b"by: '\\377' s: '\\303' '\\251'").is_ok());
}

#[test]
fn message_sets_are_not_supported() {
    let schema = "syntax = \"proto2\"; message M { option message_set_wire_format = true; extensions 4 to max; } \
                  message I { extend M { optional I i = 100; } }";
    let refused = parse(b"[I.i] { }", &contract(schema), "M", Limits::default()).unwrap_err();
    assert_eq!(refused.reason, Reason::MessageSet("M".to_owned()));
}
