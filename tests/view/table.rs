//! The rows of the wire-compatibility table.

use aotgate::change::Severity;
use aotgate::view::LossKind;

use LossKind::{Dropped, Presence, Refused, Reinterpreted, Unnamed};
use Severity::{Fail, LossyInRange, Safe, SilentLoss, WrongValue};

pub(crate) struct Row {
    pub(crate) change: &'static str,
    pub(crate) base: &'static str,
    pub(crate) head: &'static str,
    pub(crate) effect: (Severity, Severity),
    /// New reader, old data.
    pub(crate) backward: Case,
    /// Old reader, new data.
    pub(crate) forward: Case,
}

/// What is written, what is held of it (`!` where it is refused), and the loss that shows.
pub(crate) type Case = (&'static str, &'static str, Option<LossKind>);

macro_rules! row {
    ($change:literal, $syntax:ident: $base:literal => $head:literal, $backward:ident / $forward:ident,
     $old:expr, $new:expr) => {
        Row {
            change: $change,
            base: concat!(header!($syntax), $base),
            head: concat!(header!($syntax), $head),
            effect: ($backward, $forward),
            backward: $old,
            forward: $new,
        }
    };
}

macro_rules! header {
    (p2) => {
        "syntax = \"proto2\"; "
    };
    (p3) => {
        "syntax = \"proto3\"; "
    };
    (ed) => {
        "edition = \"2023\"; "
    };
}

pub(crate) fn rows() -> Vec<Row> {
    let mut rows = numbers();
    rows.extend(types());
    rows.extend(enums());
    rows.extend(shapes());
    rows
}

/// Fields that come, go and change their number.
fn numbers() -> Vec<Row> {
    vec![
        row!("add field", p3: "message M { int32 a = 1; }" => "message M { int32 a = 1; int32 b = 2; }",
            Safe / SilentLoss, ("a: 1", "a: 1", None), ("a: 1 b: 2", "a: 1 2: 2", Some(Dropped))),
        row!("delete field", p3: "message M { int32 a = 1; int32 b = 2; }" => "message M { int32 a = 1; }",
            SilentLoss / Safe, ("a: 1 b: 2", "a: 1 2: 2", Some(Dropped)), ("a: 1", "a: 1", None)),
        row!("renumber", p3: "message M { int32 a = 1; }" => "message M { int32 a = 2; }",
            SilentLoss / SilentLoss, ("a: 5", "1: 5", Some(Dropped)), ("a: 5", "2: 5", Some(Dropped))),
        row!("reuse a number", p3: "message M { int32 a = 1; }" => "message M { reserved \"a\"; int32 b = 1; }",
            WrongValue / WrongValue, ("a: 5", "b: 5", Some(Reinterpreted)), ("b: 5", "a: 5", Some(Reinterpreted))),
        row!("swap two numbers", p3: "message M { int32 a = 1; int32 b = 2; }" => "message M { int32 b = 1; int32 a = 2; }",
            WrongValue / WrongValue, ("a: 5", "b: 5", Some(Reinterpreted)), ("b: 5", "a: 5", Some(Reinterpreted))),
        row!("add required", p2: "message M { optional int32 a = 1; }" => "message M { optional int32 a = 1; required int32 b = 2; }",
            Fail / SilentLoss, ("a: 1", "!", Some(Refused)), ("a: 1 b: 2", "a: 1 2: 2", Some(Dropped))),
        row!("required->optional", p2: "message M { required int32 a = 1; }" => "message M { optional int32 a = 1; }",
            Safe / Fail, ("a: 1", "a: 1", None), ("", "!", Some(Refused))),
        row!("delete required", p2: "message M { optional int32 a = 1; required int32 b = 2; }" => "message M { optional int32 a = 1; }",
            SilentLoss / Fail, ("a: 1 b: 2", "a: 1 2: 2", Some(Dropped)), ("a: 1", "!", Some(Refused))),
        row!("default value change", p2: "message M { optional int32 a = 1 [default = 5]; }" => "message M { optional int32 a = 1 [default = 6]; }",
            WrongValue / WrongValue, ("", "", Some(Reinterpreted)), ("", "", Some(Reinterpreted))),
        row!("extension range shrunk", p2: "message M { optional int32 a = 1; extensions 100 to 200; } extend M { optional int32 e = 150; }"
                => "message M { optional int32 a = 1; extensions 100 to 120; }",
            SilentLoss / Safe, ("[e]: 5", "150: 5", Some(Dropped)), ("a: 1", "a: 1", None)),
        row!("rename of a field", p3: "message M { int32 old_name = 1; }" => "message M { int32 new_name = 1; }",
            Safe / Safe, ("old_name: 5", "new_name: 5", None), ("new_name: 5", "old_name: 5", None)),
        row!("rename of a message and an enum", p3: "message M { N a = 1; E e = 2; } message N { int32 x = 1; } enum E { A = 0; B = 1; }"
                => "message M { N2 a = 1; E2 e = 2; } message N2 { int32 x = 1; } enum E2 { A = 0; B = 1; }",
            Safe / Safe, ("a { x: 1 } e: B", "a { x: 1 } e: B", None), ("a { x: 1 } e: B", "a { x: 1 } e: B", None)),
        row!("reserved range dropped", p3: "message M { reserved 2; int32 a = 1; }" => "message M { int32 a = 1; }",
            Safe / Safe, ("a: 1", "a: 1", None), ("a: 1", "a: 1", None)),
    ]
}

