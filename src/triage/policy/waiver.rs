//! Waivers: findings that somebody approved for a while.

use chrono::NaiveDate;
use serde::Deserialize;

use super::file::toml_error;
use crate::error::{Error, ErrorKind};
use crate::finding::Finding;

/// One entry of the waiver file.
#[derive(Debug, Clone, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Waiver {
    /// Fingerprint of the finding; this or check and construct.
    pub fingerprint: Option<String>,
    /// Id of the check.
    pub check: Option<String>,
    /// Full name of the construct.
    pub construct: Option<String>,
    /// Why it may pass.
    pub reason: String,
    /// Who approved it.
    pub approved_by: String,
    /// The last day on which it holds.
    #[serde(deserialize_with = "super::file::date")]
    pub expires: NaiveDate,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WaiverFile {
    #[serde(default)]
    waiver: Vec<toml::Spanned<Waiver>>,
}

/// Reads a waiver file (`[[waiver]]` tables).
///
/// # Errors
/// Syntax errors, unknown or missing keys, entries that name neither a fingerprint nor a check and a
/// construct.
pub fn parse_waivers(path: &str, text: &str) -> Result<Vec<Waiver>, Error> {
    let file: WaiverFile = toml::from_str(text).map_err(|error| toml_error(path, text, &error))?;
    let mut waivers = Vec::new();
    for spanned in file.waiver {
        let span = spanned.span();
        let waiver = spanned.into_inner();
        let by_name = waiver.check.is_some() && waiver.construct.is_some();
        if waiver.fingerprint.is_none() && !by_name {
            return Err(ErrorKind::Policy {
                message: format!("{path}: a waiver names no finding"),
                help: Some("give `fingerprint`, or `check` and `construct`".to_owned()),
                span: Some(span.into()),
                label: "this waiver".to_owned(),
                source_code: miette::NamedSource::new(path, text.to_owned()),
            }
            .into());
        }
        waivers.push(waiver);
    }
    Ok(waivers)
}

impl Waiver {
    /// Whether it names this finding.
    pub fn covers(&self, finding: &Finding) -> bool {
        match (&self.fingerprint, &self.check, &self.construct) {
            (Some(fingerprint), _, _) => *fingerprint == finding.fingerprint(),
            (None, Some(check), Some(construct)) => {
                *check == finding.check && *construct == finding.construct
            }
            _ => false,
        }
    }

    /// What it names, for messages.
    pub fn target(&self) -> String {
        match (&self.fingerprint, &self.check, &self.construct) {
            (Some(fingerprint), _, _) => fingerprint.clone(),
            (None, Some(check), Some(construct)) => format!("{check} {construct}"),
            _ => String::new(),
        }
    }
}
