//! JSON is read as C++ protobuf reads it, and printed as it prints it.

use aotgate::descriptor::Contract;
use aotgate::view::Limits;
use aotgate::view::json::{self, JsonReason, JsonRefused};

use crate::common::{Files, everything};
use crate::text;

const SCHEMA: &str = r#"syntax = "proto3"; import "google/protobuf/wrappers.proto";
    import "google/protobuf/any.proto"; import "google/protobuf/duration.proto"; import "p2.proto";
    enum E { ZERO = 0; ONE = 1; UNO = 1; MINUS = -1; option allow_alias = true; }
    message M {
        int32 i32 = 1; int64 i64 = 2; uint32 u32 = 3; uint64 u64 = 4; float f = 5; double d = 6;
        bool b = 7; string s = 8; bytes raw = 9; E e = 10; M m = 11;
        repeated int32 list = 12; repeated M many = 13; map<string, M> by_name = 14;
        map<int32, E> by_number = 15; map<bool, string> by_flag = 16;
        oneof choice { string left = 17; M right = 18; double real = 19; }
        optional int32 maybe = 20; google.protobuf.UInt64Value wrapped = 21;
        string snake_case_name = 22; string other = 23 [json_name = "@custom"];
        google.protobuf.Any any = 24; google.protobuf.Duration took = 25;
        Closed closed = 26; repeated string words = 27;
    }"#;
const PROTO2: &str = r#"syntax = "proto2";
    message Closed { enum K { A = 1; B = 2; } optional K k = 1; repeated K ks = 2; optional int32 i = 3 [default = 7]; }"#;

fn contract() -> Contract {
    let files = Files::new(&[("a.proto", SCHEMA), ("p2.proto", PROTO2)]);
    files.contract(&everything(["a.proto".to_owned()])).unwrap()
}