/// Scalars, strings, bytes and messages read as each other.
fn types() -> Vec<Row> {
    vec![
        row!("int32->int64", p3: "message M { int32 a = 1; }" => "message M { int64 a = 1; }",
            Safe / LossyInRange, ("a: -5", "a: -5", None), ("a: 4294967301", "a: 5", Some(Reinterpreted))),
        row!("uint32->uint64", p3: "message M { uint32 a = 1; }" => "message M { uint64 a = 1; }",
            Safe / LossyInRange, ("a: 5", "a: 5", None), ("a: 4294967301", "a: 5", Some(Reinterpreted))),
        row!("signed->unsigned", p3: "message M { int32 a = 1; int64 b = 2; }" => "message M { uint32 a = 1; uint64 b = 2; }",
            LossyInRange / LossyInRange,
            ("a: -1 b: -1", "a: 4294967295 b: 18446744073709551615", Some(Reinterpreted)),
            ("a: 4294967295", "a: -1", Some(Reinterpreted))),
        row!("int->bool", p3: "message M { int32 a = 1; }" => "message M { bool a = 1; }",
            LossyInRange / Safe, ("a: 2", "a: true", Some(Reinterpreted)), ("a: true", "a: 1", None)),
        row!("sint32->sint64", p3: "message M { sint32 a = 1; }" => "message M { sint64 a = 1; }",
            Safe / LossyInRange, ("a: -3", "a: -3", None), ("a: 4294967301", "a: 5", Some(Reinterpreted))),
        row!("int->sint", p3: "message M { int32 a = 1; }" => "message M { sint32 a = 1; }",
            WrongValue / WrongValue, ("a: 5", "a: -3", Some(Reinterpreted)), ("a: -3", "a: 5", Some(Reinterpreted))),
        row!("fixed->sfixed", p3: "message M { fixed32 a = 1; fixed64 b = 2; }" => "message M { sfixed32 a = 1; sfixed64 b = 2; }",
            LossyInRange / LossyInRange,
            ("a: 4294967295 b: 18446744073709551615", "a: -1 b: -1", Some(Reinterpreted)),
            ("a: -1 b: -1", "a: 4294967295 b: 18446744073709551615", Some(Reinterpreted))),
        row!("fixed->float", p3: "message M { fixed32 a = 1; fixed64 b = 2; }" => "message M { float a = 1; double b = 2; }",
            WrongValue / WrongValue,
            ("a: 1065353216 b: 4607182418800017408", "a: 1 b: 1", Some(Reinterpreted)),
            ("a: 1 b: 1", "a: 1065353216 b: 4607182418800017408", Some(Reinterpreted))),
        row!("int->fixed", p3: "message M { int32 a = 1; }" => "message M { fixed32 a = 1; }",
            SilentLoss / SilentLoss, ("a: 5", "1: 5", Some(Dropped)), ("a: 5", "1: 0x00000005", Some(Dropped))),
        row!("scalar->string", p3: "message M { int32 a = 1; }" => "message M { string a = 1; }",
            SilentLoss / SilentLoss, ("a: 5", "1: 5", Some(Dropped)), ("a: \"x\"", "1: \"x\"", Some(Dropped))),
        row!("packed list->bytes", p3: "message M { repeated int32 a = 1; }" => "message M { repeated bytes a = 1; }",
            WrongValue / Fail, ("a: 1 a: 2", "a: \"\\001\\002\"", Some(Reinterpreted)), ("a: \"\\377\"", "!", Some(Refused))),
        row!("packed int list->fixed list", p3: "message M { repeated int32 a = 1; }" => "message M { repeated fixed32 a = 1; }",
            Fail / Fail, ("a: 1 a: 2", "!", Some(Refused)), ("a: 4294967295", "!", Some(Refused))),
        row!("string->bytes", p3: "message M { string a = 1; }" => "message M { bytes a = 1; }",
            Safe / Fail, ("a: \"x\"", "a: \"x\"", None), ("a: \"\\377\"", "!", Some(Refused))),
        row!("string->bytes in proto2", p2: "message M { optional string a = 1; }" => "message M { optional bytes a = 1; }",
            Safe / Safe, ("a: \"x\"", "a: \"x\"", None), ("a: \"\\377\"", "a: \"\\377\"", None)),
        row!("bytes->string", p3: "message M { bytes a = 1; }" => "message M { string a = 1; }",
            Fail / Safe, ("a: \"\\377\"", "!", Some(Refused)), ("a: \"x\"", "a: \"x\"", None)),
        row!("utf8_validation NONE->VERIFY", ed: "message M { string a = 1 [features.utf8_validation = NONE]; }" => "message M { string a = 1; }",
            Fail / Safe, ("a: \"\\377\"", "!", Some(Refused)), ("a: \"x\"", "a: \"x\"", None)),
        row!("message->bytes", p3: "message M { N a = 1; } message N { int32 x = 1; }" => "message M { bytes a = 1; } message N { int32 x = 1; }",
            WrongValue / Fail, ("a { x: 5 }", "a: \"\\010\\005\"", Some(Reinterpreted)), ("a: \"\\010\"", "!", Some(Refused))),
        row!("message->string", p3: "message M { N a = 1; } message N { int32 x = 1; }" => "message M { string a = 1; } message N { int32 x = 1; }",
            Fail / Fail, ("a { x: 255 }", "!", Some(Refused)), ("a: \"x\"", "!", Some(Refused))),
        row!("LENGTH_PREFIXED->DELIMITED", ed: "message M { N a = 1; } message N { int32 x = 1; }"
                => "message M { N a = 1 [features.message_encoding = DELIMITED]; } message N { int32 x = 1; }",
            SilentLoss / SilentLoss, ("a { x: 5 }", "1 { 1: 5 }", Some(Dropped)), ("a { x: 5 }", "1 { 1: 5 }", Some(Dropped))),
    ]
}

