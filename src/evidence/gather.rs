//! All goldens that a change needs, looked at.

mod added;
mod execute;
mod hidden;
mod kept;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;

use super::ROOT;
use super::attach::Desk;
use super::carried::Wanted;
use super::containers::{Eras, Refusals, changed};
use super::dates::date;
use super::kept::edits;
use super::look::{Eyes, Read, Seen, look, open};
use super::losses::{LostConstructs, Place, Shown};
use super::text::TextContracts;
use crate::change::Pairs;
use crate::container::{Form, forms_of};
use crate::descriptor::{Contract, Location};
use crate::error::Error;
use crate::finding::{
    CaseOutcome, Execution, Finding, GoldenCase, Goldens, Side, SourceLocation, Triage,
};
use crate::gate::Watch;
use crate::golden::{EMPTY, Golden, Layout, Selection, Standing, Store, select_usable};
use crate::revision::{CommitInfo, Repository, Revision};
use crate::triage::checks::{container_ambiguous, golden_refused, not_covered};
use crate::triage::policy::Execute;
use crate::triage::{Firm, Loudness};

/// Goldens that head brings are looked at up to this number and this many bytes: a change can bring any.
const MAX_NEW: usize = 256;
const MAX_NEW_BYTES: u64 = 256 << 20;

/// What goldens are asked.
pub struct Question<'a> {
    /// The older revision, whose goldens are evidence.
    pub base: &'a Revision<'a>,
    /// The newer revision; goldens that only it has are looked at too.
    pub head: &'a Revision<'a>,
    /// The older contract.
    pub base_contract: &'a Contract,
    /// The newer contract.
    pub head_contract: &'a Contract,
    /// Policy, day and strictness.
    pub loudness: Loudness<'a>,
    /// Which goldens.
    pub selection: Selection,
    /// Where the dates of XLA's own goldens come from: the repository, and base's commit.
    pub history: Option<(&'a Repository, &'a CommitInfo)>,
    /// What loaders read, where the policy declares it.
    pub eras: Option<Eras<'a>>,
    /// What text goldens are parsed with.
    pub text: &'a TextContracts<'a>,
    /// Directories with further goldens, trusted like base's.
    pub stores: &'a [PathBuf],
    /// Is told how far execution has come.
    pub watch: &'a Watch,
}

/// What goldens answered.
#[derive(Debug, Default)]
pub struct Answer {
    /// Findings about them.
    pub findings: Vec<Finding>,
    /// One case a golden, and what none of them covers.
    pub goldens: Goldens,
}

