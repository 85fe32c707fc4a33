//! Texts that nobody should have written.

use aotgate::descriptor::Contract;
use aotgate::view::Limits;
use aotgate::view::text::{Parsed, Reason, TextRefused, parse};
use miette::Diagnostic as _;

use crate::common::{Files, everything};

const SCHEMA: &str = "syntax = \"proto2\"; import \"google/protobuf/any.proto\"; message M { optional M m = 1; repeated M ms = 2; map<int32, M> mp = 3; \
                      optional string s = 4; optional double d = 5; optional int64 l = 6; optional google.protobuf.Any any = 7; \
                      repeated group G = 8 { optional M m = 1; } repeated bool b = 9; reserved \"gone\"; }";

fn contract() -> Contract {
    Files::new(&[("a.proto", SCHEMA)]).contract(&everything(["a.proto".to_owned()])).unwrap()
}

fn read(text: &[u8]) -> Result<Parsed, TextRefused> {
    parse(text, &contract(), "M", Limits::default())
}

/// Nesting is limited to what a reader of the binary form takes, whatever nests.
#[test]
fn nesting_is_limited() {
    for (open, close, levels) in [
        ("m {", "}", 1),
        ("m <", ">", 1),
        ("ms [{", "}]", 1),
        ("mp { value {", "}}", 2),
        ("G { m {", "}}", 2),
        ("gone {", "}", 1),
        ("any { [a/M] {", "}}", 2),
    ] {
        for depth in [0, 50, 51, 100, 101] {
            let text = format!("{}{}", open.repeat(depth), close.repeat(depth));
            let read = read(text.as_bytes());
            assert_eq!(read.is_ok(), depth * levels <= 100, "{open} {depth}: {read:?}");
        }
        let bomb = open.repeat(1_000_000);
        assert_eq!(read(bomb.as_bytes()).unwrap_err().reason, Reason::TooDeep(100), "{open}");
    }
    let lists = format!("gone: {}", "[".repeat(1_000_000));
    assert_eq!(read(lists.as_bytes()).unwrap_err().reason, Reason::TooDeep(100));
}

#[test]
fn memory_is_bounded() {
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    let list = format!("b: [t{}]", ", t".repeat(1 << 18));
    let messages = "ms{}".repeat(1 << 16);
    let string = format!("s: '{}'", "x".repeat(1 << 21));
    for text in [list, messages, string] {
        let refused = parse(text.as_bytes(), &contract(), "M", limits).unwrap_err();
        assert_eq!(refused.reason, Reason::TooLarge(1 << 20), "{refused}");
    }
}

#[test]
fn long_lines_and_literals() {
    let x = "x".repeat(10_000_000);
    let digits = "9".repeat(10_000_000);
    let texts = [
        format!("s: '{x}"),
        format!("s: '{x}' {x}: 1"),
        format!("l: {digits}"),
        format!("{x} {{ }}"),
        format!("[{x}]: 1"),
        format!("m {{ {x}"),
        format!("b: {x}"),
        format!("s: '{}'", "\\q".repeat(5_000_000)),
    ];
    for text in texts {
        let refused = read(text.as_bytes()).unwrap_err();
        assert!(refused.to_string().len() < 300, "{refused}");
        let shown = format!("{:?}", miette::Report::new(refused));
        assert!(shown.len() < 2_000, "{shown}");
    }
    let held = read(format!("d: {digits} s: '{}'", "\\377".repeat(2_000_000)).as_bytes()).unwrap();
    assert_eq!(held.bytes.len(), 2_000_000 + 4 + 9);
    assert!(read(format!("d: 0.{digits}e-9999999").as_bytes()).is_ok());
    assert!(read(format!("d: 1e{digits}").as_bytes()).is_ok());
}

#[test]
fn a_refusal_shows_its_line() {
    let text = format!("s: 'a'\nm {{ s: '{}' \x1b[31m", "y".repeat(1000));
    let refused = read(text.as_bytes()).unwrap_err();
    assert_eq!((refused.at.line, refused.at.column), (2, 1011));
    insta::assert_snapshot!(render(&refused));
    insta::assert_snapshot!(render(&read(b"s: 'a'\nm {\n  ms { zz: 5 }\n}").unwrap_err()));
    insta::assert_snapshot!(render(&read(b"# c\nms: [{ an: 5 }]").unwrap_err()));
    assert_eq!(refused.code().unwrap().to_string(), "aotgate::text_format");
}

fn render(refused: &TextRefused) -> String {
    let mut out = String::new();
    miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::unicode_nocolor())
        .with_width(100)
        .render_report(&mut out, refused)
        .unwrap();
    out
}
