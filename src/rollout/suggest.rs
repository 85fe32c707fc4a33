//! Drafts of entries for what history shows and no entry names.

use std::fmt::Write as _;

use super::file::Rollouts;
use crate::triage::Seen;

/// Something new in artifacts, for which an entry is drafted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Full name.
    pub construct: String,
    /// When it was declared.
    pub introduced: Seen,
    /// What went on the day on which something like it came, or later: candidates for `replaces`.
    pub removed: Option<Seen>,
}

/// The text of entries for constructs that no entry has, in the order given. Emission is left to the reader:
/// descriptors do not show it.
pub fn suggest(rollouts: &Rollouts, drafts: &[Draft]) -> String {
    let mut text = String::new();
    for Draft { construct, introduced, removed } in drafts {
        if rollouts.of(construct).is_some() {
            continue;
        }
        let _ = writeln!(text, "[[rollout]]");
        let _ = writeln!(text, "constructs = [{}]", quoted(construct));
        let _ = writeln!(text, "reader = {}", event(introduced));
        let _ = writeln!(text, "# flag = \"the flag that switches emission\"");
        let _ =
            writeln!(text, "# emitted = [{{ on = {{ date = YYYY-MM-DD, commit = \"...\" }} }}]");
        match removed {
            Some(removed) => {
                let _ = writeln!(text, "# taken away again on {removed}");
            }
            None => {
                let _ = writeln!(text, "# replaces = [\"what compilers wrote before\"]");
            }
        }
        text.push('\n');
    }
    text
}

fn event(seen: &Seen) -> String {
    match &seen.commit {
        Some(commit) => format!("{{ date = {}, commit = {} }}", seen.date, quoted(commit)),
        None => format!("{{ date = {} }}", seen.date),
    }
}

/// A TOML string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Confidence;

    #[test]
    fn a_draft_is_an_entry() {
        let drafts = ["m.Known", "m.New"].map(|construct| Draft {
            construct: construct.to_owned(),
            introduced: Seen {
                commit: Some("0123456789".to_owned()),
                date: "2026-01-02".parse().unwrap(),
                confidence: Confidence::Known,
            },
            removed: None,
        });
        let known = Rollouts::parse("r.toml", "[[rollout]]\nconstructs = ['m.Known']").unwrap();
        let text = suggest(&known, &drafts);
        let read = Rollouts::parse("draft.toml", &text).unwrap();
        assert_eq!(read.entries.len(), 1);
        assert_eq!(read.entries[0].constructs, ["m.New"]);
        assert_eq!(read.entries[0].reader.as_ref().unwrap().date.to_string(), "2026-01-02");
    }
}