/// Looks at the goldens; `schema` are the findings so far, which get what concerns them as evidence.
///
/// What cannot be read is listed, never an error: it takes evidence away, and evidence only ever makes a verdict worse.
pub fn gather(question: &Question<'_>, schema: &mut [Finding]) -> Answer {
    let paths = &question.loudness.policy.goldens;
    if question.selection == Selection::None
        || (paths.paths.is_empty() && paths.upstream.is_empty() && question.stores.is_empty())
    {
        return Answer::default();
    }
    let same = std::ptr::eq(question.base_contract, question.head_contract);
    let changed = !same || question.eras.is_some_and(|eras| eras.differ());
    let executes = match paths.execute {
        Execute::Never => false,
        Execute::Always => true,
        Execute::OnChange => changed || question.selection == Selection::All,
    };
    let needed = changed || executes;
    let mut goldens = Goldens::default();
    let further: Vec<Revision<'static>> =
        question.stores.iter().map(|dir| Revision::directory(dir)).collect();
    let mut opened = |store: Result<_, Error>| match store {
        Ok(store) => Some(store),
        Err(error) => {
            goldens.unreadable.push(error.to_string());
            None
        }
    };
    let further: Vec<Store<'_>> =
        further.iter().filter_map(|revision| opened(Store::open_root(revision))).collect();
    // What one side hides must not hide what the others have.
    let mut base = Store::open_rest(question.base, paths);
    let mut head = Store::open_rest(question.head, paths);
    let hidden = hidden::findings(&base, &head, &mut goldens, question.loudness);
    let has_new = head.goldens().iter().any(|golden| base.find(&golden.id).is_none());
    // Descriptors alone have no goldens to leave out.
    let keeps = question.head.has_files() && !question.head.is_empty();
    let edited = keeps && !edits(&base, &head).is_empty();
    if !needed && !has_new && !edited {
        return Answer { findings: hidden, goldens };
    }
    let (today, backward) = (question.loudness.today, question.loudness.policy.windows.backward);
    // What only head has lands today, which the tip of base's history is enough to see.
    for (store, wanted) in [(&mut base, needed || edited), (&mut head, has_new)] {
        if wanted && let Err(error) = date(store, question.history, today, backward) {
            goldens.unreadable.push(error.to_string());
        }
    }
    if needed {
        for store in further.iter().chain([&base]) {
            goldens.unreadable.extend(store.problems().iter().map(Error::to_string));
        }
    }
    let asked = if same { Asked::default() } else { Asked::of(schema) };
    let pairs = Pairs::new(question.base_contract, question.head_contract);
    let (from, to) = (question.base_contract, question.head_contract);
    let wanted = Wanted::new(&asked.touched, from, to, &pairs);
    let added = Wanted::fields_of(to, &asked.added);
    let head_root = pairs.message_in_head(ROOT).map_or(ROOT, |name| name);
    let eyes = Eyes {
        base: from,
        head: to,
        text: question.text,
        wanted: &wanted,
        added: &added,
        head_root,
    };
    // Anew, because the dates were not known before.
    let edits = if edited { edits(&base, &head) } else { Vec::new() };
    let mut gatherer = Gatherer {
        question,
        eyes,
        edited: edits.iter().map(|edit| &*edit.golden.id).collect(),
        base: &base,
        head: &head,
        executes,
        pending: Vec::new(),
        goldens,
        lost: LostConstructs::default(),
        compile_only: LostConstructs::default(),
        refused: BTreeMap::new(),
        refusals: Refusals::default(),
        carried: BTreeSet::new(),
        forms: BTreeMap::new(),
        findings: hidden,
    };
    if needed {
        for store in further.iter().chain([&base]) {
            gatherer.all(store, question.selection, false);
        }
    }
    if has_new {
        gatherer.executes = paths.execute != Execute::Never;
        gatherer.all(&head, Selection::All, true);
        gatherer.compare_containers();
    }
    gatherer.kept(&edits);
    gatherer.finish(&asked, &pairs, schema)
}

/// Constructs that goldens are asked about, by base's findings about the schema.
#[derive(Debug, Default)]
struct Asked {
    /// Whose change concerns artifacts that exist, sorted.
    touched: Vec<String>,
    /// Fields that only head has and that older runtimes might ignore, sorted.
    added: Vec<String>,
}

impl Asked {
    fn of(schema: &[Finding]) -> Asked {
        let touches = |f: &&Finding| {
            f.surface == "proto"
                && f.before.is_some()
                && matches!(f.triage, Triage::BreaksBackward | Triage::NeedsAttestation)
        };
        Asked {
            touched: names(schema.iter().filter(touches)),
            added: names(schema.iter().filter(|finding| added::concerns(finding))),
        }
    }
}

/// The constructs of some findings, sorted, each once.
fn names<'f>(findings: impl Iterator<Item = &'f Finding>) -> Vec<String> {
    findings.map(|finding| finding.construct.clone()).collect::<BTreeSet<_>>().into_iter().collect()
}

struct Gatherer<'a> {
    question: &'a Question<'a>,
    eyes: Eyes<'a>,
    /// Goldens of base that head has not just so.
    edited: HashSet<&'a str>,
    base: &'a Store<'a>,
    head: &'a Store<'a>,
    /// Whether what is looked at next is executed.
    executes: bool,
    pending: Vec<execute::Pending<'a>>,
    goldens: Goldens,
    lost: LostConstructs,
    compile_only: LostConstructs,
    /// By construct that head stumbles over: why, and the goldens.
    refused: BTreeMap<String, (String, Shown)>,
    refusals: Refusals,
    carried: BTreeSet<usize>,
    /// Containers of what was read.
    forms: BTreeMap<String, Vec<Form>>,
    findings: Vec<Finding>,
}

