//! A model of the promise: whatever sequence of changes the gate lets pass, no artifact of the backward window is misread
//! by a newer runtime, and none of a new compiler by a runtime of the forward window.
//!
//! A random team lands fields, switches their emission on and off, removes, reverts and relands them, and takes numbers
//! and names again. What is judged an error does not land. Every pair of builds inside the windows is tried then.

#![allow(clippy::panic, clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use aotgate::descriptor::{Contract, ContractSpec, FileTree, ParseCache, RootSpec, SourceClosure};
use aotgate::error::Error;
use aotgate::finding::Level;
use aotgate::history::timeline::{Commit, Difference};
use aotgate::history::{Begin, Position, Timeline};
use aotgate::rollout::windows::Windows;
use aotgate::rollout::{Event, Interval, Rollout, Rollouts};
use aotgate::triage::checks::emitted_too_early::{self, SwitchedOn};
use aotgate::triage::{self, Emission, EvidenceSource, Former, Input, Seen, policy};
use chrono::{Days, NaiveDate};

const POLICY: &str = "[[contract.root]]\nmessage = \"m.Root\"\nfiles = [\"m.proto\"]\n";

/// Changes of a sequence, and days between two of them: sequences last for years.
const STEPS: usize = 60;
const MOST_DAYS: u64 = 40;

struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most as u64).unwrap()
    }
}

/// Name and type by number: together what a value means.
#[derive(Debug, Clone, Default, PartialEq)]
struct Schema {
    fields: BTreeMap<i32, (&'static str, &'static str)>,
    reserved: BTreeSet<i32>,
}

impl FileTree for Schema {
    fn find(&self, path: &str) -> Result<Option<git2::Oid>, Error> {
        let id = git2::Oid::hash_object(git2::ObjectType::Blob, self.text().as_bytes()).unwrap();
        Ok((path == "m.proto").then_some(id))
    }

    fn read(&self, _path: &str, _blob: git2::Oid) -> Result<Vec<u8>, Error> {
        Ok(self.text().into_bytes())
    }
}

impl Schema {
    fn text(&self) -> String {
        let mut text = "syntax = \"proto3\";\npackage m;\nmessage Root {\n".to_owned();
        for number in &self.reserved {
            text += &format!("  reserved {number};\n");
        }
        for (number, (name, ty)) in &self.fields {
            text += &format!("  {ty} {name} = {number};\n");
        }
        text + "}\n"
    }

    fn contract(&self) -> Contract {
        let root = RootSpec { message: "m.Root".to_owned(), files: vec!["m.proto".to_owned()] };
        let spec = ContractSpec { roots: vec![root], ..ContractSpec::default() };
        let closure = SourceClosure::read(self, &spec, &mut ParseCache::default()).unwrap();
        closure.contract(&spec).unwrap()
    }

    fn number_of(&self, name: &str) -> Option<i32> {
        self.fields.iter().find(|(_, (of, _))| *of == name).map(|(number, _)| *number)
    }
}

fn construct(name: &str) -> String {
    format!("m.Root.{name}")
}

/// History and rollouts as of base.
struct Known<'a> {
    timeline: &'a Timeline,
    rollouts: &'a Rollouts,
    today: NaiveDate,
}

impl EvidenceSource for Known<'_> {
    fn emission(&self, construct: &str) -> Emission {
        self.rollouts.emission(construct, self.today)
    }

    fn number_before(&self, scope: &str, number: i32) -> Vec<Former> {
        self.timeline.latest().number_before(scope, number)
    }

    fn name_before(&self, scope: &str, name: &str) -> Vec<Former> {
        self.timeline.latest().name_before(scope, name)
    }

    fn introduced(&self, construct: &str) -> Option<Seen> {
        self.timeline.latest().introduced(construct)
    }
}

/// What runtimes read and compilers write from a day on.
struct Build {
    day: NaiveDate,
    reads: Schema,
    emits: BTreeMap<i32, (&'static str, &'static str)>,
}

struct Project {
    today: NaiveDate,
    schema: Schema,
    rollouts: Rollouts,
    timeline: Timeline,
    builds: Vec<Build>,
    landed: Vec<String>,
}

impl Project {
    fn new() -> Self {
        let mut project = Project {
            today: "2024-01-01".parse().unwrap(),
            schema: Schema::default(),
            rollouts: Rollouts::default(),
            timeline: Timeline::new(Begin::Root),
            builds: Vec::new(),
            landed: Vec::new(),
        };
        project.observe(&Contract::empty());
        project
    }

    fn observe(&mut self, before: &Contract) {
        let at = self.builds.len();
        let id = git2::Oid::hash_object(git2::ObjectType::Blob, &at.to_le_bytes()).unwrap();
        let position = Position(u32::try_from(at).unwrap());
        let commit = Commit { position, id, date: self.today, message: "x" };
        self.timeline.observe(commit, Difference::new(before, &self.schema.contract()));
        let on = |name: &str| self.rollouts.emission(&construct(name), self.today) == Emission::On;
        let emits = self.schema.fields.iter().filter(|(_, (name, _))| on(name));
        let emits = emits.map(|(number, field)| (*number, *field)).collect();
        self.builds.push(Build { day: self.today, reads: self.schema.clone(), emits });
    }

    fn entry(&mut self, name: &str) -> &mut Rollout {
        let wanted = construct(name);
        let at = self.rollouts.entries.iter().position(|r| r.constructs[0] == wanted);
        let at = at.unwrap_or_else(|| {
            self.rollouts.entries.push(Rollout {
                feature: None,
                constructs: vec![wanted],
                replaces: Vec::new(),
                flag: None,
                reader: None,
                emitted: Vec::new(),
                removed: None,
            });
            self.rollouts.entries.len() - 1
        });
        &mut self.rollouts.entries[at]
    }

