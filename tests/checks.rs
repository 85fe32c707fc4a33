//! Every check over every fixture of `tests/checks`, and registry = folder = documentation.
//!
//! A fixture is a folder with the name of a check's file: `base/` and `head/` hold the two revisions,
//! `expected.txt` all findings of all checks on them. Optional: `policy.toml` instead of the default test
//! policy, `emission.txt` with what is known about emission, `base/policy.toml` and `head/policy.toml`, `base/waivers.toml`,
//! `base/golden` and `head/golden` with recorded artifacts, and ledgers `base/aotgate.lock` and `head/aotgate.lock`. What is called "fine" in a fixture is its near miss: the fixture's own check may not
//! report it. `AOTGATE_BLESS=1` rewrites what is generated.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test reports by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use aotgate::Error;
use aotgate::change::{Change, ChangeKind, Surface, compare};
use aotgate::descriptor::{Contract, ContractSpec, FileTree, ParseCache, SourceClosure};
use aotgate::finding::Finding;
use aotgate::gate::{Gate, PolicyFile, Request};
use aotgate::golden::Selection;
use aotgate::history::Confidence;
use aotgate::revision::{Revision, RevisionSpec};
use aotgate::triage::policy::{self, Policy};
use aotgate::triage::{
    Context, Emission, EvidenceSource, Former, Input, InputFile, Seen, apply_waivers, checks,
    edited_input, judge, sort,
};
use chrono::NaiveDate;

const TODAY: &str = "2026-05-04";

const POLICY: &str = r#"
[contract]
dispatch = ["test.Thunk.impl"]

[[contract.root]]
message = "test.Root"
files = ["test.proto"]

[[contract.opaque]]
field = "test.Root.backend_config"
message = "test.Payload"
file = "payload.proto"
encoding = "json"
"#;

/// A directory as a revision.
struct Dir(PathBuf);

impl FileTree for Dir {
    fn find(&self, path: &str) -> Result<Option<git2::Oid>, Error> {
        let Ok(content) = fs::read(self.0.join(path)) else { return Ok(None) };
        Ok(Some(git2::Oid::hash_object(git2::ObjectType::Blob, &content).unwrap()))
    }

    fn read(&self, path: &str, _blob: git2::Oid) -> Result<Vec<u8>, Error> {
        Ok(fs::read(self.0.join(path)).unwrap())
    }
}

fn contract(dir: PathBuf, spec: &ContractSpec) -> Contract {
    let mut cache = ParseCache::default();
    let closure = SourceClosure::read(&Dir(dir), spec, &mut cache);
    closure.and_then(|c| c.contract(spec)).unwrap_or_else(|error| panic!("{error:?}"))
}

/// What `emission.txt` and `history.txt` say.
struct Known {
    emission: BTreeMap<String, Emission>,
    /// Message or enum, and what it declared before.
    before: Vec<(String, Former)>,
    /// Message or enum, number or name, and since when it is reserved.
    reserved: Vec<(String, String, Seen)>,
    /// Construct, and since when it is declared.
    first: BTreeMap<String, Seen>,
}