fn enums() -> Vec<Row> {
    vec![
        row!("enum->int32, open", p3: "message M { E a = 1; } enum E { A = 0; B = 1; }" => "message M { int32 a = 1; } enum E { A = 0; B = 1; }",
            Safe / Safe, ("a: B", "a: 1", None), ("a: 7", "a: 7", None)),
        row!("int64->enum, open", p3: "message M { int64 a = 1; } enum E { A = 0; B = 1; }" => "message M { E a = 1; } enum E { A = 0; B = 1; }",
            LossyInRange / Safe, ("a: 4294967297", "a: B", Some(Reinterpreted)), ("a: B", "a: 1", None)),
        row!("int32->enum, closed", p2: "message M { optional int32 a = 1; } enum E { A = 0; B = 1; }" => "message M { optional E a = 1; } enum E { A = 0; B = 1; }",
            LossyInRange / Safe, ("a: 7", "1: 7", Some(Dropped)), ("a: B", "a: 1", None)),
        row!("enum->uint64, with a negative number", p3: "message M { E a = 1; } enum E { A = 0; B = -1; }" => "message M { uint64 a = 1; } enum E { A = 0; B = -1; }",
            LossyInRange / LossyInRange, ("a: B", "a: 18446744073709551615", Some(Reinterpreted)), ("a: 4294967296", "", Some(Reinterpreted))),
        row!("add enum value, open", p3: "message M { E a = 1; } enum E { A = 0; B = 1; }" => "message M { E a = 1; } enum E { A = 0; B = 1; C = 2; }",
            Safe / LossyInRange, ("a: B", "a: B", None), ("a: C", "a: 2", Some(Unnamed))),
        row!("add enum value, closed", p2: "message M { optional E a = 1; } enum E { A = 0; B = 1; }" => "message M { optional E a = 1; } enum E { A = 0; B = 1; C = 2; }",
            Safe / SilentLoss, ("a: B", "a: B", None), ("a: C", "1: 2", Some(Dropped))),
        row!("add enum value, closed, repeated", p2: "message M { repeated E a = 1; } enum E { A = 0; B = 1; }" => "message M { repeated E a = 1; } enum E { A = 0; B = 1; C = 2; }",
            Safe / SilentLoss, ("a: B", "a: B", None), ("a: C a: B", "a: B 1: 2", Some(Dropped))),
        row!("add enum value, closed, packed", p2: "message M { repeated E a = 1 [packed = true]; } enum E { A = 0; B = 1; }"
                => "message M { repeated E a = 1 [packed = true]; } enum E { A = 0; B = 1; C = 2; }",
            Safe / SilentLoss, ("a: B", "a: B", None), ("a: C a: B", "a: B 1: 2", Some(Dropped))),
        row!("add enum value, closed, in a map", p2: "message M { map<int32, E> a = 1; } enum E { A = 0; B = 1; }" => "message M { map<int32, E> a = 1; } enum E { A = 0; B = 1; C = 2; }",
            Safe / SilentLoss, ("a { key: 1 value: B }", "a { key: 1 value: B }", None),
            ("a { key: 1 value: B } a { key: 2 value: C }", "a { key: 1 value: B } 1 { 1: 2 2: 2 }", Some(Dropped))),
        row!("delete enum value, open", p3: "message M { E a = 1; } enum E { A = 0; B = 1; C = 2; }" => "message M { E a = 1; } enum E { A = 0; B = 1; }",
            LossyInRange / Safe, ("a: C", "a: 2", Some(Unnamed)), ("a: B", "a: B", None)),
        row!("delete enum value, closed", p2: "message M { optional E a = 1; } enum E { A = 0; B = 1; C = 2; }" => "message M { optional E a = 1; } enum E { A = 0; B = 1; }",
            SilentLoss / Safe, ("a: C", "1: 2", Some(Dropped)), ("a: B", "a: B", None)),
        row!("reuse of an enum number", p3: "message M { E a = 1; } enum E { A = 0; B = 1; }" => "message M { E a = 1; } enum E { reserved \"B\"; A = 0; C = 1; }",
            WrongValue / WrongValue, ("a: B", "a: C", Some(Reinterpreted)), ("a: C", "a: B", Some(Reinterpreted))),
        row!("open->closed enum", ed: "message M { E a = 1; } enum E { A = 0; B = 1; }" => "message M { E a = 1; } enum E { option features.enum_type = CLOSED; A = 0; B = 1; }",
            LossyInRange / Safe, ("a: 7", "1: 7", Some(Dropped)), ("a: B", "a: B", None)),
    ]
}

