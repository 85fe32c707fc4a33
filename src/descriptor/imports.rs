//! The import graph: cycles, and what public imports make visible.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::parse::ParsedFile;
use crate::error::{Error, ErrorKind, byte_span};

/// More files than this made visible by public imports, added up over all files, are refused; the
/// library takes time quadratic in a file's imports.
const MAX_VISIBLE: usize = 50_000;

/// For each file the files that it sees only through public imports of its imports.
///
/// prost-reflect follows one level of public imports only, and does not end on cycles.
///
/// # Errors
/// Import cycles, which protobuf rejects, and public imports without bound.
pub(super) fn visible_through_public(
    files: &[Arc<ParsedFile>],
) -> Result<Vec<Vec<Arc<str>>>, Error> {
    let index: HashMap<&str, usize> =
        files.iter().enumerate().map(|(at, file)| (&*file.name, at)).collect();
    let imports: Vec<Vec<usize>> = files
        .iter()
        .map(|f| f.descriptor.dependency.iter().filter_map(|d| index.get(&**d)).copied().collect())
        .collect();
    let order = dependencies_first(files, &imports)?;
    let public = |file: usize| {
        let descriptor = &files[file].descriptor;
        let at = |i: &i32| descriptor.dependency.get(usize::try_from(*i).ok()?);
        descriptor.public_dependency.iter().filter_map(at).filter_map(|name| index.get(&**name))
    };
    let mut exported: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); files.len()];
    let mut total = 0;
    let mut grow = |by: usize| {
        total += by;
        if total > MAX_VISIBLE {
            return Err(Error::from(ErrorKind::PublicImports { limit: MAX_VISIBLE }));
        }
        Ok(())
    };
    for &file in &order {
        let mut set = BTreeSet::new();
        for &imported in public(file) {
            grow(exported[imported].len() + 1)?;
            set.insert(imported);
            set.extend(&exported[imported]);
        }
        exported[file] = set;
    }
    let mut visible = Vec::with_capacity(files.len());
    for direct in &imports {
        let mut set = BTreeSet::new();
        for &imported in direct {
            grow(exported[imported].len())?;
            set.extend(&exported[imported]);
        }
        let more = set.iter().filter(|at| !direct.contains(at));
        visible.push(more.map(|at| files[*at].name.clone()).collect());
    }
    Ok(visible)
}

/// All files, each behind those that it imports.
fn dependencies_first(
    files: &[Arc<ParsedFile>],
    imports: &[Vec<usize>],
) -> Result<Vec<usize>, Error> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; files.len()];
    let mut order = Vec::with_capacity(files.len());
    for start in 0..files.len() {
        if states[start] != State::New {
            continue;
        }
        states[start] = State::Open;
        let mut stack = vec![(start, 0)];
        while let Some((file, next)) = stack.last_mut() {
            let (file, at) = (*file, *next);
            *next += 1;
            match imports[file].get(at) {
                Some(&import) => match states[import] {
                    State::New => {
                        states[import] = State::Open;
                        stack.push((import, 0));
                    }
                    State::Open => {
                        let chain = stack.iter().map(|s| s.0).skip_while(|f| *f != import);
                        let chain: Vec<usize> = chain.chain([import]).collect();
                        return Err(cycle(files, &chain));
                    }
                    State::Done => {}
                },
                None => {
                    states[file] = State::Done;
                    order.push(file);
                    stack.pop();
                }
            }
        }
    }
    Ok(order)
}

/// The error for a chain of imports whose last file is its first.
fn cycle(files: &[Arc<ParsedFile>], chain: &[usize]) -> Error {
    const SHOWN: usize = 10;
    let names = chain.iter().take(SHOWN).filter_map(|at| files.get(*at)).map(|f| &*f.name);
    let mut text = names.collect::<Vec<_>>().join(" -> ");
    if chain.len() > SHOWN {
        text.push_str(" -> …");
    }
    let [.., last, first] = chain else {
        return ErrorKind::ImportCycle {
            path: String::new(),
            line: 0,
            chain: text,
            span: None,
            source_code: miette::NamedSource::new("", String::new()),
        }
        .into();
    };
    let (importer, import) = (&files[*last], &files[*first].name);
    let at = importer.descriptor.dependency.iter().position(|d| **d == **import).unwrap_or(0);
    let location = importer.locate(&[3, i32::try_from(at).unwrap_or(0)]);
    let source = importer.source.as_deref().unwrap_or("");
    ErrorKind::ImportCycle {
        path: importer.path.to_string(),
        line: location.line,
        chain: text,
        span: byte_span(source, &location),
        source_code: miette::NamedSource::new(&importer.path, source.to_owned()),
    }
    .into()
}
