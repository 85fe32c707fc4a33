//! Git's odd corners: bare and shallow and partial clones, worktrees, missing objects, base choice.
#![allow(clippy::panic, clippy::print_stdout, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

use aotgate::Error;
use aotgate::descriptor::{Contract, ContractSpec, ParseCache, RootSpec};
use aotgate::revision::{Repository, Revision, RevisionSpec, choose_base};

const PROTO: &str = "a/root.proto";

fn spec() -> ContractSpec {
    ContractSpec {
        roots: vec![RootSpec { message: "p.Root".into(), files: vec![PROTO.into()] }],
        ..ContractSpec::default()
    }
}

/// What a check would compare.
#[derive(Debug, PartialEq)]
struct Range {
    base: RevisionSpec,
    head: RevisionSpec,
}

/// A directory that git commands run in.
struct Git {
    dir: PathBuf,
    _temporary: Option<tempfile::TempDir>,
}

impl Git {
    fn init(arguments: &[&str]) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let dir = temporary.path().join("repository");
        std::fs::create_dir(&dir).unwrap();
        let git = Git { dir, _temporary: Some(temporary) };
        git.run(&[&["init", "-q", "-b", "main"], arguments].concat());
        git
    }

    fn at(dir: PathBuf) -> Self {
        Git { dir, _temporary: None }
    }

    fn clone_of(source: &Git, arguments: &[&str]) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let dir = temporary.path().join("clone");
        let url = format!("file://{}", source.dir.display());
        let git = Git { dir: temporary.path().to_owned(), _temporary: None };
        git.run(&[&["clone", "-q"], arguments, &[&url, dir.to_str().unwrap()]].concat());
        Git { dir, _temporary: Some(temporary) }
    }

    fn run(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        assert!(
            output.status.success(),
            "git {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn output(&self, arguments: &[&str]) -> std::process::Output {
        Command::new("git")
            .args(["-c", "protocol.file.allow=always", "-c", "commit.gpgsign=false"])
            .args(arguments)
            .current_dir(&self.dir)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.dir)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "A")
            .env("GIT_AUTHOR_EMAIL", "a@example.com")
            .env("GIT_COMMITTER_NAME", "C")
            .env("GIT_COMMITTER_EMAIL", "c@example.com")
            .env("GIT_AUTHOR_DATE", "2026-01-01T12:00:00+0000")
            .env("GIT_COMMITTER_DATE", self.date())
            .output()
            .unwrap()
    }

    fn date(&self) -> String {
        std::fs::read_to_string(self.dir.with_extension("date"))
            .unwrap_or_else(|_| "2026-02-01T12:00:00+0000".to_owned())
    }

    fn set_date(&self, date: &str) {
        std::fs::write(self.dir.with_extension("date"), date).unwrap();
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.dir.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Writes a root message with these fields.
    fn fields(&self, fields: &[&str]) {
        let lines: String =
            fields.iter().enumerate().map(|(n, f)| format!("  int32 {f} = {};\n", n + 1)).collect();
        self.write(
            PROTO,
            &format!("syntax = \"proto3\";\npackage p;\nmessage Root {{\n{lines}}}\n"),
        );
    }

    fn commit(&self, fields: &[&str]) -> String {
        self.fields(fields);
        self.run(&["add", "-A"]);
        self.run(&["commit", "-q", "--allow-empty", "-m", &fields.join(" ")]);
        self.head()
    }

    fn head(&self) -> String {
        self.run(&["rev-parse", "HEAD"])
    }

    fn open(&self) -> Repository {
        Repository::discover(&self.dir).unwrap()
    }

    fn contract(&self, rev: &str) -> Result<Contract, Error> {
        let repository = self.open();
        let revision = Revision::open(&rev.parse().unwrap(), Some(&repository))?;
        revision.closure(&spec(), &mut ParseCache::default())?.contract(&spec())
    }

    #[track_caller]
    fn has(&self, rev: &str, expected: &[&str]) {
        let contract = self.contract(rev).unwrap_or_else(|e| panic!("{rev}: {e}"));
        let fields: Vec<&str> = contract
            .message("p.Root")
            .map(|m| m.fields.iter().map(|f| &*f.name).collect())
            .unwrap_or_default();
        assert_eq!(fields, expected, "{rev}");
    }

    /// Base and head as revisions; ids shortened to the names that the test gave them.
    fn base(&self, head: Option<&str>) -> Result<Range, Error> {
        let repository = self.open();
        let dirty = || {
            let status = self.output(&["status", "--porcelain", "--untracked-files=no"]);
            status.status.success() && !status.stdout.is_empty()
        };
        let head = match head {
            Some(head) => head.parse().unwrap(),
            None if dirty() => RevisionSpec::Worktree,
            None => RevisionSpec::Git("HEAD".into()),
        };
        let base = choose_base(&repository, &head)?;
        Ok(Range { base, head })
    }

    #[track_caller]
    fn judges(&self, head: Option<&str>, base: &str, expected_head: RevisionSpec) {
        let range = self.base(head).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(range, Range { base: RevisionSpec::Git(base.into()), head: expected_head });
    }

    /// Deletes a loose object.
    fn lose(&self, rev: &str) -> String {
        let id = self.run(&["rev-parse", rev]);
        let path =
            self.run(&["rev-parse", "--git-path", &format!("objects/{}/{}", &id[..2], &id[2..])]);
        std::fs::remove_file(self.dir.join(path)).unwrap();
        id
    }
}

