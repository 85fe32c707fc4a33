//! The policy or the waivers were edited.
//!
//! ## What it flags
//! A change of a policy file or of the waiver file, per key. The edited policy does not judge the change
//! that brings it: base's does.
//!
//! ## Why it breaks
//! A gate that its own subject can loosen is none. Whoever owns the contract should see the edit.
//!
//! ## What to do
//! Land policy edits on their own, and have the owner of the contract attest them with an `AOT-Compat:`
//! line.
//!
//! ## Example
//! ```text
//! AOT-Compat: policy-changed policy:windows.forward - agreed with the runtime owners
//! ```

use std::collections::BTreeMap;

use crate::change::{Change, Surface};
use crate::descriptor::fingerprint::short_hash;
use crate::descriptor::Location;
use crate::finding::{Finding, Level, Side, SourceLocation, TraceStep, Triage};
use crate::triage::{Check, Context, Outcome};

/// See the module comment.
pub static CHECK: Check = Check {
    id: "policy-changed",
    step: None,
    kinds: &[],
    surface: Surface::Policy,
    level: Some(Level::Warning),
    judge,
};

fn judge(_change: &Change<'_>, _context: &Context<'_>) -> Option<Outcome> {
    None
}

/// One finding per changed key of a policy or waiver file; `None` means that the file is absent.
pub fn findings(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> Vec<Finding> {
    let (old, new) = (keys(before), keys(after));
    let mut changed: Vec<&String> =
        old.keys().chain(new.keys()).filter(|key| old.get(*key) != new.get(*key)).collect();
    changed.sort();
    changed.dedup();
    let head = after.map(String::from_utf8_lossy);
    changed
        .into_iter()
        .map(|key| {
            let (was, is) = (old.get(key), new.get(key));
            let text = |value: Option<&String>| value.map_or("absent".to_owned(), Clone::clone);
            Finding {
                check: CHECK.id,
                step: None,
                triage: Triage::NeedsAttestation,
                level: Level::Warning,
                capped: None,
                satisfied_by: None,
                window: None,
                surface: CHECK.surface.name(),
                construct: format!("policy:{key}"),
                before: was.map(|v| short_hash(v.as_bytes())),
                after: is.map(|v| short_hash(v.as_bytes())),
                message: format!("{path} changes {key}: {} -> {}", clip(&text(was)), clip(&text(is))),
                remedy: "Have the owner of the contract attest it. Base's version judges this change."
                    .to_owned(),
                earliest_safe: None,
                evidence: Vec::new(),
                locations: vec![SourceLocation {
                    side: if after.is_some() { Side::Head } else { Side::Base },
                    location: Location {
                        file: path.into(),
                        line: 0,
                        column: 0,
                        end_line: 0,
                        end_column: 0,
                    },
                    label: key.clone(),
                    source: head.as_deref().map(Into::into),
                }],
                trace: vec![TraceStep {
                    step: None,
                    answer: "policy edit".to_owned(),
                    because: "the rules of the gate change".to_owned(),
                }],
            }
        })
        .collect()
}

/// Values by dotted key, tables of tables entered once; an unreadable file is one key.
fn keys(bytes: Option<&[u8]>) -> BTreeMap<String, String> {
    let mut keys = BTreeMap::new();
    let Some(bytes) = bytes else { return keys };
    let text = String::from_utf8_lossy(bytes);
    match text.parse::<toml::Table>() {
        Ok(table) => {
            for (name, value) in table {
                match value {
                    toml::Value::Table(inner) => {
                        for (key, value) in inner {
                            keys.insert(format!("{name}.{key}"), value.to_string());
                        }
                    }
                    value => {
                        keys.insert(name, value.to_string());
                    }
                }
            }
        }
        Err(_) => {
            keys.insert("file".to_owned(), format!("unreadable, {}", short_hash(bytes)));
        }
    }
    keys
}

fn clip(text: &str) -> String {
    const MOST: usize = 80;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    let head: String = text.chars().take(MOST).collect();
    format!("{head}…")
}
