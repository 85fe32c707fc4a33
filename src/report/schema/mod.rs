//! JSON Schemas (draft 2020-12) of the machine formats.

/// Names of the formats that have a schema, sorted.
pub const NAMES: &[&str] = &[
    "aotgate.check/1",
    "aotgate.diff/1",
    "aotgate.goldens/1",
    "aotgate.run/1",
    "aotgate.snapshot/1",
    "aotgate.verify/1",
];

/// The schema of a format, named with or without `aotgate.` and version: `aotgate.check/1`, `check/1`
/// or `check`.
pub fn schema(name: &str) -> Option<&'static str> {
    let name = name.strip_prefix("aotgate.").unwrap_or(name);
    match name.strip_suffix("/1").unwrap_or(name) {
        "check" => Some(include_str!("check.json")),
        "diff" => Some(include_str!("diff.json")),
        "goldens" => Some(include_str!("goldens.json")),
        "run" => Some(include_str!("run.json")),
        "snapshot" => Some(include_str!("snapshot.json")),
        "verify" => Some(include_str!("verify.json")),
        _ => None,
    }
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
        assert_eq!(schema("check"), schema("aotgate.check/1"));
        assert_eq!(schema("check/2"), None);
    }
}