fn head() -> RevisionSpec {
    RevisionSpec::Git("HEAD".into())
}

fn report(error: &Error) -> String {
    let mut text = String::new();
    miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::none())
        .with_width(400)
        .render_report(&mut text, error)
        .unwrap();
    text
}

/// Asserts on message and fix.
#[track_caller]
fn fails<T: std::fmt::Debug>(result: Result<T, Error>, message: &str, fix: &str) -> Error {
    let error = result.unwrap_err();
    assert_eq!(error.to_string(), message);
    let text = report(&error);
    assert!(text.contains(fix), "{text}");
    error
}

#[test]
fn no_repository() {
    let dir = tempfile::tempdir().unwrap();
    let result = Repository::discover(dir.path());
    fails(
        result,
        &format!("no git repository at {} or above", dir.path().display()),
        "pass `--repo DIR`",
    );
    let gone = dir.path().join("gone");
    fails(
        Repository::discover(&gone),
        &format!("no git repository at {} or above", gone.display()),
        "pass `--repo DIR`",
    );
    fails(
        Revision::open(&head(), None).map(|r| r.label),
        "no git repository at . or above",
        "pass `--repo DIR`",
    );
}

#[test]
fn commit_index_and_worktree() {
    let git = Git::init(&[]);
    git.commit(&["x"]);
    git.commit(&["x", "y"]);
    git.fields(&["x", "y", "staged"]);
    git.run(&["add", "-A"]);
    git.fields(&["x", "y", "staged", "unstaged"]);
    git.has("HEAD^", &["x"]);
    git.has("HEAD", &["x", "y"]);
    git.has("main", &["x", "y"]);
    git.has("INDEX", &["x", "y", "staged"]);
    git.has("WORKTREE", &["x", "y", "staged", "unstaged"]);
    git.has("EMPTY", &[]);
    // Deleted on disk only, then from the index, too.
    std::fs::remove_file(git.dir.join(PROTO)).unwrap();
    git.has("WORKTREE", &[]);
    git.has("INDEX", &["x", "y", "staged"]);
    git.run(&["add", "-A"]);
    git.has("INDEX", &[]);
    git.has("HEAD", &["x", "y"]);
}

