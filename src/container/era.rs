//! What differs between the era of base and that of head, and whom it hits.

use chrono::NaiveDate;

use super::{Containers, Era, Form};
use crate::rollout::windows::Windows;

/// A form that compilers began to write or loaders ceased to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EraChange {
    /// The form.
    pub form: Form,
    /// What became of it.
    pub turn: Turn,
    /// Commit that began head's era.
    pub commit: Option<String>,
    /// First day of head's era.
    pub since: NaiveDate,
}

/// What became of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Compilers write it, and loaders inside the forward window do not read it.
    WrittenTooSoon,
    /// Compilers write it, and loaders of the whole forward window read it.
    Written,
    /// Loaders no longer read it, although compilers write it or did so inside the backward window; the day from
    /// which they do not, where that is known.
    DroppedTooSoon(Option<NaiveDate>),
    /// Loaders no longer read it, and no compiler of the backward window wrote it.
    Dropped,
}

/// What changed from base's era to head's. `history` and `base` are base's declaration and the number of its era; head
/// may declare for itself what is new, never what was.
pub fn changes(
    history: &Containers,
    base: usize,
    head: &Era,
    today: NaiveDate,
    windows: &Windows,
) -> Vec<EraChange> {
    let past = history.eras.get(..=base).unwrap_or_default();
    let Some(before) = past.last() else { return Vec::new() };
    // Era `at` ended when the next began; the one of base lasts until today.
    let end = |at: usize| past.get(at + 1).map(|next| next.since);
    let in_reach = |at: usize| end(at).is_none_or(|day| !windows.forward.satisfied(day, today));
    let mut found = Vec::new();
    let mut add = |form, turn| {
        found.push(EraChange { form, turn, commit: head.commit.clone(), since: head.since });
    };
    for form in Form::ALL {
        if head.writes.contains(&form) && !before.writes.contains(&form) {
            let blind = |(at, era): (usize, &Era)| in_reach(at) && !era.reads.contains(&form);
            let too_soon = past.iter().enumerate().any(blind);
            add(form, if too_soon { Turn::WrittenTooSoon } else { Turn::Written });
        }
        if before.reads.contains(&form) && !head.reads.contains(&form) {
            let last = past.iter().rposition(|era| era.writes.contains(&form));
            let turn = match last.map(end) {
                None => Turn::Dropped,
                Some(None) => Turn::DroppedTooSoon(None),
                Some(Some(day)) if windows.backward.satisfied(day, today) => Turn::Dropped,
                Some(Some(day)) => Turn::DroppedTooSoon(Some(day)),
            };
            add(form, turn);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn era(since: &str, reads: &[Form], writes: &[Form]) -> Era {
        Era {
            since: since.parse().unwrap(),
            commit: None,
            reads: reads.to_vec(),
            writes: writes.to_vec(),
        }
    }

    fn turns(eras: &[Era], head: &Era, today: &str) -> Vec<(Form, Turn)> {
        let history = Containers { messages: vec![], eras: eras.to_vec() };
        let windows = Windows::default();
        let today = today.parse().unwrap();
        let found = changes(&history, eras.len() - 1, head, today, &windows);
        found.into_iter().map(|change| (change.form, change.turn)).collect()
    }

    #[test]
    fn windows_decide() {
        use Form::{PlainOuter as Plain, SplitOuter as Split};
        let plain = era("2026-01-01", &[Plain], &[Plain]);
        let both = era("2026-02-01", &[Plain, Split], &[Plain]);
        let split = era("2026-03-01", &[Plain, Split], &[Split]);
        let only = era("2026-04-01", &[Split], &[Split]);
        // Reader and writer in one change.
        assert_eq!(
            turns(std::slice::from_ref(&plain), &split, "2026-02-01"),
            [(Split, Turn::WrittenTooSoon)]
        );
        let staged = [plain, both];
        assert_eq!(turns(&staged, &split, "2026-02-14"), [(Split, Turn::WrittenTooSoon)]);
        assert_eq!(turns(&staged, &split, "2026-02-15"), [(Split, Turn::Written)]);
        let [plain, both] = staged;
        let switched = [plain, both, split.clone()];
        let day = Some(split.since);
        assert_eq!(turns(&switched, &only, "2026-08-31"), [(Plain, Turn::DroppedTooSoon(day))]);
        assert_eq!(turns(&switched, &only, "2026-09-01"), [(Plain, Turn::Dropped)]);
        assert_eq!(
            turns(&switched[..2], &only, "2026-09-01"),
            [(Plain, Turn::DroppedTooSoon(None)), (Split, Turn::Written)]
        );
    }
}
