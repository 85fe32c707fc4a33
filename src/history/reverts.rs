//! What a commit's message says that it undoes or brings back.
//!
//! Shapes that XLA's history has: `Reverts <id>` as the subject or a line of the body (488 times in the year to August
//! 2026), `This reverts commit <id>.` (which imported pull requests quote for ids of their own), `Reverts changelist
//! <number>`, `Rollback of PR #<number>`, `Roll back https://…/pull/<number>` and `…/commit/<id>`, `Rollback cl/<number>`,
//! `Rollforwards cl/<number>`, `Reland …`. Anybody may write such lines, so they explain what happened and decide nothing.

use std::fmt;

use super::timeline::Landed;

/// No message names more commits than this.
const MAX_TARGETS: usize = 16;

/// So much of a message is read.
const MAX_LINES: usize = 2_000;

/// What a message says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    /// Commits that it undoes, in order.
    pub undoes: Vec<Target>,
    /// Whether it brings back what was undone before.
    pub relands: bool,
    /// `PR #123: ...`
    pub pull_request: Option<u64>,
    /// `PiperOrigin-RevId: 123`
    pub changelist: Option<u64>,
}

/// How a message names another commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// At least seven hex digits of its id.
    Commit(String),
    /// The pull request that it is.
    PullRequest(u64),
    /// The change list that it is.
    Changelist(u64),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Commit(id) => f.write_str(id),
            Target::PullRequest(number) => write!(f, "PR #{number}"),
            Target::Changelist(number) => write!(f, "changelist {number}"),
        }
    }
}

impl Target {
    /// The newest of some commits that it names.
    pub fn find<'l>(&self, landed: &'l [Landed]) -> Option<&'l Landed> {
        landed.iter().rev().find(|landed| match self {
            Target::Commit(id) => landed.id.starts_with(&**id),
            Target::PullRequest(number) => landed.pull_request == Some(*number),
            Target::Changelist(number) => landed.changelist == Some(*number),
        })
    }
}

/// First line of a message.
pub fn subject(message: &str) -> &str {
    message.lines().next().unwrap_or("")
}

/// Reads a message.
pub fn read(message: &str) -> Said {
    let mut said = Said::default();
    for (at, line) in message.lines().take(MAX_LINES).enumerate() {
        let mut line = line.trim();
        if at == 0 {
            if let Some((number, rest)) = line.strip_prefix("PR #").and_then(|l| l.split_once(':'))
            {
                said.pull_request = number.parse().ok();
                line = rest.trim();
            }
            // `[XLA:GPU] Rollback of ...`
            while let Some((_, rest)) = line.strip_prefix('[').and_then(|l| l.split_once(']')) {
                line = rest.trim_start_matches([':', ' ']);
            }
        }
        if let Some(number) = line.strip_prefix("PiperOrigin-RevId:") {
            said.changelist = number.trim().parse().ok().or(said.changelist);
            continue;
        }
        let lower = line.to_ascii_lowercase();
        let starts = |words: &[&str]| words.iter().any(|word| lower.starts_with(word));
        if at == 0 && (starts(&RELAND) || is_double(&lower)) {
            said.relands = true;
        } else if at == 0 && starts(&REVERT) {
            said.targets(line, true);
        } else if starts(&["reverts ", "this reverts commit "]) {
            said.targets(line, false);
        }
    }
    said
}

/// Words that a subject starts with which brings something back.
const RELAND: [&str; 7] =
    ["reland", "re-land", "rollforward", "roll forward", "rolling forward", "reapply", "resubmit"];

/// Words that a subject starts with which undoes something.
const REVERT: [&str; 7] = [
    "revert",
    "rollback",
    "roll back",
    "rolling back",
    "rolled back",
    "automated rollback",
    "automated g4 rollback",
];

/// `Rollback of rollback of ...`, `Revert "Revert ..."`.
fn is_double(subject: &str) -> bool {
    let undoing = |word: &&str| matches!(*word, "revert" | "reverts" | "rollback");
    let words = subject.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
    let mut words = words.filter(|word| !matches!(*word, "of" | "a" | "the"));
    words.next().is_some_and(|w| undoing(&w)) && words.next().is_some_and(|w| undoing(&w))
}

