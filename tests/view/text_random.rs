//! Our text is protoc's text, and our parser takes and refuses what protoc's does, for random schemas,
//! messages, spellings and mistakes.
//!
//! `AOTGATE_VIEW_CASES` sets how many schemas are tried, `AOTGATE_VIEW_SEED` where they start.

use std::path::Path;

use aotgate::descriptor::Contract;
use aotgate::view::text::{Reason, parse, print};
use aotgate::view::{Limits, decode};

use crate::message::{Noise, message};
use crate::oracle::{protoc, variable, write};
use crate::random::Random;
use crate::schema::{Schema, contract};

#[derive(Default, Debug)]
struct Seen {
    printed: usize,
    left_out: usize,
    accepted: usize,
    refused: usize,
    skipped: usize,
    missing_required: usize,
}

/// Other spellings of the same text, and mistakes.
fn respell(text: &str, mistakes: usize, random: &mut Random) -> String {
    let mut out = String::new();
    let mut closers = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let line = if random.percent(mistakes) { random.pick(&lines) } else { line };
        let content = line.trim();
        let separator = random.pick(&["\n", "\n", " ", ", ", ";", " # c }\n", ",\t", ",,"]);
        let separator = if separator == ",," && mistakes == 0 { "\n" } else { separator };
        if let Some(name) = content.strip_suffix(" {") {
            let (open, close) = random.pick(&[("{", "}"), ("<", ">")]);
            closers.push(close);
            out += &format!("{name}{} {open}\n", random.pick(&["", ":", " :"]));
        } else if content == "}" {
            out += closers.pop().unwrap_or("}");
            // What follows a brace may be a separator too, but not after a comment.
            out += if at % 3 == 0 { ", " } else { "\n" };
        } else if let Some((name, value)) = content.split_once(": ") {
            out += &format!("{name}: {}{separator}", respell_value(value, mistakes, random));
        } else {
            out += &format!("{content}\n");
        }
    }
    while mistakes > 0 && random.percent(30) && !out.is_empty() {
        let at = random.below(out.len());
        if out.is_char_boundary(at) && out.is_char_boundary(at + 1) {
            let with = random.pick(&[
                "", ":", "{", "}", "[", "]", "\"", "\\", ".", "-", "0", "x", "\u{1}", "\n", "f",
                ",",
            ]);
            out.replace_range(at..at + 1, with);
        }
    }
    out
}

fn respell_value(value: &str, mistakes: usize, random: &mut Random) -> String {
    let number: Option<u64> = value.parse().ok();
    match number {
        Some(n) if random.percent(20) && n != 0 => format!("{n:#x}"),
        Some(n) if random.percent(20) && n != 0 => format!("0{n:o}"),
        _ if value.starts_with('"') && random.percent(30) => format!("{value} ''\"\""),
        _ if random.percent(10) => format!("[{value}]"),
        _ if random.percent(mistakes * 2) => {
            let other = [
                "1", "-1", "0", "5", "\"\"", "inf", "-nan", "true", "E0_0", "E1_5", "OPEN_1",
                "OPEN_7", "1.5", "[]", "[1, 2]", "{}", "f",
            ];
            random.pick(&other).to_owned()
        }
        _ => value.to_owned(),
    }
}

/// How our parser and protoc's differ over one text, if they do.
fn compare(
    root: &str,
    contract: &Contract,
    dir: &Path,
    text: &str,
    seen: &mut Seen,
) -> Result<(), String> {
    let encode = format!("--encode={root}");
    let theirs = protoc(dir, &[&encode, "--deterministic_output"], text.as_bytes());
    let ours = parse(text.as_bytes(), contract, root, Limits::default());
    match (ours, theirs.parsed) {
        (Ok(ours), true) if !theirs.missing_required => {
            let held = decode(&theirs.bytes, contract, root, Limits::default())
                .map_err(|refused| format!("protoc wrote what we refuse: {refused}"))?;
            if held.canonical() != ours.bytes {
                return Err(format!(
                    "ours {}\nprotoc {}",
                    ours.bytes.escape_ascii(),
                    theirs.bytes.escape_ascii()
                ));
            }
            seen.accepted += 1;
            seen.skipped += usize::from(!ours.skipped.is_empty());
            Ok(())
        }
        (Err(refused), true) => match refused.reason {
            Reason::RequiredMissing(_) if theirs.missing_required => {
                seen.missing_required += 1;
                Ok(())
            }
            Reason::InvalidUtf8 if theirs.stderr.contains("UTF-8") => Ok(()),
            _ => Err(format!("{refused}, but protoc accepts")),
        },
        // Of two entries with one key, protoc's dynamic messages keep both, so that a missing field in
        // the first one counts.
        (Ok(_), true) => Ok(()),
        (Ok(ours), false) => {
            Err(format!("accepted as {}, protoc {}", ours.bytes.escape_ascii(), theirs.stderr))
        }
        (Err(_), false) => {
            seen.refused += 1;
            Ok(())
        }
    }
}

