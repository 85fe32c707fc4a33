//! The contract as a tree: every message once, at the shallowest place that reaches it.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::Counts;
use crate::descriptor::{Contract, Message, Type};
use crate::finding::SideInfo;
use crate::report::human::Style;
use crate::report::text::{self, put};

/// Levels shown unless everything is asked for.
const DEPTH: usize = 2;
/// Levels shown at most: deeper than any real schema.
const DEEPEST: usize = 60;

/// Numbers and the tree; `verbose` shows all of its levels.
pub fn render(side: &SideInfo, contract: &Contract, style: &Style) -> String {
    let mut out = String::new();
    let date = side.date.map_or(String::new(), |d| format!(", {d}"));
    let title = format!("Contract at {}{date}", text::line(&side.revision));
    put(&mut out, format_args!("{}\n", style.paint("1", &title)));
    put(&mut out, format_args!("  fingerprint  {}\n", text::line(&side.fingerprint)));
    let mut counts = |label: &str, counts: Counts| {
        put(
            &mut out,
            format_args!(
                "  {label}  {}, {}, {}, {}, {}\n",
                text::count(counts.messages, "message"),
                text::count(counts.fields, "field"),
                text::count(counts.enums, "enum"),
                text::count(counts.enum_values, "enum value"),
                text::count(counts.files, "file"),
            ),
        );
    };
    counts("reachable  ", Counts::wire(contract));
    if !contract.json_roots.is_empty() {
        counts("JSON only  ", Counts::json_only(contract));
    }
    if contract.roots.is_empty() && contract.json_roots.is_empty() {
        out.push_str("\nNo root message exists here: nothing is promised.\n");
        return out;
    }
    let children = children(contract);
    let mut shown = HashSet::new();
    for (roots, what) in [(&contract.roots, ""), (&contract.json_roots, " (JSON payload)")] {
        for root in roots.iter().filter(|r| !shown.contains(&***r)).collect::<Vec<_>>() {
            put(
                &mut out,
                format_args!(
                    "\n{}{what}{}\n",
                    style.paint("1", &text::line(root)),
                    size(contract, root)
                ),
            );
            branch(&mut out, contract, &children, root, style, &mut shown);
        }
    }
    if !style.verbose {
        out.push_str(
            "\nEvery message once, where it is reached first; --verbose shows all levels.\n",
        );
    }
    out
}

/// For every message the messages that are first reached through it, breadth first from the roots.
fn children(contract: &Contract) -> HashMap<&str, Vec<&str>> {
    let roots = contract.roots.iter().chain(&contract.json_roots);
    let mut queue: VecDeque<&str> = roots.map(|r| &**r).collect();
    let mut seen: HashSet<&str> = queue.iter().copied().collect();
    let mut children: HashMap<&str, Vec<&str>> = HashMap::new();
    while let Some(name) = queue.pop_front() {
        for target in contract.message(name).into_iter().flat_map(|m| targets(contract, m)) {
            if seen.insert(target) {
                children.entry(name).or_default().push(target);
                queue.push_back(target);
            }
        }
    }
    children
}

/// Message types of the fields, in order of numbers; a map stands for its value.
fn targets<'a>(contract: &'a Contract, message: &'a Message) -> Vec<&'a str> {
    let named = |message: &'a Message| {
        message.fields.iter().filter_map(|f| match &f.ty {
            Type::Message(name) => Some(&**name),
            _ => None,
        })
    };
    named(message)
        .flat_map(|name| match contract.message(name) {
            Some(entry) if entry.map_entry => named(entry).collect(),
            _ => vec![name],
        })
        .collect()
}

/// What stands below a message; iterative, because messages of a hostile schema nest as deep as they like.
fn branch<'a>(
    out: &mut String,
    contract: &Contract,
    children: &HashMap<&'a str, Vec<&'a str>>,
    root: &'a str,
    style: &Style,
    shown: &mut HashSet<&'a str>,
) {
    let (tee, corner, bar) =
        if style.unicode { ("├─ ", "└─ ", "│  ") } else { ("|- ", "`- ", "|  ") };
    shown.insert(root);
    let mut stack: Vec<(&str, &str, String, bool)> = Vec::new();
    let push =
        |stack: &mut Vec<(&'a str, &'a str, String, bool)>, parent: &'a str, prefix: &str| {
            let list = children.get(parent).map(Vec::as_slice).unwrap_or_default();
            for (at, child) in list.iter().enumerate().rev() {
                stack.push((child, parent, prefix.to_owned(), at + 1 == list.len()));
            }
        };
    push(&mut stack, root, "");
    let depth = if style.verbose { DEEPEST } else { DEPTH };
    while let Some((name, parent, prefix, last)) = stack.pop() {
        shown.insert(name);
        let branch = if last { corner } else { tee };
        let label = text::line(relative(parent, name));
        if prefix.chars().count() >= 3 * (depth - 1) {
            let below = descendants(children, name, shown);
            let more = if below > 0 { format!("  (+{below} below)") } else { String::new() };
            put(out, format_args!("{prefix}{branch}{label}{}{more}\n", size(contract, name)));
            continue;
        }
        put(out, format_args!("{prefix}{branch}{label}{}\n", size(contract, name)));
        let below = format!("{prefix}{}", if last { "   " } else { bar });
        push(&mut stack, name, &below);
    }
}

/// Number of messages below one; all of them count as shown.
fn descendants<'a>(
    children: &HashMap<&'a str, Vec<&'a str>>,
    name: &str,
    shown: &mut HashSet<&'a str>,
) -> usize {
    let mut queue = vec![name];
    let mut number = 0;
    while let Some(name) = queue.pop() {
        let below = children.get(name).map(Vec::as_slice).unwrap_or_default();
        number += below.len();
        shown.extend(below);
        queue.extend(below);
    }
    number
}

/// A name without the package or message that its parent's name shares.
fn relative<'a>(parent: &str, name: &'a str) -> &'a str {
    if let Some(nested) = name.strip_prefix(parent).and_then(|rest| rest.strip_prefix('.')) {
        return nested;
    }
    let package = parent.rfind('.').and_then(|at| parent.get(..=at)).unwrap_or("");
    name.strip_prefix(package).unwrap_or(name)
}

/// ` 12 fields, 2 enums`.
fn size(contract: &Contract, name: &str) -> String {
    let Some(message) = contract.message(name) else { return String::new() };
    let mut enums = BTreeMap::new();
    for field in &message.fields {
        if let Type::Enum(name) = &field.ty {
            enums.insert(&**name, ());
        }
    }
    let mut size = format!("  {}", text::count(message.fields.len(), "field"));
    if !enums.is_empty() {
        put(&mut size, format_args!(", {}", text::count(enums.len(), "enum")));
    }
    size
}
