//! Verdicts against the labelled commits.

use std::collections::BTreeMap;

use aotgate::finding::{Triage, Verdict};
use aotgate::gate::Gate;
use aotgate::triage::NoHistory;

#[test]
#[ignore = "needs AOTGATE_XLA_REPO and AOTGATE_CORPUS"]
fn labelled_commits() {
    let repository = super::repository();
    let mut gate = Gate::new(Some(&repository));
    let mut tally: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let (mut safe_rows, mut safe_failed) = (0, Vec::new());
    let mut missed = Vec::new();
    for row in super::corpus("commits.jsonl") {
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        let judged = gate.check_commit(&text("sha"), None, &super::request(), &NoHistory).unwrap();
        let (wanted, found) = (text("triage"), judged.triage().name());
        let also: Vec<&str> =
            row["also"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
        let accepted = found == wanted || also.contains(&found);
        let by = text("decidable_by");
        let entry = tally.entry(by.clone()).or_default();
        entry.1 += 1;
        entry.0 += usize::from(accepted);
        if wanted == "safe" {
            safe_rows += 1;
            if judged.verdict() == Verdict::Fail {
                safe_failed.push(text("sha"));
            }
        }
        if by == "descriptors" && wanted.starts_with("breaks") && found == "safe" {
            missed.push(text("sha"));
        }
        if !accepted {
            println!(
                "{by:12} {} {} wanted {wanted} {also:?} found {found} ({}): {}",
                &text("sha")[..10],
                text("date"),
                judged.verdict().name(),
                text("construct"),
            );
            for finding in judged.findings.iter().filter(|f| f.triage > Triage::Safe).take(6) {
                println!(
                    "    {} {} {}: {}",
                    finding.level.name(),
                    finding.check,
                    finding.construct,
                    finding.message
                );
            }
        }
    }
    for (by, (accepted, all)) in &tally {
        println!("{by}: {accepted} of {all} accepted");
    }
    println!("safe rows with verdict fail: {} of {safe_rows}: {safe_failed:?}", safe_failed.len());
    println!("breaks judged safe (descriptors): {missed:?}");
    let (accepted, all) = tally["descriptors"];
    assert!(accepted * 100 >= all * 95, "{accepted} of {all} descriptor rows accepted");
    assert!(missed.is_empty(), "breaks judged safe: {missed:?}");
    assert!(safe_failed.len() * 100 <= safe_rows * 5, "safe rows that fail: {safe_failed:?}");
}
