//! The contract fingerprint.
//!
//! Algorithm (version 1): SHA-256 over UTF-8 lines, each ended by `\n`, first 16 hex digits. The first
//! line is `aotgate contract 1`. Then, for every type reachable from the binary roots or from a JSON
//! payload, sorted by full name (messages first, then enums):
//!
//! - `message NAME`, followed by one line per field in order of numbers:
//!   `NUMBER NAME LABEL TYPE PRESENCE`, then ` oneof=NAME`, ` packed`, ` default=TEXT`, ` utf8`,
//!   ` delimited`, ` closed` where they apply;
//! - `enum NAME open|closed`, followed by one line `NUMBER NAME` per value, sorted by number, then name.
//!
//! Roots come first as `root NAME`. Files, comments, declaration order, reserved ranges and options
//! without an effect on the wire do not count.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::model::{Contract, Field};

impl Contract {
    /// 16 hex digits that change exactly when names, numbers, types or presence of anything
    /// reachable change.
    pub fn fingerprint(&self) -> String {
        let mut text = String::from("aotgate contract 1\n");
        for root in &self.roots {
            line(&mut text, format_args!("root {root}"));
        }
        for message in self.messages.values().filter(|m| m.reach.any()) {
            line(&mut text, format_args!("message {}", message.name));
            for field in &message.fields {
                describe(&mut text, field);
            }
        }
        for enumeration in self.enums.values().filter(|e| e.reach.any()) {
            let closed = if enumeration.closed { "closed" } else { "open" };
            line(&mut text, format_args!("enum {} {closed}", enumeration.name));
            let mut values: Vec<_> =
                enumeration.values.iter().map(|v| (v.number, &v.name)).collect();
            values.sort_unstable();
            for (number, name) in values {
                line(&mut text, format_args!("{number} {name}"));
            }
        }
        short_hash(text.as_bytes())
    }
}

fn describe(text: &mut String, field: &Field) {
    let Field { number, name, label, ty, presence, .. } = field;
    let mut flags = String::new();
    if let Some(oneof) = &field.oneof {
        flags.push_str(&format!(" oneof={oneof}"));
    }
    for (set, flag) in [
        (field.packed, " packed"),
        (field.verify_utf8, " utf8"),
        (field.delimited, " delimited"),
        (field.closed_enum, " closed"),
    ] {
        if set {
            flags.push_str(flag);
        }
    }
    if let Some(default) = &field.default {
        flags.push_str(&format!(" default={default:?}"));
    }
    line(text, format_args!("{number} {name} {} {ty} {}{flags}", label.name(), presence.name()));
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(arguments);
    text.push('\n');
}

/// First 16 hex digits of the SHA-256 of some bytes.
pub fn short_hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
