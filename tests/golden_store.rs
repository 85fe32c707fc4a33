//! The store of goldens: both layouts, what is selected, what is evidence, and hostile stores.
#![allow(clippy::panic, clippy::print_stdout, clippy::unwrap_used)] // helpers of tests

use std::path::{Path, PathBuf};
use std::process::Command;

use aotgate::golden::{
    Emission, Golden, Layout, Manifest, Selection, Standing, Store, select, select_usable,
};
use aotgate::revision::{FirstParents, FirstSeen, Repository, Revision, RevisionSpec};
use aotgate::rollout::windows::Length;
use aotgate::triage::policy::{self, GoldenPaths};
use chrono::NaiveDate;

const BACKWARD: Length = Length::Months(6);

fn date(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn paths(own: &[&str], upstream: &[&str]) -> GoldenPaths {
    let list = |dirs: &[&str]| dirs.iter().map(|dir| (*dir).to_owned()).collect();
    GoldenPaths {
        paths: list(own),
        upstream: list(upstream),
        prefixes: vec![String::new()],
        execute: Default::default(),
    }
}

fn manifest(emitted_at: &str) -> String {
    format!(
        "artifact = \"executable.bin\"\nemitted_at = {emitted_at}\n\
         [producer]\nname = \"jaxlib\"\nversion = \"0.11.2\"\n\
         [target]\narchitecture = \"sm_90\"\n\
         [program]\noutputs = [{{ shape = \"f32[4]\" }}]\n"
    )
}

/// A repository, or a directory without one.
struct Tree {
    dir: tempfile::TempDir,
}

impl Tree {
    fn plain() -> Self {
        Tree { dir: tempfile::tempdir().unwrap() }
    }

    fn repository() -> Self {
        let tree = Tree::plain();
        tree.git(&["init", "-q", "-b", "main"], "2026-01-01");
        tree
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    fn own(&self, set: &str, program: &str, emitted_at: &str) {
        self.write(&format!("golden/{set}/{program}/golden.toml"), manifest(emitted_at));
        self.write(&format!("golden/{set}/{program}/executable.bin"), [1, 2, 3]);
    }

    fn git(&self, arguments: &[&str], on: &str) -> String {
        let output = Command::new("git")
            .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.com"])
            .args(arguments)
            .current_dir(self.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_COMMITTER_DATE", format!("{on}T12:00:00+0000"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn commit(&self, on: &str) {
        self.git(&["add", "-A"], on);
        self.git(&["commit", "-q", "--allow-empty", "-m", "m"], on);
    }

    fn opened(&self) -> Repository {
        Repository::discover(self.path()).unwrap()
    }
}

fn ids(goldens: &[&Golden]) -> Vec<String> {
    goldens.iter().map(|golden| golden.id.clone()).collect()
}

fn all_ids(store: &Store<'_>) -> Vec<String> {
    ids(&store.goldens().iter().collect::<Vec<_>>())
}

fn messages(store: &Store<'_>) -> Vec<String> {
    let own = store.goldens().iter().filter_map(|golden| golden.problem.as_ref());
    store.problems().iter().chain(own).map(ToString::to_string).collect()
}

#[test]
fn every_kind_of_revision_lists_the_same() {
    let tree = Tree::repository();
    tree.own("jaxlib-0.11.2", "fft", "2026-09-17");
    tree.own("jaxlib-0.12.0", "fft", "2026-10-16");
    tree.write("golden/README.md", "text");
    tree.write("golden/jaxlib-0.12.0/NOTES", "text");
    tree.write("up/t_2gpu/v1/A.pbtxt", "# text");
    tree.write("up/t_2gpu/v1/README", "text");
    tree.commit("2026-11-01");
    let repository = tree.opened();
    let expected = ["jaxlib-0.11.2/fft", "jaxlib-0.12.0/fft", "t_2gpu/v1/A"];
    let bare = tempfile::tempdir().unwrap();
    tree.git(&["clone", "-q", "--bare", ".", bare.path().to_str().unwrap()], "2026-11-01");
    let bare = Repository::discover(bare.path()).unwrap();
    let head = RevisionSpec::Git("HEAD".to_owned());
    for (repository, spec) in [
        (&repository, &head),
        (&repository, &RevisionSpec::Worktree),
        (&repository, &RevisionSpec::Index),
        (&bare, &head),
    ] {
        let revision = Revision::open(spec, Some(repository)).unwrap();
        let store = Store::open(&revision, &paths(&["golden"], &["up"])).unwrap();
        assert_eq!(all_ids(&store), expected, "{spec:?}");
        assert_eq!(messages(&store), [""; 0], "{spec:?}");
        let skipped: Vec<_> = store.skipped().iter().map(|s| &*s.path).collect();
        assert_eq!(skipped, ["up/t_2gpu/v1/README"]);
        let fft = store.find("jaxlib-0.12.0/fft").unwrap();
        assert_eq!(fft.construct(), "golden:jaxlib-0.12.0/fft");
        assert_eq!(fft.emitted_at(), Some(date("2026-10-16")));
        assert_eq!(&store.read(fft).unwrap()[..], [1, 2, 3]);
        assert_eq!(store.size(fft).unwrap(), 3);
        let upstream = store.find("t_2gpu/v1/A").unwrap();
        assert_eq!(&store.read(upstream).unwrap()[..], b"# text");
        assert!(
            matches!(&upstream.layout, Layout::Upstream { version: 1, test, .. } if test == "A")
        );
    }
    for spec in [RevisionSpec::Empty, head] {
        let revision = Revision::open(&spec, Some(&repository)).unwrap();
        let store = Store::open(&revision, &paths(&["absent"], &["absent/too"])).unwrap();
        assert!(store.goldens().is_empty() && messages(&store).is_empty());
    }
    // A directory that is a store itself, in either layout.
    for (dir, expected) in [("golden", &expected[..2]), ("up", &expected[2..])] {
        let revision = Revision::directory(&tree.path().join(dir));
        assert_eq!(all_ids(&Store::open_root(&revision).unwrap()), expected);
    }
}

#[test]
fn prefixes_and_policies_say_where() {
    let tree = Tree::plain();
    tree.write("third_party/xla/up/t/v1/A.pbtxt", "x");
    tree.write("up/t/v1/A.pbtxt", "x");
    let mut places = paths(&[], &["up"]);
    places.prefixes = vec![String::new(), "third_party/xla".to_owned()];
    let revision = Revision::directory(tree.path());
    let store = Store::open(&revision, &places).unwrap();
    assert_eq!(all_ids(&store), ["t/v1/A", "t/v1/A@third_party/xla/up/t/v1"]);

    let built_in = policy::built_in().unwrap().goldens;
    assert_eq!(built_in.upstream.len(), 2);
    assert!(built_in.paths.is_empty());
    let parse = |text: &str| policy::parse("p.toml", &format!("extends = \"xla-gpu\"\n{text}"));
    let own = parse("[goldens]\npaths = [\"golden/\"]\n").unwrap().goldens;
    assert_eq!((own.paths, own.upstream), (vec!["golden".to_owned()], built_in.upstream));
    for bad in ["/abs", "a/../b", "", "./x", ".git"] {
        let error = parse(&format!("[goldens]\npaths = [\"{bad}\"]\n")).unwrap_err();
        assert!(error.to_string().contains("is no directory of the tree"), "{bad}: {error}");
    }
    let error = parse("[goldens]\npath = []\n").unwrap_err();
    assert!(error.to_string().contains("unknown field `path`"), "{error}");
    let edits = policy::edits(
        Some(b"[goldens]\npaths = [\"golden\"]\n"),
        Some(b"[goldens]\npaths = []\nupstream = []\n"),
    );
    let keys: Vec<_> = edits.iter().map(|edit| &*edit.key).collect();
    assert_eq!(keys, ["goldens.paths", "goldens.upstream"]);
}

#[test]
fn stray_things_of_xlas_layout_are_skipped_and_odd_ones_are_problems() {
    let tree = Tree::plain();
    for name in ["a/v10/T.pbtxt", "a/v9/T.pbtxt", "a/v1/T.pbtxt", "a/v2/T.pbtxt"] {
        tree.write(name, "x");
    }
    tree.write("a/v3/README", "no golden: v3 is no version");
    tree.write("a/vX/T.pbtxt", "stray");
    tree.write("a/old/T.pbtxt", "stray");
    tree.write("a/v2/deeper/T.pbtxt", "stray");
    tree.write("empty/v1/.gitkeep", "");
    tree.write("odd/v01/T.pbtxt", "x");
    tree.write("odd/v1/T.pbtxt", "x");
    let revision = Revision::directory(tree.path());
    let store = Store::open_root(&revision).unwrap();
    let ids = ["a/v1/T", "a/v10/T", "a/v2/T", "a/v9/T", "odd/v1/T"];
    assert_eq!(all_ids(&store), ids);
    let skipped: Vec<_> = store.skipped().iter().map(|s| &*s.path).collect();
    let expected = [
        "a/old/T.pbtxt",
        "a/v2/deeper/T.pbtxt",
        "a/v3/README",
        "a/vX/T.pbtxt",
        "empty/v1/.gitkeep",
    ];
    assert_eq!(skipped, expected);
    assert_eq!(
        messages(&store),
        [
            "odd/v01/T.pbtxt: `v01` counts as version 1, but its goldens are looked for in v1/",
            "empty: a target without any golden",
        ]
    );
    // Numbers, not names, are in order; the newest is covered by golden verification.
    let chosen = |selection| {
        let goldens = select(store.goldens(), selection, date("2026-11-29"), BACKWARD);
        goldens.into_iter().map(|golden| golden.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(chosen(Selection::Boundary), ["a/v1/T", "a/v10/T", "a/v9/T", "odd/v1/T"]);
    assert_eq!(chosen(Selection::All), ids);
    assert_eq!(chosen(Selection::None), [""; 0]);
}

#[test]
fn the_variable_asks_for_all_versions() {
    for (value, expected) in [
        (None, Selection::Boundary),
        (Some("0"), Selection::Boundary),
        (Some(""), Selection::Boundary),
        (Some("1"), Selection::All),
        (Some("true"), Selection::All),
    ] {
        assert_eq!(Selection::Boundary.with_variable(value), expected, "{value:?}");
        assert_eq!(Selection::None.with_variable(value), Selection::None);
    }
}

#[test]
fn the_boundary_of_our_own_sets_is_inside_the_window() {
    let tree = Tree::plain();
    for (set, emitted_at) in
        [("r1", "2026-01-05"), ("r2", "2026-06-01"), ("r3", "2026-07-01"), ("r4", "2026-10-01")]
    {
        tree.own(set, "fft", emitted_at);
    }
    tree.own("r2", "dot", "2026-06-01");
    tree.own("r1", "sort", "2026-01-05");
    let revision = Revision::directory(tree.path());
    let store = Store::open(&revision, &paths(&["golden"], &[])).unwrap();
    let chosen =
        |today: &str| ids(&select(store.goldens(), Selection::Boundary, date(today), BACKWARD));
    assert_eq!(chosen("2026-11-29"), ["r2/dot", "r2/fft", "r4/fft"]);
    assert_eq!(chosen("2026-06-30"), ["r1/fft", "r1/sort", "r2/dot", "r2/fft"]);
    assert_eq!(chosen("2027-06-01"), [""; 0]);
}

#[test]
fn goldens_that_cannot_run_displace_none() {
    let tree = Tree::plain();
    let days = ["2026-06-01", "2026-07-01", "2026-08-01", "2026-09-01", "2026-10-01", "2026-10-15"];
    for (at, emitted_at) in days.into_iter().enumerate() {
        tree.own(&format!("r{at}"), "fft", emitted_at);
    }
    for set in ["r0", "r5"] {
        let text = format!("cannot_run = [\"custom call x: y\"]\n{}", manifest("2026-06-01"));
        let text = if set == "r5" { text.replace("2026-06-01", "2026-10-15") } else { text };
        tree.write(&format!("golden/{set}/fft/golden.toml"), text);
    }
    let revision = Revision::directory(tree.path());
    let store = Store::open(&revision, &paths(&["golden"], &[])).unwrap();
    let today = date("2026-11-29");
    let ends = select(store.goldens(), Selection::Boundary, today, BACKWARD);
    assert_eq!(ids(&ends), ["r0/fft", "r1/fft", "r4/fft", "r5/fft"]);
    let opens = |golden: &Golden| golden.id != "r4/fft";
    let ends = select_usable(store.goldens(), Selection::Boundary, today, BACKWARD, &opens);
    assert_eq!(ids(&ends), ["r0/fft", "r1/fft", "r3/fft", "r5/fft"]);
    std::fs::remove_file(tree.path().join("golden/r1/fft/executable.bin")).unwrap();
    let store = Store::open(&revision, &paths(&["golden"], &[])).unwrap();
    let ends = select(store.goldens(), Selection::Boundary, today, BACKWARD);
    assert_eq!(ids(&ends), ["r0/fft", "r2/fft", "r4/fft", "r5/fft"]);
}

#[test]
fn a_window_ends_on_the_day_on_which_it_is_satisfied() {
    let tree = Tree::plain();
    tree.own("r", "p", "2026-08-31");
    let revision = Revision::directory(tree.path());
    let store = Store::open(&revision, &paths(&["golden"], &[])).unwrap();
    let golden = &store.goldens()[0];
    let until = date("2027-02-27");
    for (today, expected) in [
        ("2026-08-30", Standing::Future),
        ("2026-08-31", Standing::Evidence { until }),
        ("2027-02-27", Standing::Evidence { until }),
        ("2027-02-28", Standing::TooOld),
    ] {
        assert_eq!(golden.standing(date(today), BACKWARD), expected, "{today}");
        let inside = matches!(expected, Standing::Evidence { .. });
        assert_eq!(golden.in_window(date(today), BACKWARD), inside, "{today}");
    }
}

#[test]
fn xlas_goldens_are_dated_by_the_commit_that_added_them() {
    let tree = Tree::repository();
    tree.write("up/t/v1/A.pbtxt", "x");
    tree.commit("2026-01-10");
    for day in 11..30 {
        tree.commit(&format!("2026-01-{day}"));
    }
    tree.write("up/t/v2/A.pbtxt", "x");
    tree.commit("2026-02-10");
    // A clock that runs late does not make it older.
    tree.write("up/t/v3/A.pbtxt", "x");
    tree.commit("2025-12-24");
    tree.git(&["checkout", "-q", "-b", "side", "HEAD~3"], "2026-02-11");
    tree.write("up/t/v4/A.pbtxt", "x");
    tree.commit("2026-02-12");
    tree.git(&["checkout", "-q", "main"], "2026-02-20");
    // Landed by the merge, whatever the branch says.
    tree.git(&["merge", "-q", "--no-ff", "-m", "merge", "side"], "2026-02-20");
    tree.write("up/t/v5/A.pbtxt", "uncommitted");
    let repository = tree.opened();
    let tip = repository.head().unwrap();
    let history = FirstParents::list(&repository, &tip, date("2026-01-01")).unwrap();
    let seen = |version: u32| history.first_seen(&format!("up/t/v{version}/A.pbtxt"));
    assert_eq!(seen(1), FirstSeen::Known(date("2026-01-10")));
    assert_eq!(seen(2), FirstSeen::Known(date("2026-02-10")));
    assert_eq!(seen(3), FirstSeen::Known(date("2026-02-10")));
    assert_eq!(seen(4), FirstSeen::Known(date("2026-02-20")));
    assert_eq!(seen(5), FirstSeen::Absent);
    assert_eq!(history.first_seen("../x"), FirstSeen::Absent);

    let revision = Revision::open(&RevisionSpec::Worktree, Some(&repository)).unwrap();
    let mut store = Store::open(&revision, &paths(&[], &["up"])).unwrap();
    assert!(store.goldens().iter().all(|golden| golden.emission == Emission::Unknown));
    let today = date("2026-07-20");
    assert_eq!(store.goldens()[0].standing(today, BACKWARD), Standing::Undated);
    store.date(&history, today);
    let dates: Vec<_> = store.goldens().iter().map(|g| g.emitted_at().unwrap()).collect();
    let expected = ["2026-01-10", "2026-02-10", "2026-02-10", "2026-02-20", "2026-07-20"];
    assert_eq!(dates, expected.map(date));
    assert_eq!(store.goldens()[0].standing(today, BACKWARD), Standing::TooOld);
}

#[test]
fn history_is_listed_no_further_than_asked_and_never_guessed() {
    let tree = Tree::repository();
    tree.write("up/t/v1/A.pbtxt", "x");
    for at in 0..120 {
        tree.commit(
            &date("2026-01-01").checked_add_days(chrono::Days::new(at)).unwrap().to_string(),
        );
    }
    tree.write("up/t/v2/A.pbtxt", "x");
    tree.commit("2026-06-01");
    let path = |version: u32| format!("up/t/v{version}/A.pbtxt");
    let repository = tree.opened();
    let tip = repository.head().unwrap();
    let since = date("2026-05-20");
    let history = FirstParents::list(&repository, &tip, since).unwrap();
    assert_eq!(history.len(), 102); // one inside, and what a few skewed dates could hide
    assert_eq!(history.first_seen(&path(1)), FirstSeen::OlderThan(since));
    assert_eq!(history.first_seen(&path(2)), FirstSeen::Known(date("2026-06-01")));

    let clone = tempfile::tempdir().unwrap();
    let url = format!("file://{}", tree.path().display());
    let to = clone.path().to_str().unwrap();
    tree.git(&["clone", "-q", "--depth", "2", &url, to], "2026-06-01");
    let shallow = Repository::discover(clone.path()).unwrap();
    let tip = shallow.head().unwrap();
    let history = FirstParents::list(&shallow, &tip, date("2026-01-01")).unwrap();
    assert_eq!(history.first_seen(&path(1)), FirstSeen::Unknown);
    assert_eq!(history.first_seen(&path(2)), FirstSeen::Known(date("2026-06-01")));
    let revision = Revision::open(&RevisionSpec::Git("HEAD".into()), Some(&shallow)).unwrap();
    let mut store = Store::open(&revision, &paths(&[], &["up"])).unwrap();
    store.date(&history, date("2026-06-02"));
    assert_eq!(
        store.find("t/v1/A").unwrap().standing(date("2026-06-02"), BACKWARD),
        Standing::Undated
    );
}

#[test]
fn manifests_say_what_is_wrong_and_where() {
    let parse = |text: &str| Manifest::parse("g/golden.toml", text);
    let good = manifest("2026-09-17");
    let read = parse(&good).unwrap();
    assert_eq!(parse(&read.to_toml()).unwrap(), read);
    let full = "artifact = 'a.bin'\nemitted_at = 2026-09-17\nnote = \"a\\\"b\"\ncannot_run = ['x']\n\
        [producer]\nname = 'n'\nversion = 'v'\n[target]\narchitecture = 'sm_90'\ndevice = 'd'\n\
        [program]\nreplicas = 2\ninputs = [{ shape = 'bf16[2]', donated = true }]\n\
        outputs = [{ shape = 'f32[]', relative = 1e-5 }]\noptions = { a = true, b = 3, c = 'x y' }\n\
        [[device]]\ninputs = 'i.npz'\nexpected = 'e.npz'\n[[device]]\ninputs = 'i.npz'\n";
    let read = parse(full).unwrap();
    assert_eq!(parse(&read.to_toml()).unwrap(), read);
    assert_eq!(read.files(), ["a.bin", "i.npz", "e.npz"]);
    assert_eq!(read.program.options["b"], "3");
    assert_eq!(read.program.outputs[0].tolerance.unwrap().absolute, 0.0);

    for (from, to, why) in [
        ("emitted_at", "emited_at", "unknown field `emited_at`"),
        ("2026-09-17", "2026-13-45", "invalid"),
        ("executable.bin", "../../secret", "is no file beside golden.toml"),
        ("executable.bin", "golden.toml", "is no file beside golden.toml"),
        ("f32[4]", "f31[4]", "no element type is called `f31`; did you mean `f32`?"),
        ("f32[4]", "f32[99999999999999999999]", "expected a shape"),
        ("[program]", "[program]\nreplicas = 0", "0 replicas of 1 partitions"),
        ("[program]", "[program]\nreplicas = 65536\npartitions = 65536", "1 to 1024 devices"),
        ("[program]", "[[device]]\n[[device]]\n[program]", "2 `[[device]]` tables for 1 devices"),
        ("}]", ", relative = -1.0 }]", "-1 is no tolerance"),
        ("}]", ", relative = nan }]", "NaN is no tolerance"),
    ] {
        assert!(good.contains(from), "{from}");
        let error = parse(&good.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.starts_with("g/golden.toml:"), "{error}");
        assert!(error.contains(why), "{error} should contain {why}");
    }
    let error = parse(&good.replace("emitted_at", "emited_at")).unwrap_err();
    let help = miette::Diagnostic::help(&error).unwrap().to_string();
    assert_eq!(help, "did you mean `emitted_at`?");
    assert!(miette::Diagnostic::labels(&error).is_some());
    // Nesting and repetition without end.
    for absurd in ["[".repeat(100_000), "a.".repeat(100_000), "a = [".repeat(50_000)] {
        assert!(parse(&absurd).is_err());
    }
}

#[test]
fn broken_goldens_are_problems_of_their_own() {
    let tree = Tree::plain();
    tree.own("s", "good", "2026-09-17");
    tree.own("s", "typo", "2026-09-17 # \nemited = 1");
    tree.own("s", "no_file", "2026-09-17");
    std::fs::remove_file(tree.path().join("golden/s/no_file/executable.bin")).unwrap();
    tree.write("golden/s/no_manifest/executable.bin", "x");
    tree.write("golden/s/latin/golden.toml", b"artifact = '\xe9'");
    tree.own("s", "pointer", "2026-09-17");
    tree.write(
        "golden/s/pointer/executable.bin",
        "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n",
    );
    let revision = Revision::directory(tree.path());
    let store = Store::open(&revision, &paths(&["golden"], &[])).unwrap();
    let expected = ["s/good", "s/latin", "s/no_file", "s/pointer", "s/typo"];
    assert_eq!(all_ids(&store), expected);
    let found = messages(&store);
    assert_eq!(
        found[..3],
        [
            "golden/s/no_manifest: no golden.toml",
            "golden/s/latin/golden.toml:1: not UTF-8 text",
            "golden/s/no_file/executable.bin: there is no such file",
        ]
    );
    assert!(found[3].contains("golden/s/typo/golden.toml:3: unknown field `emited`"), "{found:?}");
    let error = store.read(store.find("s/pointer").unwrap()).unwrap_err();
    assert!(error.to_string().contains("is a Git LFS pointer"), "{error}");
    assert!(store.read(store.find("s/no_file").unwrap()).is_err());
    // A golden that cannot be read is no evidence.
    let typo = store.find("s/typo").unwrap();
    assert_eq!(typo.standing(date("2026-11-29"), BACKWARD), Standing::Undated);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let outside = Tree::plain();
    outside.own("s", "p", "2026-09-17");
    let tree = Tree::repository();
    tree.own("s", "file", "2026-09-17");
    std::fs::remove_file(tree.path().join("golden/s/file/executable.bin")).unwrap();
    let secret = outside.write("secret", "secret");
    symlink(&secret, tree.path().join("golden/s/file/executable.bin")).unwrap();
    symlink(outside.path().join("golden/s/p"), tree.path().join("golden/s/dir")).unwrap();
    symlink(tree.path().join("golden"), tree.path().join("golden/s/loop")).unwrap();
    symlink(outside.path().join("golden"), tree.path().join("linked")).unwrap();
    tree.write("up/t/v1/A.pbtxt", "x");
    symlink(&secret, tree.path().join("up/t/v1/B.pbtxt")).unwrap();
    tree.commit("2026-11-01");
    let repository = tree.opened();
    let specs = [RevisionSpec::Git("HEAD".into()), RevisionSpec::Index, RevisionSpec::Worktree];
    for spec in specs {
        let revision = Revision::open(&spec, Some(&repository)).unwrap();
        let store = Store::open(&revision, &paths(&["golden"], &["up"])).unwrap();
        assert_eq!(all_ids(&store), ["s/file", "t/v1/A"], "{spec:?}");
        let found = messages(&store);
        for link in
            ["golden/s/dir", "golden/s/file/executable.bin", "golden/s/loop", "up/t/v1/B.pbtxt"]
        {
            let expected = format!("{link} is a symbolic link, not a regular file");
            assert!(found.contains(&expected), "{spec:?}: {found:?}");
        }
        assert!(store.read(store.find("s/file").unwrap()).is_err());
        let error = Store::open(&revision, &paths(&["linked"], &[])).unwrap_err();
        assert!(error.to_string().contains("linked is a "), "{spec:?}: {error}");
        // The way to a store leads through no link either.
        let store = Store::open(&revision, &paths(&["linked/s"], &[]));
        assert!(store.is_err() || store.unwrap().goldens().is_empty(), "{spec:?}");
    }
}

#[test]
fn huge_stores_are_refused() {
    let tree = Tree::repository();
    // A directory in itself, by sharing: 2^20 paths in 21 trees.
    let leaf = tree.write("x.pbtxt", "x");
    let blob = tree.git(&["hash-object", "-w", leaf.to_str().unwrap()], "2026-01-01");
    let mktree = |lines: &str| {
        let file = tree.write("lines", lines);
        let output = Command::new("git")
            .arg("mktree")
            .current_dir(tree.path())
            .stdin(std::fs::File::open(file).unwrap())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let mut id = mktree(&format!("100644 blob {blob}\tx.pbtxt\n"));
    let mut wide = id.clone();
    for _ in 0..40 {
        id = mktree(&format!("040000 tree {id}\td\n"));
    }
    for _ in 0..6 {
        let lines: String = (0..12).map(|at| format!("040000 tree {wide}\td{at}\n")).collect();
        wide = mktree(&lines);
    }
    let root = mktree(&format!("040000 tree {id}\tdeep\n040000 tree {wide}\twide\n"));
    let commit = tree.git(&["commit-tree", "-m", "m", &root], "2026-01-01");
    let repository = tree.opened();
    let revision = Revision::open(&RevisionSpec::Git(commit), Some(&repository)).unwrap();
    for (dir, why) in [
        ("deep", "deep holds more than 16 directories in one another"),
        ("wide", "wide holds more than 50000 files and directories"),
    ] {
        for places in [paths(&[dir], &[]), paths(&[], &[dir])] {
            assert_eq!(Store::open(&revision, &places).unwrap_err().to_string(), why);
        }
    }
    let error =
        Store::open(&revision, &paths(&["wide/d0/d0/d0/d0/d0/d0/x.pbtxt"], &[])).unwrap_err();
    assert!(error.to_string().contains("is a file, not a directory"), "{error}");
}

/// Needs `AOTGATE_XLA_REPO`: XLA's own goldens as of 2026-08-07, and what dating them costs.
#[test]
#[ignore = "reads XLA's history: set AOTGATE_XLA_REPO to its git directory"]
fn xlas_own_goldens_are_found_and_dated() {
    let repository =
        Repository::discover(Path::new(&std::env::var_os("AOTGATE_XLA_REPO").unwrap())).unwrap();
    let spec = RevisionSpec::Git("756478bb8bf06ca8a0b8f989fc3ce49ef1d561a2".to_owned());
    let revision = Revision::open(&spec, Some(&repository)).unwrap();
    let goldens = policy::built_in().unwrap().goldens;
    let started = std::time::Instant::now();
    let mut store = Store::open(&revision, &goldens).unwrap();
    println!("listed {} goldens in {:?}", store.goldens().len(), started.elapsed());
    let today = date("2026-08-07");
    let started = std::time::Instant::now();
    let tip = revision.commit.as_ref().unwrap();
    let history = FirstParents::list(&repository, tip, BACKWARD.before(today)).unwrap();
    println!("listed {} first parents in {:?}", history.len(), started.elapsed());
    let started = std::time::Instant::now();
    store.date(&history, today);
    println!("dated {} goldens in {:?}", store.goldens().len(), started.elapsed());
    assert_eq!(messages(&store), [""; 0]);
    let dated: Vec<_> = store
        .goldens()
        .iter()
        .map(|golden| format!("{} {}", golden.id, golden.emitted_at().unwrap()))
        .collect();
    assert_eq!(
        dated,
        [
            "collective_ops_aot_test_2gpu/v1/AllGatherMixedTypes 2026-08-04",
            "collective_ops_aot_test_2gpu/v1/ReduceScatter 2026-08-04",
            "test_dummy_test/v1/exec 2026-08-02",
            "test_dummy_test/v2/exec 2026-08-02",
            "test_dummy_test/v3/exec 2026-08-02",
            "test_dummy_test/v4/exec 2026-08-02",
        ]
    );
    // As XLA's own test of its test library has it.
    let boundary = select(store.goldens(), Selection::Boundary, today, BACKWARD);
    let dummies: Vec<_> = ids(&boundary).into_iter().filter(|id| id.starts_with("test_")).collect();
    let expected =
        ["test_dummy_test/v1/exec", "test_dummy_test/v3/exec", "test_dummy_test/v4/exec"];
    assert_eq!(dummies, expected);
}
