//! Findings about edits of the tool's own inputs: policy and waivers.

use super::{checks, policy};
use crate::descriptor::Location;
use crate::error::Error;
use crate::finding::{Finding, Level, Side, SourceLocation};

/// Which input a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputFile {
    /// A policy.
    Policy,
    /// A waiver file.
    Waivers,
    /// A rollout file.
    Rollouts,
}

/// One finding per edited key of a file; `None` means that the side does not have it.
///
/// # Errors
/// A policy of head's that cannot be read: after the merge it would judge.
pub fn edited_input(
    kind: InputFile,
    path: &str,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
) -> Result<Vec<Finding>, Error> {
    let text = after.map(String::from_utf8_lossy);
    let locations = || vec![whole_file(path, text.as_deref())];
    let mut findings = Vec::new();
    match (&text, kind) {
        (Some(text), InputFile::Waivers) => {
            if let Err(error) = policy::parse_waivers(path, text) {
                let why = error.to_string();
                let why =
                    why.strip_prefix(path).map_or(&*why, |rest| rest.trim_start_matches(": "));
                findings.push(checks::waiver_malformed::finding(path, why, locations()));
            }
        }
        (Some(text), InputFile::Policy) => drop(policy::parse(path, text)?),
        // The gate reads them, and holds them against history.
        (Some(_), InputFile::Rollouts) | (None, _) => {}
    }
    let edits = match kind {
        InputFile::Policy => policy::edits(before, after),
        InputFile::Waivers => policy::waiver_edits(path, before, after),
        InputFile::Rollouts => policy::rollout_edits(path, before, after),
    };
    for edit in edits {
        let policy::Edit { key, before, after } = edit;
        findings.push(checks::policy_changed::finding(&key, before, after, locations()));
    }
    Ok(findings)
}

/// The finding about base's own waiver file, which cannot be read: no waiver holds.
pub fn unreadable_waivers(path: &str, why: &str) -> Finding {
    let why = why.strip_prefix(path).map_or(why, |rest| rest.trim_start_matches(": "));
    let why = format!("{why} (in base, so no waiver holds)");
    let found = checks::waiver_malformed::finding(path, &why, vec![whole_file(path, None)]);
    // It is not this change's fault, and this change may be the repair.
    Finding { level: Level::Warning, ..found }
}

/// A file as a whole; `text` is head's.
pub(crate) fn whole_file(path: &str, text: Option<&str>) -> SourceLocation {
    SourceLocation {
        side: if text.is_some() { Side::Head } else { Side::Base },
        location: Location { file: path.into(), line: 0, column: 0, end_line: 0, end_column: 0 },
        label: "edited".to_owned(),
        source: text.map(Into::into),
    }
}