#[test]
fn revisions_by_any_name() {
    let git = Git::init(&[]);
    let first = git.commit(&["x"]);
    git.run(&["tag", "light"]);
    git.run(&["tag", "-a", "-m", "note", "annotated"]);
    git.commit(&["x", "y"]);
    for rev in ["light", "annotated", "refs/tags/light", "HEAD~1", "main^", &first, &first[..10]] {
        git.has(rev, &["x"]);
    }
    let tree = git.run(&["rev-parse", "HEAD^{tree}"]);
    fails(
        git.contract("nowhere"),
        "'nowhere' is no revision of this repository",
        "git fetch origin nowhere",
    );
    fails(
        git.contract("HEAD~9"),
        "'HEAD~9' is no revision of this repository",
        "git rev-parse HEAD~9",
    );
    fails(
        git.contract(&tree),
        &format!("'{tree}' is no revision of this repository"),
        "name a commit, branch or tag",
    );
    fails(
        git.contract("a b?"),
        "'a b?' is no revision of this repository",
        "name a commit, branch or tag",
    );
    fails(git.contract(""), "'' is no revision of this repository", "name a commit, branch or tag");
    let zero = "0".repeat(40);
    fails(
        git.contract(&zero),
        &format!("'{zero}' is no revision of this repository"),
        "git fetch origin",
    );
}

#[test]
fn bare_repository() {
    let git = Git::init(&[]);
    git.commit(&["x"]);
    let base = git.head();
    git.commit(&["x", "y"]);
    let bare = Git::clone_of(&git, &["--bare"]);
    bare.has("HEAD", &["x", "y"]);
    bare.has("main~1", &["x"]);
    bare.judges(None, &base, head());
    fails(
        bare.contract("WORKTREE"),
        "a bare repository has no working tree",
        "name a commit, branch or tag",
    );
    fails(bare.contract("INDEX"), "a bare repository has no index", "name a commit, branch or tag");
}

#[test]
fn linked_worktree() {
    let git = Git::init(&[]);
    let base = git.commit(&["x"]);
    let dir = git.dir.with_file_name("linked");
    git.run(&["worktree", "add", "-q", "-b", "feature", dir.to_str().unwrap()]);
    let linked = Git::at(dir);
    linked.commit(&["x", "in_linked"]);
    linked.fields(&["x", "in_linked", "dirty"]);
    linked.has("HEAD", &["x", "in_linked"]);
    linked.has("INDEX", &["x", "in_linked"]);
    linked.has("WORKTREE", &["x", "in_linked", "dirty"]);
    linked.judges(None, &base, RevisionSpec::Worktree);
    git.has("HEAD", &["x"]);
    git.has("WORKTREE", &["x"]);
    git.has("feature", &["x", "in_linked"]);
    // From a directory below.
    let below = Git::at(linked.dir.join("a"));
    below.has("WORKTREE", &["x", "in_linked", "dirty"]);
}

#[test]
fn unborn_branch() {
    let git = Git::init(&[]);
    git.fields(&["x"]);
    git.has("WORKTREE", &["x"]);
    git.has("INDEX", &[]);
    fails(
        git.contract("HEAD"),
        "the branch 'main' has no commit yet",
        "--base EMPTY --head WORKTREE",
    );
    fails(git.base(None), "the branch 'main' has no commit yet", "--base EMPTY --head WORKTREE");
}

#[test]
fn single_commit_has_no_base() {
    let git = Git::init(&[]);
    let only = git.commit(&["x"]);
    fails(
        git.base(None),
        &format!("no base to compare with: {} has no parent", &only[..10]),
        "--base EMPTY",
    );
    // With uncommitted work there is one.
    git.fields(&["x", "y"]);
    git.judges(None, &only, RevisionSpec::Worktree);
    git.judges(Some("INDEX"), &only, RevisionSpec::Index);
}

