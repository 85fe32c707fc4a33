//! Findings together by what they are about, and how loud each still is.

use crate::descriptor::Location;
use crate::finding::{Finding, Judgement, Level, TraceStep, Triage};

/// Findings of one message, enum or other construct, worst first.
pub(super) struct Group<'a> {
    /// Full name of the message or enum, or the construct itself.
    pub(super) name: &'a str,
    /// In the order of the judgement.
    pub(super) findings: Vec<&'a Finding>,
}

/// Groups by owner; groups come in the order of their worst finding.
pub(super) fn groups<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut index = std::collections::HashMap::new();
    for finding in findings {
        let name = owner(&finding.construct);
        let at = *index.entry(name).or_insert_with(|| {
            groups.push(Group { name, findings: Vec::new() });
            groups.len() - 1
        });
        if let Some(group) = groups.get_mut(at) {
            group.findings.push(finding);
        }
    }
    groups
}

/// The message or enum that a construct belongs to, by the naming conventions of protobuf: the longest
/// prefix that ends in a CamelCase name. Constructs of other surfaces stand for themselves.
pub(super) fn owner(construct: &str) -> &str {
    if construct.contains([':', '/', ' ']) {
        return construct;
    }
    let mut end = 0;
    let mut best = None;
    for segment in construct.split('.') {
        end += segment.len();
        let camel = segment.starts_with(|c: char| c.is_ascii_uppercase())
            && segment.contains(|c: char| c.is_ascii_lowercase());
        if camel {
            best = construct.get(..end);
        }
        end += 1;
    }
    best.unwrap_or(construct)
}

/// How loud a finding is once attestations and waivers are counted in.
pub(super) fn effective_level(finding: &Finding) -> Level {
    if finding.fails() {
        Level::Error
    } else if finding.needs_review() {
        Level::Warning
    } else {
        Level::Note
    }
}

/// Numbers for the summary line.
pub(super) struct Counts {
    pub(super) errors: usize,
    pub(super) warnings: usize,
    pub(super) notes: usize,
    /// Warnings and errors that an attestation or waiver covers.
    pub(super) satisfied: usize,
}

impl Counts {
    pub(super) fn of(judgement: &Judgement) -> Self {
        let mut counts = Counts { errors: 0, warnings: 0, notes: 0, satisfied: 0 };
        for finding in &judgement.findings {
            match effective_level(finding) {
                Level::Error => counts.errors += 1,
                Level::Warning => counts.warnings += 1,
                Level::Note if finding.level > Level::Note => counts.satisfied += 1,
                Level::Note => counts.notes += 1,
            }
        }
        counts
    }

    /// `2 errors, 1 warning, 14 notes`, parts that are zero left out.
    pub(super) fn words(&self) -> String {
        let parts = [
            (self.errors, super::text::count(self.errors, "error")),
            (self.warnings, super::text::count(self.warnings, "warning")),
            (self.satisfied, format!("{} satisfied", self.satisfied)),
            (self.notes, super::text::count(self.notes, "note")),
        ];
        let words: Vec<String> = parts.into_iter().filter(|p| p.0 > 0).map(|p| p.1).collect();
        if words.is_empty() { "no contract change".to_owned() } else { words.join(", ") }
    }
}

/// The answer that decided: that of the finding's own question, else the last one.
pub(super) fn deciding(finding: &Finding) -> Option<&TraceStep> {
    let own = finding.trace.iter().rfind(|t| t.step.is_some() && t.step == finding.step);
    own.or_else(|| finding.trace.last())
}

/// The last line to mark: a declaration to its end, anything longer (a whole message) on its first
/// line only.
pub(super) fn end_line(location: &Location) -> u32 {
    const DECLARATION: u32 = 3;
    let last = location.end_line.max(location.line);
    if last - location.line < DECLARATION { last } else { location.line }
}

/// `attested by …: …` or `waived by … until …: …`.
pub(super) fn satisfaction(finding: &Finding) -> Option<String> {
    use crate::finding::Satisfaction;
    finding.satisfied_by.as_ref().map(|satisfied| match satisfied {
        Satisfaction::Attestation { reason, by } => format!("attested by {by}: {reason}"),
        Satisfaction::Waiver { reason, by, expires } => {
            format!("waived by {by} until {expires}: {reason}")
        }
        Satisfaction::Golden { goldens } => {
            let named = super::recorded::first(goldens);
            match finding.triage {
                Triage::NeedsRollout => format!(
                    "ignorable: shown by execution, bit for bit the same with and without it: {named}"
                ),
                _ => format!(
                    "shown by execution, bit for bit the same through both contracts: {named}"
                ),
            }
        }
    })
}

/// From when it is right, where that is known: a rollout's readers may land at once, its writers later.
pub(super) fn due(finding: &Finding) -> Option<String> {
    let date = finding.earliest_safe?;
    Some(match finding.triage {
        Triage::NeedsRollout => format!("emission may be switched on from {date}"),
        _ => format!("may land from {date}"),
    })
}

/// What may be written to let the finding pass, where something may.
pub(super) fn way_out(finding: &Finding) -> Option<String> {
    match (effective_level(finding), finding.triage) {
        (Level::Note, _) => None,
        (Level::Warning, Triage::NeedsAttestation) => Some(format!(
            "vouch for it in a commit message: AOT-Compat: {} {} - <reason>",
            finding.check, finding.construct
        )),
        _ => Some("have it waived, by its fingerprint, in the policy's waiver file".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::owner;

    #[test]
    fn owners() {
        assert_eq!(owner("xla.gpu.ThunkProto.copy_thunk"), "xla.gpu.ThunkProto");
        assert_eq!(owner("xla.DebugOptions.Mode.SKIP_TEMP"), "xla.DebugOptions.Mode");
        assert_eq!(owner("xla.gpu.ThunkProto"), "xla.gpu.ThunkProto");
        assert_eq!(owner("handler:FFI/xla.gpu.ext.Sort/CUDA"), "handler:FFI/xla.gpu.ext.Sort/CUDA");
        assert_eq!(owner("topk"), "topk");
    }
}