/// Labels, presence, oneofs, maps.
fn shapes() -> Vec<Row> {
    vec![
        row!("singular->repeated string", p3: "message M { optional string a = 1; }" => "message M { repeated string a = 1; }",
            Safe / SilentLoss, ("a: \"x\"", "a: \"x\"", None), ("a: \"x\" a: \"y\"", "a: \"y\"", Some(Dropped))),
        row!("singular->repeated message", p3: "message M { N a = 1; } message N { int32 x = 1; int32 y = 2; }" => "message M { repeated N a = 1; } message N { int32 x = 1; int32 y = 2; }",
            Safe / SilentLoss, ("a { x: 1 }", "a { x: 1 }", None), ("a { x: 1 } a { y: 2 }", "a { x: 1 y: 2 }", Some(Reinterpreted))),
        row!("singular->repeated numeric, packed", p3: "message M { optional int32 a = 1; }" => "message M { repeated int32 a = 1; }",
            Safe / SilentLoss, ("a: 1", "a: 1", None), ("a: 1 a: 2", "1: \"\\001\\002\"", Some(Dropped))),
        row!("singular->repeated numeric, unpacked", p2: "message M { optional int32 a = 1; }" => "message M { repeated int32 a = 1; }",
            Safe / SilentLoss, ("a: 1", "a: 1", None), ("a: 1 a: 2", "a: 2", Some(Dropped))),
        row!("packed->expanded", p3: "message M { repeated int32 a = 1; }" => "message M { repeated int32 a = 1 [packed = false]; }",
            Safe / Safe, ("a: 1 a: 2", "a: 1 a: 2", None), ("a: 1 a: 2", "a: 1 a: 2", None)),
        row!("field -> new oneof, alone, explicit presence", p3: "message M { optional int32 a = 1; }" => "message M { oneof o { int32 a = 1; } }",
            Safe / Safe, ("a: 0", "a: 0", None), ("a: 0", "a: 0", None)),
        // That the writer's zero was not sent shows in no artifact.
        row!("implicit-presence scalar -> oneof", p3: "message M { int32 a = 1; }" => "message M { oneof o { int32 a = 1; } }",
            LossyInRange / LossyInRange, ("a: 0", "", None), ("a: 0", "", Some(Presence))),
        row!("several fields -> new oneof", p3: "message M { optional int32 a = 1; optional int32 b = 2; }" => "message M { oneof o { int32 a = 1; int32 b = 2; } }",
            LossyInRange / Safe, ("a: 1 b: 2", "b: 2", Some(Dropped)), ("b: 2", "b: 2", None)),
        row!("a field -> existing oneof", p3: "message M { oneof o { int32 a = 1; } optional int32 b = 2; }" => "message M { oneof o { int32 a = 1; int32 b = 2; } }",
            LossyInRange / Safe, ("a: 1 b: 2", "b: 2", Some(Dropped)), ("b: 2", "b: 2", None)),
        row!("add oneof member", p3: "message M { oneof o { int32 a = 1; } }" => "message M { oneof o { int32 a = 1; int32 b = 2; } }",
            Safe / SilentLoss, ("a: 1", "a: 1", None), ("b: 2", "2: 2", Some(Dropped))),
        row!("delete oneof member", p3: "message M { oneof o { int32 a = 1; int32 b = 2; } }" => "message M { oneof o { int32 a = 1; } }",
            SilentLoss / Safe, ("b: 2", "2: 2", Some(Dropped)), ("a: 1", "a: 1", None)),
        row!("one-member oneof -> explicit field", p3: "message M { oneof o { int32 a = 1; } }" => "message M { optional int32 a = 1; }",
            Safe / Safe, ("a: 0", "a: 0", None), ("a: 0", "a: 0", None)),
        row!("repeated entry->map", p3: "message M { repeated E a = 1; } message E { int32 key = 1; string value = 2; }" => "message M { map<int32, string> a = 1; } message E { int32 key = 1; string value = 2; }",
            LossyInRange / Safe,
            ("a { key: 1 value: \"x\" } a { key: 1 }", "a { key: 1 value: \"\" }", Some(Dropped)),
            ("a { key: 1 value: \"x\" }", "a { key: 1 value: \"x\" }", None)),
        row!("explicit->implicit presence", p3: "message M { optional int32 a = 1; }" => "message M { int32 a = 1; }",
            LossyInRange / LossyInRange, ("a: 0", "", Some(Presence)), ("a: 0", "", None)),
        row!("implicit->explicit", p3: "message M { int32 a = 1; }" => "message M { optional int32 a = 1; }",
            LossyInRange / Safe, ("a: 0", "", None), ("a: 1", "a: 1", None)),
    ]
}
