//! The compatibility windows and their calendar arithmetic.

use chrono::{Days, Months, NaiveDate};

/// Length of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// Calendar days.
    Days(u32),
    /// Calendar months, clamped to the month's end.
    Months(u32),
}

impl Length {
    /// The first day on which a window that opened on `start` is satisfied.
    ///
    /// `start + 14 days`, or `start + 6 months` clamped to the month's end (2026-08-31 gives
    /// 2027-02-28); that day itself satisfies. Dates past the calendar's end saturate.
    pub fn after(self, start: NaiveDate) -> NaiveDate {
        match self {
            Length::Days(days) => start.checked_add_days(Days::new(u64::from(days))),
            Length::Months(months) => start.checked_add_months(Months::new(months)),
        }
        .unwrap_or(NaiveDate::MAX)
    }

    /// A day so early that no window which opened before it is open on `today`.
    pub fn before(self, today: NaiveDate) -> NaiveDate {
        match self {
            Length::Days(days) => today.checked_sub_days(Days::new(u64::from(days))),
            Length::Months(months) => today.checked_sub_months(Months::new(months)),
        }
        .unwrap_or(NaiveDate::MIN)
    }

    /// Whether a window that opened on `start` is satisfied on `today`.
    pub fn satisfied(self, start: NaiveDate, today: NaiveDate) -> bool {
        today >= self.after(start)
    }
}

impl std::fmt::Display for Length {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (count, unit) = match self {
            Length::Days(days) => (days, "day"),
            Length::Months(months) => (months, "month"),
        };
        write!(f, "{count} {unit}{}", if *count == 1 { "" } else { "s" })
    }
}

/// The promises that the contract makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windows {
    /// How long a runtime reads what compilers emitted (6 months).
    pub backward: Length,
    /// How old a runtime may be that reads what a compiler emits (14 days).
    pub forward: Length,
    /// Numbers that lived shorter than this, and were in no release, may be reused (0 days).
    pub reuse_grace: Length,
}

impl Default for Windows {
    fn default() -> Self {
        Windows {
            backward: Length::Months(6),
            forward: Length::Days(14),
            reuse_grace: Length::Days(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn months_clamp_to_the_month_end() {
        for (start, end) in [
            ("2026-08-31", "2027-02-28"),
            ("2027-08-31", "2028-02-29"),
            ("2026-01-15", "2026-07-15"),
            ("2026-12-31", "2027-06-30"),
        ] {
            assert_eq!(Length::Months(6).after(date(start)), date(end), "{start}");
        }
    }

    #[test]
    fn what_opened_earlier_is_over() {
        for today in ["2027-02-28", "2027-03-31", "2027-06-30", "2026-08-31"].map(date) {
            let earliest = Length::Months(6).before(today);
            let earlier = earliest.pred_opt().unwrap();
            assert!(Length::Months(6).satisfied(earlier, today), "{today}");
        }
    }

    #[test]
    fn the_last_day_counts() {
        let window = Length::Days(14);
        assert!(!window.satisfied(date("2026-03-01"), date("2026-03-14")));
        assert!(window.satisfied(date("2026-03-01"), date("2026-03-15")));
    }
}