/// Lines without comments, in words.
fn words(path: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let lines = text.lines().filter(|l| !l.starts_with('#') && !l.is_empty());
    lines.map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

fn seen(text: &str) -> Seen {
    let (date, commit) = text.split_once('@').unwrap();
    let confidence = Confidence::Known;
    Seen { commit: Some(commit.to_owned()), date: date.parse().unwrap(), confidence }
}

impl Known {
    fn read(dir: &Path) -> Known {
        let emission = words(&dir.join("emission.txt")).into_iter().map(|line| {
            let [construct, emission] = line.as_slice() else { panic!("{line:?}") };
            let emission = match emission.as_str() {
                "on" => Emission::On,
                "off" => Emission::Off,
                date => Emission::Ceased(date.parse().unwrap()),
            };
            (construct.to_owned(), emission)
        });
        let (mut before, mut reserved) = (Vec::new(), Vec::new());
        let mut first = BTreeMap::new();
        for line in words(&dir.join("history.txt")) {
            let words: Vec<&str> = line.iter().map(String::as_str).collect();
            match words.as_slice() {
                // was OWNER NUMBER TYPE NAME SINCE UNTIL; type `-` for a value
                ["was", owner, number, ty, name, since, until] => {
                    let former = Former {
                        number: number.parse().unwrap(),
                        name: (*name).to_owned(),
                        ty: Some((*ty).to_owned()).filter(|ty| ty != "-"),
                        since: seen(since),
                        until: seen(until),
                        meaning: u32::try_from(before.len()).unwrap(),
                    };
                    before.push(((*owner).to_owned(), former));
                }
                ["reserved", owner, what, since] => {
                    reserved.push(((*owner).to_owned(), (*what).to_owned(), seen(since)));
                }
                ["first", construct, since] => {
                    first.insert((*construct).to_owned(), seen(since));
                }
                _ => panic!("{line:?}"),
            }
        }
        Known { emission: emission.collect(), before, reserved, first }
    }

    fn before(&self, scope: &str, which: impl Fn(&Former) -> bool) -> Vec<Former> {
        let of = self.before.iter().filter(|(owner, former)| owner == scope && which(former));
        of.map(|(_, former)| former.clone()).collect()
    }

    fn since(&self, scope: &str, what: &str) -> Option<Seen> {
        let found = self.reserved.iter().find(|(owner, of, _)| owner == scope && of == what);
        found.map(|(.., seen)| seen.clone())
    }
}

impl EvidenceSource for Known {
    fn emission(&self, construct: &str) -> Emission {
        self.emission.get(construct).copied().unwrap_or(Emission::Unknown)
    }

    fn number_before(&self, scope: &str, number: i32) -> Vec<Former> {
        self.before(scope, |former| former.number == number)
    }

    fn name_before(&self, scope: &str, name: &str) -> Vec<Former> {
        self.before(scope, |former| former.name == name)
    }

    fn introduced(&self, construct: &str) -> Option<Seen> {
        self.first.get(construct).cloned()
    }

    fn number_reserved(&self, scope: &str, number: i32) -> Option<Seen> {
        self.since(scope, &number.to_string())
    }

    fn name_reserved(&self, scope: &str, name: &str) -> Option<Seen> {
        self.since(scope, name)
    }
}

/// A fixture, read.
struct Fixture {
    name: String,
    dir: PathBuf,
    policy_text: String,
    base: Contract,
    head: Contract,
    policy: Policy,
    known: Known,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn today() -> NaiveDate {
    TODAY.parse().unwrap()
}

fn names(dir: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn fixtures() -> Vec<Fixture> {
    let all = root().join("tests/checks");
    let read = |name: String| {
        let dir = all.join(&name);
        let own = fs::read_to_string(dir.join("policy.toml"));
        let policy_text = own.unwrap_or_else(|_| POLICY.to_owned());
        let policy = policy::parse("policy.toml", &policy_text);
        let policy = policy.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        Fixture {
            base: contract(dir.join("base"), &policy.contract),
            head: contract(dir.join("head"), &policy.contract),
            known: Known::read(&dir),
            policy,
            policy_text,
            dir,
            name,
        }
    };
    names(&all).into_iter().map(read).collect()
}

impl Fixture {
    fn context(&self) -> Context<'_> {
        Context {
            today: today(),
            windows: self.policy.windows,
            dispatch: &self.policy.dispatch,
            evidence: &self.known,
        }
    }

    /// Reachable changes.
    fn changes(&self) -> Vec<Change<'_>> {
        let in_contract = |change: &Change<'_>| match change.surface {
            Surface::Proto => change.reach.wire,
            Surface::JsonPayload => change.reach.json,
            Surface::Container | Surface::Golden | Surface::Policy | Surface::Ledger => false,
        };
        compare(&self.base, &self.head).into_iter().filter(in_contract).collect()
    }

    fn findings(&self) -> Vec<Finding> {
        let mut findings = judge(&Input {
            base: &self.base,
            head: &self.head,
            policy: &self.policy,
            today: today(),
            evidence: &self.known,
            strict: false,
        });
        findings.extend(self.recorded());
        let more = self.inputs(&mut findings);
        findings.extend(more);
        sort(&mut findings);
        findings
    }

    /// What the gate says of containers and goldens.
    fn recorded(&self) -> Vec<Finding> {
        let [base, head] = ["base", "head"].map(|side| self.dir.join(side));
        let rollouts = self.policy.rollout_file.is_some();
        let ledger = [&base, &head].iter().any(|side| side.join("aotgate.lock").exists());
        let golden = base.join("golden").exists();
        if self.policy.containers == Default::default() && !golden && !ledger && !rollouts {
            return Vec::new();
        }
        let request = Request {
            base: RevisionSpec::Empty,
            head: RevisionSpec::Empty,
            today: today(),
            policy: Some(PolicyFile {
                in_tree: Some("policy.toml".to_owned()),
                path: "policy.toml".to_owned(),
                text: self.policy_text.clone(),
            }),
            strict: false,
            goldens: Selection::All,
            golden_stores: Vec::new(),
            attestations: Vec::new(),
        };
        let (base, head) = (Revision::directory(&base), Revision::directory(&head));
        let judgement = Gate::new(None).check_between(&base, &head, &request, &self.known);
        let judgement = judgement.unwrap_or_else(|error| panic!("{}: {error:?}", self.name));
        let surfaces = ["container", "golden", "ledger"];
        let rules = [checks::emitted_too_early::CHECK.id, checks::rollout_malformed::CHECK.id];
        let by_gate = |f: &Finding| surfaces.contains(&f.surface) || rules.contains(&f.check);
        judgement.findings.into_iter().filter(by_gate).collect()
    }

    /// What the gate adds to the findings on changes: edits of the policy, expired waivers.
    fn inputs(&self, findings: &mut [Finding]) -> Vec<Finding> {
        let read = |path: String| fs::read(self.dir.join(path)).ok();
        let mut more = Vec::new();
        for (kind, name) in [
            (InputFile::Policy, "policy.toml"),
            (InputFile::Waivers, "waivers.toml"),
            (InputFile::Rollouts, "rollouts.toml"),
        ] {
            let (base, head) = (read(format!("base/{name}")), read(format!("head/{name}")));
            if base != head {
                more.extend(edited_input(kind, name, base.as_deref(), head.as_deref()).unwrap());
            }
        }
        if let Some(text) = read("base/waivers.toml".to_owned()) {
            let waivers =
                policy::parse_waivers("waivers.toml", &String::from_utf8_lossy(&text)).unwrap();
            more.extend(apply_waivers(findings, &waivers, today()));
        }
        more
    }

    /// The change that a finding is about.
    fn change_of<'c, 'a>(
        &self,
        finding: &Finding,
        changes: &'c [Change<'a>],
    ) -> Option<&'c Change<'a>> {
        let kinds = checks::find(finding.check).unwrap().kinds;
        changes.iter().find(|change| {
            kinds.contains(&change.kind)
                && change.surface.name() == finding.surface
                && change.construct == finding.construct
                && change.before == finding.before
                && change.after == finding.after
        })
    }
}