impl Said {
    /// What a line names. A subject may speak of pull requests and change lists in any form.
    fn targets(&mut self, line: &str, subject: bool) {
        let mut before = "";
        for word in line.split([' ', '\t', ',', '(', ')', '`', '"']).filter(|w| !w.is_empty()) {
            let word = word.trim_end_matches(['.', ':', ';']);
            let last = word.rsplit('/').next().unwrap_or(word);
            let target = if let Ok(number) = last.parse::<u64>()
                && (before.eq_ignore_ascii_case("changelist") || word.starts_with("cl/"))
            {
                Some(Target::Changelist(number))
            } else if let Some(number) = word.strip_prefix('#').and_then(|n| n.parse().ok())
                && subject
            {
                Some(Target::PullRequest(number))
            } else if let Ok(number) = last.parse::<u64>()
                && word.contains("/pull/")
            {
                subject.then_some(Target::PullRequest(number))
            } else if is_id(last) {
                Some(Target::Commit(last.to_ascii_lowercase()))
            } else {
                None
            };
            before = word;
            let Some(target) = target else { continue };
            if !self.undoes.contains(&target) && self.undoes.len() < MAX_TARGETS {
                self.undoes.push(target);
            }
        }
    }
}

/// Seven or more hex digits, of which some are none of ten: a number is no id.
fn is_id(word: &str) -> bool {
    (7..=40).contains(&word.len())
        && word.bytes().all(|b| b.is_ascii_hexdigit())
        && (word.len() == 40 || word.bytes().any(|b| b.is_ascii_digit()))
        && word.bytes().any(|b| b.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "05a551d3073814f0284164fde944fadbd84c2abf";

    #[track_caller]
    fn undoes(message: &str, expected: &[&str]) {
        let said = read(message);
        let names: Vec<String> = said.undoes.iter().map(Target::to_string).collect();
        assert_eq!(names, expected, "{message}");
    }

    #[test]
    fn shapes_of_real_reverts() {
        undoes(&format!("Reverts {ID}\n\nPiperOrigin-RevId: 951251536\n"), &[ID]);
        undoes(&format!("Fix.\n\nReverts {ID}\n"), &[ID]);
        undoes(
            &format!("PR #45405: Revert PR #45070\n\nThis reverts commit {ID}."),
            &["PR #45070", ID],
        );
        undoes("Roll back https://github.com/openxla/xla/pull/42346 due to OOM", &["PR #42346"]);
        undoes("Rollback https://github.com/openxla/xla/commit/05a551d.", &["05a551d"]);
        undoes(
            "Rollback cl/930398445 and cl/930429650",
            &["changelist 930398445", "changelist 930429650"],
        );
        undoes("Reverts changelist 123456", &["changelist 123456"]);
        undoes("[XLA:GPU] Rollback of: PR #39006: [xla:gpu] Use", &["PR #39006"]);
    }

    #[test]
    fn words_that_only_look_like_it() {
        undoes("Add a test\n\nThis was reverted in https://github.com/openxla/xla/pull/1", &[]);
        undoes("Reverts default facade to decade", &[]);
        undoes("Revert 20260101 behaviour", &[]);
        assert!(!read("Relandscape").relands || read("Relandscape").undoes.is_empty());
    }

    #[test]
    fn relands() {
        for subject in [
            "Reland PR #1: x",
            "Rollforwards cl/928506903 after fix",
            "[XLA] Rollback of rollback of \"x\"",
            "Revert \"Revert x\"",
        ] {
            assert!(read(subject).relands, "{subject}");
            undoes(subject, &[]);
        }
        assert!(!read("Rollback of x").relands);
    }

    #[test]
    fn numbers_of_the_commit_itself() {
        let said = read("PR #45597: [XLA:GPU] Add\n\nPiperOrigin-RevId: 951251536\n");
        assert_eq!((said.pull_request, said.changelist), (Some(45597), Some(951_251_536)));
    }
}