#[test]
fn on_the_main_branch() {
    let git = Git::init(&[]);
    let first = git.commit(&["x"]);
    let second = git.commit(&["x", "y"]);
    git.judges(None, &first, head());
    git.judges(Some("HEAD"), &first, head());
    git.judges(Some("WORKTREE"), &second, RevisionSpec::Worktree);
    git.judges(Some("INDEX"), &second, RevisionSpec::Index);
    // Untracked files are no change, added ones are.
    git.write("new.proto", "syntax = \"proto3\";");
    git.judges(None, &first, head());
    git.run(&["add", "new.proto"]);
    git.judges(None, &second, RevisionSpec::Worktree);
    let set = RevisionSpec::DescriptorSet("x.fds".into());
    fails(
        choose_base(&git.open(), &set),
        "no base to compare with: a descriptor set has no parent",
        "pass `--base FILE`",
    );
}

#[test]
fn on_the_main_branch_behind_its_upstream() {
    let source = Git::init(&[]);
    let first = source.commit(&["x"]);
    let second = source.commit(&["x", "y"]);
    let git = Git::clone_of(&source, &[]);
    source.commit(&["x", "y", "z"]);
    git.run(&["fetch", "-q"]);
    git.judges(None, &first, head());
    // Ahead of it: what is not pushed.
    git.run(&["merge", "-q", "--ff-only", "origin/main"]);
    let pushed = git.head();
    git.commit(&["x", "y", "z", "local"]);
    git.commit(&["x", "y", "z", "local", "more"]);
    git.judges(None, &pushed, head());
    assert_ne!(second, pushed);
}

#[test]
fn feature_branch() {
    for main in ["main", "master"] {
        let git = Git::init(&[]);
        git.run(&["checkout", "-q", "-b", "start"]);
        let fork = git.commit(&["x"]);
        git.run(&["branch", "-M", main]);
        git.run(&["checkout", "-q", "-b", "feature"]);
        git.commit(&["x", "f"]);
        git.commit(&["x", "f", "g"]);
        git.run(&["checkout", "-q", main]);
        git.commit(&["x", "landed"]);
        git.run(&["checkout", "-q", "feature"]);
        git.judges(None, &fork, head());
        git.fields(&["x", "f", "g", "h"]);
        git.judges(None, &fork, RevisionSpec::Worktree);
        git.judges(Some("INDEX"), &fork, RevisionSpec::Index);
        git.judges(Some("feature~1"), &fork, RevisionSpec::Git("feature~1".into()));
        git.run(&["checkout", "-q", "--force", "--detach"]);
        git.judges(None, &fork, head());
    }
}

#[test]
fn remote_branch_counts_before_the_local_one() {
    let source = Git::init(&[]);
    source.commit(&["x"]);
    let git = Git::clone_of(&source, &[]);
    let pushed = source.commit(&["x", "y"]);
    git.run(&["fetch", "-q"]);
    git.run(&["checkout", "-q", "-b", "feature", "origin/main"]);
    git.commit(&["x", "y", "f"]);
    git.judges(None, &pushed, head()); // local main is behind
}

/// A pull request's merge ref: `HEAD` is a merge of main's tip and the branch.
fn merge_ref() -> (Git, String) {
    let git = Git::init(&[]);
    git.commit(&["x"]);
    git.run(&["checkout", "-q", "-b", "feature"]);
    git.write("other.txt", "feature");
    git.run(&["add", "-A"]);
    git.run(&["commit", "-q", "-m", "feature"]);
    git.run(&["checkout", "-q", "main"]);
    let landed = git.commit(&["x", "landed"]);
    git.run(&["checkout", "-q", "--detach"]);
    git.run(&["merge", "-q", "--no-ff", "-m", "merge", "feature"]);
    git.run(&["update-ref", "refs/pull/1/merge", "HEAD"]);
    (git, landed)
}

#[test]
fn merge_ref_is_compared_with_its_first_parent() {
    let (git, landed) = merge_ref();
    git.judges(None, &landed, head());
    git.has("HEAD", &["x", "landed"]);
    // Main moves on; the base stays.
    git.run(&["checkout", "-q", "main"]);
    git.commit(&["x", "landed", "later"]);
    git.run(&["checkout", "-q", "--detach", "refs/pull/1/merge"]);
    git.judges(None, &landed, head());
}

