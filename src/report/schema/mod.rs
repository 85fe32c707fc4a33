//! JSON Schemas (draft 2020-12) of the machine formats.

macro_rules! schemas {
    ($($name:literal,)*) => {
        /// Names of the formats that have a schema, sorted.
        pub const NAMES: &[&str] = &[$(concat!("aotgate.", $name, "/1"),)*];

        /// The schema of a format, named with or without `aotgate.` and version: `aotgate.check/1`,
        /// `check/1` or `check`.
        pub fn schema(name: &str) -> Option<&'static str> {
            let name = name.strip_prefix("aotgate.").unwrap_or(name);
            match name.strip_suffix("/1").unwrap_or(name) {
                $($name => Some(include_str!(concat!($name, ".json"))),)*
                _ => None,
            }
        }
    };
}

// One line per file of this folder, sorted.
schemas! {
    "artifact-diff",
    "check",
    "compat",
    "diff",
    "goldens",
    "history",
    "inspect",
    "ledger",
    "lint",
    "rollout",
    "run",
    "size",
    "snapshot",
    "verify",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_a_schema() {
        for name in NAMES {
            let text = schema(name).unwrap_or_else(|| panic!("{name}"));
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            assert!(value["$id"].as_str().unwrap().ends_with(&format!("{name}.json")));
        }
        assert!(NAMES.is_sorted());
        assert_eq!(schema("check"), schema("aotgate.check/1"));
        assert_eq!(schema("check/2"), None);
    }
}
