//! Real rollouts against what history shows of them.

use aotgate::history::{Cache, History, Options};
use aotgate::rollout::windows::Windows;
use aotgate::rollout::{Rollouts, standing};
use aotgate::triage::policy;

const FILE: &str = "tests/data/history/xla_rollouts.toml";

/// Where a reader came later than its declaration: the construct, and the day of the latter.
const LATER: &[(&str, &str)] = &[
    // Declared on 2026-05-13; `FromProto` followed in 851c2ec4d4.
    ("xla.gpu.ThunkProto.dynamic_slice_fusion_thunk", "2026-05-13"),
];

#[test]
#[ignore = "needs AOTGATE_XLA_REPO"]
fn dates_of_rollouts() {
    let repository = super::repository();
    let text = std::fs::read_to_string(FILE).unwrap();
    let rollouts = Rollouts::parse(FILE, &text).unwrap();
    let head = repository.commit("756478bb8b").unwrap();
    let spec = policy::built_in().unwrap().contract;
    let options = Options::new(Some("2025-09-01".parse().unwrap()), Cache::Off);
    let history = History::open(&repository, &spec, head.id, &options, &|_, _| ()).unwrap();
    let view = history.latest();
    let (mut introduced, mut removed) = (0, 0);
    for rollout in &rollouts.entries {
        let reader = rollout.reader.as_ref().unwrap();
        for construct in &rollout.constructs {
            let seen = view.first_seen(construct).unwrap_or_else(|| panic!("{construct}"));
            match LATER.iter().find(|(later, _)| later == construct) {
                Some((_, day)) => assert_eq!(seen.date.to_string(), *day, "{construct}"),
                None => {
                    assert_eq!(seen.date, reader.date, "{construct}");
                    assert!(seen.commit.starts_with(reader.commit.as_deref().unwrap()));
                }
            }
            introduced += 1;
        }
        let Some(event) = &rollout.removed else { continue };
        for construct in &rollout.replaces {
            let gone = view.last_seen(construct).unwrap_or_else(|| panic!("{construct}"));
            assert_eq!(gone.date, event.date, "{construct}");
            assert!(gone.commit.starts_with(event.commit.as_deref().unwrap()), "{construct}");
            removed += 1;
        }
        let standing = standing(rollout, &Windows::default(), "2026-08-07".parse().unwrap());
        println!(
            "{:8} {}: emitted early {:?}, removed early {:?} (days)",
            standing.phase.name(),
            rollout.title(),
            standing.emitted_early,
            standing.removed_early
        );
    }
    println!("{introduced} introductions and {removed} removals have the days of the entries");
    assert!(introduced >= 14 && removed >= 4);
}