impl<'a> Gatherer<'a> {
    /// Goldens of a store: all of base's, or those that only head has.
    fn all(&mut self, store: &'a Store<'a>, selection: Selection, new: bool) {
        let Loudness { today, policy, .. } = self.question.loudness;
        let backward = policy.windows.backward;
        let opens =
            |golden: &Golden| store.read(golden).is_ok_and(|content| open(&content, new).is_ok());
        let selected: HashSet<&str> =
            select_usable(store.goldens(), selection, today, backward, &opens)
                .into_iter()
                .map(|golden| &*golden.id)
                .collect();
        let (mut count, mut bytes) = (0, 0_u64);
        for golden in store.goldens() {
            if new && self.base.find(&golden.id).is_some() {
                continue;
            }
            if let Some(problem) = &golden.problem {
                self.unreadable(golden, &problem.to_string(), new);
                continue;
            }
            let why = match golden.standing(today, backward) {
                Standing::Evidence { .. } => None,
                Standing::TooOld => Some(format!("outside the backward window of {backward}")),
                Standing::Future => Some(format!("dated after {today}")),
                Standing::Undated => Some("nothing says when it was emitted".to_owned()),
            };
            if let Some(why) = why {
                let outside = golden.standing(today, backward) == Standing::TooOld;
                self.goldens.outside += usize::from(outside);
                self.case(golden, CaseOutcome::Skipped, Some(why));
                continue;
            }
            if !selected.contains(&*golden.id) {
                continue;
            }
            if new {
                count += 1;
                bytes = bytes.saturating_add(store.size_of_all(golden).unwrap_or(0));
                if count > MAX_NEW || bytes > MAX_NEW_BYTES {
                    let why = format!(
                        "a change may bring {MAX_NEW} goldens and {MAX_NEW_BYTES} bytes of them that are looked at"
                    );
                    self.case(golden, CaseOutcome::Skipped, Some(why));
                    continue;
                }
            }
            match store.read(golden) {
                Ok(content) if content.is_empty() && golden.manifest.is_none() => {
                    self.case(golden, CaseOutcome::Skipped, Some(EMPTY.to_owned()));
                }
                Ok(content) => {
                    let seen = look(&content, &self.eyes, new);
                    let carries = match &seen {
                        Seen::Read(read) if self.executes => {
                            Some((read.carried.clone(), read.added.clone()))
                        }
                        _ => None,
                    };
                    if let Seen::Read(read) = &seen
                        && read.is_text
                        && !new
                    {
                        self.text_stays(golden, &content);
                    }
                    let case = self.goldens.cases.len();
                    self.seen(golden, seen, new);
                    // What head's loader refuses is not executed as if it did not.
                    let refused = self.goldens.cases.get(case).map(|case| case.outcome);
                    if let Some(carries) = carries
                        && refused != Some(CaseOutcome::Refused)
                    {
                        let pending = execute::Pending::new(store, golden, new, case, carries);
                        self.pending.push(pending);
                    }
                }
                Err(error) => self.unreadable(golden, &error.to_string(), new),
            }
        }
    }

