//! Histories through a ledger and back, and ledgers that know more than what is left of history.

use std::sync::Arc;

use aotgate::descriptor::Contract;
use aotgate::history::ledger::{Ledger, differences};
use aotgate::history::timeline::{Commit, Difference};
use aotgate::history::{Begin, Position, Timeline};
use chrono::{Days, NaiveDate};

use crate::random::Random;
use crate::schema::Schema;
use crate::whole::{day, round_trip};

/// Contracts that follow one another, each with its commit's day.
fn chain(seed: u64, length: usize) -> Vec<(Arc<Contract>, NaiveDate)> {
    let mut random = Random::new(seed);
    let mut schema = Schema::random(&mut random);
    let mut date = day("2025-01-01");
    let mut all: Vec<Schema> = Vec::new();
    (0..length)
        .map(|_| {
            date = date + Days::new(random.below(3) as u64);
            // Some commits bring back what was.
            schema = match all.len() {
                n if n > 1 && random.percent(15) => all[random.below(n)].clone(),
                _ => schema.edited(&mut random),
            };
            all.push(schema.clone());
            (Arc::new(schema.contract()), date)
        })
        .collect()
}

fn observe(begin: Begin, chain: &[(Arc<Contract>, NaiveDate)], first: usize) -> Timeline {
    let mut timeline = Timeline::new(begin);
    let mut before = Arc::new(Contract::empty());
    for (at, (contract, date)) in chain.iter().enumerate() {
        let id =
            git2::Oid::hash_object(git2::ObjectType::Blob, &(at + first).to_le_bytes()).unwrap();
        let position = Position(u32::try_from(at).unwrap());
        let commit = Commit { position, id, date: *date, message: "x" };
        timeline.observe(commit, Difference::new(&before, contract));
        before = contract.clone();
    }
    timeline
}

fn ledger(begin: Begin, chain: &[(Arc<Contract>, NaiveDate)], first: usize) -> Ledger {
    let last = chain.last().unwrap().0.clone();
    Ledger::of_history(last, &observe(begin, chain, first))
}

/// What a timeline answers about the past: numbers, names and reuses, with days.
fn answers(timeline: &Timeline) -> Vec<String> {
    let view = timeline.latest();
    let mut answers = Vec::new();
    let span = |p: &aotgate::history::Period<'_>| {
        format!("{}..{}", p.from.date, p.until.map_or(String::new(), |m| m.date.to_string()))
    };
    for scope in view.scopes() {
        let name = view.name_of(scope);
        let list = |periods: Vec<_>| periods.iter().map(span).collect::<Vec<_>>().join(" ");
        answers.push(format!("{name} lives {}", list(view.life(scope))));
        answers.push(format!("{name} wire {}", list(view.wire(scope))));
        for used in view.all_uses(scope) {
            let shape = used.what.field.as_ref();
            let shape = shape.map(|s| (s.of.is_some(), s.label, s.presence, s.oneof.clone()));
            let Some(meaning) = scope.uses.get(used.what.meaning as usize) else { panic!() };
            answers.push(format!(
                "{name} {} {} {shape:?} as {} {}: {}",
                used.what.number,
                used.what.name,
                meaning.number,
                meaning.name,
                list(used.periods.clone())
            ));
        }
        for number in 0..20 {
            let periods = view.number_reserved(scope, number);
            if !periods.is_empty() {
                answers.push(format!("{name} reserves {number} {}", list(periods)));
            }
        }
        for reuse in view.reuses(scope) {
            answers.push(format!(
                "{name} reuses {} {} for {} {} at {}",
                reuse.before.number,
                reuse.before.name,
                reuse.now.number,
                reuse.now.name,
                reuse.holds.from.date
            ));
        }
    }
    answers.sort();
    answers
}

#[test]
fn a_timeline_answers_the_same() {
    for seed in 0..50 {
        let chain = chain(seed, 12);
        let timeline = observe(Begin::Root, &chain, 0);
        let ledger = Ledger::of_history(chain.last().unwrap().0.clone(), &timeline);
        let back = round_trip(&ledger);
        let (expected, found) = (answers(&timeline), answers(back.timeline()));
        assert_eq!(expected, found, "seed {seed}\n{}", ledger.write());
    }
}

#[test]
fn what_history_lost_the_ledger_keeps() {
    let mut exact = 0;
    for seed in 0..50 {
        let chain = chain(seed, 12);
        let full = ledger(Begin::Root, &chain, 0);
        let (written, cut) = (4, 7);
        // Written at one commit, and the next clone begins there.
        let older = ledger(Begin::Root, &chain[..=written], 0);
        let shallow = ledger(Begin::Cut, &chain[written..], written);
        let merged = round_trip(&shallow.clone().with_older(&older));
        // Uses that history alone would join may stay apart.
        let lines = |text: String| -> Vec<String> {
            let words = |line: &str| -> Vec<String> {
                line.split(' ').filter(|w| !w.starts_with("means=")).map(str::to_owned).collect()
            };
            text.lines().map(|line| words(line).join(" ")).collect()
        };
        let (left, right) = (lines(merged.write()), lines(full.write()));
        let of = |a: &[String], b: &[String]| -> Vec<String> {
            a.iter().filter(|line| !b.contains(line)).cloned().collect()
        };
        assert_eq!(of(&left, &right), of(&right, &left), "seed {seed}");
        exact += usize::from(merged.write() == full.write());
        // A later beginning knows less, and contradicts nothing.
        let later = ledger(Begin::Cut, &chain[cut..], cut).with_older(&older);
        let later = round_trip(&later);
        assert_eq!(later.contract().fingerprint(), full.contract().fingerprint());
        // Nothing that was declared until then is forgotten.
        let known = |ledger: &Ledger| -> Vec<String> {
            let view = ledger.timeline().latest();
            let uses = view.scopes().flat_map(|s| {
                let name = view.name_of(s);
                s.uses.iter().map(move |u| format!("{name} {} {}", u.number, u.name))
            });
            uses.collect()
        };
        for used in known(&older) {
            assert!(known(&later).contains(&used), "seed {seed}: {used}");
        }
        // The same history again changes nothing.
        let again = shallow.with_older(&merged);
        assert_eq!(again.write(), merged.write(), "seed {seed}");
        assert_eq!(differences(&again, &merged), []);
    }
    assert!(exact > 25, "{exact} of 50 are the same to the last word");
}

#[test]
fn without_history_each_run_adds() {
    for seed in 0..20 {
        let chain = chain(seed, 8);
        let mut ledger = Ledger::without_history(chain[0].0.clone(), chain[0].1);
        for (contract, date) in &chain[1..] {
            // As a user has it: from the file.
            ledger = round_trip(&ledger.observe(contract, *date));
            let same = ledger.clone().observe(contract, *date);
            assert_eq!(same.write(), ledger.write());
        }
        // History knows the same, with exact dates.
        let exact = super::past::ledger(Begin::Root, &chain, 0);
        let dates = |ledger: &Ledger| ledger.write().lines().count();
        assert_eq!(
            dates(&ledger),
            dates(&exact),
            "seed {seed}\n{}\n{}",
            ledger.write(),
            exact.write()
        );
    }
}