#[test]
fn merge_commit_on_main() {
    let git = Git::init(&[]);
    git.commit(&["x"]);
    git.run(&["checkout", "-q", "-b", "feature"]);
    git.write("other.txt", "feature");
    git.run(&["add", "-A"]);
    git.run(&["commit", "-q", "-m", "feature"]);
    git.run(&["checkout", "-q", "main"]);
    let landed = git.commit(&["x", "landed"]);
    git.run(&["merge", "-q", "--no-ff", "-m", "merge", "feature"]);
    git.judges(None, &landed, head());
    let repository = git.open();
    let tip = repository.head().unwrap();
    assert_eq!(repository.parent_count(&tip), 2);
    assert_eq!(repository.first_parent(&tip).unwrap().unwrap().id.to_string(), landed);
    let root = repository.commit("main~2").unwrap();
    let subjects: Vec<_> =
        repository.first_parents(&root, &tip).unwrap().into_iter().map(|c| c.subject).collect();
    assert_eq!(subjects, ["x landed", "merge"]);
    let all = repository.messages(Some(root.id), tip.id, 10);
    assert_eq!(all.len(), 3);
}

/// A clone as `actions/checkout` makes it: one ref fetched to a depth, checked out detached.
fn checkout(source: &Git, reference: &str, depth: u32) -> Git {
    let git = Git::init(&[]);
    git.run(&["remote", "add", "origin", &format!("file://{}", source.dir.display())]);
    let target = if reference.starts_with("refs/pull") {
        "refs/remotes/pull/1/merge"
    } else {
        "refs/remotes/origin/main"
    };
    git.run(&[
        "fetch",
        "-q",
        "--no-tags",
        &format!("--depth={depth}"),
        "origin",
        &format!("+{reference}:{target}"),
    ]);
    git.run(&["checkout", "-q", "--detach", target]);
    git
}

#[test]
fn shallow_clone_of_depth_one() {
    let source = Git::init(&[]);
    let first = source.commit(&["x"]);
    let second = source.commit(&["x", "y"]);
    for git in [Git::clone_of(&source, &["--depth=1"]), checkout(&source, "refs/heads/main", 1)] {
        git.has("HEAD", &["x", "y"]);
        fails(
            git.base(None),
            &format!(
                "no base to compare with: the parent of {} is not in this shallow clone",
                &second[..10]
            ),
            "git fetch --deepen=1",
        );
        fails(
            git.contract("HEAD^"),
            "'HEAD^' is no revision of this repository",
            "git fetch --deepen",
        );
        fails(
            git.contract(&first),
            &format!("'{first}' is no revision of this repository"),
            "this clone is shallow",
        );
        let repository = git.open();
        assert!(repository.is_shallow());
        let tip = repository.head().unwrap();
        assert_eq!(repository.messages(None, tip.id, 10).len(), 1);
        // The fix works.
        git.run(&["fetch", "-q", "--deepen=1", "origin", "main"]);
        git.judges(None, &first, head());
        git.has("HEAD^", &["x"]);
    }
}

#[test]
fn shallow_clone_of_a_merge_ref() {
    let (source, landed) = merge_ref();
    // Depth 2 has what is needed, at depth 1 the fix is named.
    let git = checkout(&source, "refs/pull/1/merge", 2);
    git.judges(None, &landed, head());
    git.has("HEAD^1", &["x", "landed"]);
    let git = checkout(&source, "refs/pull/1/merge", 1);
    let tip = git.head();
    fails(
        git.base(None),
        &format!(
            "no base to compare with: the parent of {} is not in this shallow clone",
            &tip[..10]
        ),
        "git fetch --deepen=1",
    );
}