    fn seen(&mut self, golden: &Golden, seen: Seen, new: bool) {
        let place = self.place(golden);
        match seen {
            Seen::Read(read) => self.read(golden, read, new),
            Seen::Refused(construct, why, read) => {
                self.carried.extend(&read.carried);
                self.goldens.viewed = true;
                self.case(golden, CaseOutcome::Refused, Some(format!("head refuses it: {why}")));
                let entry = self
                    .refused
                    .entry(construct)
                    .or_insert_with(|| (why.clone(), Shown::default()));
                entry.1.add(&place, format!("is refused: {why}"));
                self.forms.insert(golden.id.clone(), read.forms);
            }
            Seen::Ambiguous(why) => {
                let locations = vec![place.location];
                self.push(container_ambiguous::finding(&golden.construct(), &why, new, locations));
                self.failed(golden, &why, new);
            }
            Seen::OnlyHead(why) => {
                let why = format!("head reads it and base does not: {why}");
                self.case(golden, CaseOutcome::Skipped, Some(why));
            }
            Seen::Unreadable(why) => self.unreadable(golden, &why, new),
        }
    }

    fn read(&mut self, golden: &Golden, read: Read, new: bool) {
        let place = self.place(golden);
        self.goldens.viewed |= !std::ptr::eq(self.eyes.base, self.eyes.head);
        self.carried.extend(&read.carried);
        let refused = self
            .question
            .eras
            .is_some_and(|eras| self.refusals.add(&eras, &read.forms, &place, new));
        self.lost.add(&place, &read.losses);
        self.compile_only.add(&place, &read.compile_only);
        for loss in &read.refusals {
            let why = format!("{}: {}", loss.why, loss.detail);
            let entry = self.refused.entry(loss.construct.clone());
            let known = entry.or_insert_with(|| (why.clone(), Shown::default()));
            known.1.add(&place, format!("is refused at {}", loss.path));
        }
        let mut constructs: Vec<&str> = read.losses.iter().map(|loss| &*loss.construct).collect();
        constructs.sort_unstable();
        constructs.dedup();
        let (outcome, reason) = match constructs[..] {
            _ if refused => {
                let forms = crate::container::names(&read.forms);
                (CaseOutcome::Refused, Some(format!("head's loaders refuse {forms}")))
            }
            _ if !read.refusals.is_empty() => {
                let why = read.refusals.first().map_or("", |loss| loss.why);
                (CaseOutcome::Refused, Some(why.to_owned()))
            }
            [] => (CaseOutcome::Equal, None),
            [one] => (CaseOutcome::Differ, Some(format!("loses {one}"))),
            [one, ref more @ ..] => {
                (CaseOutcome::Differ, Some(format!("loses {one} and {} more", more.len())))
            }
        };
        let loses = (outcome == CaseOutcome::Differ).then(|| reason.clone()).flatten();
        self.case(golden, outcome, reason);
        if let Some(case) = self.goldens.cases.last_mut() {
            case.loses = loses;
        }
        self.forms.insert(golden.id.clone(), read.forms);
    }

    fn unreadable(&mut self, golden: &Golden, why: &str, new: bool) {
        if new {
            let locations = vec![self.place(golden).location];
            self.push(golden_refused::unreadable(&golden.construct(), why, locations));
        }
        self.failed(golden, why, new);
    }

    /// What head brings and cannot be read is a finding; what base has is missing evidence.
    fn failed(&mut self, golden: &Golden, why: &str, new: bool) {
        if !new {
            self.goldens.unreadable.push(format!("{}: {why}", golden.construct()));
        }
        self.case(golden, CaseOutcome::Unreadable, Some(why.to_owned()));
    }

    fn case(&mut self, golden: &Golden, outcome: CaseOutcome, reason: Option<String>) {
        self.goldens.cases.push(GoldenCase {
            golden: golden.id.clone(),
            outcome,
            reason,
            loses: None,
            execution: Execution::NotAsked,
            worst_error: None,
        });
    }

    fn push(&mut self, finding: Finding) {
        self.findings.extend(self.question.loudness.settle(finding));
    }

    fn place(&self, golden: &Golden) -> Place {
        let kept = self.head.find(&golden.id).is_some_and(|g| g.artifact == golden.artifact);
        let location = Location {
            file: (*golden.artifact).into(),
            line: 0,
            column: 0,
            end_line: 0,
            end_column: 0,
        };
        let side = if kept { Side::Head } else { Side::Base };
        let label = "recorded artifact".to_owned();
        Place::new(golden, SourceLocation { side, location, label, source: None })
    }

