//! Which verdicts changed since the last recorded run, over a year of commits that touch the contract.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use aotgate::gate::Gate;
use aotgate::triage::NoHistory;

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/history/verdicts.txt");

/// Judges every first-parent commit that changes the contract between two fixed commits of the public
/// history and compares with `tests/data/history/verdicts.txt`; `AOTGATE_BLESS=1` records anew.
#[test]
#[ignore = "needs AOTGATE_XLA_REPO"]
fn verdicts_stay_as_recorded() {
    let repository = super::repository();
    let mut gate = Gate::new(Some(&repository));
    let base = repository.commit("faa892d386").unwrap();
    let head = repository.commit("756478bb8b").unwrap();
    let mut lines = BTreeMap::new();
    let mut text = String::from("# commit date verdict triage findings-above-note\n");
    let mut judged = 0;
    for commit in repository.first_parents(&base, &head).unwrap() {
        let judgement =
            gate.check_commit(&commit.id.to_string(), None, &super::request(), &NoHistory).unwrap();
        judged += 1;
        if judgement.base.fingerprint == judgement.head.fingerprint && judgement.findings.is_empty()
        {
            continue;
        }
        let loud = judgement.findings.iter().filter(|f| f.level.name() != "note").count();
        let line = format!(
            "{} {} {} {} {loud}",
            commit.short(),
            commit.date,
            judgement.verdict().name(),
            judgement.triage().name(),
        );
        writeln!(text, "{line}").unwrap();
        lines.insert(commit.short(), line);
    }
    println!("{judged} commits judged, {} touch the contract", lines.len());
    if std::env::var_os("AOTGATE_BLESS").is_some() {
        std::fs::write(RECORDED, text).unwrap();
        return;
    }
    let recorded = std::fs::read_to_string(RECORDED).unwrap();
    let mut changed = 0;
    for old in recorded.lines().filter(|l| !l.starts_with('#')) {
        let sha = old.split(' ').next().unwrap();
        match lines.remove(sha) {
            Some(new) if new == old => {}
            new => {
                changed += 1;
                println!("was {old}\nnow {}", new.unwrap_or_default());
            }
        }
    }
    for new in lines.values() {
        changed += 1;
        println!("new {new}");
    }
    assert_eq!(changed, 0, "verdicts changed; AOTGATE_BLESS=1 records them");
}
