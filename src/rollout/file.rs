//! The rollout file: which constructs are emitted since when, under which flag, and what they replace.
//!
//! ```toml
//! [[rollout]]
//! feature = "dynamic-slice fusion, second form"
//! constructs = ["xla.gpu.ThunkProto.dynamic_slice_fusion_thunk"]
//! replaces = ["xla.gpu.ThunkProto.dynamic_slice_thunk"]
//! flag = "xla_gpu_enable_dynamic_slice_fusion"
//! reader = { date = 2026-05-21, commit = "851c2ec4d4" }
//! emitted = [
//!   { on = { date = 2026-06-30, commit = "232bf5f80f" }, off = { date = 2026-07-01, commit = "54cc9d947d" } },
//!   { on = { date = 2026-07-31, commit = "85922ac5ee" } },
//! ]
//! removed = { date = 2026-08-06, commit = "34db469cbf" }
//! ```

use std::collections::BTreeMap;
use std::fmt;

use chrono::NaiveDate;
use serde::Deserialize;
use toml::Spanned;

use crate::error::{Error, ErrorKind};
use crate::triage::Emission;
use crate::triage::policy::{date, toml_error};

/// All entries of a rollout file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rollouts {
    /// In the order of the file.
    pub entries: Vec<Rollout>,
}

/// One staged rollout.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rollout {
    /// What it is about, in words.
    #[serde(default)]
    pub feature: Option<String>,
    /// Full names of what is new in artifacts.
    pub constructs: Vec<String>,
    /// Full names of what compilers wrote instead before.
    #[serde(default)]
    pub replaces: Vec<String>,
    /// The flag that switches emission.
    #[serde(default)]
    pub flag: Option<String>,
    /// When runtimes learnt to read it.
    #[serde(default)]
    pub reader: Option<Event>,
    /// When default builds emitted it, oldest first.
    #[serde(default)]
    pub emitted: Vec<Interval>,
    /// When what it replaces was removed.
    #[serde(default)]
    pub removed: Option<Event>,
}

/// A day, with the commit that it rests on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// When that landed.
    #[serde(deserialize_with = "date")]
    pub date: NaiveDate,
    /// Id of the commit, or its first digits (7 at least); none for a plan.
    #[serde(default)]
    pub commit: Option<String>,
}

/// From one flip of a flag to the next.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// Emitted from here on.
    pub on: Event,
    /// Emitted no more from here on; none while it lasts.
    #[serde(default)]
    pub off: Option<Event>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RolloutFile {
    #[serde(default)]
    rollout: Vec<Spanned<Rollout>>,
}

impl Rollouts {
    /// Reads a rollout file (`[[rollout]]` tables).
    ///
    /// # Errors
    /// Syntax errors, unknown or missing keys, entries without constructs, a construct in two entries, intervals
    /// out of order, and commit ids that are none; each with its place.
    pub fn parse(path: &str, text: &str) -> Result<Self, Error> {
        let file: RolloutFile =
            toml::from_str(text).map_err(|error| toml_error(path, text, &error))?;
        let mut entries = Vec::new();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for spanned in file.rollout {
            let span = spanned.span();
            let rollout = spanned.into_inner();
            let twice = rollout.constructs.iter().find(|c| known.contains_key(*c)).cloned();
            let fault = match twice {
                Some(construct) => {
                    let help = "put all its intervals into one entry";
                    Some((format!("{construct} is in two rollouts"), help))
                }
                None => rollout.fault(),
            };
            if let Some((message, help)) = fault {
                return Err(ErrorKind::Policy {
                    message: format!("{path}: {message}"),
                    help: Some(help.to_owned()),
                    span: Some(span.into()),
                    label: "this rollout".to_owned(),
                    source_code: miette::NamedSource::new(path, text.to_owned()),
                }
                .into());
            }
            for construct in &rollout.constructs {
                known.insert(construct.clone(), entries.len());
            }
            entries.push(rollout);
        }
        Ok(Rollouts { entries })
    }

    /// The entry in which a construct is new.
    pub fn of(&self, construct: &str) -> Option<&Rollout> {
        self.entries.iter().find(|rollout| rollout.constructs.iter().any(|c| c == construct))
    }

    /// What compilers emit instead of a construct.
    pub fn replacing<'r>(&'r self, construct: &'r str) -> impl Iterator<Item = &'r str> {
        let entries = self.entries.iter();
        let found = entries.filter(move |rollout| rollout.replaces.iter().any(|c| c == construct));
        found.flat_map(|rollout| rollout.constructs.iter().map(String::as_str))
    }

    /// Whether compilers emit a construct on a day, as far as the entries say.
    ///
    /// What an entry replaces is emitted whenever the new form is not.
    pub fn emission(&self, construct: &str, today: NaiveDate) -> Emission {
        let own = self.of(construct).map(|rollout| rollout.emission(today));
        if let Some(own @ (Emission::Off | Emission::Ceased(_))) = own {
            return own;
        }
        let replaced: Vec<Emission> = self
            .entries
            .iter()
            .filter(|rollout| rollout.replaces.iter().any(|c| c == construct))
            .map(|rollout| rollout.replaced(today))
            .collect();
        let last = replaced.iter().filter_map(|emission| match emission {
            Emission::Ceased(day) => Some(*day),
            _ => None,
        });
        match last.max() {
            // Several entries may each replace a part of it: all must have.
            Some(day) if !replaced.contains(&Emission::On) => Emission::Ceased(day),
            _ if replaced.is_empty() => own.unwrap_or(Emission::Unknown),
            _ => Emission::On,
        }
    }
}

