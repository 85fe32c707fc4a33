//! The ledger as evidence, and as something that is governed itself.

use super::{Comparison, Gate};
use crate::descriptor::Location;
use crate::error::Error;
use crate::finding::{Finding, Side, SourceLocation};
use crate::history::ledger::{Breach, BreachKind, Change, Ledger, breaches};
use crate::revision::Revision;
use crate::triage::Loudness;
use crate::triage::checks::{ledger_contradicts, ledger_stale, ledger_tombstone_dropped};
use crate::triage::policy::Policy;

/// More findings of one kind are not listed one by one.
const MOST: usize = 50;

/// The largest ledger, in bytes.
const MAX_BYTES: u64 = 32 << 20;

impl Revision<'_> {
    /// The bytes of the revision's ledger file, where it has one.
    ///
    /// # Errors
    /// Files that are too large, or no files.
    pub fn ledger_bytes(&self, policy: &Policy) -> Result<Option<Vec<u8>>, Error> {
        self.read_up_to(&policy.ledger, MAX_BYTES)
    }

    /// The revision's ledger: itself, or the file of that name.
    ///
    /// # Errors
    /// A ledger that cannot be read.
    pub fn ledger(&self, policy: &Policy) -> Result<Option<Ledger>, Error> {
        if let Some(ledger) = self.as_ledger() {
            return Ok(Some(ledger.clone()));
        }
        match self.ledger_bytes(policy)? {
            Some(bytes) => Ledger::read(&policy.ledger, &bytes).map(Some),
            None => Ok(None),
        }
    }
}

impl Gate<'_> {
    /// Findings on head's ledger.
    pub(super) fn ledger_findings(
        &self,
        base: &Revision<'_>,
        head: &Revision<'_>,
        both: &Comparison,
        loudness: Loudness<'_>,
    ) -> Result<Vec<Finding>, Error> {
        let policy = loudness.policy;
        let path = &*policy.ledger;
        let after = head.ledger_bytes(policy)?;
        let text = after.as_deref().map(String::from_utf8_lossy);
        let place = |line: Option<&str>| vec![location(path, text.as_deref(), line)];
        let mut found = Vec::new();

        let before = if base.as_ledger().is_none() { base.ledger_bytes(policy)? } else { None };
        let same_contract = std::sync::Arc::ptr_eq(&both.base, &both.head);
        if before == after && same_contract && base.as_ledger().is_none() {
            return Ok(found);
        }
        let old = match base.ledger(policy) {
            Ok(ledger) => ledger,
            Err(error) => {
                found.push(ledger_stale::unreadable(path, &why(path, &error), place(None)));
                None
            }
        };
        let new = match &after {
            None if before.is_some() && head.has_files() => {
                found.push(ledger_tombstone_dropped::file(path, place(None)));
                None
            }
            None => None,
            Some(bytes) => match Ledger::read(path, bytes) {
                Ok(ledger) => Some(ledger),
                Err(error) => {
                    found.push(ledger_contradicts::unreadable(
                        path,
                        &why(path, &error),
                        place(None),
                    ));
                    None
                }
            },
        };
        if let Some(new) = &new {
            let wrong = breaches(&Change {
                base: old.as_ref(),
                head: new,
                base_contract: &both.base,
                head_contract: &both.head,
                since: self.commit_of(base).map(|commit| commit.date),
                today: loudness.today,
            });
            let of = |kind| wrong.iter().filter(move |b| b.kind == kind);
            let stale: Vec<&Breach> = of(BreachKind::Stale).collect();
            if let [first, ..] = stale[..] {
                let line = first.found.as_deref();
                found.push(ledger_stale::finding(path, &stale, place(line)));
            }
            for breach in of(BreachKind::Contradicts).take(MOST) {
                found.push(ledger_contradicts::finding(breach, place(breach.found.as_deref())));
            }
            for breach in of(BreachKind::Dropped).take(MOST) {
                found.push(ledger_tombstone_dropped::finding(
                    breach,
                    place(breach.found.as_deref()),
                ));
            }
        }
        Ok(found.into_iter().filter_map(|finding| loudness.settle(finding)).collect())
    }
}

fn why(path: &str, error: &Error) -> String {
    let text = error.to_string();
    text.strip_prefix(path).map_or(&*text, |rest| rest.trim_start_matches(':')).to_owned()
}

/// A line of a file; the whole of it where the line is not there.
fn location(path: &str, text: Option<&str>, line: Option<&str>) -> SourceLocation {
    let at = text.zip(line).and_then(|(text, line)| text.lines().position(|other| other == line));
    let number = at.and_then(|at| u32::try_from(at + 1).ok()).unwrap_or(0);
    let columns = line.filter(|_| number > 0).map_or(0, |line| line.len() + 1);
    SourceLocation {
        side: if text.is_some() { Side::Head } else { Side::Base },
        location: Location {
            file: path.into(),
            line: number,
            column: u32::from(number > 0),
            end_line: number,
            end_column: u32::try_from(columns).unwrap_or(0),
        },
        label: "the ledger says".to_owned(),
        source: text.map(Into::into),
    }
}
