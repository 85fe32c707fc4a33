//! Repositories whose commits are made in memory.

use std::collections::BTreeMap;

use git2::{Oid, Signature, Time};

pub(crate) struct Project {
    pub(crate) dir: tempfile::TempDir,
    git: git2::Repository,
    commits: i64,
}

impl Project {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let git = git2::Repository::init_bare(dir.path()).unwrap();
        Project { dir, git, commits: 0 }
    }

    pub(crate) fn open(&self) -> aotgate::revision::Repository {
        aotgate::revision::Repository::discover(self.dir.path()).unwrap()
    }

    /// A commit with these files, a day after the last one.
    pub(crate) fn commit(
        &mut self,
        files: &BTreeMap<String, String>,
        parents: &[Oid],
        message: &str,
    ) -> Oid {
        let mut dirs: BTreeMap<&str, Vec<(&str, Oid)>> = BTreeMap::new();
        for (path, text) in files {
            let (dir, name) = path.split_once('/').unwrap();
            let blob = self.git.blob(text.as_bytes()).unwrap();
            dirs.entry(dir).or_default().push((name, blob));
        }
        let mut root = self.git.treebuilder(None).unwrap();
        for (dir, files) in dirs {
            let mut tree = self.git.treebuilder(None).unwrap();
            for (name, blob) in files {
                tree.insert(name, blob, 0o100_644).unwrap();
            }
            root.insert(dir, tree.write().unwrap(), 0o040_000).unwrap();
        }
        let tree = self.git.find_tree(root.write().unwrap()).unwrap();
        self.commits += 1;
        let time = Time::new(1_767_268_800 + 86_400 * self.commits, 0);
        let who = Signature::new("A", "a@example.com", &time).unwrap();
        let parents: Vec<_> = parents.iter().map(|id| self.git.find_commit(*id).unwrap()).collect();
        let parents: Vec<_> = parents.iter().collect();
        self.git.commit(None, &who, &who, message, &tree, &parents).unwrap()
    }

    pub(crate) fn head(&self, id: Oid) {
        self.git.reference("refs/heads/main", id, true, "").unwrap();
        self.git.set_head("refs/heads/main").unwrap();
    }
}
