//! When something happened, as a ledger writes it.

use std::cmp::Ordering;
use std::fmt;

use chrono::{Datelike as _, NaiveDate};

use crate::history::{Begin, Confidence, Landed, Timeline};

/// So many digits of a commit's id are written.
const ID_DIGITS: usize = 12;

/// How a date is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sure {
    /// `~DATE`: on that day or before; that is how far history was walked.
    Assumed,
    /// `?DATE` or `?DATE@ID`: on that day or before; history was cut off or could not be read.
    Unknown,
    /// `DATE@ID`: with that commit.
    Known,
    /// `+DATE`: on that day or later; it had not landed when it was written.
    Pending,
}

/// A moment; in order of time.
///
/// Several commits of one day are told apart by `turn`, which is written `.1`, `.2` and so on from the second one on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// How the date is known.
    pub sure: Sure,
    /// The day.
    pub date: NaiveDate,
    /// Place among the commits of the day that touched the contract.
    pub turn: u32,
    /// First hex digits of the commit's id.
    pub commit: Option<String>,
}

/// From a moment on, up to another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    /// The first moment.
    pub from: Stamp,
    /// The first moment after it; `None` while it lasts.
    pub until: Option<Stamp>,
}

impl Stamp {
    /// A moment without a commit.
    pub fn day(sure: Sure, date: NaiveDate, turn: u32) -> Self {
        Stamp { sure, date: written(date), turn, commit: None }
    }

    /// What is walked first of a day, then its commits, then what has not landed.
    fn order(&self) -> (NaiveDate, u8, u32, Option<&str>, Sure) {
        let rank = match (self.sure, &self.commit) {
            (Sure::Assumed, _) | (Sure::Unknown, None) => 0,
            (Sure::Known | Sure::Unknown, _) => 1,
            (Sure::Pending, _) => 2,
        };
        (self.date, rank, self.turn, self.commit.as_deref(), self.sure)
    }

    /// Reads `DATE@ID` and the like; else why it is none.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (sure, rest) = match text.as_bytes().first() {
            Some(b'~') => (Sure::Assumed, &text[1..]),
            Some(b'?') => (Sure::Unknown, &text[1..]),
            Some(b'+') => (Sure::Pending, &text[1..]),
            _ => (Sure::Known, text),
        };
        let (rest, commit) = match rest.split_once('@') {
            Some((rest, commit)) => (rest, Some(commit)),
            None => (rest, None),
        };
        let (date, turn) = match rest.split_once('.') {
            Some((date, turn)) => (date, Some(turn)),
            None => (rest, None),
        };
        let bad = || format!("`{}` is no date of the form 2026-05-04@0123456789ab", shown(text));
        let digits = date.len() == 10
            && date.bytes().enumerate().all(|(at, b)| match at {
                4 | 7 => b == b'-',
                _ => b.is_ascii_digit(),
            });
        let date: NaiveDate = date.parse().ok().filter(|_| digits).ok_or_else(bad)?;
        let turn = match turn {
            None => 0,
            Some(turn) => {
                let number: u32 = turn.parse().map_err(|_| bad())?;
                if number == 0 || number.to_string() != turn {
                    return Err(bad());
                }
                number
            }
        };
        let is_id = |id: &str| {
            (7..=40).contains(&id.len())
                && id.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        };
        let fits = match (sure, commit) {
            (Sure::Known, commit) => commit.is_some_and(is_id),
            (Sure::Unknown, commit) => commit.is_none_or(is_id),
            (Sure::Assumed | Sure::Pending, commit) => commit.is_none(),
        };
        if !fits {
            return Err(bad());
        }
        Ok(Stamp { sure, date, turn, commit: commit.map(str::to_owned) })
    }

    /// The moments of a timeline's commits, in its order.
    pub(super) fn of_history(timeline: &Timeline) -> Vec<Stamp> {
        let mut stamps: Vec<Stamp> = Vec::with_capacity(timeline.landed.len());
        let mut turn = 0;
        for (at, landed) in timeline.landed.iter().enumerate() {
            let Landed { position, id, date, .. } = landed;
            let date = written(*date);
            let begins = at == 0 && timeline.begin != Begin::Root;
            let same_day = stamps.last().is_some_and(|s| s.date == date && s.commit.is_some());
            turn = if same_day { turn + 1 } else { 0 };
            let commit = Some(id.chars().take(ID_DIGITS).collect::<String>());
            stamps.push(match timeline.confidence(*position) {
                Confidence::Assumed => Stamp::day(Sure::Assumed, date, 0),
                Confidence::Unknown if begins => Stamp::day(Sure::Unknown, date, 0),
                Confidence::Unknown => Stamp { sure: Sure::Unknown, date, turn, commit },
                Confidence::Known => Stamp { sure: Sure::Known, date, turn, commit },
            });
        }
        stamps
    }

    /// Whether a moment that this stamp describes may be the one that another one does.
    pub(super) fn allows(&self, exact: &Stamp) -> bool {
        self == exact
            || match (self.sure, exact.sure) {
                (Sure::Pending, Sure::Known | Sure::Unknown | Sure::Pending) => {
                    self.date <= exact.date
                }
                (Sure::Assumed | Sure::Unknown, _) => exact.date <= self.date,
                (Sure::Known, Sure::Known) => self.date == exact.date && self.same_commit(exact),
                _ => false,
            }
    }

    fn same_commit(&self, other: &Stamp) -> bool {
        match (&self.commit, &other.commit) {
            (Some(a), Some(b)) => a.starts_with(&**b) || b.starts_with(&**a),
            _ => false,
        }
    }
}

