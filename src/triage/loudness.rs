//! How loud a finding may be that no change of a schema triggers.

use chrono::NaiveDate;

use super::policy::Policy;
use crate::finding::{Finding, Level};

/// What the policy says about levels on a day.
#[derive(Debug, Clone, Copy)]
pub struct Loudness<'a> {
    /// The policy; base's, where base has one.
    pub policy: &'a Policy,
    /// The date that windows are measured against.
    pub today: NaiveDate,
    /// Judge advisory classes and history like everything else.
    pub strict: bool,
}

impl Loudness<'_> {
    /// The finding at the level that `[checks]` gives it, capped where it is history; `None` where its check is
    /// switched off.
    pub fn settle(&self, mut finding: Finding) -> Option<Finding> {
        match self.policy.levels.get(finding.check) {
            Some(None) => return None,
            Some(Some(level)) => finding.level = *level,
            None => {}
        }
        if let Some(baseline) = self.policy.baseline
            && self.today < baseline
            && !self.strict
        {
            self.cap(
                &mut finding,
                Level::Note,
                &format!("history: dated before the baseline {baseline}"),
            );
        }
        Some(finding)
    }

    /// Lowers a finding to `most`, if it is above.
    pub fn cap(&self, finding: &mut Finding, most: Level, why: &str) {
        if !self.strict && finding.level > most {
            finding.level = most;
            finding.capped = Some(why.to_owned());
        }
    }
}