/// Names and texts of all files below a directory.
fn everything(dir: &Path) -> String {
    let mut text = String::new();
    for name in names(dir) {
        let path = dir.join(&name);
        text.push_str(&name);
        if path.is_dir() {
            text.push_str(&everything(&path));
        } else {
            text.push_str(&fs::read_to_string(path).unwrap_or_default());
        }
    }
    text
}

/// Compares a generated file, or rewrites it with `AOTGATE_BLESS=1`.
fn compare_file(path: &Path, actual: &str) -> Result<(), String> {
    if std::env::var_os("AOTGATE_BLESS").is_some() {
        fs::write(path, actual).unwrap();
        return Ok(());
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    if expected == actual {
        return Ok(());
    }
    let short = path.strip_prefix(root()).unwrap().display();
    let (old, new): (BTreeSet<_>, BTreeSet<_>) =
        (expected.lines().collect(), actual.lines().collect());
    let gone = old.difference(&new).map(|line| format!("- {line}\n"));
    let came = new.difference(&old).map(|line| format!("+ {line}\n"));
    let lines: String = gone.chain(came).take(40).collect();
    Err(format!("{short} differs (AOTGATE_BLESS=1 rewrites it):\n{lines}"))
}

fn assert_none(errors: Vec<String>) {
    assert!(errors.is_empty(), "\n{}", errors.join("\n"));
}

#[test]
fn every_check_over_every_fixture() {
    let mut errors = Vec::new();
    for fixture in fixtures() {
        let changes = fixture.changes();
        let mut blocks: Vec<String> = Vec::new();
        for finding in fixture.findings() {
            let mut text = format!(
                "{} {} {} {}",
                finding.level.name(),
                finding.triage.name(),
                finding.check,
                finding.construct
            );
            if let Some(change) = fixture.change_of(&finding, &changes) {
                let (backward, forward) = (change.wire.backward, change.wire.forward);
                write!(text, " [{}/{}]", backward.name(), forward.name()).unwrap();
            }
            if finding.satisfied_by.is_some() {
                text.push_str(" (satisfied)");
            }
            write!(text, "\n    {}\n    {}\n", finding.message, finding.remedy).unwrap();
            if let Some(date) = finding.earliest_safe {
                writeln!(text, "    earliest {date}").unwrap();
            }
            blocks.push(text);
        }
        let path = fixture.dir.join("expected.txt");
        errors.extend(compare_file(&path, &blocks.join("\n")).err());
    }
    assert_none(errors);
}

#[test]
fn own_check_reports_its_fixture_and_no_near_miss() {
    let mut errors = Vec::new();
    for fixture in fixtures() {
        let id = fixture.name.replace('_', "-");
        let own: Vec<Finding> = fixture.findings().into_iter().filter(|f| f.check == id).collect();
        if own.is_empty() {
            errors.push(format!("{id} reports nothing on its own fixture"));
        }
        for finding in own {
            if finding.construct.to_lowercase().contains("fine") {
                errors.push(format!("{id} reports the near miss {}", finding.construct));
            }
        }
        let texts = ["base", "head"].map(|side| everything(&fixture.dir.join(side)));
        let text = texts.concat();
        if !text.to_lowercase().contains("fine") {
            errors.push(format!("{id} has no near miss (something called \"fine\")"));
        }
    }
    assert_none(errors);
}

#[test]
fn every_change_is_claimed() {
    for kind in ChangeKind::ALL {
        let claimed = checks::ALL.iter().any(|(check, _)| check.kinds.contains(kind));
        assert!(claimed, "no check looks at {}", kind.name());
    }
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    for fixture in fixtures() {
        let context = fixture.context();
        for change in fixture.changes() {
            let checks = checks::ALL.iter().map(|(check, _)| check).filter(|check| {
                check.surface == change.surface && check.kinds.contains(&change.kind)
            });
            let claims = checks.filter(|check| (check.judge)(&change, &context).is_some()).count();
            if claims == 0 && !told_elsewhere(&change) {
                errors.push(format!(
                    "{}: nobody claims {} {}",
                    fixture.name,
                    change.kind.name(),
                    change.construct
                ));
            }
            seen.insert(change.kind);
        }
    }
    for kind in ChangeKind::ALL.iter().filter(|kind| !seen.contains(kind)) {
        errors.push(format!("no fixture has a change of kind {}", kind.name()));
    }
    assert_none(errors);
}

/// Changes without a finding of their own, because another one says it.
fn told_elsewhere(change: &Change<'_>) -> bool {
    match change.kind {
        // The number's new owner is reported as a reuse.
        ChangeKind::FieldTypeChanged
        | ChangeKind::FieldLabelChanged
        | ChangeKind::FieldPresenceChanged
        | ChangeKind::FieldOneofChanged
        | ChangeKind::FieldPackedChanged
        | ChangeKind::FieldDefaultChanged
        | ChangeKind::FieldUtf8Changed
        | ChangeKind::FieldEncodingChanged => change.repurposed.is_some(),
        // Everything dropped was taken by something, which is reported as a reuse.
        ChangeKind::ReservedDropped => true,
        // The keys that use the type are reported.
        ChangeKind::ReachabilityGained | ChangeKind::ReachabilityLost => {
            change.surface == Surface::JsonPayload
        }
        _ => false,
    }
}

#[test]
fn registry_folder_and_fixtures_agree() {
    let ids: Vec<&str> = checks::ALL.iter().map(|(check, _)| check.id).collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "ids are sorted and unique: {ids:?}");
    let files: BTreeSet<String> = names(&root().join("src/triage/checks"))
        .into_iter()
        .filter_map(|name| name.strip_suffix(".rs").map(str::to_owned))
        .filter(|name| !matches!(name.as_str(), "mod" | "wording" | "catalog"))
        .collect();
    let registered: BTreeSet<String> = ids.iter().map(|id| id.replace('-', "_")).collect();
    assert_eq!(registered, files, "registry and src/triage/checks agree");
    assert_eq!(registered, names(&root().join("tests/checks")), "each check has a fixture");
    for id in ids {
        let kebab = id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        assert!(kebab, "{id} is kebab-case");
    }
}

