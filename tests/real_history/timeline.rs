//! Numbers that XLA's history used twice, each with both dates, and what finding them takes.

use std::time::Instant;

use aotgate::history::{Cache, History, Options, Reuse};
use aotgate::triage::policy;

/// 2026-08-07, the newest commit of the labelled data.
const TIP: &str = "756478bb8bf06ca8a0b8f989fc3ce49ef1d561a2";

/// Message or enum, number, the commit that freed it, the commit that took it.
const REUSES: [(&str, i32, &str, &str); 3] = [
    ("xla.DebugOptions.CommandBufferUpdateMode", 2, "edecf86a24", "1cfa2d3530"),
    ("xla.DebugOptions", 515, "ee2d3b22b3", "e0c2d6b128"),
    ("xla.DebugOptions", 480, "8618ee17af", "193304b773"),
];

#[test]
#[ignore = "needs AOTGATE_XLA_REPO"]
fn numbers_that_were_used_twice() {
    let repository = super::repository();
    let policy = policy::built_in().unwrap();
    let tip = repository.commit(TIP).unwrap().id;
    let since = "2025-08-01".parse().ok();
    let dir = tempfile::tempdir().unwrap();
    let options = Options::new(since, Cache::Dir(dir.path().into()));
    let open = || {
        let started = Instant::now();
        let history =
            History::open(&repository, &policy.contract, tip, &options, &|_, _| {}).unwrap();
        println!(
            "{} commits looked at in {:.2?} {:?}",
            history.walked,
            started.elapsed(),
            history.notes
        );
        history
    };
    let cold = open();
    let history = open();
    assert_eq!(cold.timeline, history.timeline);
    println!(
        "{} commits touched the contract, {} gaps",
        history.timeline.landed.len(),
        history.timeline.gaps.len()
    );
    let view = history.latest();
    let reuses: Vec<(&str, Reuse<'_>)> = view
        .scopes()
        .flat_map(|scope| view.reuses(scope).into_iter().map(move |r| (view.name_of(scope), r)))
        .collect();
    for (scope, r) in &reuses {
        let until = r.held.until.unwrap();
        println!(
            "{scope} {} {} = {} until {} {} | {} = {} from {} {} {:?}",
            if r.by_name { "name" } else { "number" },
            r.before.name,
            r.before.number,
            &until.commit[..10],
            until.date,
            r.now.name,
            r.now.number,
            &r.holds.from.commit[..10],
            r.holds.from.date,
            r.holds.from.confidence,
        );
    }
    for (name, number, freed, taken) in REUSES {
        let found = reuses.iter().any(|(scope, r)| {
            *scope == name
                && !r.by_name
                && r.now.number == number
                && r.holds.from.commit.starts_with(taken)
                && r.held.until.is_some_and(|m| m.commit.starts_with(freed))
        });
        assert!(found, "{name} {number}");
    }
    // More of them, and a number that is reserved no more.
    for (name, number) in [("xla.DebugOptions", 466), ("xla.gpu.ThunkProto", 28)] {
        let found = reuses.iter().any(|(s, r)| *s == name && !r.by_name && r.now.number == number);
        assert!(found, "{name} {number}");
    }
    let executable = view.scope_named("xla.gpu.GpuExecutableProto").unwrap();
    let reserved = view.number_reserved(executable, 16);
    println!("GpuExecutableProto 16 reserved {reserved:#?}");
    assert!(reserved.iter().any(|period| period.until.is_some()));
}