    /// Lands a schema unless that is an error, or something that a person would have to vouch for.
    fn land(&mut self, next: Schema, what: String) -> bool {
        let (before, after) = (self.schema.contract(), next.contract());
        let policy = policy::parse("policy.toml", POLICY).unwrap();
        let known = Known { timeline: &self.timeline, rollouts: &self.rollouts, today: self.today };
        let findings = triage::judge(&Input {
            base: &before,
            head: &after,
            policy: &policy,
            today: self.today,
            evidence: &known,
            strict: false,
        });
        // Numbers that stay free are warned of, and somebody takes them all the same.
        let blocks = |f: &aotgate::finding::Finding| {
            f.level >= Level::Warning
                && !f.check.ends_with("-unreserved")
                && f.check != "reserved-dropped"
        };
        if findings.iter().any(blocks) {
            return false;
        }
        self.schema = next;
        self.observe(&before);
        self.landed.push(format!("{} {what}", self.today));
        true
    }

    /// Switches emission of a declared field, unless that is too early.
    fn flip(&mut self, name: &str) -> bool {
        let wanted = construct(name);
        let emission = self.rollouts.emission(&wanted, self.today);
        let event = Event { date: self.today, commit: None };
        if emission == Emission::On {
            let last = self.entry(name).emitted.last_mut().unwrap();
            last.off = Some(event);
        } else {
            let reader = self.timeline.latest().introduced(&wanted).unwrap();
            let emitted = SwitchedOn { construct: &wanted, on: self.today, reader: &reader };
            if emitted_too_early::finding(emitted, Windows::default().forward, Vec::new()).is_some()
            {
                return false;
            }
            self.entry(name).emitted.push(Interval { on: event, off: None });
        }
        let before = self.schema.contract();
        self.observe(&before);
        self.landed.push(format!("{} flip {name}: it was {emission:?}", self.today));
        true
    }

    /// One change that somebody wants.
    fn step(&mut self, random: &mut Random, past: &[Schema]) -> bool {
        let name = ["a", "b", "c"][random.below(3)];
        let ty = ["int64", "string"][random.below(2)];
        let number = 1 + i32::try_from(random.below(4)).unwrap();
        let mut next = self.schema.clone();
        match random.below(8) {
            0..=2 => match self.schema.number_of(name) {
                None => {
                    if next.fields.contains_key(&number) {
                        return false;
                    }
                    next.reserved.remove(&number);
                    next.fields.insert(number, (name, ty));
                    // Whoever adds a field says that nothing emits it yet.
                    self.entry(name);
                    self.land(next, format!("add {ty} {name} = {number}"))
                }
                Some(_) => self.flip(name),
            },
            3 | 4 => match self.schema.number_of(name) {
                None => false,
                Some(number) => {
                    next.fields.remove(&number);
                    if random.below(2) == 0 {
                        next.reserved.insert(number);
                    }
                    self.land(next, format!("remove {name} = {number}"))
                }
            },
            5 => match self.schema.number_of(name) {
                None => false,
                Some(number) => {
                    next.fields.insert(number, (name, ty));
                    next != self.schema && self.land(next, format!("retype {name} to {ty}"))
                }
            },
            // A revert or a reland of whatever was.
            _ if past.is_empty() => false,
            _ => {
                let next = past[random.below(past.len())].clone();
                next != self.schema && self.land(next, "bring back an earlier state".to_owned())
            }
        }
    }

    /// The first pair of builds inside the windows that breaks the promise.
    fn broken(&self) -> Option<String> {
        let Windows { backward, forward, .. } = Windows::default();
        let until = |at: usize| self.builds.get(at + 1).map_or(self.today, |next| next.day);
        for (c, compiler) in self.builds.iter().enumerate() {
            for (r, runtime) in self.builds.iter().enumerate() {
                // Artifacts are written, and runtimes used, on any day until the next build.
                let inside = if r >= c {
                    backward.after(until(c)) > runtime.day
                } else {
                    forward.after(until(r)) > compiler.day
                };
                let misread = compiler
                    .emits
                    .iter()
                    .find(|(n, field)| runtime.reads.fields.get(n) != Some(field));
                if inside && let Some((number, field)) = misread {
                    return Some(format!(
                        "{field:?} = {number} of the compiler of {} is {:?} to the runtime of {}",
                        compiler.day,
                        runtime.reads.fields.get(number),
                        runtime.day
                    ));
                }
            }
        }
        None
    }
}

#[test]
fn what_is_let_pass_breaks_no_window() {
    let cases: u64 = std::env::var("AOTGATE_MODEL_CASES").map_or(25, |n| n.parse().unwrap());
    let (mut landed, mut stopped, mut emitted) = (0, 0, 0);
    for seed in 1..=cases {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut project = Project::new();
        let mut past = Vec::new();
        for _ in 0..STEPS {
            let days = random.below(usize::try_from(MOST_DAYS).unwrap());
            project.today = project.today + Days::new(u64::try_from(days).unwrap());
            let before = project.schema.clone();
            if project.step(&mut random, &past) {
                past.push(before);
                landed += 1;
            } else {
                stopped += 1;
            }
        }
        emitted += project.builds.iter().filter(|build| !build.emits.is_empty()).count();
        if let Some(broken) = project.broken() {
            panic!("seed {seed}: {broken}\n{}", project.landed.join("\n"));
        }
    }
    // The model is not empty: things land, are emitted, and are stopped.
    assert!(landed > 200 && stopped > 200 && emitted > 80, "{landed} {stopped} {emitted}");
}