#[test]
fn pages_are_complete() {
    for (check, source) in checks::ALL {
        let id = check.id;
        let page = checks::page(id).unwrap();
        let headings: Vec<&str> =
            page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let [flags, why, what, example] = headings[..] else {
            panic!("{id} has the headings {headings:?}, not four");
        };
        assert_eq!((flags, what, example), ("What it flags", "What to do", "Example"), "{id}");
        assert!(matches!(why, "Why it breaks" | "Why it is safe"), "{id}: {why}");
        assert!(page.lines().next().unwrap().ends_with('.'), "{id}: the title is a sentence");
        let (_, code) = page.split_once("## Example").unwrap();
        assert_eq!(code.matches("```").count(), 2, "{id} has one example");
        let module = id.replace('-', "_");
        assert!(source.contains(&format!("id: \"{id}\"")), "{module}.rs declares {id}");
        for link in page.split("](#").skip(1) {
            let target = link.split(')').next().unwrap();
            assert!(checks::find(target).is_some(), "{id} links to {target}");
        }
    }
}

#[test]
fn catalog_is_current() {
    assert_none(
        compare_file(&root().join("policy/CHECKS.md"), &checks::markdown())
            .err()
            .into_iter()
            .collect(),
    );
}

#[test]
fn built_in_classes_except_the_right_checks() {
    let policy = policy::built_in().unwrap();
    let class = policy.classes.iter().find(|c| c.name == "compile-options").unwrap();
    for id in ["field-number-reused", "enum-value-reused"] {
        assert!(class.except_checks.iter().any(|c| c == id), "{id}");
    }
}