#[test]
fn shallow_feature_branch() {
    let source = Git::init(&[]);
    for n in 0..5 {
        source.commit(&["x", &format!("f{n}")]);
    }
    source.run(&["checkout", "-q", "-b", "feature", "main~3"]);
    source.commit(&["x", "f1", "feature"]);
    source.run(&["checkout", "-q", "main"]);
    // Tips of both branches only: no common ancestor is there.
    let git = Git::clone_of(&source, &["--depth=1", "--no-single-branch", "--branch=feature"]);
    let tip = git.head();
    fails(
        git.base(None),
        &format!(
            "no base to compare with: {} has no common ancestor with origin/HEAD in this clone",
            &tip[..10]
        ),
        "git fetch --unshallow",
    );
}

#[test]
fn unrelated_branches() {
    let git = Git::init(&[]);
    git.commit(&["x"]);
    git.run(&["checkout", "-q", "--orphan", "other"]);
    let other = git.commit(&["y"]);
    fails(
        git.base(None),
        &format!(
            "no base to compare with: {} has no common ancestor with main in this clone",
            &other[..10]
        ),
        "pass `--base REV`",
    );
}

#[test]
fn missing_blob_and_trees() {
    let fresh = || {
        let git = Git::init(&[]);
        git.commit(&["x"]);
        git.commit(&["x", "y"]);
        git
    };
    let git = fresh();
    let short = git.head()[..10].to_owned();
    let id = git.lose("HEAD:a/root.proto");
    let error = fails(
        git.contract("HEAD"),
        &format!("the file a/root.proto of HEAD ({id}) is not in this clone"),
        "git fetch --refetch origin",
    );
    assert!(error.is_missing_object());
    git.has("HEAD^", &["x"]);

    let git = fresh();
    let id = git.lose("HEAD:a");
    let error = fails(
        git.contract("HEAD"),
        &format!("the directory a of HEAD ({id}) is not in this clone"),
        "git fsck",
    );
    assert!(error.is_missing_object());

    let git = fresh();
    let id = git.lose("HEAD^{tree}");
    let error = fails(
        git.contract("HEAD"),
        &format!("the root tree of HEAD ({id}) is not in this clone"),
        "git fsck",
    );
    assert!(error.is_missing_object());

    let git = fresh();
    let id = git.lose("HEAD^");
    let error = fails(
        git.base(None),
        &format!("the parent commit of {short} ({id}) is not in this clone"),
        "git fsck",
    );
    assert!(error.is_missing_object());
    git.has("HEAD", &["x", "y"]);
}

#[test]
fn partial_clone() {
    let source = Git::init(&[]);
    source.run(&["config", "uploadpack.allowFilter", "true"]);
    let base = source.commit(&["x"]);
    source.commit(&["x", "y"]);
    // Blobs of HEAD were fetched by the checkout, older ones were not.
    let git = Git::clone_of(&source, &["--filter=blob:none"]);
    git.has("HEAD", &["x", "y"]);
    git.judges(None, &base, head());
    let id = source.run(&["rev-parse", "HEAD^:a/root.proto"]);
    let error = fails(
        git.contract("HEAD^"),
        &format!("the file a/root.proto of HEAD^ ({id}) is not in this clone"),
        "this clone is partial",
    );
    assert!(error.is_missing_object());
    let git = Git::clone_of(&source, &["--filter=tree:0", "--no-checkout"]);
    let error = git.contract("HEAD").unwrap_err();
    assert!(error.is_missing_object(), "{error}");
    assert!(error.to_string().contains("the root tree of"), "{error}");
}

#[test]
fn date_is_the_committers_calendar_date() {
    let git = Git::init(&[]);
    for (time, date) in [
        ("2026-03-01T23:30:00-0800", "2026-03-01"),
        ("2026-03-02T00:30:00+0900", "2026-03-02"),
        ("2026-03-01T23:59:59+0000", "2026-03-01"),
        ("2026-12-31T23:00:00+0545", "2026-12-31"),
        ("2026-02-28T23:00:00-1200", "2026-02-28"),
        ("1971-01-01T00:30:00+1400", "1971-01-01"),
    ] {
        git.set_date(time);
        git.commit(&["x"]);
        let info = git.open().head().unwrap();
        assert_eq!(info.date.to_string(), date, "{time}");
        assert_eq!(git.run(&["show", "-s", "--format=%cs"]), date, "{time}");
        assert_eq!(info.author, "A");
    }
}

