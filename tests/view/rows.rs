//! Every row of the wire-compatibility table: what either reader holds of the other's data, that C++
//! protobuf holds the same, and that `change::wire` rates the change by it.

use aotgate::change::{Pairs, Severity, WireEffect, compare};
use aotgate::descriptor::Contract;
use aotgate::view::{Limits, LossKind, decode, losses, translate};

use crate::common::{Files, everything};
use crate::oracle::{protoc, write};
use crate::table::{Case, rows};
use crate::text::print;
use LossKind::{Dropped, Refused, Reinterpreted};
use Severity::{Fail, LossyInRange, Safe, SilentLoss, WrongValue};

fn contract(text: &str) -> Contract {
    Files::new(&[("a.proto", text)]).contract(&everything(["a.proto".to_owned()])).unwrap()
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// One direction: `writer` writes the text, `reader` reads it.
fn check(writer: &str, reader: &str, severity: Severity, case: Case) -> Result<(), String> {
    let (text, expected, loss) = case;
    let dir = |text: &str| write(&[("a.proto", text.to_owned())]);
    let (writer_dir, reader_dir) = (dir(writer), dir(reader));
    let (writer, reader) = (contract(writer), contract(reader));
    let bytes = protoc(writer_dir.path(), &["--encode=M"], text.as_bytes()).bytes;
    let theirs = protoc(reader_dir.path(), &["--decode=M"], &bytes);
    let ours = decode(&bytes, &reader, "M", Limits::default());
    let text = ours.as_ref().map_or("!".to_owned(), |held| words(&print(held, true)));
    if text != expected {
        return Err(format!("holds {text}, not {expected}"));
    }
    let refused = !theirs.parsed || theirs.missing_required;
    if refused != ours.is_err()
        || !refused && words(&theirs.text) != words(expected) && !text.contains("value: \"\"")
    {
        return Err(format!("protoc holds {} {}", words(&theirs.text), theirs.stderr));
    }
    let found = losses(&bytes, &writer, &reader, "M");
    if found.first().map(|l| l.kind) != loss {
        return Err(format!("losses {found:?}, not {loss:?}"));
    }
    let fits = match severity {
        Safe => loss.is_none(),
        LossyInRange => loss != Some(Refused),
        SilentLoss => matches!(loss, Some(Dropped | Reinterpreted)),
        WrongValue => loss == Some(Reinterpreted),
        Fail => loss == Some(Refused),
    };
    if !fits {
        return Err(format!("{severity:?} does not fit {loss:?}"));
    }
    Ok(())
}

#[test]
fn every_row_of_the_table() {
    let mut errors = Vec::new();
    for row in rows() {
        let mut note = |text: String| errors.push(format!("{}: {text}", row.change));
        let (base, head) = (contract(row.base), contract(row.head));
        let changes = compare(&base, &head);
        let effect = changes.iter().fold(WireEffect::SAFE, |worst, c| worst.worst(c.wire));
        if effect != WireEffect::new(row.effect.0, row.effect.1) {
            note(format!("change::wire says {effect:?}, the row {:?}", row.effect));
        }
        if let Err(error) = check(row.base, row.head, row.effect.0, row.backward) {
            note(format!("backward: {error}"));
        }
        if let Err(error) = check(row.head, row.base, row.effect.1, row.forward) {
            note(format!("forward: {error}"));
        }
    }
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

/// protoc resolves C++'s own features only where it generates C++, so that it is no oracle here.
#[test]
fn a_proto3_enum_in_a_proto2_file_is_closed() {
    let files = [
        (
            "a.proto",
            "syntax = \"proto2\"; import \"b.proto\"; message M { optional E a = 1; repeated E b = 2 [packed = true]; }",
        ),
        (
            "b.proto",
            "syntax = \"proto3\"; enum E { A = 0; B = 1; } message N { E a = 1; repeated E b = 2; }",
        ),
    ];
    let spec = everything(["a.proto".to_owned(), "b.proto".to_owned()]);
    let contract = Files::new(&files).contract(&spec).unwrap();
    let bytes = b"\x08\x07\x12\x03\x01\x07\x00";
    let text =
        |root| words(&print(&decode(bytes, &contract, root, Limits::default()).unwrap(), true));
    assert_eq!(text("M"), "b: B b: A 1: 7 2: 7");
    assert_eq!(text("N"), "a: 7 b: B b: 7 b: A");
}

#[test]
fn translation_goes_by_name() {
    let from = contract(
        "syntax = \"proto3\"; package p; message M { int32 moved = 1; int32 gone = 2; N renamed = 3; repeated E kinds = 4; \
         int64 wide = 5; map<string, N> table = 6; oneof o { int32 x = 7; N y = 8; } } \
         message N { int32 v = 1; } enum E { ZERO = 0; ONE = 1; TWO = 2; }",
    );
    let to = contract(
        "syntax = \"proto3\"; package p; message M { int32 moved = 11; N other_name = 3; repeated E kinds = 4; \
         int32 wide = 5; map<string, N> table = 16; oneof o { int32 x = 17; N y = 18; } } \
         message N { int32 v = 1; } enum E { ZERO = 0; ONE = 5; }",
    );
    let dir = write(&[("a.proto", "syntax = \"proto3\"; package p; message M { int32 moved = 1; int32 gone = 2; N renamed = 3; repeated E kinds = 4; \
         int64 wide = 5; map<string, N> table = 6; oneof o { int32 x = 7; N y = 8; } int32 later = 9; } \
         message N { int32 v = 1; int32 later = 2; } enum E { ZERO = 0; ONE = 1; TWO = 2; }".to_owned())]);
    let text = "moved: 1 gone: 2 renamed { v: 3 } kinds: ONE kinds: TWO kinds: 9 wide: 4294967301 \
                table { key: \"k\" value { v: 4 later: 1 } } y { v: 5 } later: 6";
    let bytes = protoc(dir.path(), &["--encode=p.M"], text.as_bytes()).bytes;
    let held = decode(&bytes, &from, "p.M", Limits::default()).unwrap();
    let (bytes, losses) = translate(&held, &to, &Pairs::new(&from, &to));
    let read = decode(&bytes, &to, "p.M", Limits::default()).unwrap();
    assert_eq!(
        words(&print(&read, true)),
        "other_name { v: 3 } kinds: ONE kinds: 9 moved: 1 table { key: \"k\" value { v: 4 } } y { v: 5 }"
    );
    let losses: Vec<String> = losses.iter().map(ToString::to_string).collect();
    assert_eq!(
        losses,
        [
            "dropped p.M.9: the reader does not know it, at 9",
            "not-modelled p.M.gone: the contract has no such field, at gone",
            "not-modelled p.E.TWO: the contract has no such enum value, at kinds[1]",
            "not-modelled p.M.wide: the value does not fit the contract's type (4294967301 as int32), at wide",
            "dropped p.N.2: the reader does not know it, at table[\"k\"].2",
        ]
    );
}

#[test]
fn equal_losses_are_counted() {
    let of = |fields: &str| {
        contract(&format!(
            "syntax = \"proto3\"; message M {{ repeated N list = 1; }} message N {{ {fields} }}"
        ))
    };
    let (writer, reader) = (of("int32 a = 1; int32 b = 2;"), of("int32 b = 2;"));
    let mut bytes = b"\x0a\x02\x10\x01".to_vec();
    bytes.extend(b"\x0a\x02\x08\x01".repeat(10_000));
    let losses = losses(&bytes, &writer, &reader, "M");
    let losses: Vec<String> = losses.iter().map(ToString::to_string).collect();
    assert_eq!(
        losses,
        ["dropped N.a: the reader does not have the field, 10000 times, first at list[1].a"]
    );
}
