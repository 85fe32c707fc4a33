//! Where a rollout stands, and what may land when.

use chrono::NaiveDate;

use super::file::Rollout;
use super::windows::Windows;
use crate::triage::Emission;

/// How far a rollout has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// No reader has landed.
    Planned,
    /// Runtimes read it, compilers do not emit it, and runtimes without the reader are still in use.
    Waiting,
    /// It may be emitted, and is not.
    Readable,
    /// It is emitted, and artifacts with what it replaces are still in use.
    Emitting,
    /// What it replaces may go.
    Cleanup,
    /// It is emitted, and nothing is left to remove.
    Done,
}

impl Phase {
    /// The name used in reports and machine formats.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Planned => "planned",
            Phase::Waiting => "waiting",
            Phase::Readable => "readable",
            Phase::Emitting => "emitting",
            Phase::Cleanup => "cleanup",
            Phase::Done => "done",
        }
    }
}

/// Where a rollout stands on a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// How far it has come.
    pub phase: Phase,
    /// The first day on which it may be emitted, once a reader has landed.
    pub emit_from: Option<NaiveDate>,
    /// The first day on which what it replaces may be removed, while it is emitted.
    pub remove_from: Option<NaiveDate>,
    /// Days by which it was emitted too early, for the worst of its intervals.
    pub emitted_early: Option<i64>,
    /// Days by which what it replaces was removed too early.
    pub removed_early: Option<i64>,
}

/// Where a rollout stands.
pub fn standing(rollout: &Rollout, windows: &Windows, today: NaiveDate) -> Standing {
    let landed = |date: NaiveDate| date <= today;
    let reader = rollout.reader.as_ref().map(|event| event.date).filter(|day| landed(*day));
    let emit_from = reader.map(|day| windows.forward.after(day));
    let emission = rollout.emission(today);
    // The clock of a removal starts with the interval that lasts.
    let on = rollout.emitted.iter().rev().map(|interval| interval.on.date).find(|day| landed(*day));
    let removed = rollout.removed.as_ref().map(|event| event.date).filter(|day| landed(*day));
    let remove_from = match emission {
        Emission::On => on.map(|day| windows.backward.after(day)),
        _ => None,
    };
    let nothing_left = removed.is_some() || rollout.replaces.is_empty();
    let phase = match (emission, reader) {
        (Emission::On, _) if nothing_left => Phase::Done,
        (Emission::On, _) if remove_from.is_some_and(landed) => Phase::Cleanup,
        (Emission::On, _) => Phase::Emitting,
        (_, None) => Phase::Planned,
        _ if emit_from.is_some_and(landed) => Phase::Readable,
        _ => Phase::Waiting,
    };
    let early =
        |due: NaiveDate, day: NaiveDate| Some((due - day).num_days()).filter(|days| *days > 0);
    let emitted_early = emit_from.and_then(|from| {
        let on = rollout.emitted.iter().map(|interval| interval.on.date).filter(|day| landed(*day));
        on.filter_map(|day| early(from, day)).max()
    });
    let removed_early = removed.and_then(|removed| {
        // What was on when it went; nothing ever replaced it if none was.
        let on = rollout.emitted.iter().rev().map(|interval| interval.on.date);
        let on = on.clone().find(|day| *day <= removed)?;
        early(windows.backward.after(on), removed)
    });
    Standing { phase, emit_from, remove_from, emitted_early, removed_early }
}

#[cfg(test)]
mod tests {
    use super::super::file::Rollouts;
    use super::*;

    #[test]
    fn phases_follow_the_windows() {
        let text = r#"
            [[rollout]]
            constructs = ["m.New"]
            replaces = ["m.Old"]
            reader = { date = 2026-01-10 }
            emitted = [{ on = { date = 2026-01-20 } }]
            removed = { date = 2026-07-20 }
        "#;
        let rollouts = Rollouts::parse("r.toml", text).unwrap();
        for (today, phase) in [
            ("2026-01-09", Phase::Planned),
            ("2026-01-10", Phase::Waiting),
            ("2026-01-20", Phase::Emitting),
            ("2026-07-19", Phase::Emitting),
            ("2026-07-20", Phase::Done),
        ] {
            let today = today.parse().unwrap();
            let standing = standing(&rollouts.entries[0], &Windows::default(), today);
            assert_eq!(standing.phase, phase, "{today}");
            assert_eq!(standing.removed_early, None, "a day that satisfies is not early");
        }
        let standing =
            standing(&rollouts.entries[0], &Windows::default(), "2026-08-01".parse().unwrap());
        assert_eq!(standing.emit_from.unwrap().to_string(), "2026-01-24");
        assert_eq!(standing.emitted_early, Some(4));
    }

    #[test]
    fn what_may_be_removed_says_so() {
        let text = r#"
            [[rollout]]
            constructs = ["m.New"]
            replaces = ["m.Old"]
            reader = { date = 2026-01-01 }
            emitted = [{ on = { date = 2026-02-01 } }]
        "#;
        let rollouts = Rollouts::parse("r.toml", text).unwrap();
        let at = |today: &str| {
            standing(&rollouts.entries[0], &Windows::default(), today.parse().unwrap()).phase
        };
        assert_eq!(at("2026-01-15"), Phase::Readable);
        assert_eq!(at("2026-07-31"), Phase::Emitting);
        assert_eq!(at("2026-08-01"), Phase::Cleanup);
    }
}