#[test]
fn odd_commits() {
    let git = Git::init(&[]);
    git.commit(&["x"]);
    let tree = git.run(&["rev-parse", "HEAD^{tree}"]);
    let write = |content: &[u8]| {
        let file = git.dir.join("commit.bin");
        std::fs::write(&file, content).unwrap();
        let id = git.run(&["hash-object", "-t", "commit", "-w", "--literally", "commit.bin"]);
        std::fs::remove_file(file).unwrap();
        id
    };
    let commit = |when: &str, message: &[u8]| {
        let mut content =
            format!("tree {tree}\nauthor \u{e9} <a> 1 +0000\ncommitter C <c> {when}\n\n")
                .into_bytes();
        content.extend_from_slice(message);
        write(&content)
    };
    // Latin-1 message, empty message.
    let latin = commit("1767225600 +0000", b"caf\xe9\n\nbody");
    let info = git.open().commit(&latin).unwrap();
    assert_eq!((info.subject.as_str(), info.author.as_str()), ("caf\u{fffd}", "\u{e9}"));
    assert_eq!(git.open().commit(&commit("1767225600 +0000", b"")).unwrap().subject, "");
    assert_eq!(
        git.open().commit(&commit("1767225600 +0000", b"\n\nlate\n")).unwrap().subject,
        "late"
    );
    // Impossible times.
    for when in ["99999999999999999 +0000", "1767225600 +9999", "-5 +0000", "x"] {
        let id = commit(when, b"odd");
        if let Err(error) = git.open().commit(&id) {
            assert!(!error.to_string().is_empty());
        }
    }
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_read() {
    let git = Git::init(&[]);
    git.write("real.proto", "syntax = \"proto3\";\npackage p;\nmessage Root {}\n");
    std::fs::create_dir(git.dir.join("a")).unwrap();
    std::os::unix::fs::symlink("../real.proto", git.dir.join(PROTO)).unwrap();
    git.run(&["add", "-A"]);
    git.run(&["commit", "-q", "-m", "link"]);
    for rev in ["HEAD", "INDEX", "WORKTREE"] {
        fails(
            git.contract(rev),
            "a/root.proto is a symbolic link, not a regular file",
            "regular files only",
        );
    }
    std::fs::remove_file(git.dir.join(PROTO)).unwrap();
    git.write("a/root.proto/inside", "x");
    git.run(&["add", "-A"]);
    git.run(&["commit", "-q", "-m", "directory"]);
    for rev in ["HEAD", "INDEX", "WORKTREE"] {
        fails(
            git.contract(rev),
            "a/root.proto is a directory, not a regular file",
            "regular files only",
        );
    }
    std::fs::remove_dir_all(git.dir.join(PROTO)).unwrap();
    // A submodule at the path.
    let id = git.head();
    git.run(&["update-index", "--force-remove", "a/root.proto/inside"]);
    git.run(&["update-index", "--add", "--cacheinfo", &format!("160000,{id},a/root.proto")]);
    git.run(&["commit", "-q", "-m", "submodule"]);
    for rev in ["HEAD", "INDEX"] {
        fails(
            git.contract(rev),
            "a/root.proto is a submodule, not a regular file",
            "regular files only",
        );
    }
}

#[cfg(unix)]
#[test]
fn linked_directories_do_not_lead_elsewhere() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(
        outside.path().join("root.proto"),
        "syntax = \"proto3\";\npackage p;\nmessage Root {}\n",
    )
    .unwrap();
    let git = Git::init(&[]);
    std::os::unix::fs::symlink(outside.path(), git.dir.join("a")).unwrap();
    git.run(&["add", "-A"]);
    git.run(&["commit", "-q", "-m", "link"]);
    for rev in ["HEAD", "INDEX", "WORKTREE"] {
        assert!(git.contract(rev).unwrap().roots.is_empty(), "{rev}");
    }
}

