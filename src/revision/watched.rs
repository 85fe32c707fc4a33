//! The files that a contract was read from, watched from commit to commit.
//!
//! A contract depends on the answers to the paths that were looked up for it, those without a file included: as long as
//! none of them changes, it cannot. Their ids are kept as a tree, so that from one commit to the next only directories
//! are read that changed and hold such a path.

use std::cell::RefCell;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use git2::{ObjectType, Oid};

use super::Repository;
use super::git::{MAX_FILE_BYTES, is_tree_path, read_blob, regular};
use crate::descriptor::FileTree;
use crate::error::Error;

/// What a directory says of a name: id and mode; `None` where it has no such name.
type There = Option<(Oid, i32)>;

/// Files in more directories than this are not found.
const MAX_DEPTH: usize = 128;

/// Paths of a commit that were looked up, with what was there.
pub struct Watched<'r> {
    repository: &'r Repository,
    state: RefCell<State<'r>>,
}

#[derive(Default)]
struct State<'r> {
    root: Node,
    /// Directories read since the commit was set.
    trees: HashMap<Oid, git2::Tree<'r>>,
    /// Which reading of a contract asks.
    reading: u32,
    /// Whether an object was missing: what is known of the paths may be of several commits.
    broken: bool,
}

#[derive(Default)]
struct Node {
    entry: There,
    /// The reading that asked for this very path, 0 if none did.
    asked: u32,
    children: BTreeMap<String, Node>,
}

impl std::fmt::Debug for Watched<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watched").finish_non_exhaustive()
    }
}

impl<'r> Watched<'r> {
    /// Nothing is watched yet.
    pub fn new(repository: &'r Repository) -> Self {
        Watched { repository, state: RefCell::default() }
    }

    /// Goes to the commit with this root tree. Whether a path that was looked up is different there.
    ///
    /// # Errors
    /// Directories that this clone lacks; the next commit then counts as different.
    pub fn go_to(&self, root: Oid) -> Result<bool, Error> {
        let state = &mut *self.state.borrow_mut();
        state.trees.clear();
        let broken = std::mem::replace(&mut state.broken, true);
        if broken {
            state.root.forget();
        }
        let entry = Some((root, 0o040_000));
        let moved = state.root.update(entry, self.repository, &mut state.trees)?;
        state.broken = false;
        Ok(moved || broken)
    }

    /// A contract is about to be read: paths that only earlier ones looked up are watched no more.
    pub fn start_reading(&self) {
        let state = &mut *self.state.borrow_mut();
        if state.reading > 0 {
            state.root.prune(state.reading);
        }
        state.reading += 1;
    }
}

impl Node {
    fn forget(&mut self) {
        self.entry = None;
        self.children.values_mut().for_each(Node::forget);
    }

    /// Whether anything is left that the last reading asked for.
    fn prune(&mut self, reading: u32) -> bool {
        self.children.retain(|_, child| child.prune(reading));
        self.asked == reading || !self.children.is_empty()
    }

    fn is_tree(&self) -> Option<Oid> {
        let (id, mode) = self.entry?;
        (mode & 0o170_000 == 0o040_000).then_some(id)
    }

    fn update<'r>(
        &mut self,
        entry: There,
        repository: &'r Repository,
        trees: &mut HashMap<Oid, git2::Tree<'r>>,
    ) -> Result<bool, Error> {
        if self.entry == entry {
            return Ok(false);
        }
        let mut moved = self.asked > 0;
        self.entry = entry;
        let inside = match self.is_tree() {
            Some(id) if !self.children.is_empty() => Some(tree(repository, trees, id)?.id()),
            _ => None,
        };
        for (name, child) in &mut self.children {
            let entry = inside.and_then(|id| lookup(trees.get(&id)?, name));
            moved |= child.update(entry, repository, trees)?;
        }
        Ok(moved)
    }
}

fn lookup(tree: &git2::Tree<'_>, name: &str) -> There {
    tree.get_name(name).map(|entry| (entry.id(), entry.filemode()))
}

fn tree<'t, 'r>(
    repository: &'r Repository,
    trees: &'t mut HashMap<Oid, git2::Tree<'r>>,
    id: Oid,
) -> Result<&'t git2::Tree<'r>, Error> {
    match trees.entry(id) {
        Entry::Occupied(known) => Ok(known.into_mut()),
        Entry::Vacant(free) => {
            let found = repository
                .git
                .find_tree(id)
                .map_err(|error| repository.missing(&error, "a directory", "a commit", id))?;
            Ok(free.insert(found))
        }
    }
}

impl FileTree for Watched<'_> {
    fn find(&self, path: &str) -> Result<Option<Oid>, Error> {
        if !is_tree_path(path) {
            return Ok(None);
        }
        let State { root, trees, reading, .. } = &mut *self.state.borrow_mut();
        let mut node = root;
        for (depth, name) in path.split('/').enumerate() {
            if node.is_tree().is_none() || depth >= MAX_DEPTH {
                // Nothing is below this until it changes itself.
                node.asked = *reading;
                return Ok(None);
            }
            if !node.children.contains_key(name) {
                let entry = match node.is_tree() {
                    Some(id) => lookup(tree(self.repository, trees, id)?, name),
                    None => None,
                };
                node.children.insert(name.to_owned(), Node { entry, ..Node::default() });
            }
            let Some(child) = node.children.get_mut(name) else { return Ok(None) };
            node = child;
        }
        node.asked = *reading;
        let Some((id, mode)) = node.entry else { return Ok(None) };
        let kind = match mode & 0o170_000 {
            0o040_000 => ObjectType::Tree,
            0o160_000 => ObjectType::Commit,
            _ => ObjectType::Blob,
        };
        regular(path, mode, Some(kind)).map(|()| Some(id))
    }

    fn read(&self, path: &str, blob: Oid) -> Result<Vec<u8>, Error> {
        read_blob(self.repository, "a commit", path, blob, MAX_FILE_BYTES)
    }
}
