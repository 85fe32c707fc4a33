//! Attestation lines: somebody vouches that a change is right for every artifact of the window.

use std::collections::HashMap;

use crate::finding::{Finding, Satisfaction, Triage};

/// One `AOT-Compat: <check-id> <construct> - <reason>` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attestation {
    /// Id of the check.
    pub check: String,
    /// Full name of the construct.
    pub construct: String,
    /// The stated reason.
    pub reason: String,
    /// Who or what the line comes from.
    pub by: String,
}

/// Finds attestation lines anywhere in a text; `by` says whose text it is.
///
/// Lines may be indented, quoted with `>` or listed with `*` or `-`, as imported pull requests have them. A line without a reason attests nothing.
pub fn parse_attestations(text: &str, by: &str) -> Vec<Attestation> {
    text.lines().filter_map(|line| parse_line(line, by)).collect()
}

fn parse_line(line: &str, by: &str) -> Option<Attestation> {
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '>' | '*' | '-'));
    let key = line.get(..KEY.len()).filter(|key| key.eq_ignore_ascii_case(KEY))?;
    let rest = line.get(key.len()..)?.trim_start();
    let (check, rest) = rest.split_once(char::is_whitespace)?;
    let (construct, rest) = rest.trim_start().split_once(char::is_whitespace)?;
    let reason = rest.trim_start().trim_start_matches(['-', '\u{2013}', '\u{2014}', ':']).trim();
    if reason.is_empty() {
        return None;
    }
    let owned = |text: &str| text.trim_matches('`').to_owned();
    Some(Attestation {
        check: owned(check),
        construct: owned(construct),
        reason: reason.to_owned(),
        by: by.to_owned(),
    })
}

const KEY: &str = "AOT-Compat:";

/// Satisfies the needs-attestation findings that an attestation names; nothing else can be attested.
pub fn apply_attestations(findings: &mut [Finding], attestations: &[Attestation]) {
    let mut by_name: HashMap<(&str, &str), &Attestation> = HashMap::new();
    for attestation in attestations {
        by_name.entry((&attestation.check, &attestation.construct)).or_insert(attestation);
    }
    for finding in findings.iter_mut().filter(|f| f.triage == Triage::NeedsAttestation) {
        if let Some(attestation) = by_name.get(&(finding.check, &*finding.construct)) {
            finding.satisfied_by = Some(Satisfaction::Attestation {
                reason: attestation.reason.clone(),
                by: attestation.by.clone(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_anywhere() {
        let text = "Subject\n\nbody\n  > * AOT-Compat: enum-value-renamed `xla.E.A` — the same meaning\n\
                    aot-compat: a b - c\nSigned-off-by: x\n";
        let found = parse_attestations(text, "ann");
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].construct, "xla.E.A");
        assert_eq!(found[0].reason, "the same meaning");
        assert_eq!((&*found[1].check, &*found[1].construct, &*found[1].reason), ("a", "b", "c"));
    }

    #[test]
    fn a_line_without_a_reason_attests_nothing() {
        for line in ["AOT-Compat: a b", "AOT-Compat: a b -", "AOT-Compat: a", "AOT-Compat:", "é"] {
            assert_eq!(parse_attestations(line, ""), [], "{line}");
        }
    }
}
