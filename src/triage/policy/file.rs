//! The policy file as written.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::container::ContainerTable;
use crate::error::{Error, ErrorKind};

/// A whole policy file; every key is optional where a file may extend another.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PolicyFile {
    pub(super) extends: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) contract: ContractTable,
    #[serde(default)]
    pub(super) windows: WindowsTable,
    #[serde(default)]
    pub(super) class: Vec<ClassTable>,
    #[serde(default)]
    pub(super) checks: BTreeMap<Spanned<String>, Spanned<String>>,
    #[serde(default)]
    pub(super) container: ContainerTable,
    #[serde(default)]
    pub(super) waivers: WaiversTable,
    #[serde(default)]
    pub(super) rollout: RolloutTable,
    #[serde(default)]
    pub(super) goldens: GoldensTable,
    #[serde(default)]
    pub(super) history: HistoryTable,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ContractTable {
    pub(super) include: Option<Vec<String>>,
    pub(super) prefixes: Option<Vec<String>>,
    #[serde(default, deserialize_with = "optional_date")]
    pub(super) baseline: Option<NaiveDate>,
    pub(super) dispatch: Option<Vec<String>>,
    pub(super) root: Option<Vec<RootTable>>,
    pub(super) opaque: Option<Vec<OpaqueTable>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RootTable {
    pub(super) message: Spanned<String>,
    pub(super) files: Spanned<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OpaqueTable {
    pub(super) field: String,
    pub(super) message: String,
    pub(super) file: String,
    pub(super) encoding: Spanned<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WindowsTable {
    pub(super) backward: Option<Spanned<String>>,
    pub(super) forward: Option<Spanned<String>>,
    pub(super) reuse_grace: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClassTable {
    pub(super) name: String,
    pub(super) reason: String,
    pub(super) constructs: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) except: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) except_checks: Vec<Spanned<String>>,
    pub(super) cap: Spanned<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WaiversTable {
    pub(super) file: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RolloutTable {
    pub(super) file: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GoldensTable {
    pub(super) paths: Option<Vec<Spanned<String>>>,
    pub(super) upstream: Option<Vec<Spanned<String>>>,
    pub(super) execute: Option<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HistoryTable {
    pub(super) ledger: Option<Spanned<String>>,
}

/// A TOML date, or the same as a string.
pub(crate) fn date<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NaiveDate, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Date(toml::value::Datetime),
        Text(String),
    }
    let text = match Written::deserialize(deserializer)? {
        Written::Date(date) => date.to_string(),
        Written::Text(text) => text,
    };
    text.parse().map_err(|_| {
        serde::de::Error::custom(format!("expected a date like 2026-04-24, found {text}"))
    })
}

fn optional_date<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<NaiveDate>, D::Error> {
    date(deserializer).map(Some)
}

/// A TOML or schema error as a diagnostic; unknown keys get the closest known one as a suggestion.
pub(crate) fn toml_error(path: &str, text: &str, error: &toml::de::Error) -> Error {
    let message = error.message().to_owned();
    let help = suggestion(&message);
    ErrorKind::Policy {
        message: format!("{path}: {message}"),
        help,
        span: error.span().map(Into::into),
        label: "here".to_owned(),
        source_code: miette::NamedSource::new(path, text.to_owned()),
    }
    .into()
}

/// serde's "unknown field `x`, expected one of `a`, `b`" with the closest of them.
pub(crate) fn suggestion(message: &str) -> Option<String> {
    let (unknown, expected) = message.strip_prefix("unknown field ")?.split_once(", expected ")?;
    let unknown = unknown.trim_matches('`');
    let known = expected.split('`').skip(1).step_by(2);
    closest(unknown, known).map(|name| format!("did you mean `{name}`?"))
}

/// The candidate that is most like a misspelt word, if any is alike.
pub fn closest<'c>(word: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    candidates
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(score, _)| *score > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}