impl Rollout {
    /// Name for reports: the feature, else the first construct.
    pub fn title(&self) -> &str {
        let first = self.constructs.first().map_or("", |construct| construct);
        self.feature.as_deref().unwrap_or(first)
    }

    /// Whether compilers emit what is new on a day.
    pub fn emission(&self, today: NaiveDate) -> Emission {
        match self.emitted.iter().rev().find(|interval| interval.on.date <= today) {
            None => Emission::Off,
            Some(Interval { off: Some(off), .. }) if off.date <= today => {
                Emission::Ceased(off.date)
            }
            Some(_) => Emission::On,
        }
    }

    /// Whether compilers emit what it replaces on a day.
    fn replaced(&self, today: NaiveDate) -> Emission {
        match self.emitted.iter().rev().find(|interval| interval.on.date <= today) {
            Some(Interval { on, off }) if off.as_ref().is_none_or(|off| off.date > today) => {
                Emission::Ceased(on.date)
            }
            _ => Emission::On,
        }
    }

    /// All its events, with what they are.
    pub fn events(&self) -> Vec<(&'static str, &Event)> {
        let mut events: Vec<(&'static str, &Event)> = Vec::new();
        events.extend(self.reader.iter().map(|event| ("reader", event)));
        for Interval { on, off } in &self.emitted {
            events.push(("emitted.on", on));
            events.extend(off.iter().map(|off| ("emitted.off", off)));
        }
        events.extend(self.removed.iter().map(|event| ("removed", event)));
        events
    }

    /// What is wrong with it on its own, and the way out.
    fn fault(&self) -> Option<(String, &'static str)> {
        if self.constructs.is_empty() {
            return Some(("a rollout names no construct".to_owned(), "list them in `constructs`"));
        }
        let mut last: Option<NaiveDate> = None;
        for (at, Interval { on, off }) in self.emitted.iter().enumerate() {
            let open = off.is_none() && at + 1 < self.emitted.len();
            if open {
                let message =
                    format!("the interval from {} has no end, and another follows", on.date);
                return Some((message, "say when it went off, with `off`"));
            }
            for event in std::iter::once(on).chain(off) {
                if last.is_some_and(|last| event.date < last) {
                    let message = format!("{} comes after a later day", event.date);
                    return Some((message, "list intervals oldest first, and `on` before `off`"));
                }
                last = Some(event.date);
            }
        }
        for (what, event) in self.events() {
            let Some(commit) = &event.commit else { continue };
            let hex = commit.bytes().all(|b| b.is_ascii_hexdigit());
            if !hex || !(7..=40).contains(&commit.len()) {
                let message = format!("{what} names the commit {commit:?}");
                return Some((message, "write a commit id, or its first 7 digits at least"));
            }
        }
        None
    }
}

impl fmt::Display for Rollout {
    /// In one line, complete but for the title.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.constructs.join(", "))?;
        if !self.replaces.is_empty() {
            write!(f, " instead of {}", self.replaces.join(", "))?;
        }
        if let Some(flag) = &self.flag {
            write!(f, ", flag {flag}")?;
        }
        for (key, event) in self.events() {
            write!(f, ", {key} {}", event.date)?;
            if let Some(commit) = &event.commit {
                write!(f, " ({commit})")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    const FLIPPED: &str = r#"
        [[rollout]]
        constructs = ["m.New"]
        replaces = ["m.Old"]
        reader = { date = 2026-05-01 }
        emitted = [
          { on = { date = 2026-06-01 }, off = { date = 2026-06-02 } },
          { on = { date = 2026-07-01, commit = "0123456789" } },
        ]
    "#;

    #[test]
    fn the_old_form_is_emitted_whenever_the_new_one_is_not() {
        let rollouts = Rollouts::parse("r.toml", FLIPPED).unwrap();
        for (today, new, old) in [
            ("2026-05-31", Emission::Off, Emission::On),
            ("2026-06-01", Emission::On, Emission::Ceased(day("2026-06-01"))),
            ("2026-06-02", Emission::Ceased(day("2026-06-02")), Emission::On),
            ("2026-07-01", Emission::On, Emission::Ceased(day("2026-07-01"))),
        ] {
            assert_eq!(rollouts.emission("m.New", day(today)), new, "{today}");
            assert_eq!(rollouts.emission("m.Old", day(today)), old, "{today}");
        }
        assert_eq!(rollouts.emission("m.Other", day("2026-07-01")), Emission::Unknown);
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        for (text, says) in [
            ("[[rollout]]\nconstructs = []", "names no construct"),
            ("[[rollout]]\nconstructs = ['a']\n[[rollout]]\nconstructs = ['a']", "in two rollouts"),
            ("[[rollout]]\nconstructs = ['a']\nreeder = 1", "unknown field `reeder`"),
            (
                "[[rollout]]\nconstructs = ['a']\nemitted = [{ on = { date = 2026-01-02 } }, { on = { date = 2026-01-03 } }]",
                "has no end",
            ),
            (
                "[[rollout]]\nconstructs = ['a']\nemitted = [{ on = { date = 2026-01-02 }, off = { date = 2026-01-01 } }]",
                "comes after a later day",
            ),
            (
                "[[rollout]]\nconstructs = ['a']\nreader = { date = 2026-01-02, commit = 'main' }",
                "names the commit \"main\"",
            ),
        ] {
            let error = Rollouts::parse("r.toml", text).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
