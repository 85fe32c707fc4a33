//! What an edit of a policy or waiver file changes.

use std::collections::BTreeMap;

use super::waiver::{Waiver, parse_waivers};
use crate::descriptor::fingerprint::short_hash;
use crate::rollout::Rollouts;

/// One edited key; `None` where a side does not have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Dotted key, such as `windows.forward`; tables of tables are entered once.
    pub key: String,
    /// Value before.
    pub before: Option<String>,
    /// Value after.
    pub after: Option<String>,
}

/// Edited keys between two contents of a file, sorted; `None` means that the file is absent.
pub fn edits(before: Option<&[u8]>, after: Option<&[u8]>) -> Vec<Edit> {
    // A new or deleted file is one edit.
    let whole = |bytes: &[u8]| short_hash(bytes);
    match (before, after) {
        (None, None) => return Vec::new(),
        (None, Some(_)) | (Some(_), None) => {
            return vec![Edit {
                key: "file".to_owned(),
                before: before.map(whole),
                after: after.map(whole),
            }];
        }
        (Some(_), Some(_)) => {}
    }
    differences(&keys(before), &keys(after))
}

/// Waivers that came, went or changed, one edit each; files that cannot be read are compared by key.
pub fn waiver_edits(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> Vec<Edit> {
    let read = |bytes: Option<&[u8]>| -> Option<BTreeMap<String, String>> {
        let text = bytes.map(String::from_utf8_lossy).unwrap_or_default();
        let waivers = parse_waivers(path, &text).ok()?;
        let text = |w: &Waiver| format!("until {} by {}: {}", w.expires, w.approved_by, w.reason);
        Some(waivers.iter().map(|w| (format!("waiver {}", w.target()), text(w))).collect())
    };
    match (read(before), read(after)) {
        (Some(old), Some(new)) => differences(&old, &new),
        _ => edits(before, after),
    }
}

/// Rollouts that came, went or changed, one edit each; files that cannot be read are compared by key.
pub fn rollout_edits(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> Vec<Edit> {
    let read = |bytes: Option<&[u8]>| -> Option<BTreeMap<String, String>> {
        let text = bytes.map(String::from_utf8_lossy).unwrap_or_default();
        let rollouts = Rollouts::parse(path, &text).ok()?;
        let entries = rollouts.entries.iter();
        Some(entries.map(|r| (format!("rollout {}", r.title()), r.to_string())).collect())
    };
    match (read(before), read(after)) {
        (Some(old), Some(new)) => differences(&old, &new),
        _ => edits(before, after),
    }
}

fn differences(old: &BTreeMap<String, String>, new: &BTreeMap<String, String>) -> Vec<Edit> {
    let mut names: Vec<&String> =
        old.keys().chain(new.keys()).filter(|key| old.get(*key) != new.get(*key)).collect();
    names.sort();
    names.dedup();
    let value = |keys: &BTreeMap<String, String>, key| keys.get(key).map(|v| clip(v));
    names
        .into_iter()
        .map(|key| Edit { key: key.clone(), before: value(old, key), after: value(new, key) })
        .collect()
}

/// Values by dotted key; a file that is no TOML is one key.
fn keys(bytes: Option<&[u8]>) -> BTreeMap<String, String> {
    let mut keys = BTreeMap::new();
    let Some(bytes) = bytes else { return keys };
    let text = String::from_utf8_lossy(bytes);
    let Ok(table) = text.parse::<toml::Table>() else {
        keys.insert("file".to_owned(), "unreadable".to_owned());
        return keys;
    };
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
    keys
}

/// Long values end in a hash, so that two of them that differ late still differ.
fn clip(text: &str) -> String {
    const MOST: usize = 80;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    let start: String = text.chars().take(MOST - 20).collect();
    format!("{start}… ({})", short_hash(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_listed_by_key() {
        let old = b"a = 1\n[t]\nx = 'y'\nz = 1\n";
        let new = b"a = 1\n[t]\nx = 'q'\n[[w]]\nk = 2\n";
        let found = edits(Some(old), Some(new));
        let keys: Vec<&str> = found.iter().map(|e| &*e.key).collect();
        assert_eq!(keys, ["t.x", "t.z", "w"]);
        assert_eq!(found[0].before.as_deref(), Some("\"y\""));
        assert_eq!(found[1].after, None);
        assert_eq!(edits(None, None), []);
        assert_eq!(edits(None, Some(b"=")).len(), 1);
    }
}
