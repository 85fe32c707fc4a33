//! Trees of labelled lines.

use crate::report::human::Style;
use crate::report::text::{self, put};

/// Entries of a list that are shown unless everything is asked for.
pub(super) const LONG: usize = 12;

/// A line and what stands below it.
pub(super) struct Branch {
    label: String,
    below: Vec<Branch>,
}

impl Branch {
    /// A line; what could steer a terminal is taken out of it.
    pub(super) fn new(label: &str) -> Self {
        Branch { label: text::line(label), below: Vec::new() }
    }

    /// A line with others below it.
    pub(super) fn with(label: &str, below: Vec<Branch>) -> Self {
        Branch { below, ..Branch::new(label) }
    }

    /// A line with the rest of a path below it: each entry below the one before.
    pub(super) fn chain(labels: Vec<Branch>) -> Option<Branch> {
        labels.into_iter().rev().reduce(|inner, mut outer| {
            outer.below.push(inner);
            outer
        })
    }
}

/// The first entries of a list and, where some are left out, a line that says so.
pub(super) fn fold<T>(
    all: &[T],
    most: usize,
    style: &Style,
    mut branch: impl FnMut(&T) -> Branch,
    rest: impl FnOnce(&[T]) -> String,
) -> Vec<Branch> {
    // One more line says nothing in less room than the entry itself.
    let shown = if style.verbose || all.len() <= most + 1 { all.len() } else { most };
    let mut branches: Vec<Branch> = all.iter().take(shown).map(&mut branch).collect();
    if let Some(left @ [_, ..]) = all.get(shown..) {
        branches.push(Branch::new(&format!("and {} (--verbose shows them)", rest(left))));
    }
    branches
}

/// Draws branches below a title.
pub(super) fn draw(out: &mut String, branches: &[Branch], style: &Style) {
    level(out, branches, "", style);
}

fn level(out: &mut String, branches: &[Branch], prefix: &str, style: &Style) {
    let (tee, corner, bar) =
        if style.unicode { ("├─ ", "└─ ", "│  ") } else { ("|- ", "`- ", "|  ") };
    for (at, branch) in branches.iter().enumerate() {
        let last = at + 1 == branches.len();
        let below = format!("{prefix}{}", if last { "   " } else { bar });
        let room = style.width.saturating_sub(prefix.chars().count() + 3).max(20);
        // Columns stay where the line fits; wrapping closes them up.
        let wrapped = if branch.label.chars().count() <= room {
            branch.label.clone()
        } else {
            text::wrap("", &branch.label, room)
        };
        for (at, line) in wrapped.lines().enumerate() {
            match at {
                0 => put(out, format_args!("{prefix}{}{line}\n", if last { corner } else { tee })),
                _ => {
                    let down = if branch.below.is_empty() { "  " } else { bar };
                    put(out, format_args!("{below}{down}{line}\n"));
                }
            }
        }
        level(out, &branch.below, &below, style);
    }
}
