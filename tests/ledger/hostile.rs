//! Ledgers that nobody wrote with the command.

use aotgate::history::ledger::{HEADER, Ledger};

use crate::random::Random;
use crate::schema::Schema;
use crate::whole::fresh;

#[track_caller]
fn refused(lines: &[&str], at: usize, why: &str) {
    let text = format!("{HEADER}\n{}\n", lines.join("\n"));
    let error = Ledger::read("aotgate.lock", text.as_bytes()).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with(&format!("aotgate.lock:{at}: ")) && text.contains(why), "{text}");
    let help = miette::Diagnostic::help(&error).unwrap().to_string();
    assert!(help.contains("run `aotgate ledger` again"), "{help}");
}

const M: &str = "message M wire in=a.proto : ?2026-05-04..";

#[test]
fn what_is_broken_is_named_with_its_line() {
    refused(&["root M", M, "<<<<<<< HEAD", M], 4, "merge conflict");
    refused(&["root M", M, M], 4, "is there twice");
    let field = "field M 1 a int32 optional implicit : ?2026-05-04..";
    refused(
        &["root M", M, "field M 2 b int32 optional implicit : ?2026-05-04..", field],
        5,
        "sorted",
    );
    refused(&[M, &field.replace("int32", ".N")], 3, "not declared");
    refused(&[M, &field.replace("int32", "int31")], 3, "not declared");
    refused(&[M, field, &field.replace(" a ", " b ")], 4, "two fields have the number 1");
    refused(&[M, &field.replace(" 1 ", " 0 ")], 3, "no field number");
    refused(&[M, &field.replace(" 1 ", " 01 ")], 3, "no number");
    refused(&[M, &field.replace("implicit", "implicit packed packed")], 3, "`packed`");
    refused(&[M, &field.replace("implicit", "implicit oneof=a packed")], 3, "`packed`");
    refused(&[M, &field.replace("?2026-05-04..", "2026-05-04..")], 3, "no date");
    refused(&[M, &field.replace("?2026-05-04..", "?2026-05-04..?2026-05-03")], 3, "ends before");
    refused(&[M, &field.replace(" : ?2026-05-04..", "")], 3, "lacks its dates");
    refused(&[&M.replace("..", "..+2026-06-01").replace(" in=a.proto", ""), field], 3, "lasts");
    refused(&[field], 2, "no line in front of it declares M");
    refused(&["root N", M], 1, "the root N is not declared");
    refused(&["handler M : ?2026-05-04.."], 2, "a newer aotgate wrote it");
    refused(&["", M], 2, "an empty line");
    refused(&[&M.replace("message M", "message  M")], 2, "single spaces");
    refused(&[M, "name M N : ?2026-05-04.."], 2, "the last name is N");
    refused(&[&M.replace("M wire", "M^1 wire")], 2, "namesake");
    refused(&[M, "value M 1 A : ?2026-05-04.."], 3, "does not belong here");
    refused(&["enum E in=a.proto : ?2026-05-04.."], 2, "`open` or `closed`");
    refused(&[M, "reserved M 5..3 : ?2026-05-04.."], 3, "ends before");
    refused(&[M, &field.replace("implicit", "implicit means=2/b")], 3, "names no earlier line");
}

#[test]
fn the_first_line_says_what_it_is() {
    for (text, why) in [
        ("", "no ledger"),
        ("message M\n", "no ledger"),
        ("<<<<<<< HEAD\n", "merge conflict"),
        ("# aotgate ledger 2 (x)\n", "newer aotgate"),
        (HEADER, "cut off"),
    ] {
        let error = Ledger::read("x.lock", text.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("x.lock:1: ") && error.contains(why), "{text:?}: {error}");
    }
    assert!(Ledger::read("x.lock", b"\xff").is_err());
    // Line ends of Windows are none of its business.
    let text = format!("{HEADER}\nroot M\n{M}\n");
    assert!(Ledger::read("x.lock", text.as_bytes()).is_ok());
    assert!(Ledger::read("x.lock", text.replace('\n', "\r\n").as_bytes()).is_ok());
}

/// Names cannot become lines, words or properties.
#[test]
fn names_stay_names() {
    let file = prost_types::FileDescriptorProto {
        name: Some("a b\nroot evil.proto".into()),
        message_type: vec![prost_types::DescriptorProto {
            name: Some("M".into()),
            reserved_name: vec!["x : ?2026-05-04..\nroot E".into(), String::new(), "%41".into()],
            ..Default::default()
        }],
        syntax: Some("proto3".into()),
        ..Default::default()
    };
    let bytes = prost::Message::encode_to_vec(&file);
    let closure = aotgate::descriptor::SourceClosure::from_file_descriptors([&*bytes]).unwrap();
    let contract = closure.contract(&crate::common::everything(["none".to_owned()])).unwrap();
    let ledger = fresh(contract);
    let text = ledger.write();
    assert_eq!(text.lines().count(), 6, "{text}");
    let back = crate::whole::round_trip(&ledger);
    assert_eq!(
        back.contract().message("M").unwrap().reserved_names,
        ledger.contract().message("M").unwrap().reserved_names
    );
}

/// Whatever happens to a ledger, it is read or refused; and what is read can be written.
#[test]
fn mutations_never_panic() {
    let text = fresh(Schema::random(&mut Random::new(1)).contract()).write();
    let other = fresh(Schema::random(&mut Random::new(2)).contract()).write();
    for seed in 0..1000 {
        let mut random = Random::new(seed);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for _ in 0..1 + random.below(3) {
            let at = 1 + random.below(lines.len() - 1);
            match random.below(6) {
                0 => drop(lines.remove(at)),
                1 => {
                    let line = lines[at].clone();
                    lines.insert(at, line);
                }
                2 => {
                    let from: Vec<&str> = other.lines().collect();
                    lines.insert(at, from[random.below(from.len())].to_owned());
                }
                3 => {
                    let mut words: Vec<&str> = lines[at].split(' ').collect();
                    let (a, b) = (random.below(words.len()), random.below(words.len()));
                    words.swap(a, b);
                    lines[at] = words.join(" ");
                }
                4 => {
                    let mut bytes = lines[at].clone().into_bytes();
                    let place = random.below(bytes.len());
                    bytes[place] = b' ' + u8::try_from(random.below(95)).unwrap();
                    lines[at] = String::from_utf8(bytes).unwrap();
                }
                _ => lines[at] = lines[at].replace("?2026-05-04..", "~2026-05-03..+2026-05-04"),
            }
        }
        if let Ok(ledger) = Ledger::read("x.lock", (lines.join("\n") + "\n").as_bytes()) {
            let written = ledger.write();
            let again = Ledger::read("x.lock", written.as_bytes());
            assert_eq!(again.map(|l| l.write()).map_err(|e| e.to_string()), Ok(written), "{seed}");
        }
    }
}
