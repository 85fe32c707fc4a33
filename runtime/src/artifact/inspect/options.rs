//! What a compilation was asked for beyond what jaxlib asks for by default.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use prost_reflect::{DynamicMessage, Value};
use serde::Serialize;

use crate::artifact::reflect::{inner, key_text, sorted, value_text};

/// Values of debug options as the known releases write them where nobody set anything, one a line.
/// Recorded from their own artifacts; a test says how.
const DEFAULTS: &str = include_str!("debug_defaults.txt");

static BY_NAME: LazyLock<BTreeMap<&str, BTreeSet<&str>>> = LazyLock::new(|| {
    let mut defaults: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, value) in DEFAULTS.lines().filter_map(|line| line.split_once(' ')) {
        defaults.entry(name).or_default().insert(value);
    }
    defaults
});

/// An option and its value, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OptionValue {
    /// Name of the field.
    pub name: String,
    /// Its value on one line.
    pub value: String,
}

/// The debug options of `owner` (inside it at `path`) that differ from what every known release writes
/// by default. An option that no known release has counts as differing.
pub(super) fn unusual(owner: &DynamicMessage, path: &[&str]) -> Vec<OptionValue> {
    let Some(options) = inner(owner, path) else { return Vec::new() };
    let mut found = all(&options);
    found.retain(|option| {
        !BY_NAME
            .get(option.name.as_str())
            .is_some_and(|values| values.contains(option.value.as_str()))
    });
    found
}

/// Every debug option that is set.
pub(super) fn all(options: &DynamicMessage) -> Vec<OptionValue> {
    options
        .fields()
        .map(|(field, value)| OptionValue {
            name: field.name().to_owned(),
            value: value_text(&field, value),
        })
        .collect()
}

/// Debug options that the compilation set by name.
pub(super) fn overrides(options: &DynamicMessage) -> Vec<OptionValue> {
    let entries = options.get_field_by_name("env_option_overrides");
    let Some(Value::Map(entries)) = entries.as_deref() else { return Vec::new() };
    let value = |value: &Value| {
        let message = value.as_message()?;
        let (field, value) = message.fields().next()?;
        Some(value_text(&field, value))
    };
    sorted(entries)
        .into_iter()
        .map(|(key, content)| OptionValue {
            name: match key {
                prost_reflect::MapKey::String(name) => name.clone(),
                key => key_text(key),
            },
            value: value(content).unwrap_or_default(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::artifact::reflect::reflect;
    use crate::artifact::{Artifact, OPTIONS};

    fn debug_options(path: &std::path::Path) -> Vec<OptionValue> {
        let artifact = Artifact::read(std::fs::read(path).unwrap()).unwrap();
        let options = artifact.outer().unwrap().compile_options().clone();
        let options = reflect(OPTIONS, &options.into(), u64::MAX).unwrap();
        all(&inner(&options, &["executable_build_options", "debug_options"]).unwrap())
    }

    /// The defaults are what more than a third of a release's artifacts hold: each set has a program
    /// that sets something, and none sets it in so many.
    #[test]
    #[ignore = "reads all recorded artifacts: set AOTGATE_GOLDENS to their folder; AOTGATE_BLESS=1 records anew"]
    fn defaults_are_those_of_the_recorded_artifacts() {
        let root = std::env::var_os("AOTGATE_GOLDENS").expect("AOTGATE_GOLDENS names a folder");
        let mut defaults = BTreeSet::new();
        for release in std::fs::read_dir(root).unwrap() {
            let mut count: BTreeMap<(String, String), usize> = BTreeMap::new();
            let mut artifacts = 0;
            for program in std::fs::read_dir(release.unwrap().path()).unwrap() {
                let file = program.unwrap().path().join("executable.bin");
                if !file.is_file() {
                    continue;
                }
                artifacts += 1;
                for option in debug_options(&file) {
                    *count.entry((option.name, option.value)).or_default() += 1;
                }
            }
            defaults.extend(count.into_iter().filter(|(_, n)| n * 3 > artifacts).map(|(o, _)| o));
        }
        let text = defaults.iter().fold(String::new(), |mut text, (name, value)| {
            writeln!(text, "{name} {value}").unwrap();
            text
        });
        if std::env::var_os("AOTGATE_BLESS").is_some() {
            let file =
                concat!(env!("CARGO_MANIFEST_DIR"), "/src/artifact/inspect/debug_defaults.txt");
            std::fs::write(file, &text).unwrap();
        } else {
            assert_eq!(text, DEFAULTS);
        }
    }
}