#[test]
fn unresolved_conflict() {
    let git = Git::init(&[]);
    git.commit(&["x"]);
    git.run(&["checkout", "-q", "-b", "feature"]);
    git.commit(&["x", "ours"]);
    git.run(&["checkout", "-q", "main"]);
    git.commit(&["x", "theirs"]);
    let merge = git.output(&["merge", "-q", "feature"]);
    assert!(!merge.status.success());
    fails(
        git.contract("INDEX"),
        "a/root.proto is an unresolved conflict, not a regular file",
        "regular files only",
    );
    let error = git.contract("WORKTREE").unwrap_err();
    assert!(error.to_string().starts_with("a/root.proto:"), "{error}");
    git.has("HEAD", &["x", "theirs"]);
}

#[cfg(target_os = "linux")]
#[test]
fn paths_that_are_not_utf8() {
    use std::os::unix::ffi::OsStrExt as _;
    let git = Git::init(&[]);
    git.fields(&["x"]);
    for dir in ["", "a/"] {
        let mut name = dir.as_bytes().to_vec();
        name.extend_from_slice(b"caf\xe9.proto");
        std::fs::write(git.dir.join(std::ffi::OsStr::from_bytes(&name)), "not a proto \0").unwrap();
    }
    git.run(&["add", "-A"]);
    git.run(&["commit", "-q", "-m", "odd names"]);
    for rev in ["HEAD", "INDEX", "WORKTREE"] {
        git.has(rev, &["x"]);
    }
}

#[test]
fn crlf_checkout_says_the_same() {
    let git = Git::init(&[]);
    git.commit(&["x", "y"]);
    git.run(&["config", "core.autocrlf", "true"]);
    std::fs::remove_file(git.dir.join(PROTO)).unwrap();
    git.run(&["checkout", "-q", "--", PROTO]);
    assert!(std::fs::read_to_string(git.dir.join(PROTO)).unwrap().contains("\r\n"));
    let fingerprint = |rev| git.contract(rev).unwrap().fingerprint();
    assert_eq!(fingerprint("WORKTREE"), fingerprint("HEAD"));
}

#[test]
fn huge_files_are_refused_unread() {
    let git = Git::init(&[]);
    git.commit(&["x"]);
    let file = std::fs::OpenOptions::new().write(true).open(git.dir.join(PROTO)).unwrap();
    file.set_len(1 << 40).unwrap();
    let error = git.contract("WORKTREE").unwrap_err();
    assert!(error.to_string().starts_with("a/root.proto has 1099511627776 bytes"), "{error}");
}

#[test]
fn every_path_is_relative_to_the_repository() {
    let git = Git::init(&[]);
    git.commit(&["x"]);
    let repository = git.open();
    for rev in [RevisionSpec::Worktree, RevisionSpec::Index, head()] {
        let revision = Revision::open(&rev, Some(&repository)).unwrap();
        assert!(revision.read_file(PROTO).unwrap().is_some());
        for path in [
            "gone",
            "a/gone",
            "../repository/a/root.proto",
            "/etc/passwd",
            "a/../a/root.proto",
            ".git/config",
            "a//root.proto",
            "",
            "nul\0",
            "a\\root.proto",
            "C:/x",
            "a/",
        ] {
            let read = revision.read_file(path);
            assert!(matches!(read, Ok(None)), "{rev:?} {path}: {read:?}");
        }
    }
    assert_eq!(
        repository.workdir().map(Path::to_path_buf).map(|d| d.canonicalize().unwrap()),
        Some(git.dir.canonicalize().unwrap())
    );
}