#[test]
fn random_schemas_messages_and_spellings() {
    let first = variable("AOTGATE_VIEW_SEED", 1);
    let cases = variable("AOTGATE_VIEW_CASES", 40);
    let mut seen = Seen::default();
    for seed in first..first + cases {
        let mut random = Random::new(seed);
        let schema = Schema::random(&mut random);
        let edited = schema.edited(&mut random).sources_with_reserved(&mut random);
        let sources = schema.sources();
        let sides = [&sources, &edited].map(|sources| (contract(sources), write(sources)));
        let ours = &sides[0].0;
        for round in 0..4 {
            let noise = Noise { foreign: if round == 3 { 15 } else { 0 }, not_utf8: 0, missing: 0 };
            let bytes = message(&schema, 0, 0, &noise, &mut random);
            let Ok(held) = decode(&bytes, ours, "M0", Limits::default()) else { continue };
            let printed = print(&held);
            let canonical = held.canonical();
            let context = format!("AOTGATE_VIEW_SEED={seed}, round {round}");

            let lost = printed.left_out.iter().map(|l| l.times).sum::<usize>();
            assert_eq!(printed.text.matches("# left out").count(), lost, "{context}");
            seen.left_out += lost;
            let nan = printed.left_out.iter().any(|l| l.what.contains("NaN"));
            let known: String = printed
                .text
                .lines()
                .filter(|line| !line.trim_start().starts_with('#'))
                .map(|line| format!("{}\n", line.split(" # left out").next().unwrap()))
                .collect();
            assert_eq!(known.replace("-nan", "nan"), crate::text::print(&held, false), "{context}");
            seen.printed += 1;
            let read = parse(printed.text.as_bytes(), ours, "M0", Limits::default())
                .unwrap_or_else(|refused| panic!("{context}: {refused}\n{}", printed.text));
            assert!(nan || read.bytes == canonical, "{context}\n{}", printed.text);

            for (contract, dir) in &sides {
                for mistakes in [0, 0, 4, 10] {
                    let text = respell(&printed.text, mistakes, &mut random);
                    if let Err(difference) = compare("M0", contract, dir.path(), &text, &mut seen) {
                        let sources = std::fs::read_to_string(dir.path().join("a.proto")).unwrap();
                        panic!("{context}\n{sources}\n---\n{text}\n---\n{difference}");
                    }
                }
            }
        }
    }
    println!("{seen:?}");
    let all = [seen.printed, seen.left_out, seen.accepted, seen.refused, seen.skipped];
    assert!(all.iter().all(|count| *count > 0), "{seen:?}");
}

/// Pieces of texts that use what random schemas do not have.
const PIECES: [&str; 22] = [
    "a : 1",
    "m { a : 1 }",
    "ms [ { } , < > ]",
    "r : [ 1 , 2 ]",
    "s : 'a' \"b\"",
    "f : - inf",
    "e : ONE",
    "b : true",
    "mp { key : 1 value { a : 1 } }",
    "Gr { x : 1 }",
    "Rg : < x : 1 >",
    "[ext] : 5",
    "[ exts ] { [ext] : 1 }",
    "gone : [ 1 , { x : 'y' } , [ ] ]",
    "gone { x : 1 ; [ a.b/c ] : - nan }",
    "any { [ type.googleapis.com/M ] { a : 1 } }",
    "any { type_url : '' value : '' }",
    "oa : 1",
    "om { }",
    "l : - 0x10",
    "d : 1.5e3",
    "by : '\\377\\x41'",
];

#[test]
fn random_pieces_and_mistakes() {
    let first = variable("AOTGATE_VIEW_SEED", 1);
    let cases = variable("AOTGATE_VIEW_CASES", 40) * 10;
    let schema = crate::text_rules::SCHEMA;
    let (contract, dir) =
        (crate::text_rules::contract(schema), write(&[("a.proto", schema.to_owned())]));
    let tokens: Vec<&str> = PIECES.iter().flat_map(|piece| piece.split(' ')).collect();
    let mut seen = Seen::default();
    for seed in first..first + cases {
        let mut random = Random::new(seed);
        let pieces: Vec<&str> = (0..1 + random.below(4)).map(|_| random.pick(&PIECES)).collect();
        let mut text: Vec<&str> = pieces.iter().flat_map(|piece| piece.split(' ')).collect();
        for _ in 0..random.below(3) {
            let at = random.below(text.len());
            match random.below(3) {
                0 => text.insert(at, random.pick(&tokens)),
                1 if text.len() > 1 => drop(text.remove(at)),
                _ => text[at] = random.pick(&tokens),
            }
        }
        let text = text.join(random.pick(&[" ", "\n", " # '\n"]));
        let text = if random.percent(20) { text.replace(' ', "") } else { text };
        if let Err(difference) = compare("M", &contract, dir.path(), &text, &mut seen) {
            panic!("AOTGATE_VIEW_SEED={seed}\n{text}\n---\n{difference}");
        }
    }
    println!("{seen:?}");
    assert!(seen.accepted > 0 && seen.refused > 0 && seen.skipped > 0, "{seen:?}");
}