/// What is held of a text, on one line.
fn held(contract: &Contract, text: &str) -> Result<String, JsonRefused> {
    let payload = json::parse(text.as_bytes(), contract, "M", Limits::default())?;
    let printed = text::print(&payload.held(), true);
    Ok(printed.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn values_are_taken_in_every_spelling_that_cpp_takes() {
    let contract = contract();
    for (text, expected) in [
        // Names.
        (r#"{"snake_case_name":"a"}"#, r#"snake_case_name: "a""#),
        (r#"{"snakeCaseName":"a"}"#, r#"snake_case_name: "a""#),
        (r#"{"@custom":"a"}"#, r#"other: "a""#),
        (r#"{"other":"a"}"#, r#"other: "a""#),
        // Whole numbers.
        (r#"{"i32":-5,"i64":"-5","u32":1.0,"u64":1e3}"#, "i32: -5 i64: -5 u32: 1 u64: 1000"),
        (r#"{"i32":"1.0","i64":"1e3"}"#, "i32: 1 i64: 1000"),
        (r#"{"i64":9223372036854775807}"#, "i64: 9223372036854775807"),
        (r#"{"u64":18446744073709551615}"#, "u64: 18446744073709551615"),
        (r#"{"i64":"9007199254740992.0"}"#, "i64: 9007199254740992"),
        (r#"{"i32":"+7","u32":"007"}"#, "i32: 7 u32: 7"),
        (r#"{"i32":0,"u64":-0}"#, ""),
        // Floats.
        (r#"{"f":"NaN","d":"-Infinity"}"#, "f: nan d: -inf"),
        (r#"{"f":0.1,"d":0.1}"#, "f: 0.1 d: 0.1"),
        (r#"{"d":"2.5","f":3}"#, "f: 3 d: 2.5"),
        (r#"{"f":3.4028235677973366e38}"#, "!"),
        // Booleans.
        (r#"{"b":true}"#, "b: true"),
        (r#"{"b":"yes"}"#, "b: true"),
        (r#"{"b":"False"}"#, ""),
        // Bytes.
        (r#"{"raw":"+/8="}"#, r#"raw: "\373\377""#),
        (r#"{"raw":"-_8"}"#, r#"raw: "\373\377""#),
        (r#"{"raw":"Zg"}"#, r#"raw: "f""#),
        // Enums.
        (r#"{"e":"UNO"}"#, "e: ONE"),
        (r#"{"e":-1}"#, "e: MINUS"),
        (r#"{"e":"1"}"#, "e: ONE"),
        (r#"{"e":77}"#, "e: 77"),
        // Null.
        (r#"{"i32":null,"m":null,"list":null,"by_name":null,"e":null}"#, ""),
        (r#"{"list":[1,null,2]}"#, "list: 1 list: 0 list: 2"),
        (r#"{"many":[null]}"#, "many { }"),
        (r#"{"left":null,"right":{}}"#, "right { }"),
        // Presence.
        (r#"{"maybe":0}"#, "maybe: 0"),
        (r#"{"left":""}"#, r#"left: """#),
        (r#"{"m":{}}"#, "m { }"),
        // Lists.
        (r#"{"list":5,"many":{"i32":1}}"#, "list: 5 many { i32: 1 }"),
        (r#"{"list":[1,[2,[3]],4]}"#, "list: 1 list: 2 list: 3 list: 4"),
        // Maps.
        (
            r#"{"by_number":{"2":"ONE","-1":0}}"#,
            r#"by_number { key: -1 value: ZERO } by_number { key: 2 value: ONE }"#,
        ),
        (r#"{"by_flag":{"true":"a"}}"#, r#"by_flag { key: true value: "a" }"#),
        (
            r#"{"by_name":{"x":{"i32":1},"":null}}"#,
            r#"by_name { key: "" value { } } by_name { key: "x" value { i32: 1 } }"#,
        ),
        // The same key twice: the last scalar, all of a list, a message field by field.
        (r#"{"i32":1,"i32":2}"#, "i32: 2"),
        (r#"{"list":[1],"list":[2]}"#, "list: 1 list: 2"),
        (r#"{"m":{"i32":1,"list":[1]},"m":{"list":[2]}}"#, "m { i32: 1 list: 2 }"),
        (r#"{"i32":1,"i32":null}"#, "i32: 1"),
        // A wrapper is its value, or an object.
        (r#"{"wrapped":"5"}"#, "wrapped { value: 5 }"),
        (r#"{"wrapped":{"value":5}}"#, "wrapped { value: 5 }"),
        (r#"{"wrapped":0}"#, "wrapped { }"),
        (r#"{"took":{"seconds":"3"}}"#, "took { seconds: 3 }"),
        // Closed enums put unknown numbers aside.
        (r#"{"closed":{"k":9,"ks":["A",9,2]}}"#, "closed { ks: A ks: B 1: 9 2: 9 }"),
        ("\n { \"i32\" : 1 } \t", "i32: 1"),
    ] {
        match held(&contract, text) {
            Ok(found) => assert_eq!(found, expected, "{text}"),
            Err(refused) => assert_eq!("!", expected, "{text}: {refused}"),
        }
    }
}

#[test]
fn refusals_name_line_column_and_path() {
    let contract = contract();
    let refused = |text: &str| held(&contract, text).unwrap_err().to_string();
    insta::assert_snapshot!(
        [
            r#"{"m":{"many":[{},{"nope":1}]}}"#,
            "{\n  \"e\": \"TWO\"\n}",
            r#"{"e":true}"#,
            r#"{"i32":2147483648}"#,
            r#"{"i32":1.5}"#,
            r#"{"i32":" 1"}"#,
            r#"{"u32":-1}"#,
            r#"{"u64":18446744073709551616}"#,
            r#"{"i64":9007199254740994.0}"#,
            r#"{"i64":9223372036854775808}"#,
            r#"{"f":1e39}"#,
            r#"{"d":1e999}"#,
            r#"{"d":"x"}"#,
            r#"{"b":1}"#,
            r#"{"b":"maybe"}"#,
            r#"{"s":1}"#,
            r#"{"s":[]}"#,
            r#"{"raw":"Zg==="}"#,
            r#"{"raw":"Z"}"#,
            r#"{"raw":"*A=="}"#,
            r#"{"m":[]}"#,
            r#"{"m":1}"#,
            r#"{"i32":{}}"#,
            r#"{"left":"a","left":"b"}"#,
            r#"{"left":"a","right":{}}"#,
            r#"{"by_name":{"a":{},"a":{}}}"#,
            r#"{"by_name":{"a":{"i32":"x"}}}"#,
            r#"{"by_name":[]}"#,
            r#"{"by_number":{"x":"ONE"}}"#,
            r#"{"by_number":{"1":null}}"#,
            r#"{"any":{"@type":"x/M"}}"#,
            r#"{"took":"3s"}"#,
            r#"[]"#,
            r#"{} {}"#,
            r#""#,
            r#"{'i32':1}"#,
            r#"{"list":[1,]}"#,
            r#"{i32:1}"#,
        ]
        .map(|text| format!("{text:?}\n    {}", refused(text)))
        .join("\n")
    );
}

#[test]
fn the_canonical_text_is_what_the_writer_prints() {
    let contract = contract();
    let print = |text: &str| {
        let payload = json::parse(text.as_bytes(), &contract, "M", Limits::default()).unwrap();
        let printed = json::print(&payload.held());
        let again = json::parse(printed.as_bytes(), &contract, "M", Limits::default()).unwrap();
        assert_eq!(json::print(&again.held()), printed);
        printed
    };
    insta::assert_snapshot!(print("{}"));
    let closed = r#"{"closed":{}}"#;
    assert!(print(closed).contains(r#""closed":{"ks":[]}"#), "defaults of proto2 are not printed");
    for (text, part) in [
        (r#"{"maybe":0}"#, r#""maybe":0"#),
        (r#"{"i64":5,"u64":"6"}"#, r#""i64":"5","u32":0,"u64":"6""#),
        (r#"{"d":0.1,"f":0.1}"#, r#""f":0.1,"d":0.1"#),
        (r#"{"d":1e20,"f":16777216}"#, r#""f":16777216,"d":1e+20"#),
        (r#"{"d":0.30000000000000004,"f":1e-5}"#, r#""f":1e-05,"d":0.30000000000000004"#),
        (
            r#"{"d":123456789012345678,"f":"-Infinity"}"#,
            r#""f":"-Infinity","d":1.2345678901234568e+17"#,
        ),
        (r#"{"d":-0.0}"#, r#""d":-0"#),
        (r#"{"raw":"-_8"}"#, r#""raw":"+/8=""#),
        (r#"{"e":1}"#, r#""e":"ONE""#),
        (r#"{"e":77}"#, r#""e":77"#),
        (
            r#"{"s":"<a>\u0001\u200b\"\\\n/é😀\udb40\udc01"}"#,
            r#""s":"\u003ca\u003e\u0001\u200b\"\\\n/é😀\udb40\udc01""#,
        ),
        (
            r#"{"by_number":{"2":1,"-1":0},"by_flag":{"true":"x"}}"#,
            r#""by_number":{"-1":"ZERO","2":"ONE"},"by_flag":{"true":"x"}"#,
        ),
        (r#"{"wrapped":5}"#, r#""wrapped":"5""#),
        (r#"{"wrapped":0}"#, r#""wrapped":"0""#),
    ] {
        let printed = print(text);
        assert!(printed.contains(part), "{text}: {printed}");
    }
}

#[test]
fn hostile_text_is_refused_or_read_in_bounds() {
    let contract = contract();
    let refused =
        |text: &[u8], limits| json::parse(text, &contract, "M", limits).unwrap_err().reason;
    let nested = |open: &str, close: &str, levels: usize| {
        format!("{}{}", open.repeat(levels), close.repeat(levels)).into_bytes()
    };
    let messages = |levels| nested(r#"{"m":"#, "}", levels);
    let limits = Limits::default();
    let deep = |levels: usize| {
        let text = [&br#"{"m":"#.repeat(levels - 1)[..], b"{}", &b"}".repeat(levels - 1)].concat();
        json::parse(&text, &contract, "M", limits)
    };
    assert!(deep(100).is_ok());
    assert_eq!(deep(101).unwrap_err().reason, JsonReason::TooDeep(100));
    assert_eq!(refused(&messages(100_000), limits), JsonReason::TooDeep(100));
    assert_eq!(
        refused(&[&br#"{"list":"#[..], &b"[".repeat(100_000)].concat(), limits),
        JsonReason::TooDeep(100)
    );

    for text in [
        &br#"{"s":"\ud800"}"#[..],
        br#"{"s":"\udc00"}"#,
        br#"{"s":"\ud800x"}"#,
        b"{\"s\":\"\xff\"}",
        b"{\"s\":\"\xed\xa0\x80\"}",
        b"{\"\xff\":1}",
        b"{\"s\":\"\0\"}",
        b"{\"s\":\"",
        b"\xef\xbb\xbf{}",
        b"{\"i32\":1e",
        b"{\"i32\":01}",
    ] {
        let reason = refused(text, limits);
        assert!(matches!(reason, JsonReason::Syntax(_)), "{}: {reason:?}", text.escape_ascii());
    }

    // Huge numbers.
    let digits = format!(r#"{{"i64":{}}}"#, "9".repeat(1 << 20));
    assert!(matches!(
        refused(digits.as_bytes(), limits),
        JsonReason::Syntax(_) | JsonReason::Number(_)
    ));
    let text = format!(r#"{{"i64":"{}"}}"#, "9".repeat(1 << 20));
    let refusal = json::parse(text.as_bytes(), &contract, "M", limits).unwrap_err();
    assert!(refusal.to_string().len() < 300);
    let key = format!(r#"{{"{}":1}}"#, "k".repeat(1 << 20));
    let refusal = json::parse(key.as_bytes(), &contract, "M", limits).unwrap_err();
    assert!(refusal.to_string().len() < 300);

    // Ten megabytes, and a limit on what may be held.
    let list = format!(r#"{{"list":[{}0]}}"#, "0,".repeat(5 << 20));
    assert!(json::parse(list.as_bytes(), &contract, "M", limits).is_ok());
    let tight = Limits { memory: 1 << 20, ..limits };
    assert_eq!(refused(list.as_bytes(), tight), JsonReason::TooLarge(1 << 20));
    let strings = format!(r#"{{"words":["{}"]}}"#, "x".repeat(10 << 20));
    assert_eq!(refused(strings.as_bytes(), tight), JsonReason::TooLarge(1 << 20));
    let twice = format!(r#"{{{}"i32":1}}"#, r#""i32":1,"#.repeat(1 << 17));
    assert!(json::parse(twice.as_bytes(), &contract, "M", limits).is_ok());
}
