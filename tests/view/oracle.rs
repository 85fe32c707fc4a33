//! What the view holds is what the real C++ protobuf prints, for random schemas, edits and messages.
//!
//! `AOTGATE_VIEW_CASES` sets how many schemas are tried, `AOTGATE_VIEW_SEED` where they start.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use aotgate::descriptor::Contract;
use aotgate::view::{self, Limits, Reason};

use crate::message::{Noise, message};
use crate::random::Random;
use crate::schema::Schema;
use crate::text::print;

pub(crate) struct Protoc {
    pub(crate) text: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) parsed: bool,
    pub(crate) missing_required: bool,
    pub(crate) stderr: String,
}

/// Runs protoc over one message; `action` is such as `--decode=M0`.
pub(crate) fn protoc(dir: &Path, action: &[&str], input: &[u8]) -> Protoc {
    let mut child = Command::new(protoc_bin_vendored::protoc_bin_path().unwrap())
        .arg(format!("-I{}", dir.display()))
        .args(action)
        .arg("a.proto")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let expected = output.status.success() || stderr.contains("Failed to parse input");
    assert!(expected, "protoc {action:?}: {stderr}");
    Protoc {
        text: String::from_utf8_lossy(&output.stdout).into_owned(),
        bytes: output.stdout,
        parsed: output.status.success(),
        missing_required: stderr.contains("missing required fields"),
        stderr,
    }
}

pub(crate) fn write(sources: &[(&'static str, String)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in sources {
        std::fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

#[derive(Default, Debug)]
struct Seen {
    equal: usize,
    with_unknown: usize,
    malformed: usize,
    missing_required: usize,
    encoded: usize,
}

/// How the view and protoc differ over one message, if they do.
fn compare(contract: &Contract, dir: &Path, bytes: &[u8], seen: &mut Seen) -> Result<(), String> {
    let theirs = protoc(dir, &["--decode=M0"], bytes);
    let ours = view::decode(bytes, contract, "M0", Limits::default());
    let text = without_replaced_entries(&theirs.text);
    // A replaced entry's missing fields count for protoc.
    let missing_required = theirs.missing_required && text == theirs.text;
    let held = match (ours, theirs.parsed, missing_required) {
        (Ok(held), true, false) => held,
        (Err(refused), true, _)
            if theirs.missing_required && matches!(refused.reason, Reason::RequiredMissing(_)) =>
        {
            seen.missing_required += 1;
            return Ok(());
        }
        (Err(refused), false, _) if !matches!(refused.reason, Reason::RequiredMissing(_)) => {
            seen.malformed += 1;
            return Ok(());
        }
        (ours, ..) => {
            let ours = ours.map(|held| print(&held, true)).map_err(|r| r.to_string());
            return Err(format!("ours {ours:?}\nprotoc {:?} {}", theirs.text, theirs.stderr));
        }
    };
    let ours = print(&held, true);
    if ours != text {
        return Err(first_difference(&ours, &text));
    }
    seen.equal += 1;
    let known = print(&held, false);
    seen.with_unknown += usize::from(known != ours);

    // The canonical bytes hold the same, and are what C++ writes.
    let canonical = held.canonical_with_unknown();
    let again = view::decode(&canonical, contract, "M0", Limits::default())
        .map_err(|refused| format!("canonical bytes refused: {refused}"))?;
    if again.canonical_with_unknown() != canonical || print(&again, false) != known {
        return Err(format!("canonical bytes hold\n{}\nnot\n{known}", print(&again, false)));
    }
    // Text keeps neither the payload of a NaN.
    if !known.contains("nan") {
        let action = ["--encode=M0", "--deterministic_output"];
        let theirs = protoc(dir, &action, known.as_bytes());
        if !theirs.parsed || theirs.bytes != held.canonical() {
            let ours = held.canonical();
            return Err(format!(
                "canonical\n{}\nprotoc\n{} {}",
                ours.escape_ascii(),
                theirs.bytes.escape_ascii(),
                theirs.stderr
            ));
        }
        seen.encoded += 1;
    }
    Ok(())
}

/// protoc's dynamic messages keep map entries as a list, in which an entry that a later one replaces
/// still shows; generated C++ code, like ours, holds a map.
fn without_replaced_entries(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut dropped = vec![false; lines.len()];
    for (at, line) in lines.iter().enumerate() {
        let Some(key) = lines.get(at + 1).filter(|k| k.trim_start().starts_with("key: ")) else {
            continue;
        };
        let rest = lines.get(at + 1..).unwrap();
        let end = at + 2 + rest.iter().position(|l| indent(l) <= indent(line)).unwrap();
        let same = lines.get(end) == Some(line) && lines.get(end + 1) == Some(key);
        dropped[at..end].iter_mut().for_each(|d| *d |= same);
    }
    let kept = lines.iter().zip(dropped).filter(|(_, dropped)| !dropped);
    kept.map(|(line, _)| format!("{line}\n")).collect()
}

fn first_difference(ours: &str, theirs: &str) -> String {
    let same = ours.lines().zip(theirs.lines()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| {
        let lines: Vec<&str> = text.lines().skip(same.saturating_sub(5)).take(9).collect();
        lines.join("\n")
    };
    format!("from line {same}, ours\n{}\nprotoc\n{}", around(ours), around(theirs))
}

pub(crate) fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |v| v.parse().unwrap())
}

#[test]
fn random_schemas_edits_and_messages() {
    let first = variable("AOTGATE_VIEW_SEED", 1);
    let cases = variable("AOTGATE_VIEW_CASES", 60);
    let mut seen = Seen::default();
    for seed in first..first + cases {
        let mut random = Random::new(seed);
        let schema = Schema::random(&mut random);
        let edited = schema.edited(&mut random);
        let sides = [&schema, &edited].map(|schema| {
            let sources = schema.sources();
            (schema, sources.clone(), schema.contract(), write(&sources))
        });
        for round in 0..4 {
            // Mostly clean messages: one string that is not UTF-8 refuses the whole.
            let noise = Noise {
                foreign: if round % 2 == 0 { 0 } else { 15 },
                not_utf8: if round == 3 { 20 } else { 0 },
                missing: if round == 2 { 20 } else { 0 },
            };
            // Both directions: either side writes, both read.
            for writer in [&schema, &edited] {
                let bytes = message(writer, 0, 0, &noise, &mut random);
                for (_, sources, contract, dir) in &sides {
                    if let Err(difference) = compare(contract, dir.path(), &bytes, &mut seen) {
                        panic!(
                            "AOTGATE_VIEW_SEED={seed}, round {round}\n{}\nbytes {}\n{difference}",
                            sources[0].1,
                            bytes.escape_ascii(),
                        );
                    }
                }
            }
        }
    }
    println!("{seen:?}");
    assert!(seen.equal > 0 && seen.with_unknown > 0 && seen.encoded > 0, "{seen:?}");
}