    /// Newest goldens that head brings against base's newest of the same program.
    fn compare_containers(&mut self) {
        let base = self.base;
        let mut newest: BTreeMap<String, &Golden> = BTreeMap::new();
        let mut old: BTreeMap<String, &Golden> = BTreeMap::new();
        for (store, map) in [(base, &mut old), (self.head, &mut newest)] {
            for golden in store.goldens().iter().filter(|golden| golden.problem.is_none()) {
                let known = map.entry(program(golden)).or_insert(golden);
                if rank(golden) > rank(known) {
                    *known = golden;
                }
            }
        }
        for (program, golden) in newest {
            let Some(before) = old.get(&program).filter(|_| base.find(&golden.id).is_none()) else {
                continue;
            };
            let Some(now) = self.forms.get(&golden.id).cloned() else { continue };
            let was = match self.forms.get(&before.id) {
                Some(forms) => forms.clone(),
                None => match base.read(before).map(|content| open(&content, false)) {
                    Ok(Ok(Some(artifact))) => forms_of(&artifact),
                    _ => continue,
                },
            };
            let locations = vec![self.place(golden).location, self.place(before).location];
            let names = [before.construct(), golden.construct()];
            let found = changed(
                self.question.eras.as_ref(),
                (&names[0], &was),
                (&names[1], &now),
                locations,
            );
            if let Some(finding) = found {
                self.push(finding);
            }
        }
    }

    fn finish(mut self, asked: &Asked, pairs: &Pairs, schema: &mut [Finding]) -> Answer {
        let told = self.execute(asked, pairs, schema);
        let (base, head) = (self.question.base_contract, self.question.head_contract);
        let loudness = self.question.loudness;
        let firm = Firm::new(loudness.policy, base, head);
        let desk = Desk { base, head, pairs, loudness, firm: &firm };
        for (construct, lost) in &self.lost.0 {
            self.findings.extend(desk.lost(construct, lost, schema));
        }
        for (construct, lost) in &self.compile_only.0 {
            desk.attach(construct, &lost.shown, schema);
        }
        for (construct, (why, shown)) in &self.refused {
            desk.attach(construct, shown, schema);
            let count = shown.places.len();
            let (evidence, locations) = (shown.evidence(), shown.locations());
            let finding = golden_refused::refused(construct, why, count, evidence, locations);
            self.findings.extend(loudness.settle(finding));
        }
        let refusals = std::mem::take(&mut self.refusals);
        self.findings.extend(refusals.findings().filter_map(|finding| loudness.settle(finding)));
        let Goldens { cases, not_covered, .. } = &mut self.goldens;
        cases.sort_by(|one, two| one.golden.cmp(&two.golden));
        let known = !self.base.goldens().is_empty() || !self.question.stores.is_empty();
        for (at, construct) in asked.touched.iter().enumerate() {
            let carried = self.carried.contains(&at);
            // Where it was executed, it must have been read as well.
            let unread = told.executed.contains(&at) && !told.read.contains(&at);
            if carried && !unread {
                continue;
            }
            not_covered.push(construct.clone());
            if known {
                let finding = not_covered::finding(construct, carried);
                self.findings.extend(loudness.settle(finding));
            }
        }
        Answer { findings: self.findings, goldens: self.goldens }
    }
}

/// What a golden is one version of.
fn program(golden: &Golden) -> String {
    match &golden.layout {
        Layout::Store { program, .. } => program.clone(),
        Layout::Upstream { root, target, test, .. } => format!("{root}/{target}/{test}"),
    }
}

/// Newer versions of a program rank higher.
fn rank(golden: &Golden) -> (Option<chrono::NaiveDate>, i32, &str) {
    let version = match &golden.layout {
        Layout::Upstream { version, .. } => *version,
        Layout::Store { .. } => 0,
    };
    (golden.emitted_at(), version, &golden.id)
}