/// Years have four digits.
fn written(date: NaiveDate) -> NaiveDate {
    date.with_year(date.year().clamp(1, 9999)).unwrap_or(date)
}

/// A piece of a ledger that is no ledger, fit for a message.
pub(super) fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let mut start: String = text.chars().take(MOST).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start
}

impl PartialOrd for Stamp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Stamp {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sigil = match self.sure {
            Sure::Assumed => "~",
            Sure::Unknown => "?",
            Sure::Known => "",
            Sure::Pending => "+",
        };
        write!(f, "{sigil}{}", self.date.format("%Y-%m-%d"))?;
        if self.turn > 0 {
            write!(f, ".{}", self.turn)?;
        }
        match &self.commit {
            Some(commit) => write!(f, "@{commit}"),
            None => Ok(()),
        }
    }
}

impl Time {
    /// Reads `A..` or `A..B`; else why it is none.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let Some((from, until)) = text.split_once("..") else {
            return Err(format!("`{}` is no span of the form A..B or A..", shown(text)));
        };
        let from = Stamp::parse(from)?;
        let until = match until {
            "" => None,
            until => Some(Stamp::parse(until)?),
        };
        if until.as_ref().is_some_and(|until| *until <= from) {
            return Err(format!("`{}` ends before it begins", shown(text)));
        }
        Ok(Time { from, until })
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.until {
            Some(until) => write!(f, "{}..{until}", self.from),
            None => write!(f, "{}..", self.from),
        }
    }
}

/// Whether the last of some times still lasts.
pub(super) fn lasts(times: &[Time]) -> bool {
    times.last().is_some_and(|time| time.until.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for text in [
            "2026-05-04@0123456789ab..",
            "2026-05-04.1@0123456789ab..2026-05-04.2@abcdef012345",
            "~2025-08-01..2026-05-04@0123456789ab",
            "?2025-08-01..+2025-08-01",
            "?2025-08-01.3@0123456789ab..+2026-08-01.1",
        ] {
            assert_eq!(Time::parse(text).map(|t| t.to_string()), Ok(text.to_owned()));
        }
        for text in [
            "",
            "..",
            "2026-05-04..",
            "2026-05-04@xyz..",
            "2026-5-4@0123456..",
            "~2026-05-04@0123456..",
            "+2026-05-04..2026-05-04@0123456",
            "2026-05-04.0@0123456..",
            "2026-05-04@0123456",
            "2026-02-30@0123456..",
            "~é..",
            "2026-05-04@0123456...",
        ] {
            assert!(Time::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_exact_date_may_take_the_place_of_a_vague_one() {
        let stamp = |text: &str| Stamp::parse(text).unwrap();
        let exact = stamp("2026-05-04@0123456789ab");
        for (vague, allowed) in [
            ("~2026-05-04", true),
            ("~2026-05-03", false),
            ("?2026-06-01", true),
            ("+2026-05-01", true),
            ("+2026-05-05", false),
            ("2026-05-04@0123456", true),
            ("2026-05-03@0123456", false),
            ("2026-05-04@1123456", false),
        ] {
            assert_eq!(stamp(vague).allows(&exact), allowed, "{vague}");
        }
    }
}
